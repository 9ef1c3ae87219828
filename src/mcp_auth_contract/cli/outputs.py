"""Where the reports of a run go: files, the page of a job, stdout."""

import os
import sys
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path

from rich.console import Console

from mcp_auth_contract.cli.parameters import Outputs
from mcp_auth_contract.errors import Unwritable, UsageError
from mcp_auth_contract.reports.annotations import disarmed, quarantined, render_annotations
from mcp_auth_contract.reports.formats import FORMATS
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.markdown import render_markdown, render_summary
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.text import print_report
from mcp_auth_contract.reports.view import decided

_WIDTH_WITHOUT_TERMINAL = 120
_STDOUT = "-"
_WORSE = frozenset({1, 3, 4})


def demand_writable(outputs: Outputs) -> None:
    """Find out before the run that a report could not be written after it."""
    for name, file in outputs.files.items():
        if name != "json" and _is_stdout(file):
            other = "--summary writes Markdown" if name == "markdown" else "only --json writes"
            raise UsageError(f"--{name}: name a file; {other} to stdout as -")
    if _is_stdout(outputs.files.get("json")) and (_is_stdout(outputs.summary) or outputs.annotations):
        other = "--annotations" if outputs.annotations else "--summary -"
        raise UsageError(f"--json - leaves no room on stdout for {other}; name a file for one of them")
    for wanted in (*outputs.files.values(), outputs.summary):
        if wanted is not None and not _is_stdout(wanted):
            demand_writable_file(wanted)


def demand_writable_file(file: Path) -> None:
    """Raise UsageError, with the reason, for a file that could not be written."""
    if not file.absolute().parent.is_dir():
        raise UsageError(f"{file}: its folder does not exist")
    if file.is_dir():
        raise UsageError(f"{file}: a folder; name the file to write")
    if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
        raise UsageError(f"{file}: may not be written")


def remove_old(outputs: Outputs) -> None:
    """Remove the reports of an earlier run, so that one which fails leaves none that speaks of another."""
    for file in outputs.files.values():
        if file is not None and not _is_stdout(file) and file.is_file():
            try:
                file.unlink()
            except OSError as error:
                raise UsageError(f"{file}: cannot be replaced: {error.strerror}") from None


def write(report: Report, outputs: Outputs, show: Callable[..., None] = print_report) -> int:
    """Write every report that is wanted, and return the exit code of the gate.

    One that cannot be written does not keep the others from it, and is told as Unwritable unless there is a
    shut gate, which counts for more. `show` prints a report on a console.
    """
    wanted = [(outputs.files.get(one.name), one.render, "w") for one in FORMATS]
    unwritten: list[str] = []
    for file, render, mode in (*wanted, (outputs.summary, render_summary, "a")):
        if file is not None and not _is_stdout(file):
            try:
                save(file, render(report), mode=mode)
            except UsageError as fault:
                unwritten.append(str(fault))
    try:
        _print(report, outputs, show)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich leaves the process when nobody reads; the gate's decision stands
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    code = report.gate.exit_code
    if unwritten and code not in _WORSE:
        raise Unwritable("\n".join(unwritten))
    for line in unwritten:
        sys.stderr.write(f"mcp-auth-contract: {line}\n")
    return code


def print_text(text: str) -> None:
    """Print a text on stdout; on GitHub so that no line of it is obeyed."""
    sys.stdout.write(disarmed(text) if os.environ.get("GITHUB_ACTIONS") else text)
    sys.stdout.flush()


def _is_stdout(file: Path | None) -> bool:
    return file is not None and str(file) == _STDOUT


def _print(report: Report, outputs: Outputs, show: Callable[..., None]) -> None:
    obeyed = bool(os.environ.get("GITHUB_ACTIONS"))
    if _is_stdout(outputs.files.get("json")):
        # GitHub looks for its older commands anywhere in a line; JSON has another way to write a number sign.
        text = render_json(report)
        sys.stdout.write(text.replace("##[", "#\\u0023[") if obeyed else text)
    elif outputs.annotations:
        text = _text(report, outputs, show)
        sys.stdout.write(quarantined(text))
        sys.stdout.write(render_annotations(report, _in_repository(report.contract)))
    elif obeyed:
        sys.stdout.write(disarmed(_text(report, outputs, show)))
    elif outputs.quiet or _is_stdout(outputs.summary):
        sys.stdout.write(_text(report, outputs, show))
    else:
        console = Console(highlight=False, emoji=False, markup=False)
        if not console.is_terminal:
            console = Console(highlight=False, emoji=False, markup=False, width=_WIDTH_WITHOUT_TERMINAL)
        show(report, console, verbose=outputs.verbose)


def _in_repository(contract: str) -> str | None:
    """The contract's path below the checkout, which GitHub names in GITHUB_WORKSPACE; else as it was given."""
    if contract.startswith("("):
        return None
    root = os.environ.get("GITHUB_WORKSPACE")
    file = Path(contract).resolve()
    if root and file.is_relative_to(Path(root).resolve()):
        return file.relative_to(Path(root).resolve()).as_posix()
    return contract


def _text(report: Report, outputs: Outputs, show: Callable[..., None]) -> str:
    if _is_stdout(outputs.summary):
        return render_markdown(report)
    if outputs.quiet:
        return f"{decided(report)}\n"
    text = StringIO()
    width = _WIDTH_WITHOUT_TERMINAL
    console = Console(file=text, width=width, highlight=False, emoji=False, markup=False)
    show(report, console, verbose=outputs.verbose)
    return text.getvalue()


def save(file: Path, text: str | bytes, *, mode: str = "w") -> None:
    """Write a text whole or not at all, or add it with mode `a`. With mode `x` a file that exists is left, and told.

    Bytes are written as they are.
    """
    try:
        if mode == "w" and _can_be_replaced(file):
            _replace(file, text)
        else:
            with file.open(f"{mode}b") as opened:
                opened.write(_bytes(text))
    except FileExistsError:
        raise UsageError(f"{file}: exists; it is never overwritten") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None


def _can_be_replaced(file: Path) -> bool:
    """Devices, pipes and links are written into, and so is a file in a folder where no other may be made."""
    plain = file.is_file() and not file.is_symlink()
    return (plain or not os.path.lexists(file)) and os.access(file.absolute().parent, os.W_OK)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.replace("\n", os.linesep).encode("utf-8")


def _replace(file: Path, text: str | bytes) -> None:
    """Write beside the file first: who reads it meanwhile, or after a crash, never finds a half."""
    handle, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=f".{file.name}.", suffix=".part")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(_bytes(text))
        beside.chmod(0o666 & ~_umask())
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
