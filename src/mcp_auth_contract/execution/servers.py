"""The server of a run: in this process, started as a command, or up already."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mcp_auth_contract.clock import RealTime, TimeControl
from mcp_auth_contract.contract import Contract
from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.server import (
    FrozenTime,
    LogFiles,
    LogText,
    StartedProcess,
    lifespan,
    loaded,
    overheard,
    wait_for_port,
)
from mcp_auth_contract.wire import AsgiApp, HttpClient, InsideTransport, Redactor

REACH_LIMIT = 3.0
"""Seconds in which something has to accept connections."""

_READY_LIMIT = 60.0
_OUTPUT = "the server's output"


@dataclass(frozen=True, slots=True)
class Reached:
    """A server that is up: how time passes for it, and for one in this process how requests get there.

    `written` gives the places where it writes, with the text of this run in pieces; None for a file that is not there.
    `hurry` leaves it little time to end.
    """

    time: TimeControl
    transport: InsideTransport | None = None
    written: Callable[[], Sequence[tuple[str, Iterable[str] | None]]] = lambda: ()
    hurry: Callable[[], None] = lambda: None


@asynccontextmanager
async def inside(
    contract: Contract, redactor: Redactor, app: AsgiApp | None, *, freeze: bool, wait: float
) -> AsyncIterator[Reached]:
    """Run the contract's application, or `app` in its place, in this process.

    With `freeze` probes can move the clock of the whole process. The application is imported after it was taken over,
    so that it takes no real clock with it.
    """
    with contextlib.ExitStack() as stack:
        frozen = stack.enter_context(FrozenTime()) if freeze else None
        target, label, redact = contract.target, contract.label, redactor.redact
        if app is not None:
            running = stack.enter_context(overheard(app))
        else:
            name = target.app or ""
            running = stack.enter_context(
                loaded(name, folder=contract.folder, env=target.env, label=label, redact=redact)
            )
        async with lifespan(running, label=label, redact=redact):
            transport = InsideTransport(running.app, state=running.state)
            logs = LogFiles.begun([Path(log) for log in target.logs])
            yield Reached(
                RealTime(wait) if frozen is None else frozen,
                transport,
                lambda: [(_OUTPUT, [running.output]), *logs.written()],
            )


@asynccontextmanager
async def started(contract: Contract, redactor: Redactor, wait: float) -> AsyncIterator[Reached]:
    """Start the server if the contract says how, else see that something listens."""
    target = contract.target
    logs = LogFiles.begun([Path(log) for log in target.logs])
    if target.start is None:
        if not await wait_for_port(target.endpoint, REACH_LIMIT):
            parts = urlsplit(target.endpoint)
            raise Unreachable(
                f"target.url: nothing accepts connections at {parts.hostname}:{parts.port or parts.scheme}; "
                "start the server, or let target.start do it"
            )
        yield Reached(RealTime(wait), written=logs.written)
        return

    if await wait_for_port(target.endpoint, 0.2):
        parts = urlsplit(target.endpoint)
        raise UsageError(
            f"target.url: something listens at {parts.hostname}:{parts.port or parts.scheme} already; "
            "stop it, remove target.start, or write port 0 for a free one"
        )

    async def ready(time_limit: float) -> bool:
        url = target.ready or target.endpoint
        return await wait_for_port(url, time_limit) and (
            target.ready is None or await _answers(target.ready, time_limit)
        )

    with tempfile.TemporaryDirectory(prefix="mcp-auth-contract-") as folder:
        output = Path(folder) / "output"
        async with StartedProcess(
            target.start,
            folder=contract.folder,
            env=target.env,
            ready=ready,
            redact=redactor.redact,
            time_limit=_READY_LIMIT,
            log=output,
            folder_of_log=Path(folder),
        ) as process:
            written = lambda: [(_OUTPUT, LogText(output)), *logs.written()]  # noqa: E731
            yield Reached(RealTime(wait), written=written, hurry=process.hurry)


async def _answers(url: str, time_limit: float) -> bool:
    """Ask a health URL until it answers with success."""
    async with HttpClient(url, redactor=Redactor(), time_limit=2.0) as http:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(time_limit):
                while True:
                    answer = await http.fetch(url, accept="*/*")
                    if answer.status is not None and 200 <= answer.status < 300:
                        return True
                    await asyncio.sleep(0.1)
    return False
