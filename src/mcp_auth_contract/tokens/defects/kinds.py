"""Defects of kind: a token of the right issuer that is no access token for this server."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Variant, one
from mcp_auth_contract.tokens.keys import Role
from mcp_auth_contract.tokens.spec import TokenProfile, TokenSpec

__all__ = ["KIND_DEFECTS"]

_SHORT, _LONG = "at+jwt", "application/at+jwt"
_OTHER_KINDS = {
    "logout": "logout+jwt",
    "security_event": "secevent+jwt",
    "dpop_proof": "dpop+jwt",
    "authorization_request": "oauth-authz-req+jwt",
    "introspection_answer": "token-introspection+jwt",
    "key_binding": "kb+jwt",
    "entity_statement": "entity-statement+jwt",
    "client_authentication": "client-authentication+jwt",
}
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


def _declares_access(profile: TokenProfile) -> bool:
    """Whether the profile's tokens say that they are access tokens (RFC 9068 §2.1)."""
    return profile.typ is not None and profile.typ.lower() in {_SHORT, _LONG}


def _typed(typ: str | None) -> Break:
    """Write another typ, or none, where the issuer declares its access tokens; other issuers may write anything."""

    def apply(bench: Bench) -> TokenSpec | None:
        good = bench.good
        if not _declares_access(good.profile) or typ == good.profile.typ:
            return None
        return good.without_header("typ") if typ is None else good.with_header(typ=typ)

    return apply


def _long_form(bench: Bench) -> TokenSpec | None:
    known = (bench.good.profile.typ or "").lower()
    return _typed(_SHORT if known == _LONG else _LONG)(bench)


def _typ_value(value: object) -> Break:
    return lambda bench: bench.good.with_header(typ=value)


_Claims: TypeAlias = Callable[[TokenSpec], TokenSpec | None]
"""Gives a valid spec the claims of another kind of token; None where that would not be wrong."""


def _client(good: TokenSpec) -> object:
    """The client that the token was issued to; None where the token does not say, or the audience is that client."""
    client = good.claims.get(good.profile.client_claim)
    return None if client == good.profile.audience else client


def _with(good: TokenSpec, **claims: object) -> TokenSpec:
    return replace(good, claims={**good.claims, **claims})


def _to_issuer(good: TokenSpec, **claims: object) -> TokenSpec | None:
    issuer = good.profile.issuer
    return None if issuer == good.profile.audience else _with(good, aud=issuer, **claims)


def _id_token(good: TokenSpec) -> TokenSpec | None:
    client = _client(good)
    if client is None:
        return None
    return _with(good, aud=client, nonce="n-0S6_WzA2Mj", at_hash="77QmUPtjPfzWtF2AnpK9RQ", auth_time=int(good.now) - 60)


def _refresh_token(good: TokenSpec) -> TokenSpec | None:
    return _to_issuer(good, typ="Refresh")


def _client_assertion(good: TokenSpec) -> TokenSpec | None:
    client, subject = _client(good), good.profile.subject_claim
    if client is None or client == good.claims.get(subject):
        return None
    return _to_issuer(good, **{"iss": client, subject: client})


def _self_signed_assertion(bench: Bench) -> TokenSpec | None:
    made = _client_assertion(bench.good)
    key = bench.keys(Role.STRANGER, bench.good.key.alg)
    return None if made is None else replace(made.with_header(kid=key.kid), key=key)


def _id_jag(bench: Bench) -> TokenSpec | None:
    made = _to_issuer(bench.good, resource=bench.good.profile.audience)
    return None if made is None else made.with_header(typ="oauth-id-jag+jwt")


def _session_without_audience(good: TokenSpec) -> TokenSpec | None:
    return _with(good, sid="sess_2b7e", azp="https://app.example.com").without_claim("aud")


def _session_for_everybody(good: TokenSpec) -> TokenSpec | None:
    if good.profile.audience == "authenticated":
        return None
    return _with(good, aud="authenticated", role="authenticated", session_id="2b7e1516")


def _as_issued(name: str, claims: _Claims, *changes: str) -> tuple[Variant, ...]:
    """Write the other kind with the typ JWT that such tokens have, or with the profile's own if that is no at+jwt."""

    def typed(bench: Bench) -> TokenSpec | None:
        made = claims(bench.good)
        return made.with_header(typ="JWT") if made is not None and _declares_access(bench.good.profile) else None

    def untyped(bench: Bench) -> TokenSpec | None:
        return None if _declares_access(bench.good.profile) else claims(bench.good)

    stem = f"{name}_" if name else ""
    return (
        Variant(f"{stem}typed_jwt", typed, ("header.typ", *changes)),
        Variant(f"{stem}typed_alike", untyped, changes),
    )


def _claims_of_id_token(bench: Bench) -> TokenSpec | None:
    good = bench.good
    client = _client(good)
    hashes = {"at_hash": "77QmUPtjPfzWtF2AnpK9RQ", "c_hash": "LDktKdoQak3Pk0cnXxCltA"}
    return None if client is None else _with(good, aud=[client, good.profile.audience], nonce="n-0S6_WzA2Mj", **hashes)


def _adding(**claims: object) -> Break:
    """Add claims of another kind; inapplicable where the profile's own tokens say the same."""

    def apply(bench: Bench) -> TokenSpec | None:
        same = any(bench.good.claims.get(name) == value for name, value in claims.items())
        return None if same else _with(bench.good, **claims)

    return apply


KIND_DEFECTS = (
    Defect(
        name="typ_long_form",
        sentence="The token's typ is the access token's media type in its other legal form (RFC 9068 §4).",
        kind=Kind.HEADER,
        changes=("header.typ",),
        forms=one(_long_form),
        expectation=Expectation.ACCEPTED,
    ),
    Defect(
        name="typ_case",
        sentence="The token's typ is the access token's in capitals, and media types have no case.",
        kind=Kind.HEADER,
        changes=("header.typ",),
        forms=(Variant("upper", _typed("AT+JWT")), Variant("mixed", _typed("at+JWT"))),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="typ_generic",
        sentence="The token does not declare itself an access token, though the issuer's others do.",
        kind=Kind.HEADER,
        changes=("header.typ",),
        forms=(Variant("absent", _typed(None)), Variant("jwt", _typed("JWT"))),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="typ_other_kind",
        sentence="The token declares itself to be of another kind than access tokens.",
        kind=Kind.HEADER,
        changes=("header.typ",),
        forms=tuple(Variant(name, _typed(typ)) for name, typ in _OTHER_KINDS.items()),
    ),
    Defect(
        name="typ_type",
        sentence="The token's typ is no string.",
        kind=Kind.HEADER,
        changes=("header.typ",),
        forms=(
            Variant("number", _typ_value(1)),
            Variant("null", _typ_value(None)),
            Variant("list", _typ_value([_SHORT])),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="id_token",
        sentence="The token is an ID token of the same login, meant for the client.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_as_issued("", _id_token, "claims.aud", "claims.nonce", "claims.at_hash", "claims.auth_time"),
    ),
    Defect(
        name="refresh_token",
        sentence="The token is a refresh token, meant for its issuer.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_as_issued("", _refresh_token, "claims.aud", "claims.typ"),
    ),
    Defect(
        name="client_assertion",
        sentence="The token is an assertion by which a client authenticates at the issuer (RFC 7523 §3).",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=(
            *_as_issued("", _client_assertion, "claims.iss", "claims.{subject}", "claims.aud"),
            Variant(
                "self_signed",
                _self_signed_assertion,
                ("claims.iss", "claims.{subject}", "claims.aud", "header.kid", "signature"),
            ),
        ),
    ),
    Defect(
        name="id_jag",
        sentence="The token is an assertion that the issuer would exchange for an access token to this server.",
        kind=Kind.CLAIM,
        changes=("claims.aud", "claims.resource", "header.typ"),
        forms=one(_id_jag),
    ),
    Defect(
        name="session_token",
        sentence="The token is that of a session in the issuer's own web page, meant for no server in particular.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=(
            *_as_issued("no_audience", _session_without_audience, "claims.aud", "claims.sid", "claims.azp"),
            *_as_issued("for_everybody", _session_for_everybody, "claims.aud", "claims.role", "claims.session_id"),
        ),
    ),
    Defect(
        name="kind_in_claims",
        sentence="The token is for this server, but its claims are those of another kind of token.",
        kind=Kind.CLAIM,
        changes=("claims.typ",),
        forms=(
            Variant("id_token", _claims_of_id_token, ("claims.aud", "claims.nonce", "claims.at_hash", "claims.c_hash")),
            Variant("token_use_id", _adding(token_use="id"), ("claims.token_use",)),  # noqa: S106  Cognito's word
            Variant("typ_refresh", _adding(typ="Refresh")),
            Variant("logout", _adding(events={_LOGOUT_EVENT: {}}, sid="2b7e"), ("claims.events", "claims.sid")),
        ),
        expectation=Expectation.DISPUTED,
    ),
)
