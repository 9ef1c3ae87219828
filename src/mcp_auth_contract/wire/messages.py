"""The JSON-RPC messages of a body or an event stream, and reading a response's body within limits."""

import codecs
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import httpx
from httpx_sse import EventSource

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.oauth.document import read_json_object

# Atomic, so that the CR LF of one line's end is never taken for two ends.
_BLANK_LINE = re.compile(r"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")


LARGE = 64 * 1024
"""Characters from which on a text is large."""
_KEPT = 2


def messages_in(text: str, *, stream: bool = False) -> tuple[JsonObject, ...]:
    """Return the JSON-RPC messages of a JSON text, one or a batch, in order; none if it is anything else.

    Of a `stream` they are those of its complete events. Those of a large text are parsed anew when they are read: small
    items take fifteen times the memory of their text.
    """
    if len(text) <= LARGE:
        return _streamed(text) if stream else _parsed(text)
    return tuple(_Large(text, stream, at) for at in range(len(_parsed_lately(text, stream))))


class _Large(Mapping[str, Any]):
    """A message of a large text."""

    __slots__ = ("_at", "_stream", "_text")

    def __init__(self, text: str, stream: bool, at: int) -> None:
        self._text, self._stream, self._at = text, stream, at

    def __getitem__(self, name: str) -> Any:
        return _parsed_lately(self._text, self._stream)[self._at][name]

    def __iter__(self) -> Iterator[str]:
        return iter(_parsed_lately(self._text, self._stream)[self._at])

    def __len__(self) -> int:
        return len(_parsed_lately(self._text, self._stream)[self._at])


@lru_cache(maxsize=_KEPT)
def _parsed_lately(text: str, stream: bool) -> tuple[JsonObject, ...]:
    return _streamed(text) if stream else _parsed(text)


def _streamed(text: str) -> tuple[JsonObject, ...]:
    return tuple(message for event in events_in(split_events(text)[0]) for message in _parsed(event))


def _parsed(text: str) -> tuple[JsonObject, ...]:
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("{"):
        value = read_json_object(stripped).value
        return (value,) if value is not None and _is_message(value) else ()
    if not stripped.startswith("["):
        return ()
    wrapped = read_json_object(f'{{"batch":{stripped}}}').value or {}
    batch = wrapped.get("batch")
    if len(wrapped) != 1 or not isinstance(batch, list):
        return ()
    return tuple(one for one in batch if isinstance(one, dict) and _is_message(one))


def split_events(text: str) -> tuple[str, str]:
    """Split a stream's text behind its last complete event, at the last blank line."""
    end = 0
    for found in _BLANK_LINE.finditer(text):
        end = found.end()
    return text[:end], text[end:]


def events_in(text: str) -> Iterator[str]:
    """Yield the data of each event in complete events' text; comments and events without data are passed over."""
    octets = text.encode("utf-8", "replace")
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=octets)
    for event in EventSource(response).iter_sse():
        if event.data:
            yield event.data


def reply_among(messages: tuple[JsonObject, ...], expected: int | str | None) -> JsonObject | None:
    """Return the response that carries the id, or else the only response if its id is null."""
    responses = [one for one in messages if "result" in one or "error" in one]
    if expected is not None:
        for one in responses:
            if is_response_to(one, expected):
                return one
    if len(responses) == 1 and responses[0].get("id") is None:
        return responses[0]
    return None


def is_response_to(message: JsonObject, expected: int | str) -> bool:
    """Tell whether a message is the response to the request with this id (1, "1" and true are three ids)."""
    answered = message.get("id")
    same = answered == expected and not isinstance(answered, bool)
    return same and ("result" in message or "error" in message)


def _is_message(value: Mapping[str, Any]) -> bool:
    return "jsonrpc" in value or ("id" in value and ("result" in value or "error" in value))


_GZIP_OR_ZLIB = 47
_EDGE = 3


class Body:
    """What has been read of one body so far. Memory stays near `limit` octets, whatever the server sends.

    Of an event stream `events` holds the data of each complete event; `answered` says that the awaited one came: the
    response with the id `expects_id`, or with None the first event with data.
    """

    def __init__(self, *, limit: int, encoding: str, stream: bool, expects_id: int | str | None) -> None:
        self.stream = stream
        self.truncated = False
        self.answered = False
        self.notes: list[str] = []
        self.events: list[str] = []
        self._limit = limit
        self._expects_id = expects_id
        self.size = 0
        self._parts: list[str] = []
        self._pending: list[str] = []
        self._edge = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._inflater = None
        match encoding.strip().lower():
            case "" | "identity":
                pass
            case "gzip" | "x-gzip" | "deflate":
                self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
            case _:
                self.notes.append("the body's Content-Encoding is not read")

    @property
    def text(self) -> str:
        """The decoded text, in which octets that are not UTF-8 are replaced."""
        return "".join(self._parts)

    def feed(self, octets: bytes) -> None:
        """Take the next octets from the connection."""
        for plain in self._inflated(octets):
            room = self._limit - self.size
            self.size += min(len(plain), room)
            self._take(self._decode(plain[:room]))
            if len(plain) > room:
                self.cut(f"more than {self._limit} octets")
                return

    def cut(self, why: str) -> None:
        """Note that the body was not read to its end."""
        self.truncated = True
        self.notes.append(f"body cut short: {why}")

    def finish(self) -> None:
        """Take what the decoder still holds back."""
        self._take(self._decode(b"", final=not self.truncated))

    def _decode(self, octets: bytes, *, final: bool = False) -> str:
        state = self._decoder.getstate()
        try:
            return self._decoder.decode(octets, final)
        except UnicodeDecodeError:
            self.notes.append("the body is not UTF-8")
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._decoder.setstate(state)
            return self._decoder.decode(octets, final)

    def _take(self, text: str) -> None:
        if self.stream and text:
            self._take_events(text if self._parts else text.removeprefix("\ufeff"))
        self._parts.append(text)

    def _take_events(self, text: str) -> None:
        self._pending.append(text)
        window = self._edge + text
        if not _BLANK_LINE.search(window):
            self._edge = window[-_EDGE:]
            return
        complete, rest = split_events("".join(self._pending))
        self._pending = [rest]
        self._edge = rest[-_EDGE:]
        for event in events_in(complete):
            self.events.append(event)
            awaited = self._expects_id
            if awaited is None or any(is_response_to(one, awaited) for one in messages_in(event)):
                self.answered = True

    def _inflated(self, octets: bytes) -> Iterator[bytes]:
        if self._inflater is None:
            yield octets
            return
        while octets and not self.truncated and not self._inflater.eof:
            try:
                plain = self._inflater.decompress(octets, self._limit + 1)
            except zlib.error:
                self.cut("Content-Encoding does not decode")
                return
            octets = self._inflater.unconsumed_tail
            yield plain
