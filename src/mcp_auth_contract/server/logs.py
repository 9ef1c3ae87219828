"""The log files of a server, read from where they were when the run began."""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PIECE = 1024 * 1024
_OVERLAP = 256 * 1024
"""No token of the kit is longer, so that none is cut in two in every piece that it stands in."""


@dataclass(frozen=True, slots=True)
class LogText:
    """What stands behind the first `begun` octets of a file, in overlapping pieces, however long it is."""

    path: Path
    begun: int = 0

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with self.path.open("rb") as file:
            file.seek(self.begun)
            held = ""
            while octets := file.read(_PIECE):
                held += decoder.decode(octets)
                yield held
                held = held[-_OVERLAP:]
            if rest := decoder.decode(b"", final=True):
                yield held + rest

    @property
    def readable(self) -> bool:
        """Whether there is such a file, and it may be read."""
        try:
            self.path.open("rb").close()
        except OSError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Files and their sizes, in octets, when the run began; 0 for one that was not there yet."""

    files: tuple[tuple[Path, int], ...] = ()

    @classmethod
    def begun(cls, paths: Sequence[Path]) -> Self:
        """Note how long the files are now."""
        return cls(tuple((path, _size(path)) for path in paths))

    def written(self) -> Sequence[tuple[str, Iterable[str] | None]]:
        """Return name and new text of each file, in pieces; None for a file that cannot be read.

        A file that has become shorter was begun anew, and is read from its start.
        """
        texts = [(path.name, LogText(path, begun if begun <= _size(path) else 0)) for path, begun in self.files]
        return [(name, text if text.readable else None) for name, text in texts]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
