"""Commands that send something: run and probe. Progress goes to stderr, the report to stdout."""

import asyncio
import contextlib
import os
import re
import signal
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.cli.finding import DEFAULT_NAME, FoundContract, Sample, find_contract, somebody_watches
from mcp_auth_contract.cli.outputs import demand_writable, demand_writable_file, remove_old, save, write
from mcp_auth_contract.cli.parameters import Outputs
from mcp_auth_contract.cli.supervisor import supervised
from mcp_auth_contract.contract import at_url
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import Given, Options, Progress, Shard, probe_url, run_contract
from mcp_auth_contract.model import Fail, Level, Outcome
from mcp_auth_contract.plan import Case, Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.reports.traffic import told_with_traffic
from mcp_auth_contract.reports.view import decided
from mcp_auth_contract.waivers import draft_waivers, find_waivers

_Result = TypeVar("_Result")

_LINE = 20_000
_SAME_SIGNAL_S = 1.0

_BEARER_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says about a run. `wait` and `deadline` are in seconds, `token_env` names a variable.

    `waivers` is the file to read, `write_waivers` one to make.
    """

    select: tuple[str, ...] = ()
    deselect: tuple[str, ...] = ()
    scenarios: tuple[Path, ...] = ()
    every_revision: bool = False
    jobs: int = 8
    fail_on: Level = Level.MUST
    url: str | None = None
    wait: float = 0.0
    deadline: float | None = None
    token_env: str | None = None
    principal: str | None = None
    waivers: Path | None = None
    write_waivers: Path | None = None
    shard: str | None = None
    quick: bool = False
    all_evidence: bool = False
    hosts: bool = False
    ca_file: Path | None = None
    sample: Sample = field(default_factory=Sample)


def run_and_report(
    file: Path | None,
    options: RunOptions,
    outputs: Outputs,
    decided: Callable[[Report], Report] = lambda report: report,
) -> int:
    """Run a contract, write the reports, and return the exit code. `decided` may add to the gate's decision."""
    demand_writable(outputs)
    remove_old(outputs)
    attended = somebody_watches() and not (outputs.quiet or outputs.files or outputs.summary or outputs.annotations)
    found = find_contract(file, replace(options.sample, attended=attended))
    contract = found.contract
    if options.url is not None:
        demand_http(options.url)
        contract = at_url(contract, options.url)
    if contract.target.app is not None and (code := supervised()) is not None:
        return code
    if options.write_waivers is not None:
        if options.write_waivers.exists():
            raise UsageError(f"--write-waivers {options.write_waivers}: exists; it is never overwritten")
        demand_writable_file(options.write_waivers)
    checks = load_builtin(options.scenarios)
    none = found.path is None and options.waivers is None
    waivers = () if none else find_waivers(options.waivers, found.path or Path(DEFAULT_NAME), checks)
    with shown_progress() as progress:
        made = options_of(options, checks, found.name, progress)
        chosen = replace(made, waivers=waivers, repeat=_repeated(found, options))
        report = interruptible(run_contract(contract, chosen))
    if options.write_waivers is not None:
        _draft(report, options, options.write_waivers)
    return write(decided(report), outputs)


def reproduce_case(case: str, file: Path | None, options: RunOptions) -> int:
    """Run one case alone, print what was asked and answered, and return the exit code."""
    found = find_contract(file, options.sample)
    contract = found.contract if options.url is None else at_url(found.contract, options.url)
    if contract.target.app is not None and (code := supervised()) is not None:
        return code
    checks = load_builtin(options.scenarios)
    with shown_progress() as progress:
        chosen = replace(options_of(options, checks, found.name, progress), repeat=_repeated(found, options))
        report = interruptible(run_contract(contract, replace(chosen, selection=Selection((case,), ()))))
    for line in told_with_traffic(report):
        sys.stdout.write(f"{printable(line, limit=_LINE)}\n")
    sys.stdout.write(f"{decided(report)}\n")
    return report.gate.exit_code


def _repeated(found: FoundContract, options: RunOptions) -> tuple[str, ...]:
    """The words that make the next run like this one, but for what it selects and where its reports go."""
    words = [] if found.path is not None else list(found.words)
    words += [] if options.url is None else ["--url", options.url]
    words += [word for folder in options.scenarios for word in ("--scenarios", str(folder))]
    words += ["--every-revision"] if options.every_revision else []
    words += ["--wait", f"{options.wait:g}"] if options.wait else []
    return tuple(words)


def probe_and_report(url: str, options: RunOptions, outputs: Outputs) -> int:
    """Check what a URL shows without a token, write the reports, and return the exit code."""
    demand_http(url)
    demand_writable(outputs)
    remove_old(outputs)
    with shown_progress() as progress:
        chosen = options_of(options, load_builtin(options.scenarios), "(none: anonymous probe)", progress)
        report = interruptible(probe_url(url, chosen))
    return write(report, outputs)


def _draft(report: Report, options: RunOptions, file: Path) -> None:
    part = options.select or options.deselect or options.quick or options.shard is not None
    text = draft_waivers(report, whole=not part)
    if text is None:
        sys.stderr.write(f"mcp-auth-contract: nothing to waive; {file} was not written\n")
        return
    save(file, text, mode="x")
    sys.stderr.write(f"mcp-auth-contract: {file}: waivers drafted; fill in owner and expires before you use it\n")


def options_of(options: RunOptions, checks: Sequence[Check], name: str, progress: Progress) -> Options:
    """Return what a run has to know of the command line."""
    return Options(
        checks=checks,
        selection=Selection(options.select, options.deselect, core=options.quick),
        every_revision=options.every_revision,
        jobs=options.jobs,
        fail_on=options.fail_on,
        name=name,
        wait=options.wait,
        deadline=options.deadline,
        genuine=given_token_of(options.token_env, options.principal),
        shard=None if options.shard is None else Shard.parse(options.shard),
        progress=progress,
        all_evidence=options.all_evidence,
        hosts=options.hosts,
        ca_files=trusted_files(options.ca_file),
    )


def trusted_files(named: Path | None = None) -> tuple[str, ...]:
    """Return the certificates to trust besides the system's: the named file, and that of SSL_CERT_FILE.

    Raises UsageError for a file that holds none.
    """
    files = {"--ca-file": str(named or ""), "SSL_CERT_FILE": os.environ.get("SSL_CERT_FILE", "")}
    for where, file in files.items():
        try:
            if file:
                ssl.create_default_context(cafile=file)
        except OSError as fault:  # an SSLError is one
            said = fault.strerror if isinstance(fault, FileNotFoundError | PermissionError) else "no certificates in it"
            raise UsageError(f"{where} {file}: {said}; name a file of PEM certificates") from None
    return tuple(filter(None, files.values()))


def given_token_of(name: str | None, principal: str | None = None) -> Given | None:
    """Return the genuine token in an environment variable, without ever repeating it; None where none is named."""
    if name is None:
        if principal is not None:
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
    return Given(name, token, principal)


def demand_http(url: str) -> None:
    """Raise UsageError for a text that is no http or https URL, or one with a password, which is never repeated."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        personal = parts.username is not None or parts.password is not None
    except ValueError:
        known = personal = False
    before, at, after = url.rpartition("@")
    if personal:
        raise UsageError(
            f'"{before.partition("//")[0]}//…@{after}": a URL with a user name or password; remove them, '
            "credentials do not belong in a URL"
        )
    if not known:
        shown = f"…@{after}" if at else url
        raise UsageError(f'"{shown}": not an http or https URL; write it like https://mcp.example.com/mcp')


def interruptible(work: Awaitable[_Result]) -> _Result:
    """Run to the end, or to the first Ctrl-C, SIGTERM or SIGHUP, which cancels the work; a run then reports in part."""

    running: list[asyncio.Future[_Result]] = []

    async def watched() -> _Result:
        task = asyncio.ensure_future(work)
        running.append(task)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_without_exits)
        ended_at: list[float] = []

        def end() -> None:
            # A terminal's Ctrl-C reaches the process that watches this one too, which passes it on.
            if not ended_at or loop.time() - ended_at[-1] > _SAME_SIGNAL_S:
                ended_at.append(loop.time())
                task.cancel()

        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # Under nohup a hang-up is none of the run's business.
            if number is None or (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
                continue
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.add_signal_handler(number, end)
        try:
            return await task
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    with asyncio.Runner() as runner:
        try:
            return runner.run(watched())
        except SystemExit as left:
            # A task or a callback of an application in this process; the kit's own never leave it.
            told = f"mcp-auth-contract: the server tried to end the process of the kit (code {left.code})\n"
            running[0].cancel()
            try:
                return runner.get_loop().run_until_complete(running[0])
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None
            finally:  # until then what is written to stderr is the application's
                sys.stderr.write(told)


def _without_exits(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Leave out what `interruptible` tells: a task of an application that tried to leave the process."""
    if not isinstance(context.get("exception"), SystemExit):
        loop.default_exception_handler(context)


@contextlib.contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show a bar on a terminal; elsewhere nothing."""
    console = Console(file=sys.stderr)  # this very file: an application in process gets another stderr
    if not console.is_terminal or os.environ.get("CI"):
        yield Progress(paced=lambda rate, rest: console.print(_paced(rate, rest), highlight=False, soft_wrap=True))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, TextColumn("left"), console=console, transient=True)
    with bar:
        task = bar.add_task("looking at the server", total=None)
        failed = 0

        def begin(total: int) -> None:
            bar.update(task, total=total, description="running")

        def settled(_case: Case, outcome: Outcome) -> None:
            nonlocal failed
            failed += isinstance(outcome, Fail)
            bar.update(task, advance=1, description=f"running, {failed} failed" if failed else "running")

        yield Progress(begin, settled, lambda rate, rest: bar.console.print(_paced(rate, rest), highlight=False))


def _paced(rate: float, rest: float) -> str:
    return (
        f"mcp-auth-contract: the server limits the rate (429); asking {rate:.3g} times a second from now on, "
        f"which takes about {rest:.0f} s for the rest"
    )
