"""How a document of the issuer is answered: in the usual way, or as an issuer in trouble answers; and what wakes it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from starlette.responses import Response, StreamingResponse

JWKS_MOVED_PATH = "/jwks-moved"
"""Where the trusted issuer's keys are served always, however its JWKS behaves."""

JWKS_STRANGER_PATH = "/jwks-stranger"
"""Where the stranger's keys are served."""

INTROSPECTION_MOVED_PATH = "/introspect-moved"
"""Where tokens are introspected always, however the endpoint behaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How something is answered. A `body` is sent instead of what would be sent; `headers` are added.

    `delay` is the seconds before the answer, `drip` the bytes per second in which the body comes. With
    `hang` the request is accepted and not answered until the behaviour changes or the issuer closes.
    """

    status: int = 200
    content_type: str = "application/json"
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0
    drip: float | None = None
    hang: bool = False

    def __post_init__(self) -> None:
        if self.drip is not None and self.drip <= 0:
            raise ValueError("drip is a number of bytes per second above zero; use hang for none at all")


class BehaviourName(StrEnum):
    """The troubles that a timeline can ask for by name."""

    USUAL = "usual"
    OUTAGE_503 = "outage_503"
    ERROR_500 = "error_500"
    UNAUTHORIZED_401 = "unauthorized_401"
    NOT_FOUND = "not_found"
    TOO_MANY_REQUESTS = "too_many_requests"
    NO_CONTENT = "no_content"
    HTML_PAGE = "html_page"
    INVALID_JSON = "invalid_json"
    EMPTY_BODY = "empty_body"
    NULL = "null"
    TOP_LEVEL_LIST = "top_level_list"
    WRONG_CONTENT_TYPE = "wrong_content_type"
    JWK_SET_MEDIA_TYPE = "jwk_set_media_type"
    REDIRECT_SAME_ORIGIN = "redirect_same_origin"
    REDIRECT_TO_STRANGER = "redirect_to_stranger"
    INTROSPECTION_MOVED = "introspection_moved"
    SLOW_3S = "slow_3s"
    HANG = "hang"
    DRIP = "drip"


_BASIC = {"www-authenticate": 'Basic realm="issuer"'}
_PAGE = b"<!doctype html><html><head><title>Sign in</title></head><body><p>Sign in to continue.</p></body></html>"


def _refusing(status: int, headers: Mapping[str, str] | None = None) -> Behaviour:
    return Behaviour(status=status, content_type="text/plain", body=b"", headers=headers or {})


BEHAVIOURS: Mapping[BehaviourName, Behaviour] = MappingProxyType(
    {
        BehaviourName.USUAL: Behaviour(),
        BehaviourName.OUTAGE_503: _refusing(503),
        BehaviourName.ERROR_500: _refusing(500),
        BehaviourName.UNAUTHORIZED_401: Behaviour(status=401, body=b'{"error":"invalid_client"}', headers=_BASIC),
        BehaviourName.NOT_FOUND: _refusing(404),
        BehaviourName.TOO_MANY_REQUESTS: _refusing(429, {"retry-after": "3600"}),
        BehaviourName.NO_CONTENT: _refusing(204),
        BehaviourName.HTML_PAGE: Behaviour(content_type="text/html", body=_PAGE),
        BehaviourName.INVALID_JSON: Behaviour(body=b'{"keys":['),
        BehaviourName.EMPTY_BODY: Behaviour(body=b""),
        BehaviourName.NULL: Behaviour(body=b"null"),
        BehaviourName.TOP_LEVEL_LIST: Behaviour(body=b"[]"),
        BehaviourName.WRONG_CONTENT_TYPE: Behaviour(content_type="text/html"),
        BehaviourName.JWK_SET_MEDIA_TYPE: Behaviour(content_type="application/jwk-set+json"),
        BehaviourName.REDIRECT_SAME_ORIGIN: _refusing(302, {"location": JWKS_MOVED_PATH}),
        BehaviourName.REDIRECT_TO_STRANGER: _refusing(302, {"location": JWKS_STRANGER_PATH}),
        BehaviourName.INTROSPECTION_MOVED: _refusing(307, {"location": INTROSPECTION_MOVED_PATH}),
        BehaviourName.SLOW_3S: Behaviour(delay=3),
        BehaviourName.HANG: Behaviour(hang=True),
        BehaviourName.DRIP: Behaviour(drip=1),
    }
)
"""What each name means. Redirects lead to paths that the issuer serves itself, on its own origin."""


_DROPS_PER_SECOND = 10


async def answer(behaviour: Behaviour, usual: bytes) -> Response:
    """Return the response after the behaviour's delay; `usual` is the body unless the behaviour has one."""
    if behaviour.delay > 0:
        await asyncio.sleep(behaviour.delay)
    body = usual if behaviour.body is None else behaviour.body
    headers = {"content-type": behaviour.content_type, **behaviour.headers}
    if behaviour.drip is None:
        return Response(body, status_code=behaviour.status, headers=headers)
    headers["content-length"] = str(len(body))
    return StreamingResponse(_drops(body, behaviour.drip), status_code=behaviour.status, headers=headers)


async def _drops(body: bytes, rate: float) -> AsyncIterator[bytes]:
    size = max(1, round(rate / _DROPS_PER_SECOND))
    for start in range(0, len(body), size):
        await asyncio.sleep(size / rate)
        yield body[start : start + size]


State = TypeVar("State")


class Change:
    """Announced from any thread, awaited on any event loop, without a poll or a timer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def announce(self) -> None:
        """Wake everybody who waits."""
        # Inside the lock, so that a loop is never told after it has ended.
        with self._lock:
            for event, loop in self._waiting.items():
                loop.call_soon_threadsafe(event.set)

    @contextmanager
    def coming(self) -> Iterator[asyncio.Event]:
        """Yield an event of the running loop that the next announcement sets."""
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        with self._lock:
            self._waiting[event] = loop
        try:
            yield event
        finally:
            with self._lock:
                del self._waiting[event]


async def settled(current: Callable[[], State], waits: Callable[[State], bool], change: Change) -> State:
    """Return the present state as soon as it is none that waits."""
    while True:
        # One listens before one looks, so that a change in between is not missed.
        with change.coming() as event:
            state = current()
            if not waits(state):
                return state
            await event.wait()
