"""The terminal report: short, by cause, with the decision last; or everything, case by case."""

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mcp_auth_contract.reports.causes import Cause
from mcp_auth_contract.reports.groups import Group, Part, again, many
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.reports.traffic import answered, asked, decisive
from mcp_auth_contract.reports.view import SAMPLE_LABEL, Fact, ReportView, Tone, view_of

SCREEN = 40
"""Lines of a short report at the most, where the width is that of a terminal."""

_TOLD = 8
"""What shuts the gate is named in so many lines at the end of a short report; the rest is counted."""

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


def print_report(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Print a report on a console, on one screen; with `verbose` all of it."""
    view = view_of(report)
    for line in (_whole if verbose else _short)(view, console.width):
        console.print(line, soft_wrap=True)


def _short(view: ReportView, width: int) -> Iterator[Text]:
    """Yield what went wrong by cause, as far as it fits a screen, then what shuts the gate, and the decision."""
    causes = [cause for cause in view.causes if cause.binding]
    head = [*_head(view, width), *_tried(view, width)]
    tail = list(_tail(view, width))
    room = SCREEN - len(head) - len(tail)
    yield from head
    first = 1 + bool(view.of(Part.ERROR))
    for number, cause in enumerate(causes, first):
        block = [Text(), *_cause(view, cause, number, width)]
        room -= len(block)
        if room < 0 and number > first:
            break
        yield from block
    yield from tail


def _tried(view: ReportView, width: int) -> Iterator[Text]:
    told = ", ".join(count.phrase for count in view.counts if count.number or count.name in ("pass", "fail"))
    yield from _labelled("tried", f"{view.tried}: {told}", 0, _HEAD, width)


def _tail(view: ReportView, width: int) -> Iterator[Text]:
    yield Text()
    if view.folded:
        yield from _line(f"Not shown: {view.folded}; -v shows everything.", width, style="dim")
    for number, said in enumerate(view.broken[:_TOLD], 1):
        yield from _line(f"{number}. {printable(said, limit=_TOLD * _NARROWEST)}", width, style="bold red", hang=3)
    if view.broken[_TOLD:]:
        yield from _line(f"… and {len(view.broken) - _TOLD} more; -v shows them all", width, style="red")
    yield from _decision(view, width)


def _cause(view: ReportView, cause: Cause, number: int, width: int) -> Iterator[Text]:
    example = cause.example
    behind = f"{many(len(cause.results), 'case')} of {many(len(cause.checks), 'check')}"
    yield from _line(
        f"{number}. {cause.headline} ({behind}; {cause.level}, {cause.impact})", width, style="bold", hang=3
    )
    exchange = decisive(view.report, example)
    if exchange is not None:
        yield from _labelled("asked", asked(exchange), 3, _LABEL + 1, width)
        yield from _labelled("answered", answered(exchange), 3, _LABEL + 1, width)
    yield from _labelled("so", printable(example.sentence, limit=300), 3, _LABEL + 1, width)
    yield from _labelled("decide", cause.decision, 3, _LABEL + 1, width)
    yield _command("again", again(view.report, example), 3, _LABEL + 1)


def _head(view: ReportView, width: int, *, verbose: bool = False) -> Iterator[Text]:
    if finding := view.report.finding:
        yield from _line(f"{finding[0].upper()}{finding[1:]}.", width, style="bold red")
        yield Text()
    yield from _line(view.title, width, style="bold")
    yield from _facts((fact for fact in view.facts if fact.label == SAMPLE_LABEL), width)
    if view.broken and not verbose:
        more = f" (and {len(view.broken) - 1} more)" if view.broken[1:] else ""
        yield from _labelled("broken", f"{printable(view.broken[0], limit=200)}{more}", 0, _HEAD, width, "bold red")
    yield from _facts((fact for fact in view.facts if fact.label != SAMPLE_LABEL), width)


def _facts(facts: Iterable[Fact], width: int) -> Iterator[Text]:
    for fact in facts:
        yield from _labelled(fact.label, fact.text, 0, _HEAD, width, _TONES[fact.tone])


def _decision(view: ReportView, width: int) -> Iterator[Text]:
    yield from _line(view.gate_line, width, style=f"bold {'green' if view.report.gate.open else 'red'}", hang=2)


def _whole(view: ReportView, width: int) -> Iterator[Text]:
    """Yield everything, case by case."""
    yield from _head(view, width, verbose=True)
    yield Text()
    yield from _labelled("tried", view.tried, 0, _HEAD, width)
    for count in view.counts:
        if count.number or count.name != "error":
            yield from _labelled(count.label, f"{count.number}{count.detail}", 0, _HEAD, width, _TONES[count.tone])
    yield from _causes(view.causes, width)
    for part in Part:
        groups = view.of(part)
        if groups:
            yield Text()
            yield from _line(part.value, width, style=f"bold {_COLOURS[part]}")
        for group in groups:
            yield from _group(group, width)
    yield Text()
    yield from _decision(view, width)


def _causes(causes: Sequence[Cause], width: int) -> Iterable[Text]:
    if causes:
        yield Text()
        yield from _line("What the failures come down to", width, style="bold")
    for number, cause in enumerate(causes, 1):
        milder = "" if cause.binding else "; only recommended"
        said = f"{number}. {cause.headline} ({many(len(cause.results), 'case')}{milder})"
        yield from _line(said, width, 2, hang=3)
        yield from _line(f"{cause.decision} Checks: {', '.join(cause.checks)}", width, 5, "dim")


def _group(group: Group, width: int) -> Iterator[Text]:
    if group.part is Part.FAILED:
        yield Text()
        yield from _line(group.headline, width, 2, "bold", hang=2)
        for sentence in filter(None, (*group.shown, group.rest)):
            yield from _line(sentence, width, 4, hang=2)
    else:
        yield from _line(group.headline, width, 2, hang=2)
        if group.shown:
            yield from _line(f"{', '.join(group.shown)} {group.rest}", width, 4, "dim", hang=2)
    for label, text in group.facts:
        yield from _labelled(label, text, 4, _LABEL, width)
    for label, command in group.commands:
        yield _command(label, command, 4, _LABEL)


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


def _line(text: str, width: int, indent: int = 0, style: str = "", hang: int = 0) -> Iterator[Text]:
    """Yield text broken between words; lines after the first stand `hang` columns further in."""
    for number, line in enumerate(_wrapped(text, width - indent - hang)):
        blank = " " * (indent + (hang if number else 0))
        yield Text.assemble(blank, (line, style))


def _labelled(label: str, text: str, indent: int, room: int, width: int, style: str = "") -> Iterator[Text]:
    """Yield text behind a label, its further lines below its first."""
    for number, line in enumerate(_wrapped(text, width - indent - room)):
        head = label if not number else ""
        yield Text.assemble(" " * indent, (f"{head:<{room}}", style or "dim"), (line, style))


def _command(label: str, command: str, indent: int, room: int) -> Text:
    """Return a command on one line however long, so that it can be copied."""
    safe = printable(command, limit=_COMMAND_LIMIT)
    return Text.assemble(" " * indent, (f"{label:<{room}}", "dim"), safe)
