"""Which requests reach the endpoint, and which of them need a token: all."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import Response

from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.settings import ENDPOINT

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EXPOSED = "WWW-Authenticate, Mcp-Session-Id"


def is_loopback(origin: str) -> bool:
    """Pages of this machine may call; any other Origin may be DNS rebinding (MCP transports, security)."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.hostname in _LOOPBACK


async def _nothing(_lab: "Lab", _incoming: Incoming) -> None:
    """Nothing is answered before authentication."""


async def _never(_incoming: Incoming) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Steps: `matches` knows the endpoint's path, `intercept` may answer before the token is asked for.

    `open_to_all` names requests that need no token; it is asked only when there is none.
    """

    matches: Callable[[str], bool] = ENDPOINT.__eq__
    origin_allowed: Callable[[str], bool] = is_loopback
    intercept: "Callable[[Lab, Incoming], Awaitable[Response | None]]" = _nothing
    open_to_all: Callable[[Incoming], Awaitable[bool]] = _never


def preflight(origin: str, methods: str) -> Response:
    """Answer a browser's preflight from an allowed origin (Fetch standard); it runs nothing."""
    headers = {
        "access-control-allow-methods": methods,
        "access-control-allow-headers": (
            "authorization, content-type, accept, last-event-id, mcp-session-id, "
            "mcp-protocol-version, mcp-method, mcp-name"
        ),
        "access-control-max-age": "600",
    }
    return share_with_origin(Response(status_code=204, headers=headers), origin)


def share_with_origin(response: Response, origin: str) -> Response:
    """Let a page of an allowed origin read the answer and its challenge."""
    response.headers["access-control-allow-origin"] = origin
    response.headers["access-control-expose-headers"] = _EXPOSED
    response.headers["vary"] = "Origin"
    return response
