"""The report as people read it: groups, sentences, counts and their order, worked out once for every format."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass, outcome_name
from mcp_auth_contract.reports.model import ControlSeen, Coverage, Gate, Report, Result, Waiver

__all__ = [
    "SAMPLE",
    "SHOWN",
    "Count",
    "Fact",
    "Group",
    "Part",
    "ReportView",
    "Tone",
    "by_check",
    "decision",
    "failed_group",
    "gate_line",
    "many",
    "more",
    "part_of",
    "sources",
    "view_of",
    "waived_by",
]

SAMPLE = "(the built-in sample)"
"""What a report calls the contract that needs no name on a command line."""

SHOWN = 4
"""Cases shown of one group; the rest are counted, the JSON report has them all."""

_NAMED = 8
"""Names told of what the contract does not have."""

_LABELS = {
    "pass": "passed",
    "fail": "failed",
    "inconclusive": "inconclusive",
    "not_applicable": "not applicable",
    "error": "kit errors",
}
"""The outcomes in the words of a page, by the names of JSON."""


class Tone(Enum):
    """How urgent a line is; a format may have a colour for it."""

    PLAIN = "plain"
    GOOD = "good"
    MILD = "mild"
    BAD = "bad"


class Part(Enum):
    """Where a result is told, with the title; the worst comes first."""

    ERROR = "Kit errors; please report them (shuts the gate)"
    FAILED = "Failed (shuts the gate)"
    ADVISED = "Failed, but only recommended (does not shut the gate)"
    WAIVED = "Failed, but waived (does not shut the gate)"
    UNSEEN = "Inconclusive (shuts the gate)"
    UNSEEN_ADVISED = "Inconclusive (does not shut the gate)"
    REMARK = "Remarks on what passed"
    PASSED = "Passed"
    ABSENT = "Not applicable"


_SHUTTING = (Part.ERROR, Part.FAILED, Part.UNSEEN)


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled line about the whole run."""

    label: str
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Count:
    """How many cases ended with one outcome; `name` is JSON's, `detail` stands in brackets behind the number."""

    name: str
    label: str
    number: int
    detail: str
    tone: Tone

    @property
    def phrase(self) -> str:
        """The count within a sentence, as `8 failed (7 MUST, 1 SHOULD)`."""
        words = many(self.number, "kit error") if self.name == "error" else f"{self.number} {self.label}"
        return words + self.detail


@dataclass(frozen=True, slots=True)
class Group:
    """Results told together: those of one check, of one waiver, or with one reason.

    `shown` are the sentences or ids of the first ones, if the headline does not tell them; `rest` counts the others
    where no more than the first `SHOWN` are told one by one. `facts` and `commands` are labelled;
    a command is only worth something when it is not cut.
    """

    part: Part
    results: tuple[Result, ...]
    headline: str
    shown: tuple[str, ...] = ()
    rest: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report with everything that a page says of it.

    `groups` come in the order of their parts. `shutting` and `waived` hold the same results by check alone, for
    formats that tell each check once. `families` counts the outcomes by family.
    """

    report: Report
    title: str
    facts: tuple[Fact, ...]
    tried: str
    ran: str
    counts: tuple[Count, ...]
    groups: tuple[Group, ...]
    shutting: tuple[Group, ...]
    waived: tuple[Group, ...]
    families: tuple[tuple[str, tuple[int, ...]], ...]
    decision: str
    gate_line: str

    def of(self, part: Part) -> tuple[Group, ...]:
        """Return the groups of one part."""
        return tuple(group for group in self.groups if group.part is part)


def view_of(report: Report) -> ReportView:
    """Return everything that a page says of a report."""
    parts: dict[Part, list[Result]] = {part: [] for part in Part}
    for result in report.results:
        parts[part_of(result, report.gate)].append(result)
    shutting = [one for one in report.results if part_of(one, report.gate) in _SHUTTING]
    counts = report.counts
    ran = {result.check.id for result in report.results if not isinstance(result.outcome, NotApplicable)}
    checks = many(len(ran), "check")
    requests = f", {many(report.sent, 'request')}" if report.sent else ""
    state = " before it was interrupted" if report.interrupted else ""
    tried = many(len(report.results) - counts["not_applicable"], "case")
    return ReportView(
        report=report,
        title=f"mcp-auth-contract {report.kit_version}",
        facts=tuple(_facts(report)),
        tried=f"{tried} of {checks}{requests} in {report.duration_s:.1f} s{state}",
        ran=f"{many(len(report.results), 'case')}, {checks} run",
        counts=tuple(_count(report, name, counts[name]) for name in _LABELS),
        groups=tuple(group for part, results in parts.items() for group in _GROUPED[part](report, part, results)),
        shutting=tuple(_of_check(report, results) for results in by_check(shutting)),
        waived=tuple(_of_check(report, results) for results in by_check(parts[Part.WAIVED])),
        families=tuple(_families(report.results)),
        decision=decision(report.gate),
        gate_line=gate_line(report.gate),
    )


def part_of(result: Result, gate: Gate) -> Part:
    """Return where a result is told, which says at once whether it shuts the gate."""
    match result.outcome:
        case Error():
            return Part.ERROR
        case Fail():
            advised = Part.ADVISED if result.waived is None else Part.WAIVED
            return Part.FAILED if gate.binds(result) else advised
        case Inconclusive():
            return Part.UNSEEN if gate.binds(result) else Part.UNSEEN_ADVISED
        case Pass(advice=advice):
            return Part.REMARK if advice else Part.PASSED
        case NotApplicable():
            return Part.ABSENT
        case _:
            assert_never(result.outcome)


def decision(gate: Gate) -> str:
    """Return the decision without its reasons, as `gate SHUT (exit 1)`."""
    return f"gate {'open' if gate.open else 'SHUT'} (exit {gate.exit_code})"


def gate_line(gate: Gate) -> str:
    """Return the decision with its reasons, in one line."""
    return f"{decision(gate)}: {'; '.join(gate.reasons)}" if gate.reasons else decision(gate)


def many(number: int, what: str) -> str:
    """Return a number with its noun, as `1 case` and `2 cases`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def more(results: Sequence[object], of: str = "") -> str:
    """Return what stands behind the first of several, as ` (and 4 more)`."""
    return f" (and {len(results) - 1} more{of})" if len(results) > 1 else ""


def sources(check: Check) -> str:
    """Return the sections that a check enforces, as prose."""
    return "; ".join(CITATIONS[key].label for key in check.cites)


def waived_by(waiver: Waiver) -> str:
    """Return who answers for a failure, how long and why, to stand behind the word waived."""
    return f"by {waiver.owner} until {waiver.expires}: {waiver.reason}"


def by_check(results: Iterable[Result]) -> list[list[Result]]:
    """Return results by their check, in the order in which the checks come."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.check.id, []).append(result)
    return list(groups.values())


def _facts(report: Report) -> Iterator[Fact]:
    server = report.server
    name = " ".join(filter(None, (server.name or "unnamed server", server.version)))
    yield Fact("contract", report.contract)
    yield Fact("target", f"{server.url} ({name}; MCP {', '.join(server.revisions) or 'revision unknown'})")
    if server.resource != server.url:
        yield Fact("resource", server.resource)
    refused = [control for control in report.controls if not control.accepted]
    yield from map(_control, refused or report.controls[:1])
    if report.coverage:
        tone = Tone.MILD if any(kind.missing for kind in report.coverage) else Tone.PLAIN
        yield Fact("surface", _surface(report.coverage), tone)
    for note in report.notes:
        yield Fact("note", note)
    if report.shard is not None:
        place = f"{report.shard.index} of {report.shard.of}"
        yield Fact("shard", f"{place}; `mcp-auth-contract report merge` decides over them all")


def _control(control: ControlSeen) -> Fact:
    state = "accepted" if control.accepted else "NOT ACCEPTED, so no refusal can be believed"
    text = f"{control.operation} as {control.principal}, MCP {control.revision}: {state} ({control.observed})"
    return Fact("control", text, Tone.PLAIN if control.accepted else Tone.BAD)


def _surface(coverage: Sequence[Coverage]) -> str:
    """Say how much of what the server lists is in the contract, as in "7 of 8 tools …; not in it: x"."""
    counted = ", ".join(f"{kind.covered} of {kind.listed} {kind.kind}" for kind in coverage if kind.listed)
    missing = [name for kind in coverage for name in kind.missing]
    others = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    without = f"; not in it: {', '.join(missing[:_NAMED])}{others}" if missing else ""
    return f"{counted} of the server are in the contract{without}" if counted else "the server lists nothing"


def _count(report: Report, name: str, number: int) -> Count:
    tones = {"pass": Tone.GOOD, "fail": Tone.BAD, "inconclusive": Tone.MILD, "error": Tone.BAD}
    parts: list[str] = []
    if name == "fail":
        levels = [result.check.level for result in report.results if isinstance(result.outcome, Fail)]
        parts = [f"{levels.count(level)} {level.value}" for level in Level if level in levels]
        waived = sum(result.waived is not None for result in report.results)
        parts += [f"{waived} waived"] if waived else []
    tone = tones.get(name, Tone.PLAIN) if number else Tone.PLAIN
    return Count(name, _LABELS[name], number, f" ({', '.join(parts)})" if parts else "", tone)


def _families(results: Iterable[Result]) -> Iterator[tuple[str, tuple[int, ...]]]:
    counted: dict[str, dict[str, int]] = {}
    for result in results:
        counted.setdefault(result.check.family, dict.fromkeys(_LABELS, 0))[outcome_name(result.outcome)] += 1
    for family, numbers in sorted(counted.items()):
        yield family, tuple(numbers.values())


def _told(result: Result) -> str:
    return f"{result.sentence} [MCP {result.revision}]" if result.revision else result.sentence


def _by_level(results: Iterable[Result]) -> list[list[Result]]:
    return by_check(sorted(results, key=lambda result: (list(Level).index(result.check.level), result.check.id)))


def failed_group(report: Report, results: Sequence[Result], part: Part = Part.FAILED) -> Group:
    """Return failures of one check with everything that helps to repair it."""
    check = results[0].check
    impacts = ", ".join(dict.fromkeys(result.impact for result in results))
    facts = (("why", check.why), ("fix", check.remedy), ("source", sources(check)))
    by_hand = next((result.reproduce for result in results if result.reproduce), None)
    return Group(
        part,
        tuple(results),
        f"{check.level.value}: {check.title} ({impacts})",
        tuple(map(_told, results[:SHOWN])),
        _rest(results),
        tuple((label, text) for label, text in facts if text),
        (("again", _again(report, results[0])), *((("by hand", by_hand),) if by_hand else ())),
    )


def _rest(results: Sequence[Result]) -> str:
    return f"… and {many(len(results) - SHOWN, 'more case')} of {results[0].check.id}" if results[SHOWN:] else ""


def _again(report: Report, result: Result) -> str:
    if not report.contract.startswith("("):
        start = f"run {shlex.join((report.contract, *report.options))}"
    else:
        start = "run" if report.contract == SAMPLE else f"probe {shlex.quote(report.server.url)}"
    return f"mcp-auth-contract {start} --select {shlex.quote(result.case)}"


def _of_check(report: Report, results: Sequence[Result]) -> Group:
    """All results of a check that are annotated together, told by the first of them."""
    first = results[0]
    facts = [("fix", first.check.remedy)]
    if first.waived is not None:
        facts.append(("waived", waived_by(first.waived)))
    said = f"{first.sentence}{more(results, f' of {first.check.id}')}"
    title = f"{first.check.level.value}: {first.check.title}"
    return Group(part_of(first, report.gate), tuple(results), title, (said,), facts=tuple(facts))


def _each(_report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    for result in results:
        yield Group(part, (result,), _told(result))


def _failed(report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    for group in _by_level(results):
        yield failed_group(report, group, part)


def _advised(_report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    for group in _by_level(results):
        facts = (("fix", group[0].check.remedy),)
        yield Group(part, tuple(group), f"{_told(group[0])}{more(group)}", rest=_rest(group), facts=facts)


def _waived(_report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    for waiver in dict.fromkeys(result.waived for result in results if result.waived is not None):
        group = [result for result in results if result.waived == waiver]
        yield Group(part, tuple(group), f"{_told(group[0])}{more(group)}", facts=(("waived", waived_by(waiver)),))


def _by_reason(_report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    """By the common reason: one dead control would else fill pages."""
    reasons: dict[str, list[Result]] = {}
    for result in results:
        reasons.setdefault(result.said, []).append(result)
    for reason, group in reasons.items():
        cases = tuple(dict.fromkeys(result.case for result in group))
        rest = f"and {len(cases) - SHOWN} more" if cases[SHOWN:] else ""
        yield Group(part, tuple(group), reason, cases[:SHOWN], rest)


def _remarks(_report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    """One remark per check: the others of the same check say the same of another variant."""
    for group in by_check(results):
        others = f" and {len(group) - 1} more" if len(group) > 1 else ""
        yield Group(part, tuple(group), f"{group[0].case}{others}: {group[0].said}")


def _nothing(_report: Report, _part: Part, _results: Sequence[Result]) -> Iterator[Group]:
    """What passed without a remark is counted only."""
    return iter(())


_GROUPED: dict[Part, Callable[[Report, Part, Sequence[Result]], Iterator[Group]]] = {
    Part.ERROR: _each,
    Part.FAILED: _failed,
    Part.ADVISED: _advised,
    Part.WAIVED: _waived,
    Part.UNSEEN: _by_reason,
    Part.UNSEEN_ADVISED: _by_reason,
    Part.REMARK: _remarks,
    Part.PASSED: _nothing,
    Part.ABSENT: _by_reason,
}
