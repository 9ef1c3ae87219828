"""Commands that send something: run and probe. Progress goes to stderr, the report to stdout."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.cli.finding import find_contract
from mcp_auth_contract.contract import at_url, load_contract
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execute import Given, Options, Progress, probe_url, run_contract
from mcp_auth_contract.model import Fail, Level, Outcome
from mcp_auth_contract.plan import Case, Selection
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.text import print_report
from mcp_auth_contract.runner import Report

__all__ = ["Outputs", "RunOptions", "probe_and_report", "run_and_report"]

_WIDTH_WITHOUT_TERMINAL = 120
_BEARER_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says about a run. `wait` is in seconds, `token_env` names a variable."""

    select: tuple[str, ...] = ()
    deselect: tuple[str, ...] = ()
    scenarios: tuple[Path, ...] = ()
    every_revision: bool = False
    jobs: int = 8
    fail_on: Level = Level.MUST
    url: str | None = None
    wait: float = 0.0
    token_env: str | None = None
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the reports go. `json` may be `-` for stdout, which then holds nothing else."""

    json: Path | None = None
    junit: Path | None = None
    quiet: bool = False


def run_and_report(file: Path | None, options: RunOptions, outputs: Outputs) -> int:
    """Run a contract, write the reports, and return the exit code."""
    found = find_contract(file)
    contract = load_contract(found.path)
    if options.url is not None:
        _demand_http(options.url)
        contract = at_url(contract, options.url)
    _demand_writable(outputs)
    if found.sample and not outputs.quiet:
        sys.stderr.write("No mcp-auth-contract.toml here: running the built-in sample server against its contract.\n")
    with _progress() as progress:
        chosen = _options(options, found.name, progress)
        report = _run(run_contract(contract, chosen))
    return _write(report, outputs)


def probe_and_report(url: str, options: RunOptions, outputs: Outputs) -> int:
    """Look at a URL, write the reports, and return the exit code."""
    _demand_http(url)
    _demand_writable(outputs)
    with _progress() as progress:
        report = _run(probe_url(url, _options(options, "(none: anonymous probe)", progress)))
    return _write(report, outputs)


def _options(options: RunOptions, name: str, progress: Progress) -> Options:
    return Options(
        checks=load_builtin(options.scenarios),
        selection=Selection(options.select, options.deselect),
        every_revision=options.every_revision,
        jobs=options.jobs,
        fail_on=options.fail_on,
        name=name,
        wait=options.wait,
        genuine=_given(options),
        progress=progress,
    )


def _given(options: RunOptions) -> Given | None:
    """Return the genuine token that the command line names, without ever repeating it."""
    name = options.token_env
    if name is None:
        if options.principal is not None:
            raise UsageError("--principal: belongs to --token-env; name the variable that holds the token")
        return None
    token = os.environ.get(name, "").strip()
    if not token:
        raise UsageError(
            f"--token-env {name}: the environment variable is not set or empty; put the access token there"
        )
    if not _BEARER_TOKEN.fullmatch(token):
        raise UsageError(
            f"--token-env {name}: holds white space or characters that no bearer token has (RFC 6750 section 2.1); "
            "put the access token alone there"
        )
    return Given(name, token, options.principal)


def _demand_http(url: str) -> None:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        known = False
    if not known:
        raise UsageError(f'"{url}": not an http or https URL; write it like https://mcp.example.com/mcp')


def _demand_writable(outputs: Outputs) -> None:
    """Find out before the run that a report could not be written after it."""
    if outputs.junit is not None and str(outputs.junit) == "-":
        raise UsageError("--junit: name a file; only --json writes to stdout as -")
    for file in (outputs.json, outputs.junit):
        if file is None or str(file) == "-":
            continue
        if not file.absolute().parent.is_dir():
            raise UsageError(f"{file}: its folder does not exist")
        if file.is_dir():
            raise UsageError(f"{file}: a folder; name the file to write")
        if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
            raise UsageError(f"{file}: may not be written")


def _run(work: Awaitable[Report]) -> Report:
    """Run to the end, or to the first Ctrl-C or SIGTERM, which makes a partial report."""

    async def interruptible() -> Report:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    return asyncio.run(interruptible())


@contextlib.contextmanager
def _progress() -> Iterator[Progress]:
    """Show a bar on a terminal; elsewhere nothing."""
    console = Console(file=sys.stderr)  # this very file: an application in process gets another stderr
    if not console.is_terminal or os.environ.get("CI"):
        yield Progress()
        return
    bar = Bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True)
    with bar:
        task = bar.add_task("looking at the server", total=None)
        broken = 0

        def begin(total: int) -> None:
            bar.update(task, total=total, description="running")

        def settled(_case: Case, outcome: Outcome) -> None:
            nonlocal broken
            broken += isinstance(outcome, Fail)
            bar.update(task, advance=1, description=f"running, {broken} broken" if broken else "running")

        yield Progress(begin, settled)


def _write(report: Report, outputs: Outputs) -> int:
    to_stdout = outputs.json is not None and str(outputs.json) == "-"
    if outputs.json is not None and not to_stdout:
        _save(outputs.json, render_json(report))
    if outputs.junit is not None:
        _save(outputs.junit, render_junit(report))
    try:
        _print(report, outputs, to_stdout=to_stdout)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich leaves the process when nobody reads; the gate's decision stands
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return report.gate.exit_code


def _print(report: Report, outputs: Outputs, *, to_stdout: bool) -> None:
    if to_stdout:
        sys.stdout.write(render_json(report))
    elif outputs.quiet:
        state = "open" if report.gate.open else "SHUT"
        reasons = f": {'; '.join(report.gate.reasons)}" if report.gate.reasons else ""
        sys.stdout.write(f"gate {state} (exit {report.gate.exit_code}){reasons}\n")
    else:
        console = Console(highlight=False, emoji=False, markup=False)
        if not console.is_terminal:
            console = Console(highlight=False, emoji=False, markup=False, width=_WIDTH_WITHOUT_TERMINAL)
        print_report(report, console)


def _save(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
