"""Sessions of the lab: what the sound one says on its streams, and what each fault does, seen from outside."""

import asyncio
import json

import pytest

from mcp_auth_contract_lab.faults.sessions import FAULTS

NAMED = FAULTS
ALICE, BOB = "alice-t1-INV-1-7f3a", "bob-t1-INV-2-91bd"


def tool(name="get_invoice", **arguments):
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


READ = tool(invoice_id="INV-1")


def listen(lab, headers, meanwhile=lambda: None, seconds=0.05):
    """Open the stream, do something, and return the status and the text that came."""
    came = []
    status = []

    async def once():
        left = asyncio.Event()

        async def receive():
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                status.append(message["status"])
            else:
                came.append(message.get("body", b"").decode())

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "server": ("lab.test", 80),
            "scheme": "http",
        }
        running = asyncio.create_task(lab.app(scope, receive, send))
        await asyncio.sleep(seconds)
        await asyncio.to_thread(meanwhile)
        await asyncio.sleep(seconds)
        left.set()
        await running

    asyncio.run(once())
    return status[0], "".join(came)


def stream(lab, token, session, last=None, meanwhile=lambda: None):
    headers = {"accept": "text/event-stream", **lab.bearer(token), **session}
    if last is not None:
        headers["last-event-id"] = last
    return listen(lab, headers, meanwhile)


def test_the_owners_stream_is_resumed_with_what_was_missed(lab, keys):
    token = keys.token()
    session = lab.open_session(token)
    lab.post(READ, token, session)
    lab.post(tool("whoami"), token, session)
    status, text = stream(lab, token, session, last="0")
    assert status == 200
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert [event["params"]["data"]["tool"] for event in events] == ["get_invoice", "whoami"]
    _, rest = stream(lab, token, session, last="1")
    assert ALICE not in rest
    assert "whoami" in rest
    _, nothing = stream(lab, token, session, last="99")
    assert "whoami" not in nothing


def test_a_stream_carries_what_its_own_session_does_and_no_more(lab, keys):
    token = keys.token()
    session, other = lab.open_session(token), lab.open_session(token)

    def call():
        lab.post(READ, token, session)

    assert ALICE in stream(lab, token, session, meanwhile=call)[1]
    assert ALICE not in stream(lab, token, other, meanwhile=call)[1]


def test_a_weaker_token_of_the_owner_hears_nothing_beyond_its_scopes(lab, keys):
    session = lab.open_session(keys.token())
    lab.post(READ, keys.token(), session)
    assert ALICE not in stream(lab, keys.token(scope=""), session, last="0")[1]
    assert ALICE in stream(lab, keys.token(scope="invoices:read"), session, last="0")[1]


def test_nobody_else_resumes_the_stream(lab, keys):
    session = lab.open_session(keys.token())
    lab.post(READ, keys.token(), session)
    for token, status in ((None, 401), (keys.forged(), 401), (keys.token(exp=1), 401), (keys.token("bob"), 404)):
        answered, text = stream(lab, token, session, last="0")
        assert (answered, ALICE in text) == (status, False)


@pytest.fixture
def faulty(make_lab):
    return lambda name: make_lab(fault=NAMED[name])


def test_a_session_id_stands_for_a_token(faulty, keys):
    lab = faulty("session-for-token")
    session = lab.open_session(keys.token())
    assert ALICE in lab.post(READ, None, session).text
    assert lab.post(READ, keys.forged(), session).status_code == 401
    assert lab.post(READ, None).status_code == 401


def test_get_and_delete_take_any_token(faulty, keys):
    lab = faulty("session-stream-unverified")
    session = lab.open_session(keys.token())
    assert stream(lab, keys.forged(), session)[0] == 200
    assert stream(lab, None, session)[0] == 401
    assert lab.post(READ, keys.forged(), session).status_code == 401
    lab = faulty("session-delete-unverified")
    session = lab.open_session(keys.token())
    assert lab.send("DELETE", "/mcp", {**lab.bearer(keys.forged()), **session}).status_code == 204
    assert lab.post(READ, keys.token(), session).status_code == 404


def test_resuming_needs_no_token(faulty, keys):
    lab = faulty("session-resume-open")
    session = lab.open_session(keys.token())
    lab.post(READ, keys.token(), session)
    assert ALICE in stream(lab, None, session, last="0")[1]
    assert stream(lab, None, session)[0] == 401


@pytest.mark.parametrize(
    ("name", "sees"), [("session-unbound", False), ("session-keeps-first-user", True)], ids=["unbound", "kept"]
)
def test_bob_in_the_session_of_alice(faulty, keys, name, sees):
    lab = faulty(name)
    session = lab.open_session(keys.token())
    answer = lab.post(READ, keys.token("bob"), session)
    assert answer.status_code == 200
    assert (ALICE in answer.text) is sees
    assert (BOB in lab.post(tool(invoice_id="INV-2"), keys.token("bob"), session).text) is not sees


def test_the_first_scopes_hold_for_the_session(faulty, keys):
    lab = faulty("session-keeps-first-scopes")
    session = lab.open_session(keys.token(scope="invoices:read"))
    assert lab.post(tool("export_invoices"), keys.token(), session).status_code == 403
    session = lab.open_session(keys.token())
    assert lab.post(tool("export_invoices"), keys.token(scope="invoices:read"), session).status_code == 200


def test_a_session_is_bound_to_one_token_or_breaks_on_another_client(faulty, keys):
    lab = faulty("session-bound-to-token")
    first = keys.token(exp=4_000_000_000)
    session = lab.open_session(first)
    assert lab.post(READ, first, session).status_code == 200
    assert lab.post(READ, keys.token(exp=4_000_000_001), session).status_code == 404
    lab = faulty("session-other-client-breaks")
    session = lab.open_session(keys.token())
    assert lab.post(READ, keys.token(client_id="second"), session).status_code == 500
    assert lab.post(READ, keys.token("bob"), session).status_code == 404


def test_streams_mix(faulty, keys):
    lab = faulty("session-stream-broadcast")
    session, other = lab.open_session(keys.token()), lab.open_session(keys.token("bob"))
    heard = stream(lab, keys.token("bob"), other, meanwhile=lambda: lab.post(READ, keys.token(), session))
    assert ALICE in heard[1]
    lab = faulty("session-resume-anywhere")
    session, other = lab.open_session(keys.token()), lab.open_session(keys.token("bob"))
    lab.post(READ, keys.token(), session)
    assert ALICE in stream(lab, keys.token("bob"), other, last="0")[1]


def test_a_replay_asks_for_no_scope(faulty, keys):
    lab = faulty("session-resume-unscoped")
    session = lab.open_session(keys.token())
    lab.post(READ, keys.token(), session)
    assert ALICE in stream(lab, keys.token(scope=""), session, last="0")[1]


def test_ids_are_odd(faulty, keys):
    def ident(name):
        return faulty(name).open_session(keys.token())["mcp-session-id"]

    assert ident("session-ids-counting") == "session-1"
    assert int(ident("session-ids-by-clock"), 16) > 1_700_000_000 * 10**9
    assert " " in ident("session-ids-with-space")
    assert not ident("session-ids-beyond-ascii").isascii()


def test_a_session_has_no_end_or_no_beginning(faulty, keys):
    lab = faulty("session-survives-its-end")
    session = lab.open_session(keys.token())
    assert lab.send("DELETE", "/mcp", {**lab.bearer(keys.token()), **session}).status_code == 204
    assert lab.post(READ, keys.token(), session).status_code == 200
    lab = faulty("session-id-adopted")
    assert lab.post(READ, keys.token(), {"mcp-session-id": "mine"}).status_code == 200
    assert faulty("session-missing-as-404").post(READ, keys.token()).status_code == 404


def test_the_stateless_era_looks_sessions_up(faulty, keys):
    lab = faulty("session-lent-to-stateless")
    live = {"mcp-session-id": lab.open_session(keys.token())["mcp-session-id"]}
    assert ALICE in lab.modern("tools/call", READ["params"], None, live).text
    assert lab.modern("tools/call", READ["params"], None, {"mcp-session-id": "x"}).status_code == 401
    lab = faulty("session-header-in-stateless")
    live = {"mcp-session-id": lab.open_session(keys.token())["mcp-session-id"]}
    assert lab.modern("tools/list", None, keys.token(), {"mcp-session-id": "x"}).status_code == 404
    assert lab.modern("tools/list", None, keys.token(), live).status_code == 200


def test_everything_is_marked_for_public_caches(faulty, keys):
    answer = faulty("cache-scope-public").modern("resources/list", None, keys.token())
    assert answer.json()["result"]["cacheScope"] == "public"
