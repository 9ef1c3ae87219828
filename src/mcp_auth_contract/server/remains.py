"""What a started server leaves behind, and a watcher that ends it when the kit dies without having done so.

Run as a script it is the watcher: it waits until its standard input ends, which happens however the kit ends. It then
needs nothing but the standard library, for it starts with every server.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_DONE = b"done\n"
_ROUNDS = 20


def end_marked(mark: str) -> None:
    """Kill every process that has this name in its environment: children in sessions of their own have it too.

    Found where there is /proc; elsewhere the process group has to do.
    """
    sought = f"\0{mark}=".encode()
    for _ in range(_ROUNDS):  # one may start another meanwhile
        found = [pid for pid in _processes() if sought in _environment(pid)]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208  hundreds of names, and no paths needed
    except OSError:
        return []
    return [int(name) for name in names if name.isdecimal() and int(name) != os.getpid()]


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return b"\0" + file.read()
    except OSError:  # gone, a zombie, or somebody else's
        return b""


class Watcher:
    """A process that outlives the kit by the moment that it takes to end the server and to remove its folder."""

    def __init__(self, mark: str, folder: Path | None) -> None:
        words = [sys.executable, "-I", "-S", __file__, mark, *([] if folder is None else [str(folder)])]
        self._process = subprocess.Popen(  # noqa: S603  this very file
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def tell(self, group: int) -> None:
        """Tell it the server's process group."""
        self._say(b"%d\n" % group)

    def dismiss(self) -> None:
        """Let it go: the server has ended."""
        self._say(_DONE)
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._process.wait()

    def _say(self, line: bytes) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # somebody has killed it
                self._process.stdin.write(line)
                self._process.stdin.flush()


def _watch(mark: str, folder: str | None) -> None:
    said = sys.stdin.buffer.read()
    if said.endswith(_DONE):
        return
    for group in said.split():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(group), signal.SIGKILL)
    end_marked(mark)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _watch(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
