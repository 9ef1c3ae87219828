"""Where the reports of a run go: files, the page of a job, stdout."""

import os
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console

from mcp_auth_contract.cli.parameters import Outputs
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.reports.annotations import quarantined, render_annotations
from mcp_auth_contract.reports.formats import FORMATS
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.markdown import render_markdown, render_summary
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.text import print_report
from mcp_auth_contract.reports.view import gate_line

__all__ = ["demand_writable", "demand_writable_file", "save", "write"]

_WIDTH_WITHOUT_TERMINAL = 120
_STDOUT = "-"


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


def write(report: Report, outputs: Outputs) -> int:
    """Write every report that is wanted, and return the exit code of the gate."""
    for one in FORMATS:
        file = outputs.files.get(one.name)
        if file is not None and not _is_stdout(file):
            save(file, one.render(report))
    if outputs.summary is not None and not _is_stdout(outputs.summary):
        save(outputs.summary, render_summary(report), mode="a")
    try:
        _print(report, outputs)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich leaves the process when nobody reads; the gate's decision stands
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return report.gate.exit_code


def _is_stdout(file: Path | None) -> bool:
    return file is not None and str(file) == _STDOUT


def _print(report: Report, outputs: Outputs) -> None:
    if _is_stdout(outputs.files.get("json")):
        sys.stdout.write(render_json(report))
    elif outputs.annotations:
        text = _text(report, outputs)
        sys.stdout.write(quarantined(text))
        sys.stdout.write(render_annotations(report, _in_repository(report.contract)))
    elif outputs.quiet or _is_stdout(outputs.summary):
        sys.stdout.write(_text(report, outputs))
    else:
        console = Console(highlight=False, emoji=False, markup=False)
        if not console.is_terminal:
            console = Console(highlight=False, emoji=False, markup=False, width=_WIDTH_WITHOUT_TERMINAL)
        print_report(report, console)


def _in_repository(contract: str) -> str | None:
    """The contract's path below the checkout, which GitHub names in GITHUB_WORKSPACE; else as it was given."""
    if contract.startswith("("):
        return None
    root = os.environ.get("GITHUB_WORKSPACE")
    file = Path(contract).resolve()
    if root and file.is_relative_to(Path(root).resolve()):
        return file.relative_to(Path(root).resolve()).as_posix()
    return contract


def _text(report: Report, outputs: Outputs) -> str:
    if _is_stdout(outputs.summary):
        return render_markdown(report)
    if outputs.quiet:
        return f"{gate_line(report.gate)}\n"
    text = StringIO()
    width = _WIDTH_WITHOUT_TERMINAL
    print_report(report, Console(file=text, width=width, highlight=False, emoji=False, markup=False))
    return text.getvalue()


def save(file: Path, text: str, *, mode: str = "w") -> None:
    """Write a text, or add it with mode `a`. With mode `x` a file that exists is left as it is, and told."""
    try:
        with file.open(mode, encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise UsageError(f"{file}: exists; it is never overwritten") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
