"""Steps of the verification with one condition added, for faults of algorithm, key and signature."""

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from jwt import PyJWK

from mcp_auth_contract_lab.fault import Change
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.jose import CompactJws, parse_compact
from mcp_auth_contract_lab.jwks import usable
from mcp_auth_contract_lab.refusal import HttpRefused, InvalidToken
from mcp_auth_contract_lab.verification import Header, Trust, published_keys, signature_verified

__all__ = [
    "Exempt",
    "Secrets",
    "allowing",
    "breaking_down",
    "breaking_down_over_verified",
    "breaks_down",
    "keyed",
    "keys_of_kid",
    "members_of",
    "unless",
]

Exempt: TypeAlias = Callable[[CompactJws, Sequence[PyJWK]], bool]
Secrets: TypeAlias = Callable[[CompactJws, Sequence[PyJWK]], Iterable[bytes]]

_DIGESTS: Mapping[str, str] = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}


def allowing(extra: Callable[[object], bool]) -> Callable[[Header, Trust], None]:
    """Return the algorithm step that lets other names pass, too."""

    def algorithm(header: Header, trust: Trust) -> None:
        named = header.get("alg")
        if named not in trust.settings.algorithms and not extra(named):
            raise InvalidToken("the algorithm is not accepted")

    return algorithm


def unless(exempt: Exempt) -> Callable[[CompactJws, Sequence[PyJWK]], None]:
    """Return the signature step that does not verify the tokens that `exempt` picks."""

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        if not exempt(token, keys):
            signature_verified(token, keys)

    return signature


def breaks_down() -> HttpRefused:
    """Return the answer of a server in which an error escaped from the token check."""
    return HttpRefused(500, "internal error")


def breaking_down(over: Callable[[CompactJws], bool]) -> Change:
    """Return the change by which the server breaks down over some well-formed tokens."""

    def parse(token: str) -> CompactJws:
        jws = parse_compact(token)
        if over(jws):
            raise breaks_down()
        return jws

    return verifying(parse=parse)


def breaking_down_over_verified(over: Callable[[CompactJws], bool]) -> Change:
    """Return the change by which the server breaks down over some tokens with a good signature."""

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        signature_verified(token, keys)
        if over(token):
            raise breaks_down()

    return verifying(signature=signature)


async def members_of(kid: object, trust: Trust) -> Sequence[Mapping[str, Any]]:
    """Return the published keys of a kid, whatever they are published for."""
    return [jwk for jwk in (await trust.keys.knowing(kid)).members if jwk.get("kid") == kid]


async def keys_of_kid(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """Return the signing keys of the token's kid, each for its own algorithm whatever the header says."""
    members = await members_of(token.header.get("kid"), trust)
    keys = (usable(jwk, jwk.get("alg", "")) for jwk in members)
    return tuple(key for key in keys if key is not None)


async def _with_public_keys(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    return await (keys_of_kid if _is_hmac(token.header.get("alg")) else published_keys)(token, trust)


def _is_hmac(algorithm: object) -> bool:
    return isinstance(algorithm, str) and algorithm in _DIGESTS


def keyed(secrets: Secrets) -> Change:
    """Return the change by which HMAC is allowed, with the secrets that the public keys of the kid lead to."""

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        digest = _DIGESTS.get(str(token.header.get("alg")))
        if digest is None:
            signature_verified(token, keys)
            return
        made = (hmac.digest(secret, token.signing_input, digest) for secret in secrets(token, keys))
        if not any(hmac.compare_digest(one, token.signature) for one in made):
            raise InvalidToken("the signature does not verify")

    return verifying(algorithm=allowing(_is_hmac), keys=_with_public_keys, signature=signature)
