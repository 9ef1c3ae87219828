"""One HTTP request, whose body is read only when somebody asks for it."""

import json
from typing import Any, NoReturn

from starlette.requests import Request

from mcp_auth_contract_lab.refusal import BodyTooLarge

BODY_CAP = 1_000_000


UNREADABLE = object()
"""What parse_json returns for bytes that are not one JSON text."""


def refuse_constant(name: str) -> NoReturn:
    """NaN and Infinity are no JSON (RFC 8259 §6)."""
    raise ValueError(name)


def parse_json(body: bytes) -> Any:
    """Return the parsed UTF-8 JSON text, or UNREADABLE."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return UNREADABLE


class Incoming:
    """A request to the endpoint."""

    __slots__ = ("_body", "_message", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self._body: bytes | None = None
        self._message: Any = None

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.request.method

    @property
    def path(self) -> str:
        """The decoded path."""
        path: str = self.request.scope["path"]
        return path

    def header(self, name: str) -> str | None:
        """Return the first line of a header field, or None."""
        return self.request.headers.get(name)

    def header_lines(self, name: str) -> list[str]:
        """Return every line of a header field, in order."""
        return self.request.headers.getlist(name)

    async def body(self) -> bytes:
        """Return the body. Raises BodyTooLarge."""
        if self._body is None:
            whole = bytearray()
            async for part in self.request.stream():
                whole += part
                if len(whole) > BODY_CAP:
                    raise BodyTooLarge
            self._body = bytes(whole)
        return self._body

    @property
    def read(self) -> bytes:
        """The body as far as somebody has asked for it; empty before."""
        return self._body or b""

    async def message(self) -> Any:
        """Return the parsed body, or UNREADABLE. Raises BodyTooLarge."""
        if self._message is None:
            self._message = parse_json(await self.body())
        return self._message

    async def posted(self) -> dict[str, Any]:
        """Return the message of a POST if it is one object, else an empty one. Raises BodyTooLarge."""
        message = await self.message() if self.method == "POST" else None
        return message if isinstance(message, dict) else {}
