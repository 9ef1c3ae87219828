"""Defects of kind: a token of the right issuer that is no access token for this server.

RFC 9068 §4: the server "MUST verify that the 'typ' header value is 'at+jwt' or 'application/at+jwt' and reject tokens
carrying any other value"; RFC 8725 §3.11 and §3.12: explicit types and exclusive rules keep kinds of JWT apart.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, DISPUTED, Break, Defects, by_party, header
from mcp_auth_contract.tokens.keys import Role
from mcp_auth_contract.tokens.spec import TokenProfile, TokenSpec

DEFECTS = Defects()
_typ = partial(DEFECTS.table, header("typ"))

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


def _declares_access(profile: TokenProfile) -> bool:
    """Whether the profile's tokens say that they are access tokens (RFC 9068 §2.1)."""
    return profile.typ is not None and profile.typ.lower() in {_SHORT, _LONG}


def _instead(typ: object) -> Callable[[TokenSpec], object]:
    """Write another typ, or none, where the issuer declares its access tokens; other issuers may write anything."""
    return lambda good: typ if _declares_access(good.profile) and typ != good.profile.typ else None


_typ(
    "typ_long_form",
    "The token's typ is the access token's media type in its other legal form (RFC 9068 §4).",
    {"": lambda good: _instead(_SHORT if (good.profile.typ or "").lower() == _LONG else _LONG)(good)},
    ACCEPTED,
)
_typ(
    "typ_case",
    "The token's typ is the access token's in capitals, and media types have no case.",
    {"upper": _instead("AT+JWT"), "mixed": _instead("at+JWT")},
    DISPUTED,
)
_typ(
    "typ_generic",
    "The token does not declare itself an access token, though the issuer's others do.",
    {"absent": _instead(ABSENT), "jwt": _instead("JWT")},
    DISPUTED,
)
_typ(
    "typ_other_kind",
    "The token declares itself to be of another kind than access tokens.",
    {name: _instead(typ) for name, typ in _OTHER_KINDS.items()},
)
_typ("typ_type", "The token's typ is no string.", {"number": 1, "null": None, "list": [_SHORT]}, DISPUTED)

_Forms: TypeAlias = dict[str, Callable[[TokenSpec], TokenSpec | None]]
_TYPING: _Forms = {
    "typed_jwt": lambda good: good.with_header(typ="JWT") if _declares_access(good.profile) else None,
    "typed_alike": lambda good: None if _declares_access(good.profile) else good,
}
"""Another kind is written with the typ JWT that such tokens have, or with the profile's own if that is no at+jwt."""


def _client(good: TokenSpec) -> object:
    """The client that the token was issued to; None where the token does not say, or the audience is that client."""
    client = good.claims.get(good.profile.client_claim)
    return None if client == good.profile.audience else client


def _to_issuer(good: TokenSpec, **claims: object) -> TokenSpec | None:
    issuer = good.profile.issuer
    return None if issuer == good.profile.audience else good.with_claims(aud=issuer, **claims)


@DEFECTS.each(_TYPING)
def id_token(good: TokenSpec, typed: Break) -> TokenSpec | None:
    """The token is an ID token of the same login, meant for the client."""
    client = _client(good)
    hashes = {"nonce": "n-0S6_WzA2Mj", "at_hash": "77QmUPtjPfzWtF2AnpK9RQ"}
    return None if client is None else typed(good.with_claims(aud=client, **hashes, auth_time=int(good.now) - 60))


@DEFECTS.each(_TYPING)
def refresh_token(good: TokenSpec, typed: Break) -> TokenSpec | None:
    """The token is a refresh token, meant for its issuer."""
    made = _to_issuer(good, typ="Refresh")
    return made and typed(made)


@DEFECTS.each({**_TYPING, "self_signed": lambda good: by_party(good, Role.STRANGER)})
def client_assertion(good: TokenSpec, finish: Break) -> TokenSpec | None:
    """The token is an assertion by which a client authenticates at the issuer (RFC 7523 §3)."""
    client, subject = _client(good), good.profile.subject_claim
    if client is None or client == good.claims.get(subject):
        return None
    made = _to_issuer(good, **{"iss": client, subject: client})
    return made and finish(made)


@DEFECTS.single()
def id_jag(good: TokenSpec) -> TokenSpec | None:
    """The token is an assertion that the issuer would exchange for an access token to this server."""
    made = _to_issuer(good, resource=good.profile.audience)
    return made and made.with_header(typ="oauth-id-jag+jwt")


@DEFECTS.each({f"{who}_{form}": (who, form) for who in ("no_audience", "for_everybody") for form in _TYPING})
def session_token(good: TokenSpec, how: tuple[str, str]) -> TokenSpec | None:
    """The token is that of a session in the issuer's own web page, meant for no server in particular."""
    who, form = how
    if who == "no_audience":
        made = good.with_claims(sid="sess_2b7e", azp="https://app.example.com").without_claim("aud")
    elif good.profile.audience == "authenticated":
        return None
    else:
        made = good.with_claims(aud="authenticated", role="authenticated", session_id="2b7e1516")
    return _TYPING[form](made)


_KIND_CLAIMS: dict[str, Mapping[str, object]] = {
    "id_token": {"nonce": "n-0S6_WzA2Mj", "at_hash": "77QmUPtjPfzWtF2AnpK9RQ", "c_hash": "LDktKdoQak3Pk0cnXxCltA"},
    "token_use_id": {"token_use": "id"},
    "typ_refresh": {"typ": "Refresh"},
    "logout": {"events": {"http://schemas.openid.net/event/backchannel-logout": {}}, "sid": "2b7e"},
}


@DEFECTS.each(_KIND_CLAIMS, DISPUTED)
def kind_in_claims(good: TokenSpec, claims: Mapping[str, object]) -> TokenSpec | None:
    """The token is for this server, but its claims are those of another kind of token."""
    if "nonce" in claims:
        client = _client(good)
        return None if client is None else good.with_claims(aud=[client, good.profile.audience], **claims)
    # What the profile's own tokens say too is no other kind.
    return None if any(good.claims.get(name) == value for name, value in claims.items()) else good.with_claims(**claims)
