"""For each judge the observation that it is there to catch."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.unit.checks.apps.app_literals import FAILING_VIEWS
from tests.unit.checks.handles import handle_literals as handles
from tests.unit.checks.identity.identity_literals import FAILING_IDENTITY
from tests.unit.checks.isolation import isolation_literals as isolation
from tests.unit.checks.leaks.leak_literals import FAILING_RUNS
from tests.unit.checks.literals import (
    ENDPOINT,
    GONE,
    ISSUER,
    ORIGIN,
    PATH_URL,
    POINTER,
    RESOURCE,
    ROOT_URL,
    SERVER,
    altered,
    answer,
    at_path,
    at_pointer,
    call,
    document,
    facts,
    forged,
    http,
    mirrored,
    nothing_at,
    preflight,
    resource,
    resource_with,
    result,
    server,
    server_with,
    servers,
)
from tests.unit.checks.scopes.scope_literals import FAILING_SCOPES
from tests.unit.checks.sessions.session_literals import FAILING_SESSIONS
from tests.unit.checks.time_and_keys.timeline_literals import leeway, server_clock, timeline
from tests.unit.checks.tool_challenges.tool_literals import FAILING_IN_RESULTS

from mcp_auth_contract.answers import Accepted, Attempt, Refusal, Refused
from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.sessions.observation import SessionEndObserved
from mcp_auth_contract.checks.time_and_keys.observation import TimelineObserved
from mcp_auth_contract.checks.tokens.observation import Heard
from mcp_auth_contract.checks.transport.observation import ParityObserved
from mcp_auth_contract.model import Revision

__all__ = ["FAILING"]

_STRAY_URL = f"{PATH_URL}/no-such-resource"
_CHALLENGE = f"Bearer {POINTER}"
_WEAK = 'Bearer error="insufficient_scope", scope="invoices:write"'
_HERE = facts()

_ON_CALLS: Mapping[str, tuple[Any, Facts]] = {
    "accepted": (call(answer(401, _CHALLENGE)), _HERE),
    "accepted_or_advice": (call(answer(500)), _HERE),
    "denied": (call(result()), _HERE),
    "foreign_origin_refused": (call(result()), facts(loopback=True)),
    "invalid_before_insufficient": (call(answer(403, _WEAK)), _HERE),
    "not_fetched": (replace(call(result()), heard=Heard(("GET /heard/abc",), audible=True)), _HERE),
    "not_mistaken": (call(result(of="alice-canary")), facts(canaries=frozenset({"alice-canary"}))),
    "scope_lookalike_denied": (call(result()), _HERE),
    "not_served": (call(result()), _HERE),
    "redirect_preferably_refused": (call(result()), _HERE),
    "trouble_told": (call(answer(500)), _HERE),
    "one_order_only": (call(result(), result()), _HERE),
    "refused_as_bad_request": (call(answer(401, _CHALLENGE)), _HERE),
    "refused_as_invalid_token": (call(result()), _HERE),
    "refused_as_malformed": (call(result()), _HERE),
    "refused_for_missing_token": (call(result()), _HERE),
    "refused_for_scope": (call(answer(401, _CHALLENGE)), _HERE),
    "refused_or_advice": (call(answer(500)), _HERE),
    "refused_without_fetching": (
        replace(call(answer(401, _CHALLENGE)), heard=Heard(("GET /heard/abc",), audible=True)),
        _HERE,
    ),
    "refused_without_fault": (call(answer(500)), _HERE),
    "challenge_characters": (call(answer(401, 'Bearer error_description="no \\"key\\""')), _HERE),
    "challenge_has_parameter": (call(answer(401, "Bearer")), _HERE),
    "challenge_has_scope": (call(answer(401, _CHALLENGE)), _HERE),
    "challenge_scope_form": (call(answer(401, 'Bearer scope="invoices:read,invoices:write"')), _HERE),
    "challenge_syntax": (call(answer(401, f"Bearer resource_metadata={PATH_URL}")), _HERE),
    "challenge_unique_parameters": (call(answer(401, 'Bearer realm="a", realm="b"')), _HERE),
    "error_is_invalid_token": (call(answer(401, _CHALLENGE)), _HERE),
    "has_bearer_challenge": (call(answer(401, 'Basic realm="a"')), _HERE),
    "has_resource_metadata": (call(answer(401, 'Bearer realm="a"')), _HERE),
    "no_error_without_token": (call(answer(401, 'Bearer error="invalid_token"')), _HERE),
    "has_www_authenticate": (call(answer(401)), _HERE),
    "no_result_in_refusal": (call(answer(401, _CHALLENGE, body={"id": 1, "result": {}})), _HERE),
    "no_session_id_in_refusal": (call(answer(401, _CHALLENGE, headers=(("mcp-session-id", "s1"),))), _HERE),
    "scope_challenge_error": (call(answer(403)), _HERE),
    "scope_challenge_metadata": (call(answer(403, _WEAK)), _HERE),
    "scope_challenge_names_missing": (call(answer(403, 'Bearer scope="invoices:read"')), _HERE),
    "discover_answers": (call(answer(404), operation="server/discover"), _HERE),
    "discovery_gated": (call(result(tools=[]), operation="tools/list"), _HERE),
}

_OVER_TIME: Mapping[str, tuple[Any, Facts]] = {
    "answered_promptly": (
        TimelineObserved((replace(next(timeline(("good", result())).named("good")), took=5.0),)),
        _HERE,
    ),
    "forgeries_refused": (timeline(("forged", result())), _HERE),
    "good_accepted": (timeline(("good", answer(401, _CHALLENGE))), _HERE),
    "introspecting_client_known": (
        replace(timeline(("good", result())), introspections=2, anonymous=1),
        _HERE,
    ),
    "keys_fetched_rarely": (timeline(("good", result()), fetches=11), _HERE),
    "server_clock_right": (server_clock(result(), -3600, result()), _HERE),
    "leeway_within_declared": (leeway((-3, result()), (1, result()), (62, result()), (3600, answer(401))), _HERE),
    "new_accepted": (timeline(("old", result()), ("new", answer(401, _CHALLENGE))), _HERE),
    "no_breakdown": (timeline(("forged", answer(500))), _HERE),
    "recovered": (timeline(("after", answer(503))), _HERE),
    "weak_preferably_refused": (timeline(("weak", answer(500))), _HERE),
    "withdrawn_refused": (timeline(("before", result()), ("kept", result()), ("withdrawn", result())), _HERE),
}

_AT_DOORS: Mapping[str, tuple[Any, Facts]] = {
    "endpoint_closed": (http(answer(200, stream=True), expects_reply=False), _HERE),
    "session_survives": (
        SessionEndObserved(
            ended=answer(204),
            after=Attempt("in the session", "call", answer(404), Refused(Refusal.NOT_SERVED)),
        ),
        _HERE,
    ),
    "mirror_refused": (mirrored(result()), _HERE),
    "unknown_method_not_found": (call(answer(401, _CHALLENGE)), _HERE),
    "same_in_each_era": (
        ParityObserved(
            (
                (Revision.R2025_11_25, answer(401, _CHALLENGE), Refused(Refusal.UNAUTHORIZED)),
                (Revision.R2026_07_28, result(), Accepted()),
            )
        ),
        _HERE,
    ),
    "preflight_harmless": (preflight(500, answer(401, _CHALLENGE)), _HERE),
    "challenge_readable_by_browsers": (
        preflight(204, answer(401, _CHALLENGE), ("access-control-allow-origin", ORIGIN)),
        _HERE,
    ),
}

_ON_RESOURCES: Mapping[str, tuple[Any, Facts]] = {
    "pointer_not_reflected": (
        resource(
            at_pointer(), forged=(forged(answer(401, 'Bearer resource_metadata="https://forwarded.invalid/metadata"')),)
        ),
        _HERE,
    ),
    "pointer_resolves": (resource(nothing_at(Location.POINTER, PATH_URL)), _HERE),
    "prm_not_reflected": (
        resource(forged=(forged(answer(401), document=at_path(altered(RESOURCE, resource="https://else.invalid"))),)),
        _HERE,
    ),
    "prm_any_accept": (resource(accepts=(("Accept: */*", answer(406)),)), _HERE),
    "prm_authorization_servers": (resource_with(authorization_servers=GONE), _HERE),
    "prm_bearer_methods": (resource_with(bearer_methods_supported=["header", "query"]), _HERE),
    "prm_content_type": (resource(at_path(media="text/html")), _HERE),
    "prm_dpop_consistent": (resource_with(dpop_bound_access_tokens_required=True), _HERE),
    "prm_issuer_form": (resource_with(authorization_servers=["http://auth.example.com"]), _HERE),
    "prm_json_object": (resource(at_path(faults=("duplicate member 'resource'",))), _HERE),
    "prm_locations_agree": (
        resource(
            at_path(),
            document(Location.ROOT, ROOT_URL, altered(RESOURCE, authorization_servers=["https://other.example.com"])),
        ),
        _HERE,
    ),
    "prm_member_types": (resource_with(scopes_supported="invoices:read invoices:write"), _HERE),
    "prm_no_offline_access": (resource_with(scopes_supported=["offline_access"]), _HERE),
    "prm_no_private_keys": (
        resource(jwks=document(Location.JWKS, f"{ENDPOINT}/jwks", {"keys": [{"kty": "EC", "d": "x"}]})),
        _HERE,
    ),
    "prm_path_location": (
        resource(
            document(Location.POINTER, "https://mcp.example.com/metadata", RESOURCE),
            nothing_at(Location.PATH, PATH_URL),
        ),
        _HERE,
    ),
    "prm_resource_form": (resource_with(resource="urn:mcp"), _HERE),
    "prm_resource_identical": (resource_with(resource=f"{ENDPOINT}/"), _HERE),
    "prm_resource_lower_case": (resource_with(resource="https://MCP.example.com/mcp"), _HERE),
    "prm_resource_matches_endpoint": (resource_with(resource="https://other.example.com/mcp"), _HERE),
    "prm_resource_matches_location": (
        resource(
            at_pointer(url="https://mcp.example.com/metadata"),
            at_path(altered(RESOURCE, resource="https://mcp.example.com/other")),
        ),
        _HERE,
    ),
    "prm_resource_name": (resource_with(resource_name=GONE), _HERE),
    "prm_resource_present": (resource_with(resource=GONE), _HERE),
    "prm_scopes_supported": (resource_with(scopes_supported=GONE), _HERE),
    "prm_served": (resource(nothing_at(Location.PATH, PATH_URL), nothing_at(Location.ROOT, ROOT_URL)), _HERE),
    "prm_signed_metadata": (resource_with(signed_metadata="no JWT"), _HERE),
    "prm_signing_alg_none": (resource_with(resource_signing_alg_values_supported=["none"]), _HERE),
    "prm_status_200": (resource(at_path(status=203)), _HERE),
    "prm_unauthenticated": (resource(nothing_at(Location.PATH, PATH_URL, 401)), _HERE),
    "prm_unknown_path_404": (resource(at_path(), document(Location.STRAY, _STRAY_URL, RESOURCE)), _HERE),
    "prm_zero_values_omitted": (resource_with(scopes_supported=[]), _HERE),
}

_ON_SERVERS: Mapping[str, tuple[Any, Facts]] = {
    "as_authorization_endpoint": (server_with(authorization_endpoint=GONE), _HERE),
    "as_client_id_metadata_flag": (server_with(client_id_metadata_document_supported="true"), _HERE),
    "as_documents_agree": (
        servers(
            server(
                SERVER,
                document(
                    Location.OIDC_INSERTED,
                    f"{ISSUER}/.well-known/openid-configuration",
                    altered(SERVER, token_endpoint=f"{ISSUER}/oauth/token"),
                ),
            )
        ),
        _HERE,
    ),
    "as_endpoints_https": (server_with(token_endpoint="http://auth.example.com/token"), _HERE),
    "as_grant_types": (server_with(grant_types_supported=["authorization_code", "password"]), _HERE),
    "as_ignores_version_header": (servers(server(versioned=answer(400))), _HERE),
    "as_jwks_there": (servers(server(jwks={"kty": "RSA"})), _HERE),
    "as_jwks_public_only": (servers(server(jwks={"keys": [{"kty": "RSA", "d": "x", "p": "x"}]})), _HERE),
    "as_jwks_unique_kids": (servers(server(jwks={"keys": [{"kid": "a"}, {"kid": "a"}]})), _HERE),
    "as_metadata_json": (servers(server(media="text/html")), _HERE),
    "as_no_implicit": (server_with(response_types_supported=["code", "token"]), _HERE),
    "as_oauth_metadata": (
        servers(
            server(
                None,
                document(Location.OIDC_INSERTED, f"{ISSUER}/.well-known/openid-configuration", SERVER),
                status=404,
            )
        ),
        _HERE,
    ),
    "as_pkce_advertised": (server_with(code_challenge_methods_supported=GONE), _HERE),
    "as_pkce_no_plain": (server_with(code_challenge_methods_supported=["S256", "plain"]), _HERE),
    "as_pkce_s256": (server_with(code_challenge_methods_supported=["plain"]), _HERE),
    "as_public_clients": (server_with(token_endpoint_auth_methods_supported=GONE), _HERE),
    "as_registration_route": (server_with(registration_endpoint=GONE), _HERE),
    "as_response_types": (server_with(response_types_supported=GONE), _HERE),
    "as_signing_algs": (server_with(token_endpoint_auth_methods_supported=["private_key_jwt"]), _HERE),
    "as_token_endpoint": (server_with(token_endpoint=GONE), _HERE),
    "as_zero_elements_omitted": (server_with(scopes_supported=[]), _HERE),
    "prm_issuer_identical": (server_with(issuer="https://other.example.com"), _HERE),
    "prm_issuer_resolvable": (servers(server(None, status=404)), _HERE),
    "prm_listed_by_server": (server_with(protected_resources=["https://other.example.com"]), _HERE),
}

_BETWEEN_USERS: Mapping[str, tuple[Any, Facts]] = {
    "cursor_bound": (isolation.cursor(other=result(invoices=["INV-11"])), _HERE),
    "arguments_reach_no_further": (isolation.reach(isolation.NOTHING, isolation.OWN), _HERE),
    "roles_open_nothing": (isolation.reach(isolation.NOTHING, isolation.OWN), _HERE),
    "handle_bound": (handles.handle(other=isolation.OWN), _HERE),
    "handles_unguessable": (handles.handle(handles=("e-1", "e-2", "e-3")), _HERE),
    "task_bound": (handles.task(foreign_get=handles.WORKING), _HERE),
    "task_cancelled_by_owner_only": (handles.task(state=handles.CANCELLED), _HERE),
    "task_list_own": (handles.task(listing=frozenset({"foreign list", "own list"})), _HERE),
    "request_state_for_one_request": (handles.own_state(replayed=isolation.OWN), _HERE),
    "request_state_intact": (handles.own_state(cut=isolation.OWN), _HERE),
    "request_state_keeps_records": (handles.state(other=isolation.OWN), _HERE),
    "request_state_of_one_principal": (handles.state(other=isolation.OWN), _HERE),
    "foreign_like_missing": (isolation.missing(absent=answer(500)), _HERE),
    "foreign_write_denied": (isolation.write(foreign=isolation.OWN), _HERE),
    "key_bound": (isolation.repeated(borrowed=isolation.OWN), _HERE),
    "one_write_per_key": (isolation.repeated(after=result(amount=2), again=result(amount=2)), _HERE),
    "owner_undisturbed": (isolation.record(again=isolation.NOTHING), _HERE),
    "reader_audited": (isolation.audit(), _HERE),
    "reader_served": (isolation.record(), _HERE),
    "refused_write_undone": (isolation.refused(answer(401), result(amount=2)), _HERE),
    "strangers_denied": (isolation.strangers(namesake=isolation.OWN), _HERE),
    "record_hidden": (isolation.record(last=isolation.OWN), _HERE),
}

FAILING: Mapping[str, tuple[Any, Facts]] = {
    **_BETWEEN_USERS,
    **_ON_CALLS,
    **_AT_DOORS,
    **FAILING_SCOPES,
    **FAILING_SESSIONS,
    **_OVER_TIME,
    **_ON_RESOURCES,
    **_ON_SERVERS,
    **FAILING_IN_RESULTS,
    **FAILING_VIEWS,
    **{name: (observed, _HERE) for name, observed in FAILING_RUNS.items()},
    **{name: (observed, _HERE) for name, observed in FAILING_IDENTITY.items()},
}
