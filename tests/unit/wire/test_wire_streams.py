"""Bodies and event streams are read until the awaited answer, however they are cut into pieces."""

import asyncio
import gzip
import json
import time
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile.servers import Asked, hostile

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.wire import HttpClient, Redactor, Request
from mcp_auth_contract.wire.messages import Body, messages_in, reply_among

REPLY = '{"jsonrpc":"2.0","id":7,"result":{"ok":true}}'
NOTE = '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'


def body_of(octets: bytes, *, stream: bool = True, expects_id: int | str | None = 7, encoding: str = "") -> Body:
    body = Body(limit=10_000, encoding=encoding, stream=stream, expects_id=expects_id)
    body.feed(octets)
    return body


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_an_event_is_found_whatever_ends_its_lines_and_however_it_is_cut(end: str, size: int) -> None:
    lines = [": ping", "", "id: 1", "data:", "", "event: message", f"data: {NOTE}", "", f"data: {REPLY}", "", ""]
    octets = end.join(lines).encode()
    body = Body(limit=10_000, encoding="", stream=True, expects_id=7)
    for start in range(0, len(octets), size):
        assert not body.answered or octets[start:] == b"\n"
        body.feed(octets[start : start + size])
    assert body.answered
    assert body.events == [NOTE, REPLY]
    assert body.text == octets.decode()


def test_data_over_several_lines_is_one_message() -> None:
    body = body_of(b'data: {"jsonrpc":"2.0",\ndata:"id":7,\ndata: "result":{}}\n\n')
    assert body.answered
    assert [json.loads(event)["id"] for event in body.events] == [7]


def test_a_byte_order_mark_does_not_hide_the_first_event() -> None:
    assert body_of(b"\xef\xbb\xbfdata: " + REPLY.encode() + b"\n\n").answered


@pytest.mark.parametrize("identifier", ['"7"', "true", "null", "8", "[7]"])
def test_the_answer_to_somebody_else_is_not_the_awaited_one(identifier: str) -> None:
    assert not body_of(f'data: {{"jsonrpc":"2.0","id":{identifier},"result":{{}}}}\n\n'.encode()).answered


def test_a_request_of_the_server_with_the_same_id_is_not_the_answer() -> None:
    assert not body_of(b'data: {"jsonrpc":"2.0","id":7,"method":"ping"}\n\n').answered


def test_an_awaited_one_is_not_mistaken_for_true() -> None:
    assert not body_of(b'data: {"jsonrpc":"2.0","id":true,"result":{}}\n\n', expects_id=1).answered


def test_with_nothing_awaited_the_first_event_with_data_is_enough() -> None:
    assert not body_of(b": ping\n\nid: 1\ndata:\n\n", expects_id=None).answered
    assert body_of(b": ping\n\ndata: hello\n\n", expects_id=None).answered


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_octets_make_a_text_and_no_exception(octets: bytes, size: int) -> None:
    body = Body(limit=200, encoding="", stream=True, expects_id=None)
    for start in range(0, len(octets), size):
        if body.truncated:
            break
        body.feed(octets[start : start + size])
    body.finish()
    body.text.encode()
    assert ("not UTF-8" in " ".join(body.notes)) == (not _is_utf8(octets[:200])) or len(octets) > 200


def _is_utf8(octets: bytes) -> bool:
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_packed_body_is_unpacked(encoding: str, pack: Any) -> None:
    body = body_of(pack(REPLY.encode()), stream=False, encoding=encoding)
    assert body.text == REPLY
    assert not body.truncated


def test_a_bomb_is_unpacked_up_to_the_limit() -> None:
    body = body_of(gzip.compress(bytes(50_000_000)), stream=False, encoding="gzip")
    assert body.truncated
    assert len(body.text) == 10_000


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (REPLY, 1),
        (f"[{REPLY},{NOTE}]", 2),
        (f"\ufeff {REPLY}", 1),
        ('{"error":"invalid_token","error_description":"x"}', 0),
        ('{"id":1,"result":{}}', 1),
        ('"text"', 0),
        ("[1,2]", 0),
        ("[1],x", 0),
        ('[1],"x":2', 0),
        ("<html>", 0),
        ("", 0),
        ("[" * 100_000, 0),
        ('{"jsonrpc":"2.0","id":' + "9" * 5000 + "}", 1),
    ],
)
def test_messages_are_found_in_any_json_text(text: str, count: int) -> None:
    assert len(messages_in(text)) == count


def test_a_lone_error_without_an_id_is_the_reply_and_one_of_two_is_not() -> None:
    lone = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600}}
    named = {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert reply_among((lone,), 7) is lone
    assert reply_among((lone, named), 7) is named
    assert reply_among((lone, lone), 7) is None
    assert reply_among((named,), 8) is None


def exchange(*pieces: tuple[bytes, float], hold: float = 0.0, times: int = 1, expects_id: int | None = 7) -> Any:
    """Serve an event stream in pieces with pauses; return the answers, the connections used and the seconds taken."""

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for octets, pause in pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(octets), octets))
            await writer.drain()
            await asyncio.sleep(pause)
        await asyncio.sleep(hold)
        writer.write(b"0\r\n\r\n")

    async def run() -> tuple[list[Answer], int, float]:
        async with (
            hostile(behaviour) as server,
            HttpClient(server.url, redactor=Redactor(), time_limit=3.0) as http,
        ):
            begun = time.perf_counter()
            request = Request("POST", server.url, expects_id=expects_id)
            answers = [await http.send(request) for _ in range(times)]
            return answers, server.connections, time.perf_counter() - begun

    return asyncio.run(run())


EVENT = f"data: {REPLY}\n\n".encode()


def test_a_stream_gives_its_messages_and_the_reply() -> None:
    (answer,), _, _ = exchange((b": hi\n\ndata: " + NOTE.encode() + b"\n\n", 0.02), (EVENT[:9], 0.02), (EVENT[9:], 0))
    assert answer.stream
    assert len(answer.messages) == 2
    assert answer.reply == json.loads(REPLY)
    assert not answer.truncated


def test_the_connection_of_a_stream_that_ends_is_used_again() -> None:
    _, connections, _ = exchange((EVENT, 0.0), times=4)
    assert connections == 1


def test_a_stream_that_stays_open_after_the_answer_is_left_and_costs_time_once() -> None:
    answers, connections, seconds = exchange((EVENT, 0.0), hold=20, times=5)
    assert all(answer.reply is not None and not answer.truncated for answer in answers)
    assert connections == 5
    assert seconds < 20  # the server holds each for as long


@pytest.mark.slow
def test_with_nothing_awaited_an_open_stream_is_left_after_a_second_of_silence() -> None:
    (answer,), _, seconds = exchange((b": hi\n\n", 0.0), hold=20, expects_id=None)
    assert answer.status == 200
    assert answer.stream
    assert answer.messages == ()
    assert 0.9 < seconds < 20  # the server holds it for as long
