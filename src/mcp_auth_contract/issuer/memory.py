"""Every request that the issuers received: how a fetched key URL or a hammered JWKS is seen."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mcp_auth_contract.clock import Clock, system_clock

_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "dpop"})


@dataclass(frozen=True, slots=True)
class Received:
    """One request. `number` counts them from 1; `at` is seconds since the epoch by the issuer's clock.

    Headers are lower case, those with credentials left out. The query's values and the body are not kept:
    both can hold a code, a token or a secret.
    """

    number: int
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
        at = self._clock()
        with self._lock:
            self._total += 1
            self._requests.append(Received(self._total, method, path, at, MappingProxyType(harmless)))

    @property
    def total(self) -> int:
        """How many requests came in, forgotten ones included; a mark for `requests(after=…)`."""
        with self._lock:
            return self._total

    def requests(
        self, path: str | None = None, since: float | None = None, *, under: str | None = None, after: int = 0
    ) -> tuple[Received, ...]:
        """Return what is remembered, oldest first.

        Of one path, of the path `under` and everything below it, from one moment on, after a mark.
        """
        with self._lock:
            kept = tuple(self._requests)
        return tuple(
            request
            for request in kept
            if request.number > after
            and (path is None or request.path == path)
            and (under is None or request.path == under or request.path.startswith(f"{under}/"))
            and (since is None or request.at >= since)
        )
