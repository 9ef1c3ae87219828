"""Faults of kind: tokens that are no access tokens are taken for some."""

from collections.abc import Callable
from functools import partial

from mcp_auth_contract_lab.fault import Change, Faults, all_of
from mcp_auth_contract_lab.steps import accepting, always, breaking, refusing
from mcp_auth_contract_lab.verification import Claims, Header, Trust

FAULTS = Faults()

_FOREIGN_CLAIMS = frozenset({"token_use", "typ", "events", "nonce"})


def _accepting(typ: str, when: Callable[[Claims, Trust], bool]) -> Change:
    """Accept tokens of one more kind, whose audience is right for that kind."""
    return all_of(accepting("kind")(lambda header, _trust: header.get("typ") == typ), accepting("audience")(when))


@FAULTS.by(partial(_accepting, "JWT"))
def id_token_accepted(claims: Claims, trust: Trust) -> bool:
    """An ID token of the same login is taken for an access token."""
    return "nonce" in claims and claims.get("aud") == claims.get(trust.settings.claims.client)


@FAULTS.by(partial(_accepting, "JWT"))
def refresh_token_accepted(claims: Claims, trust: Trust) -> bool:
    """A refresh token is taken for an access token."""
    return claims.get("typ") == "Refresh" and claims.get("aud") == trust.settings.issuer


@FAULTS.by(partial(_accepting, "oauth-id-jag+jwt"))
def assertion_accepted(claims: Claims, trust: Trust) -> bool:
    """An assertion is taken for the access token that it could be exchanged for."""
    return (claims.get("aud"), claims.get("resource")) == (trust.settings.issuer, trust.settings.resource)


@FAULTS.by(partial(_accepting, "JWT"))
def session_token_accepted(claims: Claims, _trust: Trust) -> bool:
    """The issuer's own session token is taken for an access token."""
    return "sid" in claims and "aud" not in claims


@FAULTS.by(breaking("kind"))
def typ_unknown_fails(header: Header, trust: Trust) -> bool:
    """A verifier is looked up by the type in the header, and the request fails where there is none."""
    typ = header.get("typ")
    return not isinstance(typ, str) or typ not in trust.settings.types


FAULTS.rows(
    ("kind-ignored", "The type in the header is not looked at.", accepting("kind")(always)),
    ("typ-long-form-refused", "Only the short form of the access token's media type is known.",
     refusing("kind")(lambda header, _trust: header.get("typ") == "application/at+jwt")),
    ("typ-type-fails", "The request fails where the type in the header is no string.",
     breaking("kind")(lambda header, _trust: not isinstance(header.get("typ", ""), str))),
    ("kind-in-claims-fails", "A verifier is looked up by the kind that the claims suggest, and the request fails.",
     breaking("audience", after=True)(lambda claims, _trust: bool(_FOREIGN_CLAIMS & set(claims)))),
)  # fmt: skip
