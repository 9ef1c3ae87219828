"""Faults of the claim checks: issuer, audience, time, subject and tenant."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import audience_if, issuer_if, one_audience, verifying
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.refusal import InsufficientScope, InvalidToken
from mcp_auth_contract_lab.scopes import BASIC_SCOPE, granted_scopes
from mcp_auth_contract_lab.verification import (
    Claims,
    Trust,
    not_expired,
    subject_named,
    tenant_named,
)

__all__ = ["FAULTS"]

_DAY_S = 86_400


def _skip(_claims: Claims, _trust: Trust) -> None:
    """Check nothing."""


def _same_origin(named: str, resource: str) -> bool:
    try:
        ours, theirs = urlsplit(resource), urlsplit(named)
    except ValueError:
        return False
    return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)


def _wildcard(named: str, _resource: str) -> bool:
    return "*" in named


def _strings_only(claims: Claims, trust: Trust) -> None:
    if claims.get("aud") != trust.settings.resource:
        raise InvalidToken("the token is meant for another resource")


def _list_unread(claims: Claims, _trust: Trust) -> bool:
    named = claims.get("aud")
    return isinstance(named, list) and bool(named)


def _expiry_if_there_is_one(claims: Claims, trust: Trust) -> None:
    if "exp" in claims:
        not_expired(claims, trust)


def _expiry_with_a_day(claims: Claims, trust: Trust) -> None:
    not_expired(claims, replace(trust, now=trust.now - _DAY_S))


def _scope_before_expiry(claims: Claims, trust: Trust) -> None:
    held = granted_scopes(claims, trust.settings)
    if not held:
        raise InsufficientScope(frozenset({BASIC_SCOPE}), held)
    not_expired(claims, trust)


def _default_subject(when: Callable[[Claims, str], bool]) -> Callable[[Claims, Trust], str]:
    def subject(claims: Claims, trust: Trust) -> str:
        return DEFAULT_USER.subject if when(claims, trust.settings.claims.subject) else subject_named(claims, trust)

    return subject


def _default_tenant(when: Callable[[Claims, str], bool]) -> Callable[[Claims, Trust], str]:
    def tenant(claims: Claims, trust: Trust) -> str:
        return DEFAULT_USER.tenant if when(claims, trust.settings.claims.tenant) else tenant_named(claims, trust)

    return tenant


def _missing(claims: Claims, name: str) -> bool:
    return name not in claims


def _empty(claims: Claims, name: str) -> bool:
    return claims.get(name) == ""


def _null(claims: Claims, name: str) -> bool:
    return name in claims and claims[name] is None


_ISSUER = (
    Fault(
        "issuer-ignored",
        "The issuer is not looked at.",
        verifying(issuer=_skip),
    ),
    Fault(
        "issuer-missing-accepted",
        "The issuer is compared only where the token names one.",
        verifying(issuer=issuer_if(lambda named, _ours: named is None)),
    ),
    Fault(
        "issuer-prefix-accepted",
        "An issuer that begins with the trusted one is trusted.",
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, str) and named.startswith(ours))),
    ),
    Fault(
        "issuer-part-accepted",
        "An issuer that is a part of the trusted one is trusted (CVE-2024-53861).",
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, str) and named != "" and named in ours)),
    ),
    Fault(
        "issuer-slash-normalised",
        "A slash at the end of the issuer makes no difference.",
        verifying(
            issuer=issuer_if(lambda named, ours: isinstance(named, str) and named.rstrip("/") == ours.rstrip("/"))
        ),
    ),
)

_AUDIENCE = (
    Fault(
        "audience-ignored",
        "The audience is not looked at.",
        verifying(audience=_skip),
    ),
    Fault(
        "audience-missing-accepted",
        "The audience is compared only where the token names one.",
        verifying(audience=audience_if(lambda claims, _trust: claims.get("aud") is None)),
    ),
    Fault(
        "audience-empty-list-accepted",
        "An empty list of audiences counts as every audience.",
        verifying(audience=audience_if(lambda claims, _trust: claims.get("aud") == [])),
    ),
    Fault(
        "audience-prefix-accepted",
        "An audience that begins with the own one is taken for it.",
        verifying(audience=one_audience(lambda named, ours: named.startswith(ours))),
    ),
    Fault(
        "audience-part-accepted",
        "An audience that contains the own one is taken for it.",
        verifying(audience=one_audience(lambda named, ours: ours in named)),
    ),
    Fault(
        "audience-origin-accepted",
        "Any audience on the own origin is taken for the own one.",
        verifying(audience=one_audience(_same_origin)),
    ),
    Fault(
        "audience-wildcard-accepted",
        "An audience with a star in it matches.",
        verifying(audience=one_audience(_wildcard)),
    ),
    Fault(
        "audience-of-issuer-accepted",
        "A token for the authorization server itself is accepted.",
        verifying(audience=audience_if(lambda claims, trust: claims.get("aud") == trust.settings.issuer)),
    ),
    Fault(
        "audience-list-unread",
        "Any list of audiences is accepted, whatever is in it.",
        verifying(audience=audience_if(_list_unread)),
    ),
    Fault(
        "audience-list-refused",
        "A list of audiences is refused even if the own one is in it.",
        verifying(audience=_strings_only),
    ),
)

_TIME = (
    Fault(
        "expiry-ignored",
        "Expired tokens, and tokens that never expire, are accepted.",
        verifying(expiry=_skip),
    ),
    Fault(
        "expiry-missing-accepted",
        "A token without exp is accepted.",
        verifying(expiry=_expiry_if_there_is_one),
    ),
    Fault(
        "leeway-of-a-day",
        "Tokens live a day longer than they say.",
        verifying(expiry=_expiry_with_a_day),
    ),
    Fault(
        "not-before-ignored",
        "Tokens are accepted before their nbf.",
        verifying(not_before=_skip),
    ),
    Fault(
        "scope-before-expiry",
        "The scope is judged before the expiry: an expired token without scopes is answered with 403.",
        verifying(expiry=_scope_before_expiry),
    ),
)

_AS_CLIENT = {("subject", "missing"): ("token-client-named-as-user-not-mistaken",)}

_IDENTITY = tuple(
    Fault(
        f"{part}-{way}-accepted",
        f"A token whose {part} is {way} stands for a default {part}.",
        verifying(**{part: default(when)}),
    )
    for part, default in (("subject", _default_subject), ("tenant", _default_tenant))
    for way, when in (("missing", _missing), ("empty", _empty), ("null", _null))
)

FAULTS = (*_ISSUER, *_AUDIENCE, *_TIME, *_IDENTITY)
