"""Event streams: with a fixed content, or open until the client leaves or the token expires."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_LONGEST_STREAM_S = 3600.0

PRIMING = "0"
"""The id of the event that opens a stream."""
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def event(message: Mapping[str, Any], ident: str | None = None) -> str:
    """Return one event that carries a JSON-RPC message, with its id if it has one."""
    numbered = "" if ident is None else f"id: {ident}\n"
    return f"{numbered}event: message\ndata: {json.dumps(message)}\n\n"


def _priming(ident: str) -> str:
    return f"id: {ident}\ndata:\n\n: this stream carries JSON-RPC messages\n\n"


class EventStream(Response):
    """A whole event stream, opened by a priming event and a comment (MCP 2025-11-25, sending messages)."""

    media_type = "text/event-stream"

    def __init__(self, messages: Sequence[Mapping[str, Any]], headers: Mapping[str, str] | None = None) -> None:
        content = _priming(PRIMING) + "".join(event(message) for message in messages)
        super().__init__(content, headers={**_HEADERS, **(headers or {})})


class OpenStream(Response):
    """An event stream that stays open for at most `seconds`, then says `farewell`, if it has one.

    `opening` is raw text in place of the priming event and the `first` messages. `waiting` holds events that come
    later; `closed` is called when the stream has ended.
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
        waiting: "asyncio.Queue[str] | None" = None,
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(None, headers=_HEADERS)
        self._opening = opening or (_priming(PRIMING) if primed else "") + "".join(event(message) for message in first)
        self._seconds = max(0.0, min(seconds, _LONGEST_STREAM_S))
        self._farewell = farewell
        self.waiting: asyncio.Queue[str] = waiting or asyncio.Queue()
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the opening, then what comes, until the client leaves or the clock says so."""
        del scope
        forwarding: asyncio.Task[None] | None = None
        try:
            headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
            await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
            await _write(send, self._opening)
            forwarding = asyncio.create_task(self._forward(send))
            try:
                async with asyncio.timeout(self._seconds):
                    while (await receive())["type"] != "http.disconnect":
                        pass
            except TimeoutError:
                await _stop(forwarding)
                await _write(send, event(self._farewell) if self._farewell is not None else "", more=False)
        finally:
            self._closed()
            await _stop(forwarding)

    async def _forward(self, send: Send) -> None:
        while True:
            await _write(send, await self.waiting.get())


async def _write(send: Send, text: str, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": more})


async def _stop(task: "asyncio.Task[None] | None") -> None:
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
