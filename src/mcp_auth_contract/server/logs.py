"""The log files of a server, read from where they were when the run began."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

__all__ = ["LogFiles", "tail"]

_MOST_OCTETS = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Files and their sizes, in octets, when the run began; 0 for one that was not there yet."""

    files: tuple[tuple[Path, int], ...] = ()

    @classmethod
    def begun(cls, paths: Sequence[Path]) -> Self:
        """Note how long the files are now."""
        return cls(tuple((path, _size(path)) for path in paths))

    def written(self) -> Sequence[tuple[str, str | None]]:
        """Return name and new text of each file, the last two megabytes of it; None for a file that cannot be read.

        A file that has become shorter was begun anew, and is read from its start.
        """
        return [(path.name, tail(path, begun)) for path, begun in self.files]


def tail(path: Path, begun: int = 0) -> str | None:
    """Return what stands behind the first `begun` octets of a file, at most two megabytes of it; None without one."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            start = begun if begun <= size else 0
            file.seek(max(start, size - _MOST_OCTETS))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
