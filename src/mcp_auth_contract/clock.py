"""Time as a parameter: nothing below the command line asks the system for the date by itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

Clock = Callable[[], float]
"""Seconds since the epoch (RFC 7519 NumericDate), fractions allowed."""


def system_clock() -> float:
    """Return the machine's time; looked up at call time so that freezegun can move it."""
    return time.time()


def stopwatch(_real: Callable[[], float] = time.perf_counter) -> float:
    """Return seconds to measure durations with, which a move of the clock does not change."""
    return _real()


class TimeControl(Protocol):
    """How a probe lets time pass."""

    def affords(self, seconds: float) -> bool:
        """Whether that many seconds may pass."""
        ...

    async def pass_time(self, seconds: float) -> bool:
        """Let that many seconds pass for kit and server; False when it would take longer than is allowed."""
        ...


_SHORT = 3.0


class RealTime:
    """Time that passes by waiting, `budget` seconds of it in all. Three seconds or less are always allowed."""

    def __init__(self, budget: float = 0.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.left = budget
        self._sleep = sleep

    def affords(self, seconds: float) -> bool:
        """Whether the rest of the budget is long enough."""
        return seconds <= max(self.left, _SHORT)

    async def pass_time(self, seconds: float) -> bool:
        """Wait, unless the rest of the budget is shorter; then nothing of it is used."""
        if not self.affords(seconds):
            return False
        self.left = max(0.0, self.left - seconds)
        await self._sleep(seconds)
        return True
