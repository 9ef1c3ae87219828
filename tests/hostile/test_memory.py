"""However much a server sends, a run keeps little of it."""

import asyncio
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from tests.hostile.servers import Asked
from tests.unit.wire.test_wire_http import respond, with_door

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.wire import Evidence, Exchange, HttpClient, Request, http
from mcp_auth_contract.wire.evidence import Room, cut_headers
from mcp_auth_contract.wire.messages import messages_in

_MIB = 1024 * 1024


def many_items(asked: Asked, number: int) -> bytes:
    items = [{"a": number * 100_000 + at} for at in range(6_000)]
    return json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": {"content": items}}).encode()


def many_events(asked: Asked, number: int) -> bytes:
    event = b'data: {"jsonrpc":"2.0","method":"notifications/x","params":{}}\n\n'
    last = json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": {"n": number}}).encode()
    return event * (_MIB // 6 // len(event)) + b"data: " + last + b"\n\n"


def one_word(asked: Asked, number: int) -> bytes:
    text = f"{number}" + "é" * (_MIB // 12)
    return json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": {"x": text}}, ensure_ascii=False).encode()


@pytest.mark.parametrize("make", [many_items, many_events, one_word])
def test_many_large_answers_take_little_memory(
    make: Callable[[Asked, int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_ROOM", _MIB // 2)
    sent = 0

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        sent += 1
        body = make(asked, sent)
        kind = "text/event-stream" if make is many_events else "application/json"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    async def use(http: HttpClient, server: Any) -> list[Answer]:
        kept = []
        for number in range(24):
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call"}).encode()
            answer = await http.send(Request("POST", server.url, (), body, expects_id=number, timeout=60))
            assert number > 2 or (answer.reply is not None and answer.reply["id"] == number)
            kept.append(answer)
        return kept

    tracemalloc.start()
    try:
        kept = with_door(behaviour, use)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == 24
    assert held < 14 * _MIB
    assert peak < 30 * _MIB
    assert kept[-1].truncated or make is one_word
    assert ("kept many long ones" in kept[-1].detail) is kept[-1].truncated


def test_of_header_fields_little_is_kept() -> None:
    lines = [f"X-{number}: {'x' * 900}" for number in range(90)]

    async def use(http: HttpClient, server: Any) -> None:
        answer = await http.send(Request("GET", server.url))
        assert sum(len(value) for _, value in answer.headers) < 20_000
        (one,) = http.evidence.exchanges()
        assert sum(len(value) for _, value in one.response_headers) < 9_000
        assert "cut" in str(one.response_headers[-1])

    with_door(respond(b"{}", *lines), use)


def exchange(number: int, body: str) -> Exchange:
    lines = (("x-long", "h" * 50_000),)
    return Exchange(f"x{number}", "GET", "http://a/", (), body, False, 200, lines, body, False, 0.0, 0.0)


def test_the_evidence_of_a_long_run_is_bounded_and_says_what_was_cut() -> None:
    evidence = Evidence()
    for number in range(1, 4000):
        evidence.record(exchange(number, f"{number:04}" * 5000))
    text = json.dumps([one.as_dict() for one in evidence.exchanges()])
    assert len(text) < 32 * _MIB
    first, *_, last = evidence.exchanges()
    assert len(first.response_body) == 16 * 1024
    assert last.response_truncated
    assert last.request_truncated
    assert last.response_body


def test_short_exchanges_are_kept_whole_however_many() -> None:
    evidence = Evidence()
    for number in range(1, 9000):
        evidence.record(exchange(number, "b" * 1000))
    assert all(one.response_body == "b" * 1000 and not one.response_truncated for one in evidence.exchanges())


def test_room_is_taken_by_what_is_long() -> None:
    room = Room(10)
    assert [room.cap(size, 20, 5) for size in (5, 12, 100, 6, 5)] == [5, 12, 5, 5, 5]
    assert cut_headers((("a", "123"), ("b", "456"))) == (("a", "123"), ("b", "456"))


@pytest.mark.parametrize("stream", [False, True])
def test_messages_of_a_large_text_are_those_of_a_small_one(stream: bool) -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * 70_000}})
    (large,) = messages_in(f"data: {message}\n\n" if stream else message, stream=stream)
    assert dict(large) == json.loads(message)
    assert large.get("error") is None
    assert "result" in large
