"""One attempt at one request: the connection that it takes, how far it came, what was read."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx

from mcp_auth_contract.answers import Answer, JsonObject, TransportFailure
from mcp_auth_contract.wire.evidence import HeaderLines, cut_headers
from mcp_auth_contract.wire.messages import LARGE, Body, messages_in, reply_among
from mcp_auth_contract.wire.redaction import Redactor
from mcp_auth_contract.wire.request import KitFault, Origin, Request, header_text

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
    async def open(self, origin: Origin, request: httpx.Request, *, fresh: bool) -> AsyncIterator[httpx.Response]:
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


_QUIET = 1.0
_GRACE = 0.1
_LONGEST_UNKNOWN = 4096
_SILENT = frozenset({TransportFailure.CONNECT, TransportFailure.TIMEOUT, TransportFailure.RESET})
_LARGE = 32 * 1024
_HEADERS = 16 * 1024
"""Of header fields, in characters; servers and proxies refuse more than 8 KiB."""
_TOKEN_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=%"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Received:
    """An answer, and beside it what it really said: for protocol values (session ids, cursors), never for a report.

    `leaked` are the labels of the secrets that it held.
    """

    answer: Answer
    raw_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    raw_reply: JsonObject | None = field(default=None, repr=False)
    leaked: tuple[str, ...] = ()

    def raw_header(self, name: str) -> str | None:
        """Return the first value of a header field as received. `name` in lower case."""
        return next((value for key, value in self.raw_headers if key == name), None)


@dataclass(slots=True)
class Attempt:
    """A request on its way. `sent` are its header fields as octets; `fresh` asks for a new connection."""

    request: Request
    url: httpx.URL
    origin: Origin
    fresh: bool
    sent: list[tuple[bytes, bytes]] = field(repr=False)
    note: str = ""
    progress: Progress = field(default_factory=Progress)
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: Body | None = None
    failure: TransportFailure | None = None
    detail: str = ""
    stream_stayed_open: bool = False
    unanswered: bool | None = False
    """Whether the server gave no answer; None where it was silent in a stream in which nothing was awaited."""

    def fail(self, failure: TransportFailure, detail: str) -> None:
        """Take a failure: before the status it is the outcome, after it the body is cut short."""
        if self.body is None:
            self.failure, self.detail = failure, detail
            self.unanswered = failure in _SILENT
        elif not self.body.answered:
            # What never comes to its end is no answer either, whatever a stream brings meanwhile.
            self.unanswered = failure is TransportFailure.TIMEOUT
            self.body.cut(f"{failure.value} ({detail})" if detail else failure.value)

    async def read(self, response: httpx.Response, *, body_limit: int, wait_for_end: bool) -> None:
        """Read a response's body as far as it is of interest.

        An event stream is read until the awaited response, or with nothing awaited until the first event or a second
        of silence; `wait_for_end` then gives it a moment to end, so that its connection can be used again.
        """
        self.status = response.status_code
        fields = response.headers.raw
        self.headers = tuple((name.decode("latin-1").lower(), header_text(value)) for name, value in fields)
        media_type = self._header("content-type").split(";", 1)[0].strip().lower()
        self.body = body = Body(
            limit=body_limit,
            encoding=self._header("content-encoding"),
            stream=media_type == "text/event-stream",
            expects_id=self.request.expects_id,
        )
        if not isinstance(response.stream, httpx.AsyncByteStream):
            raise KitFault("the transport is not asynchronous")
        chunks = aiter(response.stream)
        if body.stream and self.request.expects_id is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_QUIET):
                    await _feed(chunks, body)
            self.unanswered = body.truncated or (None if not body.size else False)
            return
        await _feed(chunks, body)
        self.unanswered = body.truncated and not body.answered
        if body.answered and wait_for_end and not body.truncated:
            try:
                async with asyncio.timeout(_GRACE):
                    await _feed(chunks, body, to_end=True)
            except TimeoutError:
                self.stream_stayed_open = True

    @property
    def is_large(self) -> bool:
        """Whether reading what was received takes so long that an event loop should not do it."""
        body = 0 if self.body is None else self.body.size
        return body + sum(len(name) + len(value) for name, value in self.headers) > _LARGE

    def received(self, exchange: str, redactor: Redactor) -> Received:
        """Return the outcome as an answer without secrets, and its raw values."""
        body, awaited = self.body, self.request.expects_id
        raw_text = "" if body is None else _without_cut_word(body, max(_LONGEST_UNKNOWN, redactor.longest))
        text = redactor.redact(raw_text)
        raw_messages = _messages(body, raw_text)
        messages = raw_messages if text == raw_text else _messages(body, text, redactor)
        shown_headers = tuple((name, redactor.redact_header(name, value)) for name, value in self.headers)
        notes = [] if body is None else body.notes
        answer = Answer(
            exchange=exchange,
            method=self.request.method,
            url=redactor.redact(self.shown_url),
            status=self.status,
            failure=self.failure,
            detail=redactor.redact("; ".join(dict.fromkeys(note for note in (self.detail, *notes) if note))),
            headers=cut_headers(shown_headers, _HEADERS),
            text=text,
            truncated=body is not None and body.truncated,
            messages=messages,
            reply=reply_among(messages, awaited),
            stream=body is not None and body.stream,
        )
        leaked = self._leaked(shown_headers, answer, raw_text, redactor)
        return Received(answer, self.headers, reply_among(raw_messages, awaited), leaked)

    def _leaked(self, shown_headers: HeaderLines, answer: Answer, raw_text: str, redactor: Redactor) -> tuple[str, ...]:
        """Return the labels of the secrets in what the server sent; those of the message are left out.

        What a message carries is its sender's to give away: a tool may repeat its arguments.
        """
        changed = [raw for (_, raw), shown in zip(self.headers, shown_headers, strict=True) if raw != shown[1]]
        if answer.text != raw_text:
            changed.append(raw_text)
        found = frozenset[str]().union(*map(redactor.labels_in, changed))
        if found and self.request.body:
            found -= redactor.labels_in(self.request.body.decode("utf-8", "replace"))
        return tuple(sorted(found))

    @property
    def shown_url(self) -> str:
        """The URL with the request target as it was sent."""
        if self.request.target is None:
            return self.request.url
        return f"{self.url.scheme}://{self.url.netloc.decode('ascii')}{self.request.target.decode('ascii')}"

    def _header(self, name: str) -> str:
        return ",".join(value for key, value in self.headers if key == name)


async def _feed(chunks: AsyncIterator[bytes], body: Body, *, to_end: bool = False) -> None:
    async for chunk in chunks:
        body.feed(chunk)
        if body.truncated or (body.answered and not to_end):
            return
    body.finish()


def _messages(body: Body | None, text: str, redactor: Redactor | None = None) -> tuple[JsonObject, ...]:
    if body is None:
        return ()
    if not body.stream:
        return messages_in(text)
    if len(text) > LARGE:
        return messages_in(text, stream=True)
    events = body.events if redactor is None else [redactor.redact(event) for event in body.events]
    return tuple(message for event in events for message in messages_in(event))


def _without_cut_word(body: Body, longest: int) -> str:
    """Return the text; where it was cut, without its last word: half a secret would not be recognised."""
    text = body.text
    if not body.truncated:
        return text
    end = len(text[-longest:].rstrip(_TOKEN_CHARACTERS))
    return text[: max(0, len(text) - longest) + end]
