"""Work measured as processor time of this thread, which other processes do not lengthen as they do seconds."""

import time
from collections.abc import Callable

__all__ = ["growth", "work"]


def work(do: Callable[[], object], times: int = 3) -> float:
    """Return the least processor time that a call took, of some."""

    def once() -> float:
        begun = time.thread_time()
        do()
        return time.thread_time() - begun

    return min(once() for _ in range(times))


def growth(do: Callable[[int], object], small: int, factor: int = 10) -> float:
    """Return how many times the work of `small` a size `factor` times as large takes.

    What is linear comes near `factor`, what is quadratic near its square.
    """
    return work(lambda: do(small * factor)) / work(lambda: do(small))
