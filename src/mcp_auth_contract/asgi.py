"""Serving an ASGI app on a thread of its own, for as long as a `with` block lasts."""

import asyncio
import errno
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

import uvicorn

from mcp_auth_contract.errors import UsageError

_LOGGERS = ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio")
_UNWINDING_S = 1.0
_PATIENCE_S = 5.0
_KEEP_ALIVE_S = 60
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  translated, not bound


@dataclass(frozen=True, slots=True)
class Served:
    """Where an app is served. `url` has no trailing slash."""

    url: str
    port: int


def bind(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; port 0 takes a free one. Raises UsageError when the port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only sockets that name TCP are sent without delay by asyncio; else every answer in two parts waits for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # Two sockets may both bind to a port; only one can listen.
        listener.listen(128)
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} on {host} is in use: choose another, or 0 for a free one") from None
        raise UsageError(f"cannot listen on {host}, port {port}: {fault.strerror or 'no such address'}") from None
    except OverflowError:
        listener.close()
        raise UsageError(f"port {port} does not exist: choose one up to 65535, or 0 for a free one") from None
    return listener


def url_of(listener: socket.socket, *, tls: bool = False) -> str:
    """Return the URL under which this machine reaches a socket, without a trailing slash."""
    host, port = listener.getsockname()[:2]
    host = _WILDCARDS.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


class _ThreadServer(uvicorn.Server):
    """A server that is stopped by an event instead of a poll, and cuts open connections when it stops.

    Neither needs a timer, so a clock frozen by a test cannot keep it running.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._loop = asyncio.get_running_loop()
        self.settled.set()

    async def main_loop(self) -> None:
        # The tick renews the Date header, which uvicorn does whenever it is given a multiple of ten.
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), timeout=1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        tasks = set(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            if transport is not None:
                transport.abort()
        if tasks:
            await asyncio.wait(tasks, timeout=_UNWINDING_S)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.lifespan.shutdown(), timeout=_PATIENCE_S)

    def stop(self) -> None:
        """End the main loop; safe to call from any thread, and after the loop has ended."""
        self.should_exit = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopping.set)


class _Quiet(logging.Filter):
    """Drops what one thread logs: the app under test writes its own log, the terminal is the report's."""

    def __init__(self) -> None:
        super().__init__()
        self.thread: int | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread != self.thread


@contextmanager
def serve_in_thread(
    app: Any,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    listener: socket.socket | None = None,
    tls: ssl.SSLContext | None = None,
    lifespan: Literal["auto", "on", "off"] = "auto",
) -> Iterator[Served]:
    """Serve an ASGI app until the block ends; connections still open then are cut.

    A `listener` made by `bind` replaces host and port, and is closed in the end. Raises UsageError when the
    port cannot be had or the app's lifespan fails to start.
    """
    listening = bind(host, port) if listener is None else listener
    try:
        served = Served(url_of(listening, tls=tls is not None), listening.getsockname()[1])
        with _running(_config(app, tls, lifespan), listening):
            yield served
    finally:
        listening.close()


def _config(app: Any, tls: ssl.SSLContext | None, lifespan: Literal["auto", "on", "off"]) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan=lifespan,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
    config.load()
    config.ssl = tls
    return config


@contextmanager
def _running(config: uvicorn.Config, listening: socket.socket) -> Iterator[None]:
    server = _ThreadServer(config)
    quiet = _Quiet()
    loggers = [logging.getLogger(name) for name in _LOGGERS]

    def run() -> None:
        quiet.thread = threading.get_ident()
        try:
            server.run(sockets=[listening])
        except SystemExit:
            # uvicorn's way of saying that the lifespan failed.
            return
        finally:
            server.settled.set()

    thread = threading.Thread(target=run, name="mcp-auth-contract-server", daemon=True)
    for logger in loggers:
        logger.addFilter(quiet)
    try:
        thread.start()
        server.settled.wait()
        if not server.started:
            raise UsageError("the app did not start: its lifespan failed")
        yield
    finally:
        server.stop()
        thread.join(timeout=2 * _PATIENCE_S)
        for logger in loggers:
            logger.removeFilter(quiet)
