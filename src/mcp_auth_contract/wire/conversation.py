"""One attempt at one request: what was sent, how far it came, what was read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

from mcp_auth_contract.answers import Answer, JsonObject, TransportFailure
from mcp_auth_contract.wire.body import Body
from mcp_auth_contract.wire.connections import Progress
from mcp_auth_contract.wire.evidence import HeaderLines, cut_headers
from mcp_auth_contract.wire.messages import LARGE, messages_in, reply_among
from mcp_auth_contract.wire.origin import KitFault, Origin
from mcp_auth_contract.wire.redaction import Redactor
from mcp_auth_contract.wire.request import Request, header_text

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
    raw_text: str = field(default="", repr=False)
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
    unanswered: bool = False

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
        self.headers = tuple((_name(name), header_text(value)) for name, value in response.headers.raw)
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
            return
        await _feed(chunks, body)
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
        return Received(answer, self.headers, reply_among(raw_messages, awaited), raw_text, leaked)

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


def _name(octets: bytes) -> str:
    return octets.decode("latin-1").lower()
