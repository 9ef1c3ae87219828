"""Faults of the audience check beyond those of claims.py: types, other claims and unknown audiences."""

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import audience_if, one_audience, verifying
from mcp_auth_contract_lab.refusal import HttpRefused, InvalidToken
from mcp_auth_contract_lab.verification import Claims, Trust, audience_named

__all__ = ["FAULTS"]


def _member_of_object(claims: Claims, trust: Trust) -> bool:
    named = claims.get("aud")
    return isinstance(named, dict) and trust.settings.resource in named


def _client(claims: Claims, trust: Trust) -> bool:
    return "aud" in claims and claims["aud"] == claims.get(trust.settings.claims.client)


def _resource_claim(claims: Claims, trust: Trust) -> bool:
    return claims.get("resource") == trust.settings.resource


def _members_fail(claims: Claims, trust: Trust) -> None:
    named = claims.get("aud")
    if isinstance(named, list) and not all(isinstance(member, str) for member in named):
        raise HttpRefused(500, "a member of the list is no string")
    audience_named(claims, trust)


def _unknown_fails(claims: Claims, trust: Trust) -> None:
    try:
        audience_named(claims, trust)
    except InvalidToken:
        raise HttpRefused(500, "no settings for this audience") from None


def _other_resource_claim_fails(claims: Claims, trust: Trust) -> None:
    audience_named(claims, trust)
    if claims.get("resource", trust.settings.resource) != trust.settings.resource:
        raise HttpRefused(500, "no settings for this resource")


FAULTS = (
    Fault(
        "audience-object-accepted",
        "An object that has the own audience as a member is taken for a list.",
        verifying(audience=audience_if(_member_of_object)),
    ),
    Fault(
        "audience-of-client-accepted",
        "A token for the client that asked for it is accepted.",
        verifying(audience=audience_if(_client)),
    ),
    Fault(
        "audience-from-resource-claim",
        "A claim named resource counts as an audience.",
        verifying(audience=audience_if(_resource_claim)),
    ),
    Fault(
        "audience-split-at-spaces",
        "A single audience is split at its spaces.",
        verifying(audience=one_audience(lambda named, ours: len(named.split(" ")) > 1 and ours in named.split(" "))),
    ),
    Fault(
        "audience-cut-at-nul",
        "The audience is read up to the first NUL.",
        verifying(audience=one_audience(lambda named, ours: named.split("\0")[0] == ours)),
    ),
    Fault(
        "audience-query-ignored",
        "Query and fragment of the audience make no difference.",
        verifying(audience=one_audience(lambda named, ours: named.split("?")[0].split("#")[0] == ours)),
    ),
    Fault(
        "audience-member-fails",
        "The request fails where a member of the list of audiences is no string.",
        verifying(audience=_members_fail),
    ),
    Fault(
        "audience-unknown-fails",
        "The settings of an unknown audience are looked up, and the request fails.",
        verifying(audience=_unknown_fails),
    ),
    Fault(
        "resource-claim-fails",
        "The request fails where a claim named resource names another server.",
        verifying(audience=_other_resource_claim_fails),
    ),
)
