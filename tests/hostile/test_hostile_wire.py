"""Whatever a server does, one exchange ends in one answer: in time, in bounded memory, without an exception."""

import asyncio
import contextlib
import gc
import ssl
import time
import tracemalloc
import warnings
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trustme
from tests.hostile.servers import BEHAVIOURS, Behaviour, hostile

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Answer, TransportFailure, read
from mcp_auth_contract.wire import HttpClient, Redactor, Request

LIMIT = 0.6
SLACK = 25.0
"""What a busy machine may take; hostile servers hold on for longer than both, or for ever."""
MEMORY = 24 * 1024 * 1024


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def door_to(url: str, limit: float = LIMIT) -> AsyncIterator[HttpClient]:
    async with HttpClient(url, redactor=Redactor(), time_limit=limit, sleep=no_sleep) as http:
        yield http


def ask(behaviour: Behaviour, limit: float = LIMIT, **served: Any) -> tuple[Answer, HttpClient, float]:
    async def exchange() -> tuple[Answer, HttpClient, float]:
        async with hostile(behaviour, **served) as server, door_to(server.url, limit) as http:
            body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
            begun = time.perf_counter()
            answer = await http.send(Request("POST", server.url, (), body, expects_id=1))
            return answer, http, time.perf_counter() - begun

    return asyncio.run(exchange())


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_every_exchange_ends_in_time_as_one_recorded_answer(name: str) -> None:
    answer, http, seconds = ask(BEHAVIOURS[name])
    assert (answer.status is None) == (answer.failure is not None)
    assert seconds < LIMIT + SLACK
    assert http.evidence.get(answer.exchange) is not None
    assert all(len(one.response_body) <= 16 * 1024 for one in http.evidence.exchanges())


@pytest.mark.parametrize(
    "name",
    ["endless_body", "endless_chunk_size", "endless_event", "gzip_bomb", "huge_body", "huge_header", "many_headers",
     "stream_flood"],
)  # fmt: skip
def test_no_flood_fills_the_memory(name: str) -> None:
    tracemalloc.start()
    try:
        ask(BEHAVIOURS[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("closed_at_once", TransportFailure.RESET),
        ("reset", TransportFailure.RESET),
        ("half_closed", TransportFailure.RESET),
        ("silence", TransportFailure.TIMEOUT),
        ("slow_head", TransportFailure.TIMEOUT),
        ("informational_flood", TransportFailure.TIMEOUT),
        ("garbage", TransportFailure.PROTOCOL),
        ("huge_header", TransportFailure.PROTOCOL),
        ("many_headers", TransportFailure.PROTOCOL),
        ("two_lengths", TransportFailure.PROTOCOL),
    ],
)
def test_without_a_status_the_trouble_is_named(name: str, failure: TransportFailure) -> None:
    answer, _, _ = ask(BEHAVIOURS[name], limit=LIMIT if failure is TransportFailure.TIMEOUT else 20.0)
    assert answer.failure is failure
    assert read(answer) == Ambiguous(AmbiguityReason.NO_ANSWER)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chunked_nonsense", "the answer breaks HTTP"),
        ("cut_body", "the answer breaks HTTP"),
        ("endless_body", "more than 1048576 octets"),
        ("endless_chunk_size", "the answer breaks HTTP"),
        ("gzip_bomb", "more than 1048576 octets"),
        ("gzip_garbage", "Content-Encoding does not decode"),
        ("huge_body", "more than 1048576 octets"),
        ("silent_stream", "no answer in time"),
        ("slow_body", "no answer in time"),
        ("stream_flood", "more than 1048576 octets"),
        ("unanswered_stream", "no answer in time"),
    ],
)
def test_a_status_survives_a_body_that_is_cut_short(name: str, said: str) -> None:
    answer, _, _ = ask(BEHAVIOURS[name], limit=LIMIT if "in time" in said else 20.0)
    assert answer.status == 200
    assert answer.truncated
    assert said in answer.detail
    assert read(answer) == Ambiguous(AmbiguityReason.UNREADABLE)


def test_a_bomb_of_nested_json_is_text_without_a_message() -> None:
    answer, _, _ = ask(BEHAVIOURS["deep_json"])
    assert answer.status == 200
    assert answer.text.startswith('{"jsonrpc"')
    assert answer.messages == ()


def test_octets_that_are_not_utf8_are_replaced_and_noted() -> None:
    answer, _, _ = ask(BEHAVIOURS["invalid_utf8"])
    assert "not UTF-8" in answer.detail
    assert "\ufffd" in answer.text
    assert read(answer) == Accepted()


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async def exchange() -> tuple[Answer, int]:
        async with hostile(BEHAVIOURS["redirect_ring"]) as server, door_to(server.url) as http:
            return await http.send(Request("POST", server.url)), len(server.asked)

    answer, asked = asyncio.run(exchange())
    assert (answer.status, asked) == (307, 1)


def test_429_is_tried_three_times_and_then_reported() -> None:
    answer, http, _ = ask(BEHAVIOURS["rate_limited"])
    assert answer.status == 429
    assert [one.status for one in http.evidence.exchanges()] == [429, 429, 429]


def test_429_that_asks_for_years_is_reported_at_once() -> None:
    answer, http, _ = ask(BEHAVIOURS["rate_limited_for_long"])
    assert answer.status == 429
    assert len(http.evidence.exchanges()) == 1


def test_a_server_that_drops_the_connection_after_each_500_can_be_asked_again() -> None:
    async def exchange() -> list[int | None]:
        async with hostile(BEHAVIOURS["server_error"]) as server, door_to(server.url) as http:
            return [(await http.send(Request("POST", server.url))).status for _ in range(5)]

    assert asyncio.run(exchange()) == [500] * 5


def test_https_to_a_plain_port_fails_in_tls() -> None:
    answer, _, _ = ask(BEHAVIOURS["silence"], scheme="https")
    assert answer.failure is TransportFailure.TLS


def test_a_handshake_that_is_broken_off_leaves_no_socket_open() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        ask(BEHAVIOURS["silence"], scheme="https")
        gc.collect()
    assert [one for one in caught if one.category is ResourceWarning] == []


def test_https_to_a_plain_port_that_answers_fails_in_tls() -> None:
    async def exchange() -> Answer:
        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, door_to(f"https://127.0.0.1:{port}/mcp") as http:
            return await http.send(Request("POST", f"https://127.0.0.1:{port}/mcp"))

    assert asyncio.run(exchange()).failure is TransportFailure.TLS


def test_http_to_a_tls_port_is_no_answer() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    answer, _, _ = ask(BEHAVIOURS["silence"], tls=context, scheme="http")
    assert answer.failure in (TransportFailure.RESET, TransportFailure.PROTOCOL)


def test_a_certificate_nobody_trusts_fails_in_tls_and_sends_nothing() -> None:
    async def exchange() -> tuple[Answer, int]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        async with hostile(BEHAVIOURS["server_error"], tls=context) as server, door_to(server.url) as http:
            headers = (("Authorization", "Bearer abcdefgh12345678"),)
            return await http.send(Request("POST", server.url, headers)), len(server.asked)

    answer, asked = asyncio.run(exchange())
    assert answer.failure is TransportFailure.TLS
    assert "certificate not trusted" in answer.detail
    assert asked == 0


def test_in_front_of_a_sound_server_only_the_chosen_requests_are_spoiled() -> None:
    async def exchange() -> list[int | None]:
        async def fine(asked: object, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            writer.close()

        async with hostile(fine) as sound:
            port = int(sound.url.split(":")[2].split("/")[0])
            async with (
                hostile(BEHAVIOURS["redirect_ring"], after=1, sound=("127.0.0.1", port)) as server,
                door_to(server.url) as http,
            ):
                urls = [server.url, server.url, server.url.replace("/mcp", "/other")]
                return [(await http.send(Request("GET", url))).status for url in urls]

    assert asyncio.run(exchange()) == [204, 307, 204]
