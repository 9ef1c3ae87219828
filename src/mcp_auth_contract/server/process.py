"""The server under test as a process that the kit starts, watches and always stops."""

import asyncio
import atexit
import contextlib
import functools
import os
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.server.remains import Watcher, end_marked

_KEPT_OUTPUT = 64 * 1024
_POLL = 0.05
_DRAIN = 1.0
_CHUNK = 4096
_SHOWN_LINE = 300
_MOST_LOGGED = 64 * 1024 * 1024
_NOT_KEPT = b"\n[mcp-auth-contract: what the server wrote after its first 64 MiB was not kept]\n"


def free_port(host: str = "127.0.0.1") -> int:
    """Return a TCP port that is free now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


async def wait_for_port(url: str, time_limit: float) -> bool:
    """Wait until something accepts connections at the host and port of a URL."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(time_limit):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection(parts.hostname, port)
                    writer.close()
                    with contextlib.suppress(OSError):
                        await writer.wait_closed()
                    return True
                await asyncio.sleep(_POLL)
    return False


class StartedProcess:
    """A command of the contract, run in its own process group. An async context manager.

    `ready` gets `time_limit` (seconds) and says whether the server came up within it. `redact` cleans the output
    before it is shown. `log` takes the first 64 MiB of what it writes, as it is, to be searched for leaked secrets;
    a line at its end says where there was more. The
    process and its children, those in sessions of their own too, are stopped on every way out: SIGTERM, and SIGKILL
    `grace` seconds later. Where the kit itself is killed, a watcher stops them, and removes `folder_of_log`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        ready: Callable[[float], Awaitable[bool]],
        redact: Callable[[str], str] = lambda text: text,
        time_limit: float = 30.0,
        log: Path | None = None,
        folder_of_log: Path | None = None,
        grace: float = 5.0,
    ) -> None:
        self._command = list(command)
        self._folder = folder
        self._mark = f"MCP_AUTH_CONTRACT_{secrets.token_hex(8)}"
        self._env = {**os.environ, "PYTHONUNBUFFERED": "1", **env, self._mark: "1"}
        self._ready = ready
        self._redact = redact
        self._time_limit = time_limit
        self._log = log
        self._folder_of_log = folder_of_log
        self._watcher: Watcher | None = None
        self._grace = grace
        self._output = bytearray()
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._last_resort: Callable[[], None] = lambda: None

    @property
    def output(self) -> str:
        """The last 64 KiB of what it wrote to stdout and stderr, unredacted: for searching, never for showing."""
        return self._output.decode("utf-8", "replace")

    def hurry(self) -> None:
        """Leave it a second at most between SIGTERM and SIGKILL: somebody waits for the end."""
        self._grace = min(self._grace, 1.0)

    async def __aenter__(self) -> Self:
        try:
            if self._log is not None:
                self._log.write_bytes(b"")
        except OSError as error:
            raise UsageError(f"cannot write the server's output to {self._log}: {error.strerror}") from None
        if sys.platform != "win32":
            self._watcher = Watcher(self._mark, self._folder_of_log)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                cwd=self._folder,
                env=self._env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException as error:
            self._dismiss()
            if isinstance(error, OSError):
                raise UsageError(f"target.start: cannot run {self._command[0]}: {error.strerror}") from None
            raise
        if self._watcher is not None:
            self._watcher.tell(self._process.pid)
        # For an interpreter that ends without leaving the context, as after a second Ctrl-C.
        self._last_resort = functools.partial(_signal_group, self._process, kill=True)
        atexit.register(self._last_resort)
        self._reader = asyncio.create_task(self._read(self._process))
        try:
            await self._wait(self._process)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        with _sink(self._log) as keep:
            while chunk := await process.stdout.read(_CHUNK):
                self._output += chunk
                del self._output[:-_KEPT_OUTPUT]
                keep(chunk)

    async def _wait(self, process: asyncio.subprocess.Process) -> None:
        ended = asyncio.create_task(process.wait())
        ready = asyncio.ensure_future(self._ready(self._time_limit))
        try:
            await asyncio.wait({ended, ready}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                if self._reader is not None:
                    await asyncio.wait({self._reader}, timeout=1.0)
                how = f"{self._command[0]} ended with code {ended.result()} before it was ready"
                raise Unreachable(f"target.start: {how}{self._last()}")
            if not ready.result():
                raise Unreachable(f"target.start: not ready after {self._time_limit:g} s{self._last()}")
        finally:
            for task in (ended, ready):
                task.cancel()
            await asyncio.gather(ended, ready, return_exceptions=True)

    def _last(self) -> str:
        # A line that began before the kept output may begin with half a secret, so of a long one the end is shown;
        # without the control characters by which it could command a terminal.
        written = [line.strip() for line in self._redact(self.output).splitlines() if line.strip()]
        lines = ["".join(filter(str.isprintable, line))[-_SHOWN_LINE:] for line in written]
        return f"; it wrote last: {' | '.join(lines[-3:])}" if lines else "; it wrote nothing"

    async def _stop(self) -> None:
        process = self._process
        if process is None:
            return
        try:
            _signal_group(process, kill=False)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._grace):
                    await process.wait()
        finally:
            # The group may outlive its leader; nothing that the kit started is left running.
            _signal_group(process, kill=True)
            end_marked(self._mark)
            self._dismiss()
            atexit.unregister(self._last_resort)
            await self._release(process)

    def _dismiss(self) -> None:
        if self._watcher is not None:
            self._watcher.dismiss()
            self._watcher = None

    async def _release(self, process: asyncio.subprocess.Process) -> None:
        await process.wait()
        if self._reader is not None:
            # A process that hid from the search may hold the pipe open for ever.
            await asyncio.wait({self._reader}, timeout=_DRAIN)
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        transport = getattr(process, "_transport", None)
        if transport is not None:  # asyncio closes the pipes only when it collects the process
            transport.close()


def _signal_group(process: asyncio.subprocess.Process, *, kill: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill() if kill else process.terminate()
        else:
            os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)


@contextlib.contextmanager
def _sink(path: Path | None) -> Iterator[Callable[[bytes], object]]:
    if path is None:
        yield len
        return
    left = _MOST_LOGGED
    with path.open("wb", buffering=0) as file:

        def keep(chunk: bytes) -> None:
            nonlocal left
            if left > 0:
                file.write(chunk[:left])
                left -= len(chunk)
                if left <= 0:
                    file.write(_NOT_KEPT)

        yield keep
