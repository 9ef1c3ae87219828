"""Defects of a claim: the signature is honest, one statement in the payload is wrong."""

from mcp_auth_contract.tokens.defects.defect import (
    ABSENT,
    Bench,
    Break,
    Defect,
    Expectation,
    Kind,
    Need,
    Value,
    Variant,
    claim,
    one,
)
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["CLAIM_DEFECTS"]

_EXPIRED_SINCE = 15 * 60
_NOT_YET_FOR = 60 * 60


def _constant(value: object) -> Value:
    return lambda _: value


def _set(name: str, value: object) -> Break:
    return claim(name, _constant(value))


def _blank(name: str, values: tuple[tuple[str, object], ...]) -> tuple[Variant, ...]:
    return tuple(Variant(variant, _set(name, value)) for variant, value in values)


def _expired(good: TokenSpec) -> int:
    return int(good.now - good.profile.leeway) - _EXPIRED_SINCE


def _unscoped_too(bench: Bench) -> TokenSpec | None:
    late = claim("exp", _expired)(bench)
    return None if late is None else late.without_claim(bench.good.profile.scope_claim)


_TIME = (
    Defect(
        name="expired",
        sentence="The token expired 15 minutes ago, beyond any leeway.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=one(claim("exp", _expired)),
    ),
    Defect(
        name="expired_long_ago",
        sentence="The token expired a day ago.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=one(claim("exp", lambda good: int(good.now) - 86400)),
    ),
    Defect(
        name="not_yet_valid",
        sentence="The token becomes valid in an hour, beyond any leeway.",
        kind=Kind.CLAIM,
        changes=("claims.nbf",),
        forms=one(claim("nbf", lambda good: int(good.now + good.profile.leeway) + _NOT_YET_FOR)),
    ),
    Defect(
        name="without_expiry",
        sentence="The token never expires: it has no usable exp.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=_blank("exp", (("absent", ABSENT), ("null", None))),
    ),
    Defect(
        name="expired_and_unscoped",
        sentence="The token expired 15 minutes ago and has no scope either: the expiry must be told first.",
        kind=Kind.CLAIM,
        changes=("claims.exp", "claims.{scope}"),
        forms=one(_unscoped_too),
        needs=frozenset({Need.SCOPES_GRANTED}),
    ),
)

_SUBJECT = frozenset({Need.SUBJECT_REQUIRED})
_TENANT = frozenset({Need.TENANT_REQUIRED})

_PRINCIPAL = (
    Defect(
        name="subject_missing",
        sentence="The token does not say whom it speaks for.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=one(_set("{subject}", ABSENT)),
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_empty",
        sentence="The token's subject is an empty string.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=one(_set("{subject}", "")),
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_null",
        sentence="The token's subject is null.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=one(_set("{subject}", None)),
        needs=_SUBJECT,
    ),
    Defect(
        name="tenant_missing",
        sentence="The token names no tenant.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=one(_set("{tenant}", ABSENT)),
        needs=_TENANT,
    ),
    Defect(
        name="tenant_empty",
        sentence="The token's tenant is an empty string.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=one(_set("{tenant}", "")),
        needs=_TENANT,
    ),
    Defect(
        name="tenant_null",
        sentence="The token's tenant is null.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=one(_set("{tenant}", None)),
        needs=_TENANT,
    ),
    Defect(
        name="issuer_missing",
        sentence="The token does not say who issued it.",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=_blank("iss", (("absent", ABSENT), ("null", None), ("empty", ""))),
    ),
    Defect(
        name="audience_missing",
        sentence="The token does not say whom it is for.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_blank("aud", (("absent", ABSENT), ("null", None), ("empty", ""))),
    ),
    Defect(
        name="audience_empty_list",
        sentence="The token's audience is an empty list.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(_set("aud", [])),
    ),
    Defect(
        name="audience_list_with_own",
        sentence="The token's audience is a list that holds this resource, which is legal (RFC 7519 §4.1.3).",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=(
            Variant("own_only", claim("aud", lambda good: [good.profile.audience])),
            Variant("own_last", claim("aud", lambda good: ["urn:other:resource", good.profile.audience])),
            Variant("own_first", claim("aud", lambda good: [good.profile.audience, "urn:other:resource"])),
        ),
        expectation=Expectation.ACCEPTED,
    ),
)

CLAIM_DEFECTS = (*_TIME, *_PRINCIPAL)
