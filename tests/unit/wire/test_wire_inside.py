"""Requests to an application in this process: streams flow, ends are told, failures look as a server's do."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from mcp_auth_contract.answers import Answer, TransportFailure
from mcp_auth_contract.wire import HttpClient, InsideTransport, Redactor, Request, resolver_inside

URL = "http://127.0.0.1:8000/mcp"
START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}
App = Callable[[Any, Any, Any], Awaitable[None]]


def http(app: App, *, grace: float = 0.2, time_limit: float = 5.0, state: dict[str, Any] | None = None) -> HttpClient:
    transport = InsideTransport(app, state=state, grace=grace)
    return HttpClient(URL, redactor=Redactor(), transport=transport, time_limit=time_limit)


def ask(app: App, request: Request | None = None, **settings: Any) -> Answer:
    async def run() -> Answer:
        async with http(app, **settings) as opened:
            return await opened.send(request or Request("GET", URL))

    return asyncio.run(run())


def answering(*chunks: bytes, status: int = 200, headers: list[tuple[bytes, bytes]] | None = None) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers or []})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body"})

    return app


def seen_by_app(request: Request) -> tuple[dict[str, Any], bytes]:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend([scope, (await receive())["body"]])
        await answering()(scope, receive, send)

    ask(app, request, state={"pool": "open"})
    return seen[0], seen[1]


def test_an_application_sees_the_request_as_a_server_would_tell_it() -> None:
    headers = ((b"X-Twice", b"one"), (b"x-twice", b"\xfftwo"))
    request = Request("POST", URL + "?a=%20b", headers, b"hello", target=b"/m%63p//x%2Fy?a=%20b")
    scope, body = seen_by_app(request)
    assert body == b"hello"
    assert (scope["type"], scope["method"], scope["scheme"], scope["http_version"]) == ("http", "POST", "http", "1.1")
    assert (scope["raw_path"], scope["path"], scope["query_string"]) == (b"/m%63p//x%2Fy", "/mcp//x/y", b"a=%20b")
    assert scope["server"] == ("127.0.0.1", 8000)
    assert scope["client"][0] == "127.0.0.1"
    assert [pair for pair in scope["headers"] if pair[0] == b"x-twice"] == [
        (b"x-twice", b"one"),
        (b"x-twice", b"\xfftwo"),
    ]
    assert (b"host", b"127.0.0.1:8000") in scope["headers"]
    assert scope["state"] == {"pool": "open"}


def test_a_url_without_a_target_gives_its_path_and_query() -> None:
    scope, _ = seen_by_app(Request("GET", URL + "/%C3%A9?q"))
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/mcp/é", b"/mcp/%C3%A9", b"q")


def test_status_repeated_headers_and_body_come_through() -> None:
    headers = [(b"WWW-Authenticate", b"Bearer"), (b"www-authenticate", b" Basic "), (b"content-type", b"text/plain")]
    answer = ask(answering(b"not ", b"you", status=401, headers=headers))
    assert (answer.status, answer.text) == (401, "not you")
    assert answer.header_lines("www-authenticate") == ("Bearer", "Basic")


def test_the_answer_to_head_has_no_body() -> None:
    answer = ask(answering(b"body", headers=[(b"content-length", b"4")]), Request("HEAD", URL))
    assert (answer.status, answer.text, answer.truncated) == (200, "", False)


def test_an_event_stream_that_never_ends_is_read_as_it_comes_and_told_of_the_end() -> None:
    events: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        start = {**START, "headers": [(b"content-type", b"text/event-stream")]}
        await send(start)
        await send({"type": "http.response.body", "body": b'data: {"jsonrpc":"2.0"}\n\n', "more_body": True})
        events.append((await receive())["type"])

    async def run() -> Answer:
        async with http(app) as opened:
            answer = await opened.send(Request("GET", URL))
            assert events == ["http.disconnect"]
            assert len(asyncio.all_tasks()) == 1
            return answer

    answer = asyncio.run(run())
    assert (answer.status, answer.stream, len(answer.messages)) == (200, True, 1)


def test_an_application_that_does_not_listen_is_cancelled() -> None:
    ends: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({**START, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cancelled")

    async def run() -> None:
        async with http(app, grace=0.05) as opened:
            assert (await opened.send(Request("GET", URL))).status == 200
        assert ends == ["cancelled"]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_one_that_writes_for_ever_is_stopped() -> None:
    sent: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        while True:
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            sent.append(1)

    async def run() -> None:
        async with http(app, grace=0.05) as opened:
            answer = await opened.send(Request("GET", URL))
            assert answer.truncated
        assert len(asyncio.all_tasks()) == 1

    async def do_not_read() -> int:
        transport = InsideTransport(app, grace=0.01)
        response = await transport.handle_async_request(httpx.Request("GET", URL, stream=httpx.ByteStream(b"")))
        await asyncio.sleep(0.01)
        ahead = len(sent)
        await response.aclose()
        await transport.aclose()
        return ahead

    asyncio.run(run())
    sent.clear()
    assert asyncio.run(do_not_read()) < 20


def test_no_answer_in_time_is_a_timeout_and_ends_the_application() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        seen.append((await receive())["type"])

    answer = ask(app, time_limit=0.05)
    assert (answer.status, answer.failure) == (None, TransportFailure.TIMEOUT)
    assert seen == ["http.disconnect"]


def test_work_after_the_response_goes_on_until_the_door_is_closed() -> None:
    done: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await answering(b"ok")(scope, receive, send)
        await asyncio.sleep(0.05)
        assert (await receive())["type"] in ("http.request", "http.disconnect")
        done.append("logged")

    assert ask(app).text == "ok"
    assert done == ["logged"]


async def fails(scope: Any, receive: Any, send: Any) -> None:
    raise RuntimeError("secret-detail")


async def leaves(scope: Any, receive: Any, send: Any) -> None:
    raise SystemExit(3)


async def says_nothing(scope: Any, receive: Any, send: Any) -> None:
    return


@pytest.mark.parametrize("app", [fails, leaves, says_nothing])
def test_a_failure_before_the_response_is_500_without_details(app: App) -> None:
    answer = ask(app)
    assert (answer.status, answer.text) == (500, "Internal Server Error")


async def breaks_off(scope: Any, receive: Any, send: Any) -> None:
    await send(START)
    await send({"type": "http.response.body", "body": b"beginning ", "more_body": True})
    raise RuntimeError("secret-detail")


async def stops_early(scope: Any, receive: Any, send: Any) -> None:
    await send(START)
    await send({"type": "http.response.body", "body": b"beginning ", "more_body": True})


@pytest.mark.parametrize(
    "app", [breaks_off, stops_early, answering(b"beginning ", headers=[(b"content-length", b"11")])]
)
def test_a_failure_in_the_response_is_a_broken_connection(app: App) -> None:
    answer = ask(app)
    assert (answer.status, answer.text, answer.truncated) == (200, "beginning ", True)
    assert "connection closed" in answer.detail
    assert "secret" not in answer.detail


def test_a_header_that_no_server_can_send_gives_no_answer() -> None:
    answer = ask(answering(headers=[(b"x", b"a\r\nb: c")]))
    assert (answer.status, answer.failure) == (None, TransportFailure.RESET)


def test_a_second_start_is_the_applications_fault() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        with pytest.raises(RuntimeError, match="unexpected"):
            await send(START)
        await send({"type": "http.response.body", "body": b"fine"})

    assert ask(app).text == "fine"


def test_many_requests_run_at_once_and_leave_nothing() -> None:
    async def run() -> None:
        async with http(answering(b"ok")) as opened:
            answers = await asyncio.gather(*(opened.send(Request("GET", URL)) for _ in range(50)))
            assert {answer.text for answer in answers} == {"ok"}
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_a_body_that_is_not_asynchronous_is_refused() -> None:
    class Sync(httpx.SyncByteStream):
        pass

    async def run() -> None:
        with pytest.raises(TypeError):
            await InsideTransport(fails).handle_async_request(httpx.Request("GET", URL, stream=Sync()))

    asyncio.run(run())


def test_only_the_applications_own_host_is_this_machine() -> None:
    resolve = resolver_inside("mcp.example.com")
    assert asyncio.run(resolve("mcp.example.com", 443)) == ("127.0.0.1",)
    assert asyncio.run(resolve("192.0.2.7", 443)) == ("192.0.2.7",)
