"""An event loop on a thread of its own, so that tests of every kind can use what runs on it."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

__all__ = ["Portal"]

_T = TypeVar("_T")


class Portal:
    """Runs coroutines on its own loop, called from plain functions and from tests of any async plugin alike."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mcp-auth-contract-client", daemon=True)
        self._kept: list[tuple[asyncio.Event, concurrent.futures.Future[None]]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        for over, kept in reversed(self._kept):
            self._loop.call_soon_threadsafe(over.set)
            kept.result()
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def enter(self, manager: AbstractAsyncContextManager[_T]) -> _T:
        """Enter a context manager and return its value; it is left, by the task that entered it, at the end."""
        entered: concurrent.futures.Future[_T] = concurrent.futures.Future()
        over = asyncio.Event()

        async def keep() -> None:
            try:
                async with manager as value:
                    entered.set_result(value)
                    await over.wait()
            except BaseException as fault:
                if entered.done():
                    raise
                entered.set_exception(fault)

        kept = asyncio.run_coroutine_threadsafe(keep(), self._loop)
        value = entered.result()
        self._kept.append((over, kept))
        return value
