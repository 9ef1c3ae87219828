"""Requests are written as each revision demands; conversations follow what the server says."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import httpx
import pytest

from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.wire import (
    LISTS,
    Call,
    Conversation,
    HttpClient,
    Listing,
    Redactor,
    detect_revisions,
    list_all,
    operation_call,
    request,
)
from mcp_auth_contract.wire.mcp import initialize, notification, read_headers

URL = "http://127.0.0.1:1/mcp"
Done = TypeVar("Done")
Respond = Callable[[httpx.Request, Mapping[str, Any]], httpx.Response]


def converse(respond: Respond, use: Callable[[Conversation], Awaitable[Done]]) -> tuple[Done, list[httpx.Request]]:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return respond(request, json.loads(request.content or b"{}"))

    async def run() -> Done:
        transport = httpx.MockTransport(answer)
        async with HttpClient(URL, redactor=Redactor(), transport=transport) as http:
            return await use(Conversation(http, URL))

    return asyncio.run(run()), asked


def result(message: Mapping[str, Any], value: Any, **headers: str) -> httpx.Response:
    return httpx.Response(200, json={"jsonrpc": "2.0", "id": message.get("id"), "result": value}, headers=headers)


def error(message: Mapping[str, Any], status: int, code: int, data: Any = None) -> httpx.Response:
    fault = {"code": code, "message": "no"} | ({"data": data} if data is not None else {})
    return httpx.Response(status, json={"jsonrpc": "2.0", "id": message.get("id"), "error": fault})


CALL = Call("tools/call", {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}})


@pytest.mark.parametrize("revision", list(Revision))
def test_only_what_the_revision_knows_is_in_the_headers(revision: Revision) -> None:
    headers = dict(request(revision, CALL, 3, session="s-1").headers)
    assert headers["Accept"] == "application/json, text/event-stream"
    assert headers.get("MCP-Protocol-Version") == (None if revision == Revision.R2025_03_26 else revision.value)
    assert headers.get("Mcp-Session-Id") == (None if revision.stateless else "s-1")
    assert headers.get("Mcp-Method") == ("tools/call" if revision.stateless else None)
    assert headers.get("Mcp-Name") == ("get_invoice" if revision.stateless else None)


@pytest.mark.parametrize("revision", list(Revision))
def test_only_the_stateless_era_puts_metadata_into_the_body(revision: Revision) -> None:
    message = request(revision, CALL, 3)
    value = json.loads(message.body)
    meta = value["params"].pop("_meta", None)
    assert value == {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": dict(CALL.params)}
    if revision.stateless:
        assert meta["io.modelcontextprotocol/protocolVersion"] == revision.value
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "mcp-auth-contract"
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    else:
        assert meta is None


def test_initialize_says_what_the_client_answers() -> None:
    message = initialize(Revision.R2025_11_25, 1, {"elicitation": {}})
    assert message.value["params"]["capabilities"] == {"elicitation": {}}
    assert initialize(Revision.R2025_11_25, 1).value["params"]["capabilities"] == {}


def test_initialize_carries_neither_session_nor_version_header() -> None:
    message = initialize(Revision.R2025_11_25, 1)
    assert {name for name, _ in message.headers} == {"Content-Type", "Accept"}
    assert json.loads(message.body)["params"]["protocolVersion"] == "2025-11-25"


def test_a_notification_has_no_id() -> None:
    message = notification(Revision.R2025_06_18, Call("notifications/initialized", {}), session="s")
    assert message.id is None
    assert json.loads(message.body) == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert ("Mcp-Session-Id", "s") in message.headers


def test_a_read_carries_session_and_version() -> None:
    headers = dict(read_headers(Revision.R2025_11_25, "s", accept="text/event-stream"))
    assert headers == {"Accept": "text/event-stream", "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "s"}


@pytest.mark.parametrize(
    ("name", "plain"),
    [("get_invoice", True), ("a b", True), ("", True), ("zażółć", False), (" edge ", False), ("tab\there", False),
     ("=?base64?eA==?=", False)],
)  # fmt: skip
def test_a_name_that_a_header_cannot_carry_goes_in_base64(name: str, plain: bool) -> None:
    headers = dict(request(Revision.R2026_07_28, Call("prompts/get", {"name": name}), 1).headers)
    encoded = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
    assert headers["Mcp-Name"] == (name if plain else encoded)


def test_a_resource_is_named_by_its_uri() -> None:
    call = operation_call(OperationKind.RESOURCE, "invoice://INV-1", {})
    assert dict(request(Revision.R2026_07_28, call, 1).headers)["Mcp-Name"] == "invoice://INV-1"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel"])
def test_a_task_is_named_by_its_id(method: str) -> None:
    call = Call(method, {"taskId": "786512e2"})
    assert dict(request(Revision.R2026_07_28, call, 1).headers)["Mcp-Name"] == "786512e2"
    assert "Mcp-Name" not in dict(request(Revision.R2025_11_25, call, 1).headers)


def test_what_a_client_can_do_stands_in_the_requests_of_the_stateless_era() -> None:
    client = {"elicitation": {"form": {}}}
    for revision in (Revision.R2026_07_28, Revision.R2025_11_25):
        params = json.loads(request(revision, CALL, 1, capabilities=client).body)["params"]
        meta = params.get("_meta", {})
        assert meta.get("io.modelcontextprotocol/clientCapabilities") == (client if revision.stateless else None)


def test_arguments_that_a_schema_marks_are_mirrored() -> None:
    schema = {
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "nested": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "odd": {"type": "string", "x-mcp-header": "not a token"},
            "plain": {"type": "string"},
        }
    }
    arguments = {"region": "zürich", "dry": True, "nested": {"count": 4}, "odd": "x", "plain": "y"}
    call = operation_call(OperationKind.TOOL, "t", arguments)
    headers = dict(request(Revision.R2026_07_28, call, 1, schema=schema).headers)
    mirrored = {name: value for name, value in headers.items() if name.startswith("Mcp-Param-")}
    encoded = f"=?base64?{base64.b64encode('zürich'.encode()).decode()}?="
    assert mirrored == {"Mcp-Param-Region": encoded, "Mcp-Param-Dry": "true", "Mcp-Param-Count": "4"}
    legacy = request(Revision.R2025_11_25, call, 1, schema=schema).headers
    assert not [name for name, _ in legacy if name.startswith("Mcp-Param-")]


def test_prompt_arguments_are_strings() -> None:
    call = operation_call(OperationKind.PROMPT, "p", {"n": 1, "flag": True, "text": "x"})
    assert call.params["arguments"] == {"n": "1", "flag": "true", "text": "x"}


def test_a_session_is_opened_used_and_closed() -> None:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        if message.get("method") == "initialize":
            value = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "inv", "version": "2"}}
            return result(message, value, **{"Mcp-Session-Id": "eyJhbGciOi.eyJzaWQiOjF9.c2lnbmF0dXJl"})
        return httpx.Response(202 if request.method == "POST" else 204)

    async def use(conversation: Conversation) -> Any:
        handshake = await conversation.open_session(Revision.R2025_11_25, (("Authorization", "Bearer x"),))
        return handshake, await conversation.close_session(handshake, (("Authorization", "Bearer x"),))

    (handshake, closed), asked = converse(respond, use)
    assert handshake.open
    assert handshake.revision == Revision.R2025_06_18
    assert handshake.session == "eyJhbGciOi.eyJzaWQiOjF9.c2lnbmF0dXJl"
    assert handshake.session not in repr(handshake)
    assert handshake.server["name"] == "inv"
    assert closed.status == 204
    assert [one.method for one in asked] == ["POST", "POST", "DELETE"]
    for one in asked:
        assert one.headers["authorization"] == "Bearer x"
    for one in asked[1:]:
        assert one.headers["mcp-session-id"] == handshake.session
        assert one.headers["mcp-protocol-version"] == "2025-06-18"


def test_a_refused_handshake_is_not_followed_up() -> None:
    handshake, asked = converse(
        lambda request, message: httpx.Response(401), lambda talk: talk.open_session(Revision.R2025_11_25)
    )
    assert not handshake.open
    assert handshake.session is None
    assert len(asked) == 1


def test_a_server_without_sessions_is_not_sent_a_delete() -> None:
    async def use(conversation: Conversation) -> Any:
        return await conversation.close_session(await conversation.open_session(Revision.R2025_11_25))

    closed, asked = converse(lambda request, message: result(message, {"protocolVersion": "2025-11-25"}), use)
    assert closed is None
    assert "DELETE" not in [one.method for one in asked]


MODERN, LEGACY = Revision.R2026_07_28, Revision.R2025_11_25


def era(discover: Callable[[Mapping[str, Any]], httpx.Response], legacy: str | None) -> Respond:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        method = message.get("method")
        if method == "server/discover":
            return discover(message)
        if method == "initialize":
            return result(message, {"protocolVersion": legacy}) if legacy else error(message, 400, -32022)
        return httpx.Response(202)

    return respond


@pytest.mark.parametrize(
    ("discover", "legacy", "revisions"),
    [
        (lambda m: result(m, {"supportedVersions": ["2026-07-28"]}), None, (MODERN,)),
        (lambda m: result(m, {"supportedVersions": ["2026-07-28", "2099-01-01"]}), "2025-11-25", (MODERN, LEGACY)),
        (lambda m: error(m, 400, -32022, {"supported": ["2026-07-28"]}), None, (MODERN,)),
        (lambda m: error(m, 400, -32020), None, (MODERN,)),
        (lambda m: error(m, 400, -32021), "2025-11-25", (MODERN, LEGACY)),
        (lambda m: error(m, 404, -32601), "2025-11-25", (LEGACY,)),
        (lambda m: error(m, 200, -32602), "2025-03-26", (Revision.R2025_03_26,)),
        (lambda m: httpx.Response(405), "2025-06-18", (Revision.R2025_06_18,)),
        (lambda m: httpx.Response(406, text="no"), "2025-11-25", (LEGACY,)),
        (lambda m: httpx.Response(401), "2025-11-25", (LEGACY,)),
        (lambda m: httpx.Response(401), None, ()),
        (lambda m: httpx.Response(200, text="<html>"), None, ()),
    ],
)
def test_the_revisions_are_what_the_server_shows(discover: Any, legacy: str | None, revisions: Any) -> None:
    detected, _ = converse(era(discover, legacy), detect_revisions)
    assert detected.revisions == revisions


def pages(*served: Any) -> Respond:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        cursor = message.get("params", {}).get("cursor")
        return result(message, next(page for asked, page in served if asked in (cursor, "any")))

    return respond


def test_a_list_is_followed_to_its_end_by_cursors_as_they_came() -> None:
    jwt_like = "eyJvZmZzZXQi.eyJwYWdlIjoyfQ.c2lnbmVk"
    first = {"tools": [{"name": "a"}, "odd"], "nextCursor": jwt_like}
    listing, asked = converse(
        pages((None, first), (jwt_like, {"tools": [{"name": "b"}]})),
        lambda talk: list_all(talk, LEGACY, LISTS["tools"]),
    )
    assert [entry["name"] for entry in listing.entries] == ["a", "b"]
    assert listing.complete
    assert len(listing.answers) == len(asked) == 2


def test_a_cursor_that_comes_back_ends_the_list_unfinished() -> None:
    ring = {"tools": [{"name": "a"}], "nextCursor": "again"}
    listing, asked = converse(pages(("any", ring)), lambda talk: list_all(talk, LEGACY, LISTS["tools"]))
    assert not listing.complete
    assert len(asked) == 2


def test_ever_new_cursors_end_after_a_thousand_pages_and_the_second_time_after_twenty() -> None:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        return result(message, {"tools": [], "nextCursor": str(message["id"])})

    async def twice(talk: Conversation) -> tuple[Listing, Listing]:
        return await list_all(talk, LEGACY, LISTS["tools"]), await list_all(talk, LEGACY, LISTS["tools"])

    (listing, again), asked = converse(respond, twice)
    assert not listing.complete
    assert "1,000 pages" in listing.unread
    assert "20 pages" in again.unread
    assert len(asked) == 1020


@pytest.mark.parametrize(
    "second",
    [{"tools": {}}, {"nextCursor": "x"}, {"tools": [], "nextCursor": 3}, {"tools": [], "nextCursor": {}}],
)
def test_a_later_page_that_is_no_page_leaves_the_list_unfinished(second: Any) -> None:
    first = {"tools": [{"name": "a"}], "nextCursor": "b"}
    listing, _ = converse(pages((None, first), ("b", second)), lambda talk: list_all(talk, LEGACY, LISTS["tools"]))
    assert not listing.complete
    assert "page 2" in listing.unread


def test_a_refused_list_is_empty_and_unfinished() -> None:
    listing, _ = converse(
        lambda request, message: httpx.Response(401), lambda talk: list_all(talk, LEGACY, LISTS["tools"])
    )
    assert (listing.entries, listing.complete) == ((), False)


PLAIN = (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"))


@pytest.mark.parametrize(
    ("revision", "headers"),
    [
        (Revision.R2025_03_26, (*PLAIN, ("Mcp-Session-Id", "S"))),
        (Revision.R2025_06_18, (*PLAIN, ("MCP-Protocol-Version", "2025-06-18"), ("Mcp-Session-Id", "S"))),
        (Revision.R2025_11_25, (*PLAIN, ("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Session-Id", "S"))),
        (Revision.R2026_07_28, (*PLAIN, ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list"))),
    ],
)
def test_a_list_is_asked_for_with_exactly_these_fields(revision: Revision, headers: Any) -> None:
    message = request(revision, Call("tools/list", {}), 2, session="S")
    assert message.headers == headers
    value = json.loads(message.body)
    assert value.pop("params", {}).keys() == ({"_meta"} if revision.stateless else set())
    assert value == {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def test_an_array_is_never_sent_and_a_name_of_any_language_is_utf_8() -> None:
    body = request(Revision.R2025_03_26, Call("prompts/get", {"name": "zażółć"}), 1).body
    assert body.startswith(b"{")
    assert "zażółć".encode() in body


def session_of(value: bytes) -> Respond:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        if message.get("method") != "initialize":
            return httpx.Response(202)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-11-25"}}
        return httpx.Response(200, json=answer, headers=[(b"Mcp-Session-Id", value)])

    return respond


@pytest.mark.parametrize("value", [b"", b"a\x01b", b"a\x7fb", b"a\x00b"])
def test_a_session_id_that_cannot_be_sent_back_is_none(value: bytes) -> None:
    handshake, asked = converse(session_of(value), lambda talk: talk.open_session(LEGACY))
    assert handshake.open
    assert handshake.session is None
    assert all("mcp-session-id" not in one.headers for one in asked)
    detected, _ = converse(session_of(value), detect_revisions)
    assert detected.revisions == (LEGACY,)


@pytest.mark.parametrize("value", [b"4f7a-0c", b"a b", b"a=b;c", "zażółć".encode()])
def test_any_other_session_id_goes_back_as_it_came(value: bytes) -> None:
    _, asked = converse(session_of(value), lambda talk: talk.open_session(LEGACY))
    assert dict(asked[1].headers.raw)[b"Mcp-Session-Id"] == value


@pytest.mark.parametrize("chosen", ["2024-11-05", "2099-01-01", "", None, 5, [], {}])
def test_a_revision_that_the_kit_does_not_know_is_not_taken_for_one_that_it_does(chosen: Any) -> None:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        if message.get("method") == "initialize":
            return result(message, {"protocolVersion": chosen, "serverInfo": {"name": "old", "version": 1}})
        return error(message, 200, -32601)

    detected, _ = converse(respond, detect_revisions)
    assert detected.revisions == ()
    assert (detected.name, detected.version) == ("old", None)


def test_a_session_opened_to_look_is_closed_again() -> None:
    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        if message.get("method") == "server/discover":
            return error(message, 404, -32601)
        return session_of(b"s-1")(request, message)

    _, asked = converse(respond, lambda talk: detect_revisions(talk, (("Authorization", "Bearer x"),)))
    assert [one.method for one in asked] == ["POST", "POST", "POST", "DELETE"]
    assert asked[-1].headers["mcp-session-id"] == "s-1"
    assert all(one.headers["authorization"] == "Bearer x" for one in asked)


@pytest.mark.parametrize("odd", [{"supportedVersions": "2026-07-28"}, {"supportedVersions": [5, None, {}]}, {}])
def test_an_odd_discovery_proves_nothing(odd: Any) -> None:
    detected, _ = converse(era(lambda m: result(m, odd), None), detect_revisions)
    assert detected.revisions == ()


def test_a_discovery_names_the_server() -> None:
    info = {"io.modelcontextprotocol/serverInfo": {"name": "inv", "version": "3"}}
    found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "_meta": info}
    detected, _ = converse(era(lambda m: result(m, found), None), detect_revisions)
    assert (detected.name, detected.version, detected.revisions) == ("inv", "3", (MODERN,))
    assert len(detected.answers) == 2


def test_a_server_cannot_call_itself_by_the_token_that_it_got() -> None:
    secret = "s3cret-token-of-alice-0123456789"

    def respond(request: httpx.Request, message: Mapping[str, Any]) -> httpx.Response:
        said = request.headers.get("authorization", "")
        info = {"name": f"you sent {said}", "version": said}
        if message.get("method") == "initialize":
            return result(message, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info})
        return result(message, {"_meta": {"io.modelcontextprotocol/serverInfo": info}})

    async def use(conversation: Conversation) -> tuple[str | None, str | None]:
        conversation.http.redactor.register(secret, "good")
        detected = await detect_revisions(conversation, (("Authorization", f"Bearer {secret}"),))
        return detected.name, detected.version

    (name, version), _ = converse(respond, use)
    assert name is not None
    assert name.startswith("you sent ")
    assert secret not in f"{name} {version}"
