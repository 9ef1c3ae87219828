"""Judges: pure functions from an observation to a verdict. No judge has a socket, a token or a clock."""

from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract.judges import authorization_servers as servers
from mcp_auth_contract.judges import (
    cache_scope,
    challenges,
    doors,
    identity,
    isolation,
    leaks,
    refusals,
    scopes,
    session_ids,
    sessions,
    timelines,
)
from mcp_auth_contract.judges import resource_metadata as resource
from mcp_auth_contract.judges import tool_challenges as in_results
from mcp_auth_contract.judges import tool_schemes as schemes
from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.judges.registry import Judge, collect
from mcp_auth_contract.observations import (
    AuditObserved,
    AuthorizationServersObserved,
    BypassObserved,
    CacheScopeObserved,
    CallObserved,
    CursorObserved,
    DoorObserved,
    ExchangesObserved,
    IdentityObserved,
    LeewayObserved,
    ListingsObserved,
    MissingObserved,
    ParityObserved,
    PreflightObserved,
    RecordObserved,
    ResourceMetadataObserved,
    RoundsObserved,
    SessionEndObserved,
    SessionIdsObserved,
    SessionObserved,
    SurfaceObserved,
    TimelineObserved,
    ToolPointersObserved,
    ToolSchemesObserved,
    UpstreamObserved,
    WriteObserved,
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
        **collect(CallObserved, *(getattr(in_results, name) for name in in_results.__all__)),
        **collect(ToolPointersObserved, schemes.result_pointer_of_this_resource, schemes.result_pointer_resolves),
        **collect(
            ToolSchemesObserved,
            schemes.public_tools_open,
            *(getattr(schemes, name) for name in schemes.__all__ if name.startswith("schemes_")),
        ),
        **collect(DoorObserved, doors.door_closed),
        **collect(SessionEndObserved, doors.session_survives),
        **collect(
            SessionObserved,
            sessions.session_ended_404,
            sessions.session_guarded,
            sessions.session_header_ignored,
            sessions.session_missing_id,
            sessions.session_serves_owner,
            sessions.session_serves_owner_or_advice,
            sessions.session_unknown_id,
        ),
        **collect(SessionIdsObserved, session_ids.session_ids_unpredictable, session_ids.session_ids_visible_ascii),
        **collect(
            RoundsObserved,
            *(getattr(scopes, name) for name in scopes.__all__ if name.startswith("rounds_")),
        ),
        **collect(SurfaceObserved, scopes.surface_declared, scopes.surface_offered),
        **collect(BypassObserved, scopes.not_past_scopes),
        **collect(CacheScopeObserved, cache_scope.cache_scope_truthful),
        **collect(ParityObserved, doors.same_in_each_era),
        **collect(PreflightObserved, doors.challenge_readable_by_browsers, doors.preflight_harmless),
        **collect(RecordObserved, isolation.owner_undisturbed, isolation.reader_served, isolation.record_hidden),
        **collect(WriteObserved, isolation.foreign_write_denied, isolation.key_bound, isolation.one_write_per_key),
        **collect(CursorObserved, isolation.cursor_bound),
        **collect(MissingObserved, isolation.foreign_like_missing),
        **collect(AuditObserved, isolation.reader_audited),
        **collect(
            IdentityObserved,
            identity.callers_kept_apart,
            identity.each_token_decides,
            identity.foreign_identity_ignored,
        ),
        **collect(ListingsObserved, identity.list_depends_on_token_only),
        **collect(LeewayObserved, timelines.leeway_within_declared),
        **collect(
            TimelineObserved,
            *(getattr(timelines, name) for name in timelines.__all__ if name != "leeway_within_declared"),
        ),
        **collect(ExchangesObserved, *(getattr(leaks, name) for name in leaks.__all__ if name != "no_token_passed_on")),
        **collect(UpstreamObserved, leaks.no_token_passed_on),
        **collect(ResourceMetadataObserved, *(getattr(resource, name) for name in resource.__all__)),
        **collect(AuthorizationServersObserved, *(getattr(servers, name) for name in servers.__all__)),
    }
)
"""Every judge by its name, as the catalogue's files spell it."""
