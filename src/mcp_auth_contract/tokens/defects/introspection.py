"""Defects of introspection: what the issuer answers when it is asked about an opaque token (RFC 7662 §2.2)."""

from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import (
    ABSENT,
    Break,
    Defect,
    Expectation,
    Kind,
    Need,
    Variant,
    claim,
    one,
)
from mcp_auth_contract.tokens.mint import SPECIAL_CHARACTERS
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["INTROSPECTION_DEFECTS"]

_OPAQUE = frozenset({Need.OPAQUE})
_EXPIRED_SINCE = 15 * 60


def _active(value: object) -> Break:
    return claim("active", lambda _: value)


def _answered(way: str) -> Break:
    return lambda bench: replace(bench.good, introspection=way)


def _expired(good: TokenSpec) -> int:
    return int(good.now - good.profile.leeway) - _EXPIRED_SINCE


def _as_list(good: TokenSpec) -> list[str]:
    return str(good.claims[good.profile.scope_claim]).split()


_TROUBLES = (
    "outage_503",
    "error_500",
    "unauthorized_401",
    "not_found",
    "html_page",
    "invalid_json",
    "empty_body",
    "null",
    "top_level_list",
)

INTROSPECTION_DEFECTS = (
    Defect(
        name="introspection_inactive",
        sentence="The issuer says that the token is not active.",
        kind=Kind.INTROSPECTION,
        changes=("claims.active",),
        forms=one(_active(False)),
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_active_missing",
        sentence="The issuer does not say whether the token is active.",
        kind=Kind.INTROSPECTION,
        changes=("claims.active",),
        forms=(Variant("null", _active(None)), Variant("empty_object", _answered("empty_object"), ("introspection",))),
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_active_no_boolean",
        sentence="The issuer says something else than true or false about the token being active.",
        kind=Kind.INTROSPECTION,
        changes=("claims.active",),
        forms=(
            Variant("text_false", _active("false")),
            Variant("number_zero", _active(0)),
            Variant("list", _active([False])),
        ),
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_unanswered",
        sentence="The issuer gives no usable answer about the token.",
        kind=Kind.INTROSPECTION,
        changes=("introspection",),
        forms=tuple(Variant(trouble, _answered(trouble)) for trouble in _TROUBLES),
        needs=_OPAQUE,
        disturbs=True,
    ),
    Defect(
        name="introspection_special_characters",
        sentence="The token holds the characters +, /, ~ and =, which RFC 6750 §2.1 allows.",
        kind=Kind.INTROSPECTION,
        changes=("introspection",),
        forms=one(_answered(SPECIAL_CHARACTERS)),
        expectation=Expectation.ACCEPTED,
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_hanging",
        sentence="The issuer takes three seconds to answer about the token, in which nothing is known of it.",
        kind=Kind.INTROSPECTION,
        changes=("introspection",),
        forms=one(_answered("slow_3s")),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE,
        disturbs=True,
    ),
    Defect(
        name="introspection_redirected",
        sentence="The issuer answers about the token with a redirect.",
        kind=Kind.INTROSPECTION,
        changes=("introspection",),
        forms=one(_answered("introspection_moved")),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE,
        disturbs=True,
    ),
    Defect(
        name="introspection_expired",
        sentence="The issuer calls a token active whose exp has passed; some servers leave that to the issuer.",
        kind=Kind.INTROSPECTION,
        changes=("claims.exp",),
        forms=one(claim("exp", _expired)),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_audience_missing",
        sentence="The issuer does not say whom the token is for; some servers are the only ones of their issuer.",
        kind=Kind.INTROSPECTION,
        changes=("claims.aud",),
        forms=one(claim("aud", lambda _: ABSENT)),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_other_type",
        sentence="The issuer says that the token is of another type than Bearer.",
        kind=Kind.INTROSPECTION,
        changes=("claims.token_type",),
        forms=(
            Variant("refresh_token", claim("token_type", lambda _: "refresh_token")),
            Variant("dpop", claim("token_type", lambda _: "DPoP")),
        ),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE,
    ),
    Defect(
        name="introspection_scope_list",
        sentence="The issuer lists the scopes in an array, which RFC 7662 does not provide for.",
        kind=Kind.INTROSPECTION,
        changes=("claims.{scope}",),
        forms=one(claim("{scope}", _as_list)),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE | {Need.SCOPES_GRANTED},
    ),
    Defect(
        name="introspection_other_media_type",
        sentence="The issuer's answer is right but called text/html.",
        kind=Kind.INTROSPECTION,
        changes=("introspection",),
        forms=one(_answered("wrong_content_type")),
        expectation=Expectation.DISPUTED,
        needs=_OPAQUE,
        disturbs=True,
    ),
)
