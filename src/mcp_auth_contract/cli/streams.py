"""Standard streams that are full, closed, or were never there."""

import errno
import io
import os
import sys
from typing import Any

__all__ = ["forgive", "release"]


class _Deaf(io.TextIOWrapper):
    """Standard error that takes what it can: what it cannot take changes no exit code."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except (OSError, ValueError):
            return


class _Missing(io.TextIOBase):
    """Standard output that was closed before the command began."""

    def write(self, _text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def forgive() -> None:
    """Put streams in place that can be written to, or say plainly that they cannot."""
    if sys.stdout is None:
        sys.stdout = _Missing()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  open to the end of the process
        return
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        encoding, number = sys.stderr.encoding, sys.stderr.fileno()
        buffer: Any = io.BufferedWriter(io.FileIO(os.dup(number), "w"))
        sys.stderr = _Deaf(buffer, encoding, "backslashreplace", line_buffering=True)


def release() -> OSError | None:
    """Write out what standard output still holds; return why it cannot be. Nothing is then left to fail at the exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard()
    except OSError as fault:
        _discard()
        return fault
    return None


def _discard() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
