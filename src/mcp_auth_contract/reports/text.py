"""The terminal report: what was tried, what passed and failed, what was inconclusive, and what to do."""

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mcp_auth_contract.reports.groups import Group, Part
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.reports.view import Tone, view_of

_HEAD = 16
_LABEL = 9
_NARROWEST = 24
_COMMAND_LIMIT = 8000
_COLOURS = {
    Part.ERROR: "magenta",
    Part.FAILED: "red",
    Part.RECOMMENDED: "yellow",
    Part.WAIVED: "yellow",
    Part.INCONCLUSIVE: "yellow",
    Part.INCONCLUSIVE_RECOMMENDED: "dim",
    Part.REMARK: "cyan",
    Part.PASSED: "green",
    Part.NOT_APPLICABLE: "dim",
}
_TONES = {Tone.PLAIN: "", Tone.GOOD: "green", Tone.MILD: "yellow", Tone.BAD: "bold red"}


def print_report(report: Report, console: Console) -> None:
    """Print the whole report on a console."""
    view = view_of(report)
    if report.finding:
        _line(console, f"{report.finding[0].upper()}{report.finding[1:]}.", style="bold red")
        console.print()
    _line(console, view.title, style="bold")
    for fact in view.facts:
        _labelled(console, fact.label, fact.text, 0, _HEAD, _TONES[fact.tone])
    console.print()
    _labelled(console, "tried", view.tried, 0, _HEAD)
    for count in view.counts:
        if count.number or count.name != "error":
            _labelled(console, count.label, f"{count.number}{count.detail}", 0, _HEAD, _TONES[count.tone])
    for part in Part:
        groups = view.of(part)
        if groups:
            console.print()
            _line(console, part.value, style=f"bold {_COLOURS[part]}")
        for group in groups:
            _group(group, console)
    console.print()
    _line(console, view.gate_line, style=f"bold {'green' if report.gate.open else 'red'}", hang=2)


def _group(group: Group, console: Console) -> None:
    if group.part is Part.FAILED:
        console.print()
        _line(console, group.headline, 2, "bold", hang=2)
        for sentence in filter(None, (*group.shown, group.rest)):
            _line(console, sentence, 4, hang=2)
    else:
        _line(console, group.headline, 2, hang=2)
        if group.shown:
            _line(console, f"{', '.join(group.shown)} {group.rest}", 4, "dim", hang=2)
    for label, text in group.facts:
        _labelled(console, label, text, 4, _LABEL)
    for label, command in group.commands:
        _command(console, label, command)


def _wrapped(text: str, room: int) -> list[str]:
    """Break text at spaces only: rich folds long words, which spoils an identifier or a URL for whoever copies it."""
    lines = [""]
    for word in printable(text).split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and cell_len(longer) > max(room, _NARROWEST):
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _line(console: Console, text: str, indent: int = 0, style: str = "", hang: int = 0) -> None:
    """Print text between words; lines after the first stand `hang` columns further in."""
    for number, line in enumerate(_wrapped(text, console.width - indent - hang)):
        blank = " " * (indent + (hang if number else 0))
        console.print(Text.assemble(blank, (line, style)), soft_wrap=True)


def _labelled(console: Console, label: str, text: str, indent: int, width: int, style: str = "") -> None:
    """Print text behind a label, its further lines below its first."""
    for number, line in enumerate(_wrapped(text, console.width - indent - width)):
        head = label if not number else ""
        console.print(Text.assemble(" " * indent, (f"{head:<{width}}", style or "dim"), (line, style)), soft_wrap=True)


def _command(console: Console, label: str, command: str) -> None:
    """Print a command on one line however long, so that it can be copied."""
    safe = printable(command, limit=_COMMAND_LIMIT)
    console.print(Text.assemble("    ", (f"{label:<{_LABEL}}", "dim"), safe), soft_wrap=True)
