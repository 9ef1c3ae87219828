"""The JSON-RPC messages of a body or an event stream."""

import re
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


def has_blank_line(text: str) -> bool:
    """Tell whether an event may end in this part of a stream's text."""
    return _BLANK_LINE.search(text) is not None


def events_in(text: str) -> Iterator[str]:
    """Yield the data of each event in complete events' text; comments and events without data are passed over."""
    response = httpx.Response(
        200, headers={"Content-Type": "text/event-stream"}, content=text.encode("utf-8", "replace")
    )
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
