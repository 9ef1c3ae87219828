"""Judges: pure functions from an observation to a verdict. No judge has a socket, a token or a clock."""

from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract.judges import authorization_servers as servers
from mcp_auth_contract.judges import challenges, doors, refusals, timelines
from mcp_auth_contract.judges import resource_metadata as resource
from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.judges.registry import Judge, collect
from mcp_auth_contract.observations import (
    AuthorizationServersObserved,
    CallObserved,
    DoorObserved,
    LeewayObserved,
    ParityObserved,
    PreflightObserved,
    ResourceMetadataObserved,
    SessionEndObserved,
    TimelineObserved,
)

__all__ = ["JUDGES", "Facts", "Judge"]

_ON_CALLS = (
    refusals.accepted,
    refusals.accepted_or_advice,
    refusals.denied,
    refusals.foreign_origin_refused,
    refusals.invalid_before_insufficient,
    refusals.not_fetched,
    refusals.not_mistaken,
    refusals.not_served,
    refusals.redirect_preferably_refused,
    refusals.trouble_told,
    refusals.one_order_only,
    refusals.refused_as_bad_request,
    refusals.refused_as_invalid_token,
    refusals.refused_as_malformed,
    refusals.refused_for_missing_token,
    refusals.refused_for_scope,
    refusals.refused_or_advice,
    refusals.refused_without_fault,
    refusals.refused_without_fetching,
    refusals.scope_lookalike_denied,
    challenges.challenge_characters,
    challenges.challenge_has_parameter,
    challenges.challenge_has_scope,
    challenges.challenge_scope_form,
    challenges.challenge_syntax,
    challenges.challenge_unique_parameters,
    challenges.error_is_invalid_token,
    challenges.has_bearer_challenge,
    challenges.has_resource_metadata,
    challenges.has_www_authenticate,
    challenges.no_result_in_refusal,
    challenges.no_session_id_in_refusal,
    challenges.scope_challenge_error,
    challenges.scope_challenge_metadata,
    challenges.scope_challenge_names_missing,
    doors.discover_answers,
    doors.discovery_gated,
)

JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        **collect(CallObserved, *_ON_CALLS),
        **collect(DoorObserved, doors.door_closed),
        **collect(SessionEndObserved, doors.session_survives),
        **collect(ParityObserved, doors.same_in_each_era),
        **collect(PreflightObserved, doors.challenge_readable_by_browsers, doors.preflight_harmless),
        **collect(LeewayObserved, timelines.leeway_within_declared),
        **collect(
            TimelineObserved,
            *(getattr(timelines, name) for name in timelines.__all__ if name != "leeway_within_declared"),
        ),
        **collect(ResourceMetadataObserved, *(getattr(resource, name) for name in resource.__all__)),
        **collect(AuthorizationServersObserved, *(getattr(servers, name) for name in servers.__all__)),
    }
)
"""Every judge by its name, as the catalogue's files spell it."""
