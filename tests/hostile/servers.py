"""Servers that misbehave on the wire, on raw sockets: no framework would let them.

`hostile(behaviour)` serves one on a free loopback port. With `sound` the server sits in front of a sound one: only
requests to `path`, and only those after the first `after`, meet the behaviour; the others are passed on.
"""

import asyncio
import contextlib
import functools
import json
import socket
import ssl
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["BEHAVIOURS", "Asked", "Behaviour", "Hostile", "hostile"]

_MEGABYTE = 1024 * 1024
_HOLD = 30.0


@dataclass(frozen=True)
class Asked:
    """A request as it came: its octets, and what a behaviour may want to know of it."""

    raw: bytes
    method: str
    target: str
    body: bytes

    @property
    def id(self) -> object:
        """The JSON-RPC id, or None."""
        with contextlib.suppress(ValueError):
            message = json.loads(self.body)
            if isinstance(message, dict):
                return message.get("id")
        return None


Behaviour = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]

_STEPS_TO_BEGIN = 10


@dataclass
class Hostile:
    """A running server: its endpoint, and the requests it met."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0


@contextlib.asynccontextmanager
async def hostile(
    behaviour: Behaviour,
    *,
    path: str = "/mcp",
    after: int = 0,
    sound: tuple[str, int] | None = None,
    tls: ssl.SSLContext | None = None,
    scheme: str | None = None,
) -> AsyncIterator[Hostile]:
    """Serve a behaviour. `scheme` is what the URL claims, whatever the port really speaks."""
    tasks: set[asyncio.Task[None]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        running.connections += 1
        try:
            while (asked := await _read(reader)) is not None:
                running.asked.append(asked)
                meant = asked.target.split("?", 1)[0] == path and len(running.asked) > after
                if sound is not None and not meant:
                    await _pass_on(asked, writer, sound)
                    return
                await behaviour(asked, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()  # the server is being closed, and nobody reads what is still to be sent
        finally:
            writer.close()
            try:
                await writer.wait_closed()
            except OSError:
                pass
            except asyncio.CancelledError:
                writer.transport.abort()
            tasks.discard(task)

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls)
    host, port = server.sockets[0].getsockname()[:2]
    running = Hostile(f"{scheme or ('https' if tls else 'http')}://{host}:{port}{path}")
    try:
        yield running
    finally:
        # Nothing more is accepted. What was accepted just now has no task yet; closing the server would lose its socket,
        # and a task that is cancelled before it begins closes nothing.
        for socket in server.sockets:
            asyncio.get_running_loop().remove_reader(socket.fileno())
        for _ in range(_STEPS_TO_BEGIN):
            await asyncio.sleep(0)
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    length = next((int(line.split(":", 1)[1]) for line in lines if line.lower().startswith("content-length:")), 0)
    body = await reader.readexactly(length)
    return Asked(head + body, method, target, body)


async def _pass_on(asked: Asked, writer: asyncio.StreamWriter, sound: tuple[str, int]) -> None:
    upstream_reader, upstream = await asyncio.open_connection(*sound)
    try:
        first, rest = asked.raw.split(b"\r\n", 1)
        upstream.write(first + b"\r\nConnection: close\r\n" + rest)
        while chunk := await upstream_reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    finally:
        upstream.close()


async def _pour(writer: asyncio.StreamWriter, chunk: bytes, times: int | None = None) -> None:
    sent = 0
    while times is None or sent < times:
        writer.write(chunk)
        await writer.drain()
        await asyncio.sleep(0)
        sent += 1


@functools.cache
def _bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(_MEGABYTE)) for _ in range(64)) + packer.flush()


def _head(status: str = "200 OK", *lines: str, kind: str = "application/json") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", f"Content-Type: {kind}", *lines, "", "")).encode("latin-1")


def _whole(body: bytes, status: str = "200 OK", *lines: str, kind: str = "application/json") -> bytes:
    return _head(status, f"Content-Length: {len(body)}", *lines, kind=kind) + body


def _result(asked: Asked, result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": result}).encode()


async def silence(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await asyncio.sleep(_HOLD)


async def endless_body(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A body without length that never ends, fast."""
    writer.write(_head(kind="text/plain"))
    await _pour(writer, b"a" * 65536)


async def endless_chunks(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A chunked body of one-octet chunks that never ends."""
    writer.write(_head("200 OK", "Transfer-Encoding: chunked"))
    await _pour(writer, b"1\r\n[\r\n" * 4096)


async def slow_body(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A body that drips octet by octet."""
    writer.write(_head("200 OK", "Content-Length: 100000"))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def slow_head(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A status line and header fields that drip octet by octet."""
    for octet in b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 100_000:
        writer.write(bytes([octet]))
        await writer.drain()
        await asyncio.sleep(0.02)


async def huge_header(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """One header field of 100 MB."""
    writer.write(b"HTTP/1.1 200 OK\r\nX-Huge: ")
    await _pour(writer, b"a" * 65536, 1600)


async def many_headers(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Header fields without end."""
    writer.write(b"HTTP/1.1 401 Unauthorized\r\n")
    await _pour(writer, b"WWW-Authenticate: Bearer\r\n" * 1000)


async def huge_body(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A body of 100 MB, announced."""
    writer.write(_head("200 OK", f"Content-Length: {100 * _MEGABYTE}"))
    await _pour(writer, b"a" * 65536, 1600)


async def deep_json(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """JSON nested 100,000 levels deep, in the place of a result."""
    depth = 100_000
    nested = b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * depth + b"]" * depth + b"}"
    writer.write(_whole(nested))


async def invalid_utf8(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A result with octets that are not UTF-8."""
    writer.write(_whole(_result(asked, {"text": "HERE"}).replace(b"HERE", b"\xff\xfe\xc3(")))


async def half_closed(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Half of the header, then the sending side is closed and the rest held open."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Ty")
    writer.write_eof()
    await asyncio.sleep(_HOLD)


async def cut_body(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A body shorter than announced."""
    writer.write(_head("200 OK", "Content-Length: 100") + b'{"jsonrpc":')
    writer.write_eof()


async def closed_at_once(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """The connection is closed in the place of an answer."""
    writer.close()


async def reset(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """The connection is reset in the place of an answer."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def redirect_ring(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A redirect to the same place."""
    writer.write(_whole(b"", "307 Temporary Redirect", f"Location: {asked.target}"))


async def rate_limited(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """429 for everything, come back at once."""
    writer.write(_whole(b"", "429 Too Many Requests", "Retry-After: 0"))


async def rate_limited_untold(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """429 for everything, without a word on when to come back."""
    writer.write(_whole(b"", "429 Too Many Requests"))


async def rate_limited_for_long(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """429 for everything, come back in 30 years."""
    writer.write(_whole(b"", "429 Too Many Requests", "Retry-After: 999999999999"))


async def server_error(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """500 for everything, and the connection is gone."""
    writer.write(_whole(b"oops", "500 Internal Server Error", kind="text/plain"))
    await writer.drain()
    writer.close()


async def garbage(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Octets that are no HTTP."""
    writer.write(bytes(range(256)) * 64 + b"\r\n\r\n")


async def gzip_bomb(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """64 megabytes of zeros in 64 kilobytes of gzip, unasked for."""
    writer.write(_head("200 OK", "Content-Encoding: gzip", "Connection: close") + _bomb())
    writer.write_eof()


async def gzip_garbage(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A body that claims to be gzip and is not."""
    writer.write(_whole(b"not gzip at all", "200 OK", "Content-Encoding: gzip"))


async def unknown_coding(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A body in a coding that nobody asked for."""
    writer.write(_whole(b"\x01\x02\x03", "200 OK", "Content-Encoding: br, zstd"))


async def chunked_nonsense(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Chunk sizes that are no numbers."""
    writer.write(_head("200 OK", "Transfer-Encoding: chunked") + b"zz\r\nhello\r\n-5\r\n\r\n")


async def endless_chunk_size(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A chunk size line that never ends."""
    writer.write(_head("200 OK", "Transfer-Encoding: chunked"))
    await _pour(writer, b"0" * 65536)


async def two_lengths(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Two Content-Length fields that disagree."""
    writer.write(_head("200 OK", "Content-Length: 2", "Content-Length: 4") + b"{}{}")


async def informational_flood(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Informational answers without end."""
    await _pour(writer, b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100)


async def silent_stream(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """An event stream that stays open and says nothing."""
    writer.write(_head(kind="text/event-stream"))
    await writer.drain()
    await asyncio.sleep(_HOLD)


async def unanswered_stream(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """An event stream of notifications, comments and answers to others, without the awaited one."""
    writer.write(_head(kind="text/event-stream"))
    events = (
        b": still here\n\n",
        b'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n',
        b'data: {"jsonrpc":"2.0","id":"other","result":{}}\n\n',
        b"data: not json\n\n",
    )
    while True:
        for event in events:
            writer.write(event)
            await writer.drain()
            await asyncio.sleep(0.01)


async def stream_flood(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Events without end, as fast as they can be taken."""
    writer.write(_head(kind="text/event-stream"))
    await _pour(writer, b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n' * 500)


async def endless_event(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """One event whose data never ends."""
    writer.write(_head(kind="text/event-stream"))
    await _pour(writer, b"data: " + b"a" * 60000 + b"\n")


BEHAVIOURS: Mapping[str, Behaviour] = MappingProxyType(
    {
        behaviour.__name__: behaviour
        for behaviour in (
            chunked_nonsense,
            closed_at_once,
            cut_body,
            deep_json,
            endless_body,
            endless_chunk_size,
            endless_chunks,
            endless_event,
            garbage,
            gzip_bomb,
            gzip_garbage,
            half_closed,
            huge_body,
            huge_header,
            informational_flood,
            invalid_utf8,
            many_headers,
            rate_limited,
            rate_limited_for_long,
            rate_limited_untold,
            redirect_ring,
            reset,
            server_error,
            silence,
            silent_stream,
            slow_body,
            slow_head,
            stream_flood,
            two_lengths,
            unanswered_stream,
            unknown_coding,
        )
    }
)
