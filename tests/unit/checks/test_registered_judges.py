"""No judge without an example that it fails, and one that it lets pass."""

from dataclasses import replace

import pytest
from tests.unit.checks.apps import app_literals as apps
from tests.unit.checks.failing import FAILING
from tests.unit.checks.handles import handle_literals as handles
from tests.unit.checks.identity.identity_literals import SOUND_IDENTITY, SOUND_LISTS
from tests.unit.checks.isolation import isolation_literals as isolation
from tests.unit.checks.leaks.leak_literals import SOUND_ERROR, SOUND_RUN, SOUND_UPSTREAM
from tests.unit.checks.literals import (
    ORIGIN,
    POINTER,
    SERVER,
    altered,
    answer,
    at_pointer,
    call,
    forged,
    http,
    judged,
    mirrored,
    preflight,
    resource,
    result,
    rpc_error,
    server,
    servers,
)
from tests.unit.checks.scopes.scope_literals import SOUND_BYPASS, SOUND_ROUNDS, SOUND_SURFACE
from tests.unit.checks.sessions.session_literals import SOUND_SESSIONS
from tests.unit.checks.time_and_keys.timeline_literals import introspected, leeway, server_clock
from tests.unit.checks.tool_challenges.tool_literals import SOUND_IN_RESULTS, SOUND_POINTERS, SOUND_SCHEMES

from mcp_auth_contract.answers import Accepted, Attempt, Refusal, Refused
from mcp_auth_contract.checks import grants
from mcp_auth_contract.checks.apps.observation import AppToolsObserved, ViewObserved, ViewReadersObserved
from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServersObserved
from mcp_auth_contract.checks.discovery.observation import ResourceMetadataObserved
from mcp_auth_contract.checks.handles.observation import (
    HandleObserved,
    OwnStateObserved,
    RequestStateObserved,
    TaskObserved,
)
from mcp_auth_contract.checks.identity.observation import IdentityObserved, ListingsObserved
from mcp_auth_contract.checks.isolation.observation import (
    AuditObserved,
    CursorObserved,
    MissingObserved,
    ReachObserved,
    RecordObserved,
    RefusedWritesObserved,
    RepeatedWriteObserved,
    StrangersObserved,
    WriteObserved,
)
from mcp_auth_contract.checks.leaks.observation import ErrorObserved, ExchangesObserved, UpstreamObserved
from mcp_auth_contract.checks.registry import JUDGES as ALL_JUDGES
from mcp_auth_contract.checks.scopes.observation import BypassObserved, RoundsObserved, SurfaceObserved
from mcp_auth_contract.checks.sessions.observation import SessionEndObserved
from mcp_auth_contract.checks.time_and_keys.observation import LeewayObserved, ServerClockObserved, TimelineObserved
from mcp_auth_contract.checks.tokens.observation import CallObserved, Heard
from mcp_auth_contract.checks.tool_challenges.observation import ToolPointersObserved, ToolSchemesObserved
from mcp_auth_contract.checks.transport.observation import (
    EndpointObserved,
    MirrorObserved,
    ParityObserved,
    PreflightObserved,
)
from mcp_auth_contract.model import Fail, Impact, Inconclusive, Pass, Revision

JUDGES = {
    name: judge for name, judge in ALL_JUDGES.items() if not judge.observes.__module__.startswith(grants.__name__)
}
"""All but those of provider runs, which tests/provider sees pass and fail on an authorization server."""


BEARER = f'Bearer error="invalid_token", scope="invoices:read", {POINTER}'
WEAK = f'Bearer error="insufficient_scope", scope="invoices:write", {POINTER}'
UNAUTHORIZED = answer(401, BEARER)

SOUND_CALLS = {
    "no_error_without_token": call(answer(401, f"Bearer {POINTER}")),
    "reader_served": isolation.record(foreign=isolation.OWN, last=isolation.OWN),
    **SOUND_IN_RESULTS,
    "accepted": call(result()),
    "accepted_or_advice": call(result()),
    "not_fetched": call(result()),
    "refused_without_fetching": replace(call(UNAUTHORIZED), heard=Heard((), audible=True)),
    "foreign_origin_refused": call(answer(403)),
    "discover_answers": call(result(supportedVersions=["2026-07-28"])),
    "unknown_method_not_found": call(rpc_error(404, -32601)),
    "one_order_only": call(result(), answer(401, BEARER)),
    "refused_as_bad_request": call(answer(400)),
    "refused_for_scope": call(answer(403, WEAK)),
    "scope_challenge_error": call(answer(403, WEAK)),
    "scope_challenge_metadata": call(answer(403, WEAK)),
    "scope_challenge_names_missing": call(answer(403, WEAK)),
}
SOUND = {
    IdentityObserved: SOUND_IDENTITY,
    ListingsObserved: SOUND_LISTS,
    **SOUND_SESSIONS,
    ErrorObserved: SOUND_ERROR,
    ExchangesObserved: SOUND_RUN,
    UpstreamObserved: SOUND_UPSTREAM,
    RoundsObserved: SOUND_ROUNDS,
    SurfaceObserved: SOUND_SURFACE,
    BypassObserved: SOUND_BYPASS,
    CallObserved: call(UNAUTHORIZED, UNAUTHORIZED),
    EndpointObserved: http(UNAUTHORIZED),
    SessionEndObserved: SessionEndObserved(
        ended=UNAUTHORIZED, after=Attempt("in the session", "call", result(), Accepted())
    ),
    ParityObserved: ParityObserved(
        (
            (Revision.R2025_11_25, UNAUTHORIZED, Refused(Refusal.UNAUTHORIZED)),
            (Revision.R2026_07_28, UNAUTHORIZED, Refused(Refusal.UNAUTHORIZED)),
        )
    ),
    MirrorObserved: mirrored(rpc_error(400, -32020)),
    PreflightObserved: preflight(
        204,
        answer(
            401,
            BEARER,
            headers=(
                ("access-control-allow-origin", ORIGIN),
                ("access-control-expose-headers", "Mcp-Session-Id, WWW-Authenticate"),
            ),
        ),
        ("access-control-allow-origin", ORIGIN),
    ),
    ResourceMetadataObserved: resource(
        at_pointer(),
        accepts=(("Accept: */*", answer(200)),),
        forged=(forged(answer(401, BEARER)),),
    ),
    ToolPointersObserved: SOUND_POINTERS,
    ToolSchemesObserved: SOUND_SCHEMES,
    ViewObserved: apps.view(),
    ViewReadersObserved: apps.readers(),
    AppToolsObserved: apps.app_tools(),
    RecordObserved: isolation.record(),
    ReachObserved: isolation.reach(isolation.NOTHING, isolation.FOREIGN),
    StrangersObserved: isolation.strangers(),
    WriteObserved: isolation.write(),
    RefusedWritesObserved: isolation.refused(UNAUTHORIZED),
    RepeatedWriteObserved: isolation.repeated(),
    CursorObserved: isolation.cursor(),
    MissingObserved: isolation.missing(),
    HandleObserved: handles.handle(),
    TaskObserved: handles.task(),
    RequestStateObserved: handles.state(),
    OwnStateObserved: handles.own_state(),
    AuditObserved: isolation.audit('{"actor": "admin", "id": "INV-1"}'),
    ServerClockObserved: server_clock(result(), 0.0),
    LeewayObserved: leeway((-3, result()), (1, UNAUTHORIZED)),
    TimelineObserved: introspected(
        ("before", result()),
        ("old", result()),
        ("new", result()),
        ("kept", result()),
        ("forged", UNAUTHORIZED),
        ("withdrawn", UNAUTHORIZED),
        ("weak", UNAUTHORIZED),
        ("good", result()),
        ("after", result()),
    ),
    AuthorizationServersObserved: servers(
        server(
            altered(SERVER, protected_resources=["https://mcp.example.com/mcp"]),
            jwks={"keys": [{"kid": "a", "kty": "RSA", "n": "x", "e": "AQAB"}, {"kid": "b"}]},
            versioned=answer(200),
        )
    ),
}
QUIET_ON_THE_SOUND = {
    "rounds_complete",
    "prm_no_private_keys",
    "prm_signed_metadata",
    "prm_dpop_consistent",
    "as_signing_algs",
    "prm_unknown_path_404",
    "prm_path_location",
    "leeway_within_declared",
    "no_data_beside_challenge",
    "app_aliases_agree",
    "app_csp_as_declared",
    "app_permissions_as_declared",
    "app_result_private_apart",
    "app_visibility_as_declared",
}
"""Judges whose question the sound example does not raise; their passing cases stand in their own tests."""


def test_every_judge_has_a_failing_example_and_no_example_is_of_a_lost_judge() -> None:
    assert set(FAILING) == set(JUDGES)


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_fails_its_failing_example_and_says_what_it_expected_and_saw(name: str) -> None:
    observed, known = FAILING[name]
    verdict = JUDGES[name].decide(observed, known)
    assert isinstance(verdict, Fail)
    assert verdict.expected
    assert verdict.observed
    assert verdict.expected != verdict.observed


@pytest.mark.parametrize("name", JUDGES)
def test_an_example_is_of_the_kind_that_its_judge_observes(name: str) -> None:
    assert isinstance(FAILING[name][0], JUDGES[name].observes)


@pytest.mark.parametrize("name", sorted(set(JUDGES) - QUIET_ON_THE_SOUND))
def test_a_judge_lets_the_sound_example_pass_without_advice(name: str) -> None:
    observed = SOUND_CALLS.get(name) or SOUND[JUDGES[name].observes]
    assert judged(name, observed) == Pass()


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_has_its_own_name_and_a_sentence(name: str) -> None:
    judge = JUDGES[name]
    assert judge.name == name == judge.decide.__name__
    assert judge.decide.__doc__


CALL_JUDGES = sorted(name for name, judge in JUDGES.items() if judge.observes is CallObserved)


@pytest.mark.parametrize("name", CALL_JUDGES)
@pytest.mark.parametrize(
    "silent", [answer(None), answer(429, headers=(("retry-after", "7"),))], ids=["no answer", "rate limit"]
)
def test_a_call_without_an_answer_proves_nothing(name: str, silent: object) -> None:
    assert isinstance(judged(name, call(silent)), Inconclusive)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CALL_JUDGES)
def test_a_call_that_was_never_sent_proves_nothing(name: str) -> None:
    assert isinstance(judged(name, CallObserved("get_invoice", ())), Inconclusive)


@pytest.mark.parametrize(
    "name",
    sorted(name for name in CALL_JUDGES if name.startswith(("refused_", "denied", "invalid_", "one_", "foreign"))),
)
def test_a_server_error_refuses_nothing_and_is_a_matter_of_availability(name: str) -> None:
    verdict = judged(name, call(answer(500)))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY
    assert verdict.observed == "500"
