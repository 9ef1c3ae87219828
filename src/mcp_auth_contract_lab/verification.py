"""What a token must pass before it is believed, one named step per rule (RFC 9068 §4, RFC 8725 §3)."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from mcp_auth_contract_lab.jose import CompactJws, object_of, parse_compact
from mcp_auth_contract_lab.keyring import KeySource
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.settings import LabSettings

_END_OF_TIME = 253_402_300_799
"""The last second of the year 9999, which fits in a float."""

Claims: TypeAlias = Mapping[str, Any]
Header: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trust:
    """What a token is judged against: the configuration, the keys, and the time in seconds."""

    settings: LabSettings
    keys: KeySource = field(repr=False)
    now: float


def is_numeric_date(value: object) -> bool:
    """Whether a claim is a NumericDate (RFC 7519 §2): a finite number, and no boolean."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def algorithm_allowed(header: Header, trust: Trust) -> None:
    """Only the configured algorithms count, whatever the header asks for (RFC 8725 §3.1)."""
    if header.get("alg") not in trust.settings.algorithms:
        raise InvalidToken("the algorithm is not accepted")


def nothing_critical(header: Header, _trust: Trust) -> None:
    """This server understands no extension, so none may be critical (RFC 7515 §4.1.11)."""
    if "crit" in header:
        raise InvalidToken("a critical header parameter is not understood")


def kind_accepted(header: Header, trust: Trust) -> None:
    """The token says that it is an access token (RFC 9068 §4)."""
    typ = header.get("typ", "")
    if not isinstance(typ, str) or typ.lower() not in trust.settings.types:
        raise InvalidToken("this is not an access token")


async def published_keys(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The issuer's keys of that kid and algorithm; no key comes from the token itself (RFC 8725 §3.10)."""
    kid, algorithm = token.header.get("kid"), token.header.get("alg")
    return (await trust.keys.knowing(kid)).find(kid, algorithm)


def signature_verified(token: CompactJws, keys: Sequence[PyJWK]) -> None:
    """One of the keys made the signature."""
    for key in keys:
        try:
            if key.Algorithm.verify(token.signing_input, key.key, token.signature):
                return
        except (PyJWTError, ValueError, TypeError):
            continue
    raise InvalidToken("the signature does not verify")


def issuer_identical(claims: Claims, trust: Trust) -> None:
    """`iss` is the configured issuer, character by character (RFC 9068 §4)."""
    if claims.get("iss") != trust.settings.issuer:
        raise InvalidToken("the issuer is not trusted")


def audience_named(claims: Claims, trust: Trust) -> None:
    """`aud` is this resource, or a list that holds it (RFC 7519 §4.1.3)."""
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if trust.settings.resource not in named:
        raise InvalidToken("the token is meant for another resource")


def not_expired(claims: Claims, trust: Trust) -> None:
    """`exp` exists and lies ahead (RFC 7519 §4.1.4)."""
    expires = claims.get("exp")
    if not is_numeric_date(expires):
        raise InvalidToken("the token does not say when it expires")
    # A sum would overflow for whole numbers beyond the range of a float; a comparison does not.
    if trust.now - trust.settings.leeway >= claims["exp"]:
        raise InvalidToken("the token has expired")


def already_valid(claims: Claims, trust: Trust) -> None:
    """`nbf`, if there is one, has passed (RFC 7519 §4.1.5)."""
    if "nbf" not in claims:
        return
    if not is_numeric_date(claims["nbf"]) or claims["nbf"] > trust.now + trust.settings.leeway:
        raise InvalidToken("the token is not valid yet")


def _name_in(claims: Claims, claim: str, refusal: str) -> str:
    name = claims.get(claim)
    if not isinstance(name, str) or not name.strip():
        raise InvalidToken(refusal)
    return name


def subject_named(claims: Claims, trust: Trust) -> str:
    """The subject is a non-empty string (RFC 9068 §2.2)."""
    return _name_in(claims, trust.settings.claims.subject, "the token names no subject")


def tenant_named(claims: Claims, trust: Trust) -> str:
    """The tenant is a non-empty string."""
    return _name_in(claims, trust.settings.claims.tenant, "the token names no tenant")


@dataclass(frozen=True, slots=True)
class Verification:
    """The steps in the order in which they run. Each raises InvalidToken, or says nothing."""

    # This server reads no encrypted tokens: what is no JWS is malformed (RFC 7519 §7.2).
    decrypt: Callable[[str, Trust], str] = lambda token, _trust: token
    parse: Callable[[str], CompactJws] = parse_compact
    algorithm: Callable[[Header, Trust], None] = algorithm_allowed
    critical: Callable[[Header, Trust], None] = nothing_critical
    kind: Callable[[Header, Trust], None] = kind_accepted
    keys: Callable[[CompactJws, Trust], Awaitable[Sequence[PyJWK]]] = published_keys
    signature: Callable[[CompactJws, Sequence[PyJWK]], None] = signature_verified
    claims: Callable[[bytes], Claims] = object_of
    issuer: Callable[[Claims, Trust], None] = issuer_identical
    audience: Callable[[Claims, Trust], None] = audience_named
    expiry: Callable[[Claims, Trust], None] = not_expired
    not_before: Callable[[Claims, Trust], None] = already_valid
    subject: Callable[[Claims, Trust], str] = subject_named
    tenant: Callable[[Claims, Trust], str] = tenant_named


SOUND = Verification()


async def verify(
    token: str, steps: Verification, trust: Trust, granted: Callable[[Claims, LabSettings], frozenset[str]]
) -> Principal:
    """Return who the token stands for. Raises InvalidToken or KeysUnavailable.

    The payload is parsed only after the signature has been verified.
    """
    jws = steps.parse(steps.decrypt(token, trust))
    steps.algorithm(jws.header, trust)
    steps.critical(jws.header, trust)
    steps.kind(jws.header, trust)
    steps.signature(jws, await steps.keys(jws, trust))
    claims = steps.claims(jws.payload)
    steps.issuer(claims, trust)
    steps.audience(claims, trust)
    steps.expiry(claims, trust)
    steps.not_before(claims, trust)
    return principal_named(claims, trust, granted, steps.subject, steps.tenant)


def principal_named(
    claims: Claims,
    trust: Trust,
    granted: Callable[[Claims, LabSettings], frozenset[str]],
    subject: Callable[[Claims, Trust], str] = subject_named,
    tenant: Callable[[Claims, Trust], str] = tenant_named,
) -> Principal:
    """Return whom believed claims name. Raises InvalidToken where a step does."""
    client = claims.get(trust.settings.claims.client)
    expires = claims.get("exp")
    return Principal(
        subject=subject(claims, trust),
        tenant=tenant(claims, trust),
        client=client if isinstance(client, str) else "",
        scopes=granted(claims, trust.settings),
        expires=min(expires, _END_OF_TIME) if isinstance(expires, int | float) else None,
    )
