"""One clock for the kit, its issuer and an application in this process, which can be moved forwards."""

import asyncio
import contextlib
import queue
import socketserver
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any, Self

import trustme

_REAL_MONOTONIC = (time.monotonic,)  # in a tuple, where freezegun does not look for it

_WAITING: tuple[tuple[ModuleType, str], ...] = (
    (threading, "_time"),
    (queue, "time"),
    (subprocess, "_time"),
    (socketserver, "time"),
)
"""Names of `time.monotonic` in modules that wait by it; a move of the clock would end their waiting."""

_MEASURED = {"perf_counter": (time.perf_counter,), "time": (time.time,)}
"""What pytest measures the durations of tests by, where it runs."""


class FrozenTime:
    """Takes the clock of the whole process over, from the present on, until the `with` block ends.

    The clock ticks, for a server that counts a deadline or a rate by it must not wait for ever, and `pass_time` moves
    it. Waiting goes on in real time: event loops, threads, sockets and `time.sleep`. A `TimeControl` for probes. Only
    for one block at a time.
    """

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._factory: Any = None

    def __enter__(self) -> Self:
        import freezegun  # it takes a while, and only targets in this process need it

        # cryptography looks the class of dates up once, for its first certificate, and then takes no other's dates.
        trustme.CA()
        settings = freezegun.config.settings
        ignored = settings.default_ignore_list
        # freezegun leaves callers alone whose name begins like one of its list, or who stand near a thread's first
        # frame. A server may be called gift.py, and it may verify tokens in a worker thread.
        settings.default_ignore_list = []
        try:
            freezer = freezegun.freeze_time(datetime.now(UTC), tick=True, real_asyncio=True)
        finally:
            settings.default_ignore_list = ignored
        self._factory = self._stack.enter_context(freezer)
        for module, name in _WAITING:
            setattr(module, name, _REAL_MONOTONIC[0])
        if (pytest_timing := sys.modules.get("_pytest.timing")) is not None:
            for name, real in _MEASURED.items():
                setattr(pytest_timing, name, real[0])
        return self

    def __exit__(self, *_: object) -> None:
        self._factory = None
        self._stack.close()

    def move(self, seconds: float) -> None:
        """Move the clock forwards. Raises ValueError for a move backwards."""
        if seconds < 0:
            raise ValueError("the clock moves forwards only")
        # Its own way to move a ticking clock forgets what ticked since the last move.
        self._factory.move_to(self._factory() + timedelta(seconds=seconds))

    def affords(self, seconds: float) -> bool:
        """Whether that many seconds may pass: always, for nobody waits."""
        return seconds >= 0

    async def pass_time(self, seconds: float) -> bool:
        """Move the clock forwards, at once; always True."""
        self.move(seconds)
        await asyncio.sleep(0)
        return True
