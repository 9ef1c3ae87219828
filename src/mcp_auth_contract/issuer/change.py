"""How an answer that waits is woken when something that the issuers publish changes."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

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
