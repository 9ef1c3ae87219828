"""Not asking faster than allowed: the request rate, and waiting after 429 or 503, until a date that a server names."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC
from email.utils import parsedate_to_datetime

from mcp_auth_contract.answers import Answer

_LAST = 7_258_118_400.0
"""The beginning of the year 2200: no clock is right that has come so far, and no token lives until then."""


def seconds_of(date: str) -> float | None:
    """Return an HTTP date (RFC 9110 §5.6.7) in seconds since 1970; None for any other text and for other centuries."""
    try:
        parsed = parsedate_to_datetime(date)
        # A zone of -0000 is read as none; HTTP knows UTC alone.
        seconds = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, AttributeError):
        return None
    return seconds if 0 <= seconds < _LAST else None


Sleep = Callable[[float], Awaitable[None]]

_TRIES = 3
_TOTAL_WAIT = 5.0
_FIRST_WAIT = 0.5
_GIVE_UPS = 3
_LEAST_WAIT = 0.1
_SLOWEST = 1.0
_SLOWER = 0.7
_MARGIN = 0.9
_LONGEST_AT_503 = 2.0
"""Seconds: a server that cannot reach its issuer says 503 too, and will say so again."""


class Pace:
    """Spreads requests so that no more than `rate` are started per second; None is no limit until one is learned.

    A server that answers 429 has shown what it allows: what it served until then, over the time that took and the time
    to wait. That pace is kept, and lowered where it was still too fast.
    """

    def __init__(self, rate: float | None, sleep: Sleep) -> None:
        self._declared = rate
        self.learned: float | None = None
        self.told: Callable[[float], None] = lambda _rate: None
        self._sleep = sleep
        self._next = 0.0
        self._since: float | None = None
        self._served = 0

    async def turn(self, *, hopeless: bool = False) -> None:
        """Wait until the next request may start. A `hopeless` server is not spared beyond what the contract says."""
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
        learned = None if hopeless else self.learned
        rates = [rate for rate in (self._declared, learned) if rate]
        if not rates:
            return
        start = max(now, self._next)
        self._next = start + 1 / min(rates)
        if start > now:
            await self._sleep(start - now)

    def heard(self, *, limited: bool, wait: float) -> None:
        """Take note of one answer; `wait` is how many seconds a limited one asks to wait."""
        now = asyncio.get_running_loop().time()
        since = now if self._since is None else self._since
        if not limited:
            self._served += 1
        elif self._served and now >= since:  # what was under way when the limit was met tells nothing new
            rate = self._served / (now - since + max(wait, _LEAST_WAIT))
            if self.learned is not None:
                rate = min(rate, self.learned * _SLOWER)
            self.learned = max(rate * _MARGIN, _SLOWEST)
            self._served, self._since = 0, now + wait
            self._next = max(self._next, self._since)
            self.told(self.learned)


class Patience:
    """How long to wait after 429, or 503 with Retry-After: as told, three tries and five seconds in all.

    A server that answered three requests in a row with nothing else is not waited for until it answers otherwise.
    """

    def __init__(self, sleep: Sleep) -> None:
        self.sleep = sleep
        self._gave_up = 0

    @property
    def hopeless(self) -> bool:
        """Whether it has given up on the server, for now."""
        return self._gave_up >= _GIVE_UPS

    def after(self, answer: Answer, waits: list[float]) -> float | None:
        """Return the seconds to wait, or None to take the answer as it is. `waits` are those already spent on it."""
        if not answer.limits_rate:
            if answer.status is not None:
                self._gave_up = 0
            return None
        told = retry_after(answer)
        wait = _FIRST_WAIT * 2 ** len(waits) if told is None else told
        if self.hopeless or (answer.status == 503 and wait > _LONGEST_AT_503):
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
