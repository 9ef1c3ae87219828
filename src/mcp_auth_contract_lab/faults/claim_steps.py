"""Steps of the verification with one condition added, for faults of the claim checks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcp_auth_contract_lab.fault import Change
from mcp_auth_contract_lab.verification import Claims, Trust, audience_named, issuer_identical

__all__ = ["audience_if", "issuer_if", "one_audience", "verifying"]


def verifying(**steps: Any) -> Change:
    """Return the change that replaces steps of the verification."""
    return lambda behaviour: replace(behaviour, verification=replace(behaviour.verification, **steps))


def issuer_if(also: Callable[[object, str], bool]) -> Callable[[Claims, Trust], None]:
    """Return the issuer step that trusts what `also` says of the token's issuer and the own one, too."""

    def issuer(claims: Claims, trust: Trust) -> None:
        if not also(claims.get("iss"), trust.settings.issuer):
            issuer_identical(claims, trust)

    return issuer


def audience_if(also: Callable[[Claims, Trust], bool]) -> Callable[[Claims, Trust], None]:
    """Return the audience step that accepts what `also` says, too."""

    def audience(claims: Claims, trust: Trust) -> None:
        if not also(claims, trust):
            audience_named(claims, trust)

    return audience


def one_audience(matches: Callable[[str, str], bool]) -> Callable[[Claims, Trust], None]:
    """Return the audience step that compares a single audience with the own one in another way as well."""

    def also(claims: Claims, trust: Trust) -> bool:
        named = claims.get("aud")
        return isinstance(named, str) and matches(named, trust.settings.resource)

    return audience_if(also)
