"""Which answers leave the endpoint open, and which of the many closed forms are legal."""

from dataclasses import replace

import pytest
from tests.unit.checks.literals import (
    ENDPOINT,
    ORIGIN,
    POINTER,
    answer,
    call,
    event_stream,
    facts,
    html,
    http,
    judged,
    login_redirect,
    preflight,
    result,
    rpc_error,
    tool_error,
)

from mcp_auth_contract.answers import Answer, TransportFailure, read
from mcp_auth_contract.checks.transport.observation import ParityObserved
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Revision

CLOSED = "401, or nothing served there"
REFUSED = answer(401, f"Bearer {POINTER}")


@pytest.mark.parametrize(
    "each",
    [
        *(answer(status) for status in (400, 401, 403, 404, 405, 406, 410, 415, 421, 501)),
        login_redirect(),
        answer(308, headers=(("location", "https://mcp.example.com/mcp/"),)),
        html(),
        rpc_error(),
        tool_error(f"Bearer {POINTER}"),
    ],
)
def test_a_request_may_be_refused_in_any_way(each: Answer) -> None:
    assert judged("endpoint_closed", http(each, "path_double_slash")) == Pass()


@pytest.mark.parametrize(
    ("each", "expects_reply", "observed"),
    [
        (result(), True, "200 with a result"),
        (event_stream(), True, "200 with a result with an open event stream"),
        (answer(200, stream=True), False, "200 with an open event stream"),
        (answer(200, stream=True), True, "200 with an open event stream"),
        (answer(202), False, "202"),
        (answer(200, body={"id": 9, "result": {}}, reply=False), True, "200"),
    ],
)
def test_a_form_that_serves_a_stranger_is_open(each: Answer, *, expects_reply: bool, observed: str) -> None:
    opened = Fail(CLOSED, f"{observed} without a token, for POST {ENDPOINT}")
    assert judged("endpoint_closed", http(each, "batch", expects_reply=expects_reply)) == opened


def test_a_page_for_people_at_the_same_address_serves_nobody() -> None:
    assert judged("endpoint_closed", http(html(), "get_stream")) == Pass()


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_that_breaks_over_a_form_is_a_matter_of_availability(status: int) -> None:
    assert judged("endpoint_closed", http(answer(status))) == Fail(CLOSED, str(status), Impact.AVAILABILITY)


@pytest.mark.parametrize("each", [answer(None), answer(429), answer(None, failure=TransportFailure.RESET)])
def test_a_form_without_an_answer_proves_nothing(each: Answer) -> None:
    assert isinstance(judged("endpoint_closed", http(each)), Inconclusive)


@pytest.mark.parametrize("name", ["notification", "client_response"])
def test_an_agreed_open_handshake_takes_messages_that_get_no_reply(name: str) -> None:
    seen = http(answer(202), name, expects_reply=False)
    lazy = facts(public=frozenset({"initialize", "tools/list"}))
    assert judged("endpoint_closed", seen, lazy) == Pass("served without a token; policy.public opens the handshake")
    assert judged("endpoint_closed", seen, facts(public=frozenset({"tools/list"}))) == Fail(
        CLOSED, f"202 without a token, for POST {ENDPOINT}"
    )


@pytest.mark.parametrize("text", ["", ": keep-alive\n\n", "id: 1\ndata:\n\n"])
def test_an_agreed_open_handshake_opens_a_stream_on_which_nothing_comes(text: str) -> None:
    silent = replace(answer(200, stream=True), method="GET", text=text)
    seen = http(silent, "get_stream", expects_reply=False)
    lazy = facts(public=frozenset({"initialize"}))
    said = "open without a token, and nothing came; policy.public opens the handshake"
    assert judged("endpoint_closed", seen, lazy) == Pass(said)
    assert isinstance(judged("endpoint_closed", seen), Fail)


def test_an_agreed_open_handshake_opens_no_other_form() -> None:
    lazy = facts(public=frozenset({"initialize"}))
    told = replace(answer(200, stream=True), method="GET", text='data: {"jsonrpc":"2.0","method":"m"}\n\n')
    assert isinstance(judged("endpoint_closed", http(told, "get_stream", expects_reply=False), lazy), Fail)
    served = http(answer(200, stream=True), "batch", expects_reply=False)
    assert isinstance(judged("endpoint_closed", served, lazy), Fail)


@pytest.mark.parametrize("each", [REFUSED, rpc_error(), answer(404), answer(400)])
def test_a_discovery_method_is_gated_by_any_refusal(each: Answer) -> None:
    assert judged("discovery_gated", call(each, operation="tools/list")) == Pass()


def test_an_open_discovery_method_must_be_agreed() -> None:
    seen = call(result(tools=[]), operation="tools/list")
    assert judged("discovery_gated", seen) == Fail(
        '401, or "tools/list" listed in policy.public', "200 with a result without a token"
    )
    agreed = facts(public=frozenset({"tools/list"}))
    assert judged("discovery_gated", seen, agreed) == NotApplicable('policy.public opens "tools/list"')
    other = facts(public=frozenset({"initialize"}))
    assert isinstance(judged("discovery_gated", seen, other), Fail)


def test_a_stranger_cannot_tell_whether_open_discovery_is_meant() -> None:
    seen = call(result(tools=[]), operation="tools/list")
    assert judged("discovery_gated", seen, facts(has_contract=False)) == Pass(
        '"tools/list" is answered without a token, which may be meant'
    )


def test_a_discovery_method_is_not_gated_by_a_fault_but_a_login_page_gives_nothing_away() -> None:
    assert judged("discovery_gated", call(answer(500))) == Fail("401", "500", Impact.AVAILABILITY)
    for closed in (login_redirect(), html()):
        assert judged("discovery_gated", call(closed)) == Pass()


@pytest.mark.parametrize(
    ("each", "observed"),
    [
        (answer(404), "404"),
        (rpc_error(), "200 with a JSON-RPC error"),
        (REFUSED, "401"),
        (result(tools=[]), "a result without supportedVersions"),
        (result(supportedVersions="2026-07-28"), "a result without supportedVersions"),
    ],
)
def test_discover_names_the_versions_it_supports(each: Answer, observed: str) -> None:
    assert judged("discover_answers", call(each)) == Fail("a result with supportedVersions", observed)
    assert judged("discover_answers", call(result(supportedVersions=["2026-07-28"]))) == Pass()


def eras(old: Answer, new: Answer) -> ParityObserved:
    return ParityObserved(
        ((Revision.R2025_11_25, old, read(old)), (Revision.R2026_07_28, new, read(new))),
    )


@pytest.mark.parametrize("new", [REFUSED, answer(400), answer(404), rpc_error(), tool_error(f"Bearer {POINTER}")])
def test_an_operation_closed_in_both_eras_passes(new: Answer) -> None:
    assert judged("same_in_each_era", eras(REFUSED, new)) == Pass()


def test_an_operation_open_in_one_era_fails_and_names_it() -> None:
    assert judged("same_in_each_era", eras(result(), REFUSED)) == Fail(
        "401 in every era", "200 with a result in 2025-11-25"
    )
    assert judged("same_in_each_era", eras(REFUSED, event_stream())) == Fail(
        "401 in every era", "200 with a result in 2026-07-28"
    )


def test_eras_are_compared_only_where_both_were_seen() -> None:
    one = ParityObserved(
        ((Revision.R2025_11_25, REFUSED, read(REFUSED)), (Revision.R2025_06_18, REFUSED, read(REFUSED)))
    )
    assert isinstance(judged("same_in_each_era", one), NotApplicable)
    assert judged("same_in_each_era", eras(answer(429), REFUSED)) == Inconclusive("2025-11-25: 429")
    assert judged("same_in_each_era", eras(result(), result())) == Inconclusive(
        "open in every era; challenge-missing-token-401 reports it"
    )


@pytest.mark.parametrize("status", [200, 204, 400, 401, 403, 404, 405, 501])
def test_a_preflight_may_be_answered_or_refused(status: int) -> None:
    assert judged("preflight_harmless", preflight(status, REFUSED)) == Pass()


def test_a_preflight_refused_with_a_json_rpc_error_ran_nothing() -> None:
    body = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Method Not Allowed"}}
    assert judged("preflight_harmless", preflight(405, REFUSED, body=body)) == Pass()


def test_a_preflight_that_breaks_or_runs_something_fails() -> None:
    expected = "2xx, or a refusal"
    assert judged("preflight_harmless", preflight(500, REFUSED)) == Fail(expected, "500", Impact.AVAILABILITY)
    ran = preflight(200, REFUSED, body={"jsonrpc": "2.0", "id": 1, "result": {}})
    assert judged("preflight_harmless", ran) == Fail(expected, "200 with a JSON-RPC result")


def test_a_preflight_that_allows_credentials_to_every_origin_fails() -> None:
    credentials = ("access-control-allow-credentials", "true")
    every = preflight(204, REFUSED, ("access-control-allow-origin", "*"), credentials)
    assert judged("preflight_harmless", every) == Fail(
        "credentials allowed to named origins only", 'Access-Control-Allow-Origin "*" with credentials'
    )
    named = preflight(204, REFUSED, ("access-control-allow-origin", ORIGIN), credentials)
    assert judged("preflight_harmless", named) == Pass()


@pytest.mark.parametrize("status", [None, 429])
def test_a_preflight_without_an_answer_proves_nothing(status: int | None) -> None:
    assert isinstance(judged("preflight_harmless", preflight(status, REFUSED)), Inconclusive)


@pytest.mark.parametrize("allowed", ["*", ORIGIN])
@pytest.mark.parametrize("exposed", ["*", "WWW-Authenticate", "Mcp-Session-Id, www-authenticate"])
def test_a_challenge_with_cors_headers_is_readable(allowed: str, exposed: str) -> None:
    origin = ("access-control-allow-origin", allowed)
    challenged = answer(401, f"Bearer {POINTER}", headers=(origin, ("access-control-expose-headers", exposed)))
    assert judged("challenge_readable_by_browsers", preflight(204, challenged, origin)) == Pass()


def test_a_challenge_that_browsers_hide_fails() -> None:
    origin = ("access-control-allow-origin", ORIGIN)
    assert judged("challenge_readable_by_browsers", preflight(204, REFUSED, origin)) == Fail(
        "a 401 with Access-Control-Allow-Origin", "none: browsers hide the whole answer"
    )
    hidden = answer(401, f"Bearer {POINTER}", headers=(origin,))
    assert judged("challenge_readable_by_browsers", preflight(204, hidden, origin)) == Fail(
        "Access-Control-Expose-Headers with WWW-Authenticate", "a challenge that browsers hide"
    )


def test_a_server_that_is_not_for_browsers_needs_none_of_it() -> None:
    for status in (401, 405, None, 500):
        seen = preflight(status, REFUSED, ("access-control-allow-origin", ORIGIN))
        assert isinstance(judged("challenge_readable_by_browsers", seen), NotApplicable)
    other = preflight(204, REFUSED, ("access-control-allow-origin", "https://app.example.com"))
    assert isinstance(judged("challenge_readable_by_browsers", other), NotApplicable)
    open_call = preflight(204, result(), ("access-control-allow-origin", "*"))
    assert isinstance(judged("challenge_readable_by_browsers", open_call), NotApplicable)
