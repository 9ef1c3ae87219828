"""Reading a response's body within limits: octets, decoded size, complete events."""

import codecs
import zlib
from collections.abc import Iterator

from mcp_auth_contract.wire.messages import (
    events_in,
    has_blank_line,
    is_response_to,
    messages_in,
    split_events,
)

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
        if not has_blank_line(window):
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
