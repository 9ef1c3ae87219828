"""Connections to servers, and what went wrong on one."""

import logging
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import httpx

from mcp_auth_contract.answers import TransportFailure
from mcp_auth_contract.wire.request import KitFault, Origin

FAILURES = (httpx.TransportError, ssl.SSLError, OSError, UnicodeError)
"""What an exchange with a server may raise; `trouble_of` reads it."""


_exchanging: ContextVar[bool] = ContextVar("_exchanging", default=False)


def _is_foreign(_: logging.LogRecord) -> bool:
    """Keep a log record only if it is about somebody else's exchange.

    At DEBUG httpcore writes header fields as received, and a server may echo a token in one.
    """
    return not _exchanging.get()


class Progress:
    """How far one exchange has come on its connection, as httpcore's trace extension tells it."""

    def __init__(self) -> None:
        self.new_connection = False
        self.stage: TransportFailure = TransportFailure.TIMEOUT
        self._socket: Any = None

    async def __call__(self, event: str, details: Mapping[str, Any]) -> None:
        """Take one event of the trace."""
        match event:
            case "connection.connect_tcp.started":
                self.new_connection = True
                self.stage = TransportFailure.CONNECT
            case "connection.connect_tcp.complete":
                self.stage = TransportFailure.TIMEOUT
                self._socket = details.get("return_value")
            case "connection.start_tls.started":
                self.stage = TransportFailure.TLS
            case "connection.start_tls.complete":
                self.stage = TransportFailure.TIMEOUT
            case _:
                pass

    async def close_unfinished(self) -> None:
        """Close the socket of a TLS handshake that was broken off, which httpcore leaves open when cancelled."""
        if self.stage is TransportFailure.TLS and self._socket is not None:
            await self._socket.aclose()


_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=5.0)
"""As many connections as are asked for, but few that are kept: each request looks at all of them."""


class Connections:
    """The connection pools of one run: a kept one for http, one for https, and single-use ones.

    httpx's transports are used without its client, which would log URLs, keep cookies and take credentials from URLs.
    """

    def __init__(self, mounts: Mapping[Origin, httpx.AsyncBaseTransport], ca_files: Sequence[str]) -> None:
        self._mounts = mounts
        self._ca_files = tuple(ca_files)
        self._context: ssl.SSLContext | None = None
        self._kept: dict[str, httpx.AsyncBaseTransport] = {}
        logging.getLogger("httpcore.http11").addFilter(_is_foreign)

    async def close(self) -> None:
        """Close every pool and every mounted transport."""
        for transport in (*self._kept.values(), *self._mounts.values()):
            await transport.aclose()
        self._kept.clear()

    def mounted(self, origin: Origin) -> bool:
        """Whether requests to this origin stay in the process."""
        return origin in self._mounts

    @asynccontextmanager
    async def open(
        self, origin: Origin, request: httpx.Request, *, fresh: bool
    ) -> AsyncGenerator[httpx.Response, None]:
        """Send a request and give the response, its body unread; close it afterwards. `fresh`: a new connection."""
        transport, single = self._mounts.get(origin), False
        if transport is None and fresh:
            transport, single = self._transport(origin[0]), True
        elif transport is None:
            transport = self._kept.get(origin[0]) or self._kept.setdefault(origin[0], self._transport(origin[0]))
        token = _exchanging.set(True)
        try:
            response = await transport.handle_async_request(request)
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            _exchanging.reset(token)
            if single:
                await transport.aclose()

    def _transport(self, scheme: str) -> httpx.AsyncBaseTransport:
        # Loading the certificates costs more than a request, so it waits for the first https URL.
        if scheme == "https" and self._context is None:
            self._context = httpx.create_ssl_context(trust_env=False)
            for ca_file in self._ca_files:
                self._context.load_verify_locations(ca_file)
        context = self._context if scheme == "https" and self._context else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx.AsyncHTTPTransport(verify=context, http2=False, trust_env=False, limits=_LIMITS)


def trouble_of(error: Exception, progress: Progress) -> tuple[TransportFailure, str]:
    """Say what kind of failure an exchange met, with a detail in few words."""
    causes = list(_chain(error))
    tls = next((one for one in causes if isinstance(one, ssl.SSLError)), None)
    if progress.stage is TransportFailure.TLS or (isinstance(error, httpx.ConnectError) and tls is not None):
        return TransportFailure.TLS, _tls_detail(tls)
    if isinstance(error, (httpx.ConnectError, UnicodeError)) or progress.stage is TransportFailure.CONNECT:
        reasons = (one.strerror for one in causes if isinstance(one, OSError) and one.strerror)
        return TransportFailure.CONNECT, next(reasons, str(error))[:200]
    if isinstance(error, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
        raise KitFault("the request cannot be sent in HTTP/1.1") from None
    # Behind a breach of protocol stands the parser's own error; a connection that was closed has none.
    if isinstance(error, httpx.RemoteProtocolError) and getattr(error.__cause__, "__context__", None) is not None:
        return TransportFailure.PROTOCOL, _without_type(str(error))[:200]
    return TransportFailure.RESET, ""


def _without_type(text: str) -> str:
    """Return what h11 says of octets without the name of their type."""
    before, opened, rest = text.partition("bytearray(b")
    shown, closed, after = rest.rpartition(")")
    return before + shown + after if opened and closed else text


def _tls_detail(error: ssl.SSLError | None) -> str:
    if error is None:
        return "handshake broken off"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate not trusted: {error.verify_message}"
    return (error.reason or "handshake failed").replace("_", " ").lower()


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
