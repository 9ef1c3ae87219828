"""Faults of kind: tokens that are no access tokens are taken for some."""

from collections.abc import Callable

from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.claim_steps import audience_if, verifying
from mcp_auth_contract_lab.refusal import HttpRefused, InvalidToken
from mcp_auth_contract_lab.verification import Claims, Header, Trust, audience_named, kind_accepted

__all__ = ["FAULTS"]

_FOREIGN_CLAIMS = frozenset({"token_use", "typ", "events", "nonce"})


def _any_kind(_header: Header, _trust: Trust) -> None:
    """Check nothing."""


def _also(typ: str) -> Callable[[Header, Trust], None]:
    def kind(header: Header, trust: Trust) -> None:
        if header.get("typ") != typ:
            kind_accepted(header, trust)

    return kind


def _accepting(typ: str, when: Callable[[Claims, Trust], bool]) -> Change:
    """Accept tokens of one more kind, whose audience is right for that kind."""
    return verifying(kind=_also(typ), audience=audience_if(when))


def _id_token(claims: Claims, trust: Trust) -> bool:
    return "nonce" in claims and claims.get("aud") == claims.get(trust.settings.claims.client)


def _refresh_token(claims: Claims, trust: Trust) -> bool:
    return claims.get("typ") == "Refresh" and claims.get("aud") == trust.settings.issuer


def _assertion(claims: Claims, trust: Trust) -> bool:
    return (claims.get("aud"), claims.get("resource")) == (trust.settings.issuer, trust.settings.resource)


def _session(claims: Claims, _trust: Trust) -> bool:
    return "sid" in claims and "aud" not in claims


def _short_form_only(header: Header, trust: Trust) -> None:
    if header.get("typ") == "application/at+jwt":
        raise InvalidToken("this is not an access token")
    kind_accepted(header, trust)


def _type_fails(header: Header, trust: Trust) -> None:
    if not isinstance(header.get("typ", ""), str):
        raise HttpRefused(500, "typ is no string")
    kind_accepted(header, trust)


def _unknown_fails(header: Header, trust: Trust) -> None:
    typ = header.get("typ")
    if not isinstance(typ, str) or typ not in trust.settings.types:
        raise HttpRefused(500, "no verifier for this type")


def _foreign_claims_fail(claims: Claims, trust: Trust) -> None:
    audience_named(claims, trust)
    if _FOREIGN_CLAIMS & set(claims):
        raise HttpRefused(500, "no verifier for this kind")


FAULTS = (
    Fault(
        "kind-ignored",
        "The type in the header is not looked at.",
        verifying(kind=_any_kind),
    ),
    Fault(
        "id-token-accepted",
        "An ID token of the same login is taken for an access token.",
        _accepting("JWT", _id_token),
    ),
    Fault(
        "refresh-token-accepted",
        "A refresh token is taken for an access token.",
        _accepting("JWT", _refresh_token),
    ),
    Fault(
        "assertion-accepted",
        "An assertion is taken for the access token that it could be exchanged for.",
        _accepting("oauth-id-jag+jwt", _assertion),
    ),
    Fault(
        "session-token-accepted",
        "The issuer's own session token is taken for an access token.",
        _accepting("JWT", _session),
    ),
    Fault(
        "typ-long-form-refused",
        "Only the short form of the access token's media type is known.",
        verifying(kind=_short_form_only),
    ),
    Fault(
        "typ-type-fails",
        "The request fails where the type in the header is no string.",
        verifying(kind=_type_fails),
    ),
    Fault(
        "typ-unknown-fails",
        "A verifier is looked up by the type in the header, and the request fails where there is none.",
        verifying(kind=_unknown_fails),
    ),
    Fault(
        "kind-in-claims-fails",
        "A verifier is looked up by the kind that the claims suggest, and the request fails.",
        verifying(audience=_foreign_claims_fail),
    ),
)
