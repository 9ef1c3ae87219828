"""The terminal report: what was tried, what held, what broke, what could not be seen, and what to do."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.runner.result import Report, Result

__all__ = ["print_report"]

_SHOWN = 4
"""Cases shown for one broken check; the rest are counted, the JSON report has them all."""


def print_report(report: Report, console: Console) -> None:
    """Print the whole report on a console."""
    _head(report, console)
    broken = [result for result in report.results if isinstance(result.outcome, Fail)]
    binding = [result for result in broken if report.gate.binds(result)]
    milder = [result for result in broken if not report.gate.binds(result)]
    _errors(report, console)
    if binding:
        _title(console, "Broke", "red")
        for results in _by_check(binding):
            _broken(report, results, console)
    if milder:
        _title(console, "Recommended, and not followed (does not shut the gate)", "yellow")
        for results in _by_check(milder):
            _recommended(results, console)
    _unseen(report, console)
    _advice(report, console)
    _not_applicable(report, console)
    _gate(report, console)


def _line(console: Console, text: str | Text, indent: int = 0) -> None:
    content = text if isinstance(text, Text) else Text(text)
    console.print(Padding(content, (0, 0, 0, indent), expand=False), soft_wrap=False)


def _title(console: Console, text: str, colour: str) -> None:
    console.print()
    _line(console, Text(text, style=f"bold {colour}"))


def _head(report: Report, console: Console) -> None:
    target = report.target
    server = f"{target.name or 'unnamed server'}{f' {target.version}' if target.version else ''}"
    _line(console, Text(f"mcp-auth-contract {report.kit_version}", style="bold"))
    _line(console, f"contract  {report.contract}")
    _line(
        console,
        printable(f"target    {target.url} ({server}; {', '.join(target.revisions) or 'revision unknown'})"),
    )
    if target.resource != target.url:
        _line(console, printable(f"resource  {target.resource}"))
    lost = [control for control in report.controls if not control.held]
    for control in lost or report.controls[-1:]:
        state = "accepted" if control.held else "NOT ACCEPTED"
        text = f"control   {control.operation} as {control.principal}, {control.revision}: {state}, {control.observed}"
        _line(console, Text(printable(text), style="" if control.held else "bold red"))
    for note in report.notes:
        _line(console, f"note      {note}")
    counts = report.counts
    tried = len(report.results) - counts["not_applicable"]
    checks = len({result.check.id for result in report.results if not isinstance(result.outcome, NotApplicable)})
    requests = f", {len(report.exchanges)} requests" if report.exchanges else ""
    console.print()
    _line(console, f"tried     {tried} cases of {checks} checks{requests} in {report.duration_s:.1f} s")
    _line(console, Text(f"held      {counts['pass']}", style="green"))
    _line(console, Text(f"broke     {_levels(report)}", style="red" if counts["fail"] else ""))
    _line(console, Text(f"not seen  {counts['inconclusive']}", style="yellow" if counts["inconclusive"] else ""))
    _line(console, f"n/a       {counts['not_applicable']}")


def _levels(report: Report) -> str:
    failed = [result.check.level for result in report.results if isinstance(result.outcome, Fail)]
    parts = [f"{failed.count(level)} {level.value}" for level in Level if level in failed]
    return f"{len(failed)} ({', '.join(parts)})" if parts else "0"


def _by_check(results: Iterable[Result]) -> list[list[Result]]:
    ordered = sorted(results, key=lambda result: (list(Level).index(result.check.level), result.check.id))
    return [list(group) for _, group in groupby(ordered, key=lambda result: result.check.id)]


def _broken(report: Report, results: Sequence[Result], console: Console) -> None:
    check = results[0].check
    impacts = ", ".join(dict.fromkeys(result.impact for result in results))
    console.print()
    _line(console, Text.assemble((check.level.value, "bold"), f"  {impacts}  ", (check.title, "bold")), 2)
    for result in results[:_SHOWN]:
        _line(console, printable(f"{_where(result)}{result.sentence}"), 4)
    if len(results) > _SHOWN:
        _line(console, f"… and {len(results) - _SHOWN} more cases of {check.id}", 4)
    _line(console, f"why     {check.why}", 4)
    _line(console, f"fix     {check.remedy}", 4)
    _line(console, f"source  {'; '.join(CITATIONS[key].label for key in check.cites)}", 4)
    _line(console, printable(f"again   {_again(report, results[0])}"), 4)
    by_hand = next((result.reproduce for result in results if result.reproduce), None)
    if by_hand:
        _line(console, printable(f"by hand {by_hand}", limit=4000), 4)


def _where(result: Result) -> str:
    return f"{result.revision} " if result.revision else ""


def _again(report: Report, result: Result) -> str:
    return f"mcp-auth-contract run {report.contract} --select '{result.case}'"


def _recommended(results: Sequence[Result], console: Console) -> None:
    check = results[0].check
    more = f" (and {len(results) - 1} more)" if len(results) > 1 else ""
    _line(console, printable(f"{_where(results[0])}{results[0].sentence}{more}"), 2)
    _line(console, Text(f"fix     {check.remedy}", style="dim"), 4)


def _errors(report: Report, console: Console) -> None:
    faults = [result for result in report.results if isinstance(result.outcome, Error)]
    if faults:
        _title(console, "Faults in the kit; please report them", "magenta")
        for result in faults:
            _line(console, printable(result.sentence), 2)


def _unseen(report: Report, console: Console) -> None:
    unseen = [result for result in report.results if isinstance(result.outcome, Inconclusive)]
    if unseen:
        _title(console, "Could not be seen", "yellow")
        _grouped(unseen, console)


def _not_applicable(report: Report, console: Console) -> None:
    absent = [result for result in report.results if isinstance(result.outcome, NotApplicable)]
    if absent:
        _title(console, "Does not apply", "dim")
        _grouped(absent, console)


def _grouped(results: Sequence[Result], console: Console) -> None:
    """Print results by their common reason: one dead control would else fill pages."""
    reasons: dict[str, list[str]] = {}
    for result in results:
        match result.outcome:
            case Inconclusive(reason=reason) | NotApplicable(reason=reason):
                reasons.setdefault(reason, []).append(result.case)
            case _:
                continue
    for reason, cases in reasons.items():
        named = ", ".join(cases[:_SHOWN]) + (f" and {len(cases) - _SHOWN} more" if len(cases) > _SHOWN else "")
        _line(console, printable(f"{reason}: {named}"), 2)


def _advice(report: Report, console: Console) -> None:
    advice: dict[str, list[str]] = {}
    for result in report.results:
        if isinstance(result.outcome, Pass) and result.outcome.advice:
            advice.setdefault(result.outcome.advice, []).append(result.case)
    if advice:
        _title(console, "Remarks (nothing is broken)", "cyan")
        for text, cases in advice.items():
            more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
            _line(console, printable(f"{cases[0]}{more}: {text}"), 2)


def _gate(report: Report, console: Console) -> None:
    console.print()
    if report.gate.open:
        _line(console, Text("gate open (exit 0)", style="bold green"))
        return
    reasons = "; ".join(report.gate.reasons)
    _line(console, Text(f"gate SHUT (exit {report.gate.exit_code}): {reasons}", style="bold red"))
