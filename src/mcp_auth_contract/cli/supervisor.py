"""A command that runs somebody's application in its process is watched by one that does not.

The application may end its process whenever it likes, with whatever exit code. So the command is started again in a
child, which says at its very end what it came to; the exit code comes from there alone.
"""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM, Signals, signal
from types import FrameType

from mcp_auth_contract.clock import stopwatch

WORDS: ContextVar[tuple[str, ...]] = ContextVar("WORDS", default=())
"""The command line that this process is there for; empty where it is somebody's who calls the kit from Python."""

_PIPE = "MCP_AUTH_CONTRACT_SUPERVISOR"
_LOOK_S = 0.1
_END_S = 2.8
"""After that time a child that was told to end, or has said that it has, is ended."""

_supervised: ContextVar[bool] = ContextVar("_supervised", default=False)


def said_by(command: Callable[[], int]) -> int:
    """Run a command, and tell the process that watches this one what it came to; without one just run it."""
    given = os.environ.pop(_PIPE, None)
    if given is None:
        return command()
    pipe = int(given)
    os.set_inheritable(pipe, False)
    _supervised.set(True)
    code = command()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    with suppress(OSError):
        os.write(pipe, f"{code}\n".encode())
    return code


def supervised() -> int | None:
    """Run this very command in a child and return its exit code; None in that child, which goes on by itself.

    None also where the command was called from Python: what the process comes to is then the caller's affair.
    A child that ends without a word has been ended by the application: 4, and one line says so.
    """
    if _supervised.get() or not WORDS.get() or sys.platform == "win32":  # there no pipe can be handed on like this
        return None
    reading, writing = os.pipe()
    try:
        child = subprocess.Popen(_command(), env={**os.environ, _PIPE: str(writing)}, pass_fds=(writing,))  # noqa: S603  this very command
    finally:
        os.close(writing)
    asked_at: list[float] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        asked_at.append(stopwatch())
        child.send_signal(number)

    before = {number: signal(number, pass_on) for number in (SIGINT, SIGTERM, SIGHUP)}
    try:
        told = _told(reading, child, asked_at)
    finally:
        for number, handler in before.items():
            signal(number, handler)
        os.close(reading)
    if told is not None:
        return told
    if asked_at:
        sys.stderr.write("mcp-auth-contract: interrupted\n")
        return 3
    sys.stderr.write(
        f"mcp-auth-contract: the server ended the process of the kit ({_ended(child.returncode)}) before there was a "
        "report; find what calls exit in it, or run it elsewhere and name its target.url\n"
    )
    return 4


def _command() -> Sequence[str]:
    safe = [] if {"", str(Path.cwd())} & set(sys.path) else ["-P"]
    warnings = [f"-W{one}" for one in sys.warnoptions]
    return [sys.executable, *safe, *warnings, "-m", "mcp_auth_contract", *WORDS.get()]


def _told(reading: int, child: "subprocess.Popen[bytes]", asked_at: Sequence[float]) -> int | None:
    """Wait for the child's word and its end; None where it ends without one."""
    said = b""
    while not said.endswith(b"\n") and child.poll() is None:
        if select.select([reading], [], [], _LOOK_S)[0]:
            said += os.read(reading, 16) or b"\n"
        if asked_at and stopwatch() - asked_at[0] > _END_S:
            child.kill()
            child.wait()
    os.set_blocking(reading, False)
    with suppress(BlockingIOError):
        said += os.read(reading, 16)
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:  # a thread of the application goes on
        child.kill()
        child.wait()
    word = said.decode("ascii", "replace").strip()
    return int(word) if word.isdecimal() else None


def _ended(code: int) -> str:
    return f"signal {Signals(-code).name}" if code < 0 else f"exit code {code}"
