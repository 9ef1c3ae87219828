import asyncio
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from freezegun import freeze_time
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.errors import UsageError

unwound = threading.Event()


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


async def crash(_: Request) -> Response:
    raise RuntimeError("the app's own fault")


async def endless(_: Request) -> Response:
    async def events() -> AsyncIterator[str]:
        try:
            while True:
                yield "data: tick\n\n"
                await asyncio.sleep(0.01)
        finally:
            unwound.set()

    return StreamingResponse(events(), media_type="text/event-stream")


APP = Starlette(routes=[Route("/", hello), Route("/crash", crash), Route("/endless", endless)])


def test_the_app_answers_at_the_url_and_no_longer_afterwards() -> None:
    with serve_in_thread(APP) as served:
        assert served.url == f"http://127.0.0.1:{served.port}"
        assert httpx.get(served.url).text == "hello"
        assert "server" not in httpx.get(served.url).headers
    with pytest.raises(httpx.ConnectError):
        httpx.get(served.url)


def test_an_answer_in_two_parts_does_not_wait_for_the_first_to_be_acknowledged() -> None:
    listener = bind()
    with listener:
        assert listener.proto == socket.IPPROTO_TCP  # asyncio turns the delay off for sockets that name TCP, only


def test_starting_is_fast() -> None:
    with serve_in_thread(APP):
        pass
    begun = time.perf_counter()
    with serve_in_thread(APP):
        assert time.perf_counter() - begun < 5  # far less than anything that the start could wait for


def test_stopping_is_fast_and_cuts_idle_and_streaming_connections() -> None:
    with httpx.Client() as client, ExitStack() as streams:
        with serve_in_thread(APP) as served:
            assert client.get(served.url).text == "hello"
            stream = streams.enter_context(client.stream("GET", f"{served.url}/endless"))
            lines = stream.iter_lines()
            assert next(lines) == "data: tick"
            unwound.clear()
        assert unwound.is_set()
        with pytest.raises(httpx.HTTPError):
            list(lines)


def test_a_frozen_clock_neither_delays_the_start_nor_the_stop() -> None:
    with freeze_time("2030-01-01"), serve_in_thread(APP) as served:
        answer = httpx.get(served.url)
    assert answer.headers["date"] == "Tue, 01 Jan 2030 00:00:00 GMT"


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    for _ in range(3):
        with serve_in_thread(APP) as served:
            httpx.get(served.url)
    assert threading.active_count() <= before


def test_an_exception_in_the_block_still_stops_the_server() -> None:
    with pytest.raises(KeyError), serve_in_thread(APP) as served:
        raise KeyError
    with pytest.raises(httpx.ConnectError):
        httpx.get(served.url)


def test_a_port_in_use_is_told_in_one_line() -> None:
    with serve_in_thread(APP) as served:
        with pytest.raises(UsageError) as told, serve_in_thread(APP, port=served.port):
            pass
        assert str(told.value) == (f"port {served.port} on 127.0.0.1 is in use: choose another, or 0 for a free one")


def test_a_bound_port_is_taken_before_anything_is_served() -> None:
    with bind() as listener, pytest.raises(UsageError, match="in use"):
        bind(port=listener.getsockname()[1])


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("203.0.113.1", 0), ("127.0.0.1", -1)])
def test_an_impossible_address_is_told_in_one_line(host: str, port: int) -> None:
    with pytest.raises(UsageError) as told:
        bind(host, port)
    assert "\n" not in str(told.value)


def test_a_wildcard_address_is_reached_over_loopback() -> None:
    with bind("0.0.0.0") as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert url_of(listener, tls=True).startswith("https://")


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_ipv6_address_is_bracketed() -> None:
    try:
        listener = bind("::1")
    except UsageError:
        pytest.skip("no IPv6 loopback here")
    with serve_in_thread(APP, listener=listener) as served:
        assert served.url.startswith("http://[::1]:")
        assert httpx.get(served.url).text == "hello"


def test_the_lifespan_runs_and_ends() -> None:
    seen: list[str] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        assert scope["type"] == "lifespan"
        for step in ("startup", "shutdown"):
            message = await receive()
            assert message["type"] == f"lifespan.{step}"
            seen.append(step)
            await send({"type": f"lifespan.{step}.complete"})

    with serve_in_thread(app, lifespan="on"):
        assert seen == ["startup"]
    assert seen == ["startup", "shutdown"]


def test_a_lifespan_that_fails_is_a_usage_error() -> None:
    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    with pytest.raises(UsageError, match="lifespan failed"), serve_in_thread(app, lifespan="on"):
        pass


def test_nothing_is_logged_by_the_server_and_loggers_are_left_as_found(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "uvicorn.access", "asyncio")]
    before = [(log.level, log.handlers[:], log.propagate, log.filters[:]) for log in loggers]
    with caplog.at_level(logging.DEBUG), serve_in_thread(APP) as served:
        assert httpx.get(f"{served.url}/crash").status_code == 500
        with socket.create_connection(("127.0.0.1", served.port)) as raw:
            raw.sendall(b"\x00\x01 nonsense\r\n\r\n")
            raw.recv(1000)
    assert [record for record in caplog.records if record.name in {log.name for log in loggers}] == []
    assert [(log.level, log.handlers[:], log.propagate, log.filters[:]) for log in loggers] == before
    assert capfd.readouterr() == ("", "")


def test_several_servers_run_side_by_side() -> None:
    with serve_in_thread(APP) as one, serve_in_thread(APP) as other:
        assert one.port != other.port
        assert httpx.get(one.url).text == httpx.get(other.url).text
