"""Event streams: with a fixed content, or open until the client leaves or the token expires."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["EventStream", "OpenStream", "event"]

_LONGEST_STREAM_S = 3600.0
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def event(message: Mapping[str, Any]) -> str:
    """Return one event that carries a JSON-RPC message."""
    return f"event: message\ndata: {json.dumps(message)}\n\n"


def _priming(ident: str) -> str:
    return f"id: {ident}\ndata:\n\n: this stream carries JSON-RPC messages\n\n"


class EventStream(Response):
    """A whole event stream, opened by a priming event and a comment (MCP 2025-11-25, sending messages)."""

    media_type = "text/event-stream"

    def __init__(self, messages: Sequence[Mapping[str, Any]], headers: Mapping[str, str] | None = None) -> None:
        content = _priming("0") + "".join(event(message) for message in messages)
        super().__init__(content, headers={**_HEADERS, **(headers or {})})


class OpenStream(Response):
    """An event stream that stays open for at most `seconds`, then says `farewell`, if it has one.

    `opening` is raw text in place of the priming event and the `first` messages.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        first: Sequence[Mapping[str, Any]] = (),
        *,
        seconds: float = _LONGEST_STREAM_S,
        farewell: Mapping[str, Any] | None = None,
        primed: bool = True,
        opening: str = "",
    ) -> None:
        super().__init__(None, headers=_HEADERS)
        self._opening = opening or (_priming("0") if primed else "") + "".join(event(message) for message in first)
        self._seconds = max(0.0, min(seconds, _LONGEST_STREAM_S))
        self._farewell = farewell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the opening, then wait for the client or the clock."""
        del scope
        start = {"type": "http.response.start", "status": self.status_code, "headers": self._open_headers()}
        await send(start)
        await send({"type": "http.response.body", "body": self._opening.encode(), "more_body": True})
        try:
            async with asyncio.timeout(self._seconds):
                while (await receive())["type"] != "http.disconnect":
                    pass
                return
        except TimeoutError:
            pass
        closing = event(self._farewell) if self._farewell is not None else ""
        await send({"type": "http.response.body", "body": closing.encode(), "more_body": False})

    def _open_headers(self) -> list[tuple[bytes, bytes]]:
        return [(name, value) for name, value in self.raw_headers if name != b"content-length"]
