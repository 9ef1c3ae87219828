"""Not asking faster than allowed: the request rate, and waiting after 429 or 503."""

import asyncio
from collections.abc import Awaitable, Callable

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.wire.dates import seconds_of

__all__ = ["Pace", "Patience", "retry_after"]

Sleep = Callable[[float], Awaitable[None]]

_TRIES = 3
_TOTAL_WAIT = 5.0
_FIRST_WAIT = 0.5
_GIVE_UPS = 3
_LONGEST_AT_503 = 2.0
"""Seconds: a server that cannot reach its issuer says 503 too, and will say so again."""


class Pace:
    """Spreads requests so that no more than `rate` are started per second; None is no limit."""

    def __init__(self, rate: float | None, sleep: Sleep) -> None:
        self._gap = 1 / rate if rate else 0.0
        self._sleep = sleep
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next request may start."""
        if not self._gap:
            return
        now = asyncio.get_running_loop().time()
        start = max(now, self._next)
        self._next = start + self._gap
        if start > now:
            await self._sleep(start - now)


class Patience:
    """How long to wait after 429, or 503 with Retry-After: as told, three tries and five seconds in all.

    A server that answered three requests in a row with nothing else is not waited for until it answers otherwise.
    """

    def __init__(self, sleep: Sleep) -> None:
        self.sleep = sleep
        self._gave_up = 0

    def after(self, answer: Answer, waits: list[float]) -> float | None:
        """Return the seconds to wait, or None to take the answer as it is. `waits` are those already spent on it."""
        if not answer.limits_rate:
            if answer.status is not None:
                self._gave_up = 0
            return None
        told = retry_after(answer)
        wait = _FIRST_WAIT * 2 ** len(waits) if told is None else told
        if self._gave_up >= _GIVE_UPS or (answer.status == 503 and wait > _LONGEST_AT_503):
            return None
        if len(waits) + 1 >= _TRIES or sum(waits) + wait > _TOTAL_WAIT:
            self._gave_up += 1
            return None
        return wait


def retry_after(answer: Answer) -> float | None:
    """Read Retry-After in seconds (RFC 9110 §10.2.3); a date counts from the answer's own Date. None if unreadable."""
    value = (answer.header("retry-after") or "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    until, now = seconds_of(value), seconds_of(answer.header("date") or "")
    return None if until is None or now is None else max(0.0, until - now)
