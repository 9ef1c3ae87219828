"""The terminal report: what was tried, what held, what broke, what could not be seen, and what to do."""

import shlex
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.runner.result import Coverage, Report, Result

__all__ = ["print_report"]

_SHOWN = 4
"""Cases shown for one broken check; the rest are counted, the JSON report has them all."""

_NAMED = 8
"""Names told of what the contract does not have."""

_HEAD = 10
_LABEL = 9
_NARROWEST = 24
_COMMAND_LIMIT = 8000
_SAMPLE = "(the built-in sample)"


def print_report(report: Report, console: Console) -> None:
    """Print the whole report on a console."""
    _head(report, console)
    broken = [result for result in report.results if isinstance(result.outcome, Fail)]
    binding = [result for result in broken if report.gate.binds(result)]
    milder = [result for result in broken if not report.gate.binds(result) and result.waived is None]
    _errors(report, console)
    if binding:
        _title(console, "Broken (shuts the gate)", "red")
        for results in _by_check(binding):
            _broken(report, results, console)
    if milder:
        _title(console, "Recommended, but not followed (does not shut the gate)", "yellow")
        for results in _by_check(milder):
            _recommended(results, console)
    _waived(report, console)
    _unseen(report, console)
    _advice(report, console)
    _not_applicable(report, console)
    _gate(report, console)


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


def _title(console: Console, text: str, colour: str) -> None:
    console.print()
    _line(console, text, style=f"bold {colour}")


def _head(report: Report, console: Console) -> None:
    target = report.target
    server = f"{target.name or 'unnamed server'}{f' {target.version}' if target.version else ''}"
    _line(console, f"mcp-auth-contract {report.kit_version}", style="bold")

    def say(label: str, text: str, style: str = "") -> None:
        _labelled(console, label, text, 0, _HEAD, style)

    say("contract", report.contract)
    say("target", f"{target.url} ({server}; MCP {', '.join(target.revisions) or 'revision unknown'})")
    if target.resource != target.url:
        say("resource", target.resource)
    lost = [control for control in report.controls if not control.held]
    for control in lost or report.controls[:1]:
        state = "accepted" if control.held else "NOT ACCEPTED, so no refusal can be believed"
        text = f"{control.operation} as {control.principal}, MCP {control.revision}: {state} ({control.observed})"
        say("control", text, "" if control.held else "bold red")
    if report.coverage:
        say("surface", _surface(report.coverage), "yellow" if any(kind.missing for kind in report.coverage) else "")
    for note in report.notes:
        say("note", note)
    if report.shard is not None:
        say(
            "shard",
            f"{report.shard.index} of {report.shard.of}; `mcp-auth-contract report merge` decides over them all",
        )
    counts = report.counts
    tried = len(report.results) - counts["not_applicable"]
    checks = len({result.check.id for result in report.results if not isinstance(result.outcome, NotApplicable)})
    requests = f", {_many(report.sent, 'request')}" if report.sent else ""
    state = " before it was interrupted" if report.interrupted else ""
    console.print()
    say("tried", f"{_many(tried, 'case')} of {_many(checks, 'check')}{requests} in {report.duration_s:.1f} s{state}")
    say("held", str(counts["pass"]), "green")
    say("broke", _levels(report), "red" if counts["fail"] else "")
    say("not seen", str(counts["inconclusive"]), "yellow" if counts["inconclusive"] else "")
    if counts["error"]:
        say("faults", f"{counts['error']} in the kit itself", "magenta")
    say("n/a", str(counts["not_applicable"]))


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _surface(coverage: Sequence[Coverage]) -> str:
    """Say how much of what the server lists is in the contract, as in "7 of 8 tools …; not in it: x"."""
    counted = ", ".join(f"{kind.covered} of {kind.listed} {kind.kind}" for kind in coverage if kind.listed)
    missing = [name for kind in coverage for name in kind.missing]
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    without = f"; not in it: {', '.join(missing[:_NAMED])}{more}" if missing else ""
    return f"{counted} of the server are in the contract{without}" if counted else "the server lists nothing"


def _levels(report: Report) -> str:
    failed = [result.check.level for result in report.results if isinstance(result.outcome, Fail)]
    parts = [f"{failed.count(level)} {level.value}" for level in Level if level in failed]
    waived = sum(1 for result in report.results if result.waived is not None)
    parts += [f"{waived} waived"] if waived else []
    return f"{len(failed)} ({', '.join(parts)})" if parts else "0"


def _by_check(results: Iterable[Result]) -> list[list[Result]]:
    ordered = sorted(results, key=lambda result: (list(Level).index(result.check.level), result.check.id))
    return [list(group) for _, group in groupby(ordered, key=lambda result: result.check.id)]


def _broken(report: Report, results: Sequence[Result], console: Console) -> None:
    check = results[0].check
    impacts = ", ".join(dict.fromkeys(result.impact for result in results))
    console.print()
    _line(console, f"{check.level.value}: {check.title} ({impacts})", 2, "bold", hang=2)
    for result in results[:_SHOWN]:
        _line(console, _told(result), 4, hang=2)
    if len(results) > _SHOWN:
        _line(console, f"… and {_many(len(results) - _SHOWN, 'more case')} of {check.id}", 4)
    if check.why:
        _labelled(console, "why", check.why, 4, _LABEL)
    _labelled(console, "fix", check.remedy, 4, _LABEL)
    _labelled(console, "source", "; ".join(CITATIONS[key].label for key in check.cites), 4, _LABEL)
    _command(console, "again", _again(report, results[0]))
    by_hand = next((result.reproduce for result in results if result.reproduce), None)
    if by_hand:
        _command(console, "by hand", by_hand)


def _told(result: Result) -> str:
    return f"{result.sentence} [MCP {result.revision}]" if result.revision else result.sentence


def _again(report: Report, result: Result) -> str:
    if not report.contract.startswith("("):
        start = f"run {shlex.join((report.contract, *report.options))}"
    elif report.contract == _SAMPLE:
        start = "run"
    else:
        start = f"probe {shlex.quote(report.target.url)}"
    return f"mcp-auth-contract {start} --select {shlex.quote(result.case)}"


def _recommended(results: Sequence[Result], console: Console) -> None:
    check = results[0].check
    more = f" (and {len(results) - 1} more)" if len(results) > 1 else ""
    _line(console, f"{_told(results[0])}{more}", 2, hang=2)
    _labelled(console, "fix", check.remedy, 4, _LABEL)


def _waived(report: Report, console: Console) -> None:
    waived = [result for result in report.results if result.waived is not None]
    if waived:
        _title(console, "Broken, but waived (does not shut the gate)", "yellow")
    for waiver in dict.fromkeys(result.waived for result in waived if result.waived is not None):
        covered = [result for result in waived if result.waived == waiver]
        more = f" (and {len(covered) - 1} more)" if len(covered) > 1 else ""
        _line(console, f"{_told(covered[0])}{more}", 2, hang=2)
        _labelled(console, "waived", f"by {waiver.owner} until {waiver.expires}: {waiver.reason}", 4, _LABEL)


def _errors(report: Report, console: Console) -> None:
    faults = [result for result in report.results if isinstance(result.outcome, Error)]
    if faults:
        _title(console, "Faults in the kit; please report them (shuts the gate)", "magenta")
        for result in faults:
            _line(console, _told(result), 2, hang=2)


def _unseen(report: Report, console: Console) -> None:
    unseen = [result for result in report.results if isinstance(result.outcome, Inconclusive)]
    binding = [result for result in unseen if report.gate.binds(result)]
    milder = [result for result in unseen if not report.gate.binds(result)]
    if binding:
        _title(console, "Could not be seen (shuts the gate)", "yellow")
        _grouped(binding, console)
    if milder:
        _title(console, "Could not be seen (does not shut the gate)", "dim")
        _grouped(milder, console)


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
        named = dict.fromkeys(cases)
        shown = ", ".join(list(named)[:_SHOWN])
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        _line(console, reason, 2, hang=2)
        _line(console, f"{shown}{more}", 4, "dim", hang=2)


def _advice(report: Report, console: Console) -> None:
    """Print one remark per check: the others of the same check say the same of another variant."""
    remarks: dict[str, list[tuple[str, str]]] = {}
    for result in report.results:
        if isinstance(result.outcome, Pass) and result.outcome.advice:
            remarks.setdefault(result.check.id, []).append((result.case, result.outcome.advice))
    if remarks:
        _title(console, "Remarks (nothing is broken)", "cyan")
        for (case, text), *others in remarks.values():
            more = f" and {len(others)} more" if others else ""
            _line(console, f"{case}{more}: {text}", 2, hang=2)


def _gate(report: Report, console: Console) -> None:
    console.print()
    if report.gate.open:
        _line(console, "gate open (exit 0)", style="bold green")
        return
    reasons = "; ".join(report.gate.reasons)
    _line(console, f"gate SHUT (exit {report.gate.exit_code}): {reasons}", style="bold red", hang=2)
