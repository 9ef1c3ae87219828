"""2025-03-26 to 2025-11-25 on the sound server: sessions, versions, batches, the methods."""

import httpx
import pytest

from mcp_auth_contract.asgi import serve_in_thread

REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25"]


def rpc(method, params=None, ident=7):
    message = {"jsonrpc": "2.0", "id": ident, "method": method}
    return message if params is None else {**message, "params": params}


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_runs_from_initialize_to_delete(lab, keys, revision):
    token = keys.token()
    session = lab.open_session(token, revision)
    ready = lab.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, token, session)
    assert (ready.status_code, ready.content) == (202, b"")
    assert lab.post(rpc("ping"), token, session).json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    listed = lab.post(rpc("tools/list"), token, session).json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == [
        "list_invoices", "get_invoice", "search_invoices", "whoami", "export_invoices", "update_invoice",
        "approve_invoice", "list_currencies",
    ]  # fmt: skip
    ended = lab.send("DELETE", "/mcp", {**lab.bearer(token), **session})
    assert ended.status_code == 204
    assert lab.post(rpc("ping"), token, session).status_code == 404


def test_the_server_answers_with_the_revision_asked_for_or_its_latest(lab, keys):
    for asked, given in (
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ):
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
        answer = lab.post(rpc("initialize", params), keys.token())
        assert answer.json()["result"]["protocolVersion"] == given


def test_session_ids_are_long_visible_and_distinct(lab, keys):
    idents = {lab.open_session(keys.token())["mcp-session-id"] for _ in range(20)}
    assert len(idents) == 20
    assert all(len(ident) >= 22 and ident.isascii() and ident.isprintable() for ident in idents)


def test_without_a_session_id_a_call_is_400_and_with_an_unknown_one_404(lab, keys):
    assert lab.post(rpc("tools/list"), keys.token()).status_code == 400
    assert lab.post(rpc("tools/list"), keys.token(), {"mcp-session-id": "x"}).status_code == 404


def test_a_session_is_no_credential(lab, keys):
    session = lab.open_session(keys.token())
    for token in (None, "garbage", keys.forged(), keys.token(exp=1)):
        assert lab.post(rpc("tools/list"), token, session).status_code == 401


@pytest.mark.parametrize("other", [{"subject": "bob"}, {"tenant_id": "t2"}, {"client_id": "other"}], ids=str)
def test_a_session_belongs_to_subject_tenant_and_client(lab, keys, other):
    token = keys.token()
    session = lab.open_session(token)
    foreign = {**lab.bearer(keys.token(**other)), **session, "accept": "text/event-stream"}
    assert lab.post(rpc("tools/list"), keys.token(**other), session).status_code == 404
    assert lab.send("GET", "/mcp", foreign).status_code == 404
    assert lab.send("DELETE", "/mcp", foreign).status_code == 404
    assert lab.post(rpc("tools/list"), token, session).status_code == 200


def test_a_renewed_token_keeps_its_session_and_acts_with_its_own_scopes(lab, keys):
    session = lab.open_session(keys.token())
    weaker = keys.token(scope="invoices:read", jti="second")
    update = rpc("tools/call", {"name": "update_invoice", "arguments": {"invoice_id": "INV-1", "amount": 1}})
    assert lab.post(rpc("tools/list"), weaker, session).status_code == 200
    assert lab.post(update, weaker, session).status_code == 403


def test_an_unknown_protocol_version_is_400(lab, keys):
    token = keys.token()
    session = lab.open_session(token)
    for version in ("1999-01-01", ""):
        bogus = {**session, "mcp-protocol-version": version}
        assert lab.post(rpc("tools/list"), token, bogus).status_code == 400


def test_a_missing_version_header_is_no_fault(lab, keys):
    session = {"mcp-session-id": lab.open_session(keys.token())["mcp-session-id"]}
    assert lab.post(rpc("tools/list"), keys.token(), session).status_code == 200


@pytest.mark.parametrize("revision", REVISIONS)
def test_only_the_first_revision_has_batches(lab, keys, revision):
    token = keys.token()
    batch = [
        rpc("ping", ident=1),
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        rpc("no/such", ident=2),
    ]
    answer = lab.post(batch, token, lab.open_session(token, revision))
    if revision != "2025-03-26":
        assert answer.status_code == 400
        return
    assert [one["id"] for one in answer.json()] == [1, 2]


def test_a_batch_is_authorized_as_a_whole_before_anything_runs(lab, keys):
    token = keys.token(scope="invoices:read")
    update = rpc("tools/call", {"name": "update_invoice", "arguments": {"invoice_id": "INV-1", "amount": 999}})
    answer = lab.post([rpc("ping"), update], token, lab.open_session(token, "2025-03-26"))
    assert answer.status_code == 403
    assert "result" not in answer.text
    assert (
        lab.call("get_invoice", {"invoice_id": "INV-1"}, token).json()["result"]["structuredContent"]["amount"] == 120
    )


NO_MESSAGES = [
    [],
    [1],
    "x",
    1,
    {},
    {"jsonrpc": "2.0"},
    {"jsonrpc": "2.0", "method": 1, "id": 1},
    {"jsonrpc": "2.0", "method": "ping", "id": None},
    {"jsonrpc": "1.0", "method": "ping", "id": 1},
]


@pytest.mark.parametrize("message", NO_MESSAGES, ids=str)
def test_what_is_no_message_is_400(lab, keys, message):
    token = keys.token()
    assert lab.post(message, token, lab.open_session(token, "2025-03-26")).status_code == 400


def test_responses_of_a_client_are_taken_and_unknown_methods_are_an_error(lab, keys):
    token = keys.token()
    session = lab.open_session(token)
    assert lab.post({"jsonrpc": "2.0", "id": 1, "result": {}}, token, session).status_code == 202
    unknown = lab.post(rpc("no/such"), token, session)
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (200, -32601)


def test_log_levels_are_set_and_wrong_ones_refused(lab, keys):
    assert lab.legacy("logging/setLevel", {"level": "debug"}, keys.token()).json()["result"] == {}
    assert lab.legacy("logging/setLevel", {"level": "loud"}, keys.token()).json()["error"]["code"] == -32602


def test_an_absent_resource_is_32002(lab, keys):
    answer = lab.legacy("resources/read", {"uri": "invoice://INV-9"}, keys.token())
    assert answer.json()["error"]["code"] == -32002


def test_the_stream_opens_with_a_priming_event_stays_open_and_ends_with_the_token(lab, keys):
    token = keys.token(exp=keys.claims()["exp"] - 298)
    session = lab.open_session(token)
    with serve_in_thread(lab.app) as served, httpx.Client(trust_env=False) as client:
        headers = {**lab.bearer(token), **session, "accept": "text/event-stream"}
        with client.stream("GET", f"{served.url}/mcp", headers=headers) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            text = "".join(answer.iter_text())
    assert text == "id: 0\ndata:\n\n: this stream carries JSON-RPC messages\n\n"


def test_a_client_that_leaves_closes_its_stream(lab, keys):
    token = keys.token()
    headers = {**lab.bearer(token), **lab.open_session(token), "accept": "text/event-stream"}
    with serve_in_thread(lab.app) as served, httpx.Client(trust_env=False) as client:
        for _ in range(2):
            with client.stream("GET", f"{served.url}/mcp", headers=headers) as answer:
                assert next(answer.iter_text()).startswith("id: 0")


def test_a_stream_needs_a_session_and_the_right_accept(lab, keys):
    headers = {**lab.bearer(keys.token()), "accept": "text/event-stream"}
    assert lab.send("GET", "/mcp", headers).status_code == 400
    session = lab.open_session(keys.token())
    assert lab.send("GET", "/mcp", {**headers, **session, "accept": "text/html"}).status_code == 406
