"""Faults of the signature check: what the header says is believed, or nothing is verified at all."""

from collections.abc import Callable, Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from mcp_auth_contract_lab.fault import Change, Faults, all_of, with_memory
from mcp_auth_contract_lab.jose import CompactJws, assembled, parse_compact
from mcp_auth_contract_lab.keyring import KEY_TYPES, usable
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import (
    accepting,
    allowing,
    always,
    hmac_keyed,
    members_of,
    remembering,
    unless,
    verifying,
)
from mcp_auth_contract_lab.verification import Trust, published_keys, signature_verified

FAULTS = Faults()

_unverified = accepting("signature")
_WORKERS = 4


def _parse_loosely(token: str) -> CompactJws:
    """Let a signature be empty or its segment missing."""
    segments = token.split(".")
    if len(segments) not in (2, 3) or not all(segments[:2]):
        raise InvalidToken("the token is malformed")
    return assembled(*(*segments, "")[:3])


def _parse_empty_signature(token: str) -> CompactJws:
    return _parse_loosely(token) if token.count(".") == 2 else parse_compact(token)


def _unsigned(named: Callable[[object], bool], *, empty: bool = True) -> Change:
    def exempt(token: CompactJws, _keys: Sequence[PyJWK]) -> bool:
        return named(token.header.get("alg")) and (not token.signature) is empty

    return verifying(parse=_parse_empty_signature, algorithm=allowing(named), signature=unless(exempt))


def _is_unheard_of(algorithm: object) -> bool:
    if not isinstance(algorithm, str):
        return True
    return algorithm not in KEY_TYPES and algorithm.lower() != "none" and not algorithm.startswith("HS")


FAULTS.rows(
    ("signature-not-verified", "The claims are read without verifying the signature.", _unverified(always)),
    ("signature-removed-accepted", "A token whose signature is empty is believed.",
     verifying(parse=_parse_empty_signature, signature=unless(lambda token, _keys: not token.signature))),
    ("signature-segment-missing-accepted", "A token of two segments is believed.",
     verifying(parse=lambda token: (_parse_loosely if token.count(".") == 1 else parse_compact)(token),
               signature=unless(lambda token, _keys: not token.signature))),
    ("signature-zeroed-accepted", "A signature of zero bytes is taken for a good one (CVE-2022-21449).",
     _unverified(lambda token, _keys: not any(token.signature))),
    ("unknown-kid-not-verified", "A token whose kid is not published is believed unverified.",
     _unverified(lambda _token, keys: not keys)),
    ("alg-none-accepted", 'A token with alg "none" and no signature is believed.',
     _unsigned(lambda named: named == "none")),
    ("alg-none-in-capitals-accepted", 'Only the spelling "none" is blocked; "None" and "NONE" pass.',
     _unsigned(lambda named: isinstance(named, str) and named != "none" and named.lower() == "none")),
    ("alg-none-with-signature-accepted", 'A token with alg "none" is believed when it carries some signature.',
     _unsigned(lambda named: named == "none", empty=False)),
    ("alg-unknown-unsigned-accepted", "An algorithm nobody has heard of counts as unsigned.",
     _unsigned(_is_unheard_of)),
    ("critical-ignored", "Critical header extensions that are not understood are skipped.",
     accepting("critical")(always)),
    ("signature-cached", "A signature that verified once is good for any payload.",
     remembering("signature", lambda token: token.signature)),
)  # fmt: skip


@FAULTS.by(with_memory(lambda signature: verifying(signature=signature)))
def one_worker_unverifying(asked: dict[bytes, int], token: CompactJws, keys: Sequence[PyJWK]) -> None:
    """Behind the same address one worker in four does not verify signatures."""
    # They take turns by token, as round-robin balancing does; the last one is it (CVE-2026-35040).
    text = token.signing_input + token.signature
    asked[text] = asked.get(text, 0) + 1
    if asked[text] % _WORKERS:
        signature_verified(token, keys)


async def _keys_for(token: CompactJws, trust: Trust, *algorithms: str) -> Sequence[PyJWK]:
    """Return the keys of the kid for some algorithms, whatever each is published for."""
    members = await members_of(token.header.get("kid"), trust)
    found = (usable({**jwk, "alg": name}, name) for jwk in members for name in algorithms)
    return [key for key in found if key is not None]


async def _rsa_keys_for_hmac(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    return await (
        _keys_for(token, trust, "RS256") if token.header.get("alg") == "HS256" else published_keys(token, trust)
    )


@FAULTS.by(lambda secrets: all_of(hmac_keyed(secrets), verifying(keys=_rsa_keys_for_hmac)))
def hmac_with_public_key(token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """HS256 is verified with the public key as secret."""
    public = [key.key for key in keys if isinstance(key.key, RSAPublicKey) and token.header.get("alg") == "HS256"]
    return [key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) for key in public]


@FAULTS.step("verification", "keys")
async def algorithm_guessed(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """Whatever RSA algorithm verifies the signature is taken, the header's name for it is not looked at."""
    return await _keys_for(token, trust, "RS256", "PS256") or await published_keys(token, trust)


@FAULTS.step("verification", "keys")
async def embedded_jwk_trusted(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The key in the token's own header verifies the token."""
    embedded, named = token.header.get("jwk"), token.header.get("alg")
    if not isinstance(embedded, dict) or not isinstance(named, str):
        return await published_keys(token, trust)
    try:
        return (PyJWK(embedded, named),)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return ()
