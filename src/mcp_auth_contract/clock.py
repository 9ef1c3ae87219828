"""Time as a parameter: nothing below the command line asks the system for the date by itself."""

import time
from collections.abc import Callable

__all__ = ["Clock", "system_clock"]

Clock = Callable[[], float]
"""Seconds since the epoch (RFC 7519 NumericDate), fractions allowed."""


def system_clock() -> float:
    """Return the machine's time; looked up at call time so that freezegun can move it."""
    return time.time()
