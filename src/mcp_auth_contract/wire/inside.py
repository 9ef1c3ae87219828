"""An ASGI application in this process in place of a server: a transport that streams."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextvars import Context, copy_context
from typing import Any
from urllib.parse import unquote

import httpx

from mcp_auth_contract.wire.request import Resolve, resolve_host

_Message = MutableMapping[str, Any]
_Headers = list[tuple[bytes, bytes]]

AsgiApp = Callable[[_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[Any]]
"""An application of ASGI version 3."""

_CLIENT = ("127.0.0.1", 50000)
_PORTS = {"http": 80, "https": 443}
_CHUNKS_AHEAD = 16
_NOTICE_S = 0.02
_GRACE_S = 1.0
_WITHOUT_BODY = frozenset({204, 304})
_LINE_BREAKS = frozenset(b"\r\n\0")


class InsideTransport(httpx.AsyncBaseTransport):
    """Runs an application for each request and hands its response over as it comes.

    `state` is what the application's lifespan left for its requests. An application that fails is answered for as
    uvicorn does: 500 before the response began, a broken connection after it. `aclose` ends what still runs, a
    stream or a background task, `grace` seconds after the client has gone.
    """

    def __init__(self, app: AsgiApp, *, state: Mapping[str, Any] | None = None, grace: float = _GRACE_S) -> None:
        self._app = app
        self._state = state
        self._grace = grace
        # A request does not see what earlier ones left in the context, as in a server.
        self._context = copy_context()
        self._exchanges: set[_Exchange] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response as soon as the application starts it."""
        if not isinstance(request.stream, httpx.AsyncByteStream):
            raise TypeError("the request's body is not asynchronous")
        body = b"".join([chunk async for chunk in request.stream])
        exchange = _Exchange(request.method, body, self._grace, self._exchanges.discard)
        self._exchanges.add(exchange)
        exchange.start(self._app, self._scope(request), self._context.copy())
        try:
            status, headers = await asyncio.shield(exchange.started)
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(status, headers=headers, stream=exchange, extensions={"http_version": b"HTTP/1.1"})

    async def aclose(self) -> None:
        """Tell every application that its client has gone, and cancel those that do not end."""
        exchanges = list(self._exchanges)
        await asyncio.gather(*(exchange.end() for exchange in exchanges))

    def _scope(self, request: httpx.Request) -> _Message:
        url = request.url
        target: bytes = request.extensions.get("target", url.raw_path)
        raw_path, _, query = target.partition(b"?")
        scope: _Message = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": url.scheme,
            "path": unquote(raw_path.decode("ascii")),
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "client": _CLIENT,
            "server": (url.host, url.port or _PORTS[url.scheme]),
        }
        if self._state is not None:
            scope["state"] = dict(self._state)
        return scope


class _Exchange(httpx.AsyncByteStream):
    """One run of the application, and the body of its response."""

    def __init__(self, method: str, body: bytes, grace: float, ended: "Callable[[_Exchange], None]") -> None:
        self._body = body
        self._bodiless = method == "HEAD"
        self._grace = grace
        self._ended = ended
        self._task: asyncio.Task[None] | None = None
        self._asked = False
        self.started: asyncio.Future[tuple[int, _Headers]] = asyncio.get_running_loop().create_future()
        self._declared: int | None = None
        self._received = 0
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = asyncio.Event()
        self._room.set()
        self._broken = ""
        self._complete = False
        self._over = asyncio.Event()  # set once the application has nothing more to expect from its client

    def start(self, app: AsgiApp, scope: _Message, context: Context) -> None:
        """Run the application as a task."""
        self._task = asyncio.get_running_loop().create_task(self._run(app, scope), context=context)
        self._task.add_done_callback(self._settle)

    def __aiter__(self) -> "_Exchange":
        return self

    async def __anext__(self) -> bytes:
        chunk = await self._chunks.get()
        self._room.set()
        if chunk is not None:
            return chunk
        self._chunks.put_nowait(None)
        if self._broken:
            raise httpx.RemoteProtocolError(self._broken)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Tell the application that the client has gone; one in the middle of its response is cancelled soon."""
        self._leave()
        task = self._task
        if task is None or task.done() or self._complete:  # after its response it may work on, as in a server
            return
        await asyncio.wait({task}, timeout=_NOTICE_S)
        if not task.done():
            timer = asyncio.get_running_loop().call_later(self._grace, task.cancel)
            task.add_done_callback(lambda _: timer.cancel())

    async def end(self) -> None:
        """See the application end, or cancel it."""
        self._leave()
        task = self._task
        if task is None or task.done():
            return
        await asyncio.wait({task}, timeout=self._grace)
        task.cancel()
        await asyncio.wait({task}, timeout=self._grace)

    def _leave(self) -> None:
        self._over.set()
        self._room.set()
        self.started.cancel()

    async def _run(self, app: AsgiApp, scope: _Message) -> None:
        try:
            await app(scope, self._receive, self._send)
        except (SystemExit, KeyboardInterrupt):
            raise RuntimeError("the application tried to leave the process") from None

    async def _receive(self) -> _Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: _Message) -> None:
        if self._over.is_set() and not self._complete:
            await asyncio.sleep(0)  # so that one which does not listen can be cancelled
            return
        match message["type"]:
            case "http.response.start" if not self.started.done():
                self._begin(int(message["status"]), list(message.get("headers", ())))
            case "http.response.body" if self.started.done() and not self._complete:
                await self._pass_on(message.get("body", b""), more=message.get("more_body", False))
            case kind:
                raise RuntimeError(f"unexpected ASGI message {kind!r}")

    def _begin(self, status: int, headers: _Headers) -> None:
        self._bodiless = self._bodiless or status in _WITHOUT_BODY
        fields = [(bytes(name), bytes(value).strip(b" \t")) for name, value in headers]
        if any(_LINE_BREAKS.intersection(name + value) for name, value in fields):
            self.started.set_exception(httpx.RemoteProtocolError("a header field that cannot be sent"))
            raise ValueError("a header field with a line break")
        for name, value in fields:
            if name.lower() == b"content-length" and value.isdigit():
                self._declared = int(value)
        self.started.set_result((status, fields))

    async def _pass_on(self, chunk: bytes, *, more: bool) -> None:
        if chunk and not self._bodiless:
            self._received += len(chunk)
            if self._declared is not None and self._received > self._declared:
                self._break("more octets than Content-Length says")
                raise RuntimeError("more octets than Content-Length says")
            self._chunks.put_nowait(bytes(chunk))
        if not more:
            self._complete = True
            if self._declared is not None and self._received < self._declared and not self._bodiless:
                self._broken = "fewer octets than Content-Length says"
            self._chunks.put_nowait(None)
            self._over.set()
        elif self._chunks.qsize() > _CHUNKS_AHEAD:
            self._room.clear()
            await self._room.wait()

    def _break(self, how: str) -> None:
        self._broken = self._broken or how
        self._chunks.put_nowait(None)

    def _settle(self, task: asyncio.Task[None]) -> None:
        """Answer for an application that ended without doing so."""
        failed = task.cancelled() or task.exception() is not None
        if not self.started.done():
            text = b"Internal Server Error"
            length = str(len(text)).encode()
            fields = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length)]
            self.started.set_result((500, fields))
            if not self._bodiless:
                self._chunks.put_nowait(text)
            self._chunks.put_nowait(None)
        elif not self._complete:
            self._break("the application failed" if failed else "the application ended in its response")
        if not self.started.cancelled():
            self.started.exception()  # looked at, even if the client has gone
        self._ended(self)


def resolver_inside(host: str) -> Resolve:
    """Return a look-up of addresses to which the application's own host is this machine, whatever its name."""

    async def resolve(name: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",) if name == host else await resolve_host(name, port)

    return resolve
