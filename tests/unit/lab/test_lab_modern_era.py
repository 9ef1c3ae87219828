"""2026-07-28 on the sound server: each POST says everything about itself."""

import httpx
import pytest

from mcp_auth_contract.asgi import serve_in_thread
from mcp_auth_contract_lab.faults import FAULTS

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def error_of(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_discovery_names_the_revisions(lab, keys):
    result = lab.modern("server/discover", None, keys.token()).json()["result"]
    assert result["supportedVersions"] == ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    assert result["ttlMs"] >= 0
    assert "tools" in result["capabilities"]


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_lists_say_how_long_and_for_whom_they_may_be_kept(lab, keys, method):
    result = lab.modern(method, None, keys.token()).json()["result"]
    assert (result["resultType"], result["cacheScope"], "ttlMs" in result) == ("complete", "private", True)


def test_no_session_is_minted_and_a_session_header_is_ignored(lab, keys):
    answer = lab.modern("tools/list", None, keys.token(), {"mcp-session-id": "x"})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("meta", [{}, {META_VERSION: "2026-07-28"}, {META_CAPABILITIES: {}}, [], None], ids=str)
def test_a_missing_envelope_is_32602(lab, keys, meta):
    assert error_of(lab.modern("tools/list", {"_meta": meta}, keys.token())) == (400, -32602)


MISMATCHES = [
    {"mcp-method": ""},
    {"mcp-method": "ping"},
    {"mcp-name": ""},
    {"mcp-name": "whoami"},
    {"mcp-name": "=?base64?%%?="},
    {"mcp-protocol-version": ""},
    {"mcp-protocol-version": "2025-11-25"},
]


@pytest.mark.parametrize("headers", MISMATCHES, ids=str)
def test_a_header_that_does_not_mirror_the_body_is_32020_and_nothing_runs(lab, keys, headers):
    call = {"name": "update_invoice", "arguments": {"invoice_id": "INV-1", "amount": 7}}
    assert error_of(lab.modern("tools/call", call, keys.token(), headers)) == (400, -32020)
    got = lab.call("get_invoice", {"invoice_id": "INV-1"}, keys.token()).json()["result"]
    assert got["structuredContent"]["amount"] == 120


UNCOMPARED = {
    "mirrored-headers-not-compared": [{"mcp-method": "ping"}, {"mcp-name": ""}],
    "mirrored-version-not-compared": [{"mcp-protocol-version": "2025-11-25"}],
}


@pytest.mark.parametrize("fault", UNCOMPARED)
def test_without_the_comparison_the_body_runs_whatever_the_headers_say(make_lab, keys, fault):
    call = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
    for headers in UNCOMPARED[fault]:
        answer = make_lab(fault=FAULTS[fault]).modern("tools/call", call, keys.token(), headers)
        assert "alice-t1-INV-1-7f3a" in answer.text


def test_an_unknown_method_may_wrongly_ask_for_another_token(lab, make_lab, keys):
    assert error_of(lab.modern("probe/unknown", {}, keys.token())) == (404, -32601)
    answer = make_lab(fault=FAULTS["unknown-method-as-401"]).modern("probe/unknown", {}, keys.token())
    assert answer.status_code == 401


def test_a_name_may_be_encoded(lab, keys):
    answer = lab.modern("tools/call", {"name": "whoami"}, keys.token(), {"mcp-name": "=?base64?d2hvYW1p?="})
    assert answer.status_code == 200


def test_an_unsupported_version_is_told_what_is_supported(lab, keys):
    meta = {META_VERSION: "2099-01-01", META_CAPABILITIES: {}}
    answer = lab.modern("tools/list", {"_meta": meta}, keys.token(), {"mcp-protocol-version": "2099-01-01"})
    assert error_of(answer) == (400, -32022)
    assert answer.json()["error"]["data"] == {
        "supported": ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
        "requested": "2099-01-01",
    }


@pytest.mark.parametrize("method", ["no/such", "ping", "logging/setLevel", "resources/subscribe"])
def test_an_unknown_method_is_404_and_32601(lab, keys, method):
    assert error_of(lab.modern(method, None, keys.token())) == (404, -32601)


def test_an_unknown_method_without_a_token_is_401(lab):
    assert lab.modern("no/such").status_code == 401


def test_an_absent_resource_is_32602(lab, keys):
    assert error_of(lab.modern("resources/read", {"uri": "invoice://INV-9"}, keys.token())) == (400, -32602)


def test_get_and_delete_of_this_revision_are_405(lab, keys):
    headers = {**lab.bearer(keys.token()), "mcp-protocol-version": "2026-07-28"}
    assert [lab.send(verb, "/mcp", headers).status_code for verb in ("GET", "DELETE")] == [405, 405]


def test_notifications_are_taken(lab, keys):
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    answer = lab.post(message, keys.token(), {"mcp-protocol-version": "2026-07-28"})
    assert answer.status_code == 202


NO_REQUESTS = [
    [],
    1,
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": True, "method": "tools/list"},
]


@pytest.mark.parametrize("message", NO_REQUESTS, ids=str)
def test_what_is_no_request_is_400(lab, keys, message):
    answer = lab.post(message, keys.token(), {"mcp-protocol-version": "2026-07-28"})
    assert error_of(answer) == (400, -32600)


def test_a_connection_hands_nothing_on(lab, keys):
    headers = {"content-type": "application/json", "mcp-protocol-version": "2026-07-28"}
    with serve_in_thread(lab.app) as served, httpx.Client(trust_env=False, base_url=served.url) as client:
        statuses = [
            client.post("/mcp", content="{}", headers={**headers, **lab.bearer(token)}).status_code
            for token in (keys.token(), None, "garbage", keys.token())
        ]
    assert statuses == [400, 401, 401, 400]


def test_a_subscription_is_acknowledged_first_and_stays_open(lab, keys):
    token = keys.token()
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["invoice://INV-1"], "other": True}
    meta = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}}
    message = {"jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen",
               "params": {"notifications": wanted, "_meta": meta}}  # fmt: skip
    headers = {
        **lab.bearer(token),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
    }
    with (
        serve_in_thread(lab.app) as served,
        httpx.stream("POST", f"{served.url}/mcp", json=message, headers=headers, trust_env=False) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        first = next(answer.iter_text())
    assert "notifications/subscriptions/acknowledged" in first
    assert "invoice://INV-1" in first
    assert "other" not in first


def test_a_subscription_to_what_the_token_does_not_cover_is_403(lab, keys):
    params = {"notifications": {"resourceSubscriptions": ["invoice://INV-1"]}}
    assert lab.modern("subscriptions/listen", params, keys.token(scope="")).status_code == 403
    assert lab.modern("subscriptions/listen", params).status_code == 401
    assert error_of(lab.modern("subscriptions/listen", {}, keys.token())) == (400, -32602)
