"""Every request that the issuers received: how a fetched key URL or a hammered JWKS is seen."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mcp_auth_contract.clock import Clock, system_clock

__all__ = ["Memory", "Received"]

_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "dpop"})


@dataclass(frozen=True, slots=True)
class Received:
    """One request. `at` is seconds since the epoch; headers are lower case, those with credentials left out.

    The query's values and the body are not kept: both can hold a code, a token or a secret.
    """

    method: str
    path: str
    at: float
    headers: Mapping[str, str] = field(repr=False)


class Memory:
    """Remembers the latest requests, up to `limit`; safe from any thread."""

    def __init__(self, clock: Clock = system_clock, limit: int = 10_000) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._requests: deque[Received] = deque(maxlen=limit)
        self._total = 0

    def record(self, method: str, path: str, headers: Iterable[tuple[str, str]]) -> None:
        """Remember one request at the present time."""
        harmless = {name.lower(): value for name, value in headers if name.lower() not in _CREDENTIALS}
        request = Received(method, path, self._clock(), MappingProxyType(harmless))
        with self._lock:
            self._requests.append(request)
            self._total += 1

    @property
    def total(self) -> int:
        """How many requests came in, forgotten ones included."""
        with self._lock:
            return self._total

    def requests(self, path: str | None = None, since: float | None = None) -> tuple[Received, ...]:
        """Return what is remembered, oldest first, of one path and from one moment on."""
        with self._lock:
            kept = tuple(self._requests)
        return tuple(
            request
            for request in kept
            if (path is None or request.path == path) and (since is None or request.at >= since)
        )
