"""The report as people read it: facts, counts, groups and the decision, worked out once for every format."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from mcp_auth_contract.model import Fail, Level, NotApplicable, outcome_name
from mcp_auth_contract.reports.causes import Cause, causes_of
from mcp_auth_contract.reports.groups import (
    Group,
    Part,
    annotated,
    by_check,
    groups_of,
    many,
    more,
    of_sample,
    part_of,
    waived_by,
)
from mcp_auth_contract.reports.model import ControlSeen, Coverage, Gate, Report, Result

_NAMED = 8
"""Names told of what the contract does not have."""

SAMPLE_LABEL = "SAMPLE"
"""The label of the line that says that the kit has tested its own sample server."""

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
class ReportView:
    """A report with everything that a page says of it.

    `groups` come in the order of their parts. `shutting` and `waived` hold the same results by check alone, for
    formats that tell each check once. `causes` are the failures by what they come down to. `families` counts the
    outcomes by family.
    """

    report: Report
    title: str
    facts: tuple[Fact, ...]
    tried: str
    ran: str
    counts: tuple[Count, ...]
    groups: tuple[Group, ...]
    causes: tuple[Cause, ...]
    shutting: tuple[Group, ...]
    waived: tuple[Group, ...]
    families: tuple[tuple[str, tuple[int, ...]], ...]
    decision: str
    gate_line: str

    @property
    def broken(self) -> tuple[str, ...]:
        """What shuts the gate, the worst first, each in one line with the number of its cases."""
        errors = [f"A fault in the kit; please report it ({many(len(self.of(Part.ERROR)), 'case')})"]
        unseen = (f"Not observed ({many(len(group.results), 'case')}): {group.headline}" for group in self.unseen)
        causes = (f"{cause.headline} ({many(len(cause.results), 'case')})" for cause in self.causes if cause.binding)
        return (*(errors if self.of(Part.ERROR) else ()), *causes, *unseen)

    @property
    def unseen(self) -> tuple[Group, ...]:
        """What had to be observed and was not, the reason of most cases first."""
        return tuple(sorted(self.of(Part.INCONCLUSIVE), key=lambda group: -len(group.results)))

    @property
    def folded(self) -> str:
        """What a short report counts only, in one phrase; empty where there is nothing of that kind."""
        named = {
            Part.RECOMMENDED: "failed but only recommended",
            Part.WAIVED: "waived",
            Part.INCONCLUSIVE_RECOMMENDED: "inconclusive but only recommended",
            Part.REMARK: "passed with a remark",
            Part.NOT_APPLICABLE: "not applicable",
        }
        numbers = {part: sum(len(group.results) for group in self.of(part)) for part in named}
        return ", ".join(f"{number} {named[part]}" for part, number in numbers.items() if number)

    def of(self, part: Part) -> tuple[Group, ...]:
        """Return the groups of one part."""
        return tuple(group for group in self.groups if group.part is part)


def view_of(report: Report) -> ReportView:
    """Return everything that a page says of a report."""
    parts: dict[Part, list[Result]] = {part: [] for part in Part}
    for result in report.results:
        parts[part_of(result, report.gate)].append(result)
    shutting = (Part.ERROR, Part.FAILED, Part.INCONCLUSIVE)
    shut = [result for result in report.results if part_of(result, report.gate) in shutting]
    counts = report.counts
    checks = {result.check.id for result in report.results if not isinstance(result.outcome, NotApplicable)}
    tried = many(len(report.results) - counts["not_applicable"], "case")
    requests = f", {many(report.sent, 'request')}" if report.sent else ""
    state = " before it was interrupted" if report.interrupted else ""
    return ReportView(
        report=report,
        title=f"mcp-auth-contract {report.kit_version}",
        facts=tuple(_facts(report)),
        tried=f"{tried} of {many(len(checks), 'check')}{requests} in {report.duration_s:.1f} s{state}",
        ran=f"{many(len(report.results), 'case')}, {many(len(checks), 'check')} run",
        counts=tuple(_count(report, name, counts[name]) for name in _LABELS),
        groups=tuple(group for part, results in parts.items() for group in groups_of(report, part, results)),
        causes=causes_of(report.results, report.gate),
        shutting=tuple(annotated(Part.FAILED, results) for results in by_check(shut)),
        waived=tuple(annotated(Part.WAIVED, results) for results in by_check(parts[Part.WAIVED])),
        families=tuple(_families(report.results)),
        decision=decision(report.gate),
        gate_line=decided(report),
    )


def decided(report: Report) -> str:
    """Return the decision with its reasons, in one line, and what was tested where that may be mistaken."""
    return f"{gate_line(report.gate)}{' [the built-in sample]' if of_sample(report) else ''}"


def decision(gate: Gate) -> str:
    """Return the decision without its reasons, as `gate SHUT (exit 1)`."""
    return f"gate {'open' if gate.open else 'SHUT'} (exit {gate.exit_code})"


def gate_line(gate: Gate) -> str:
    """Return the decision with its reasons, in one line."""
    return f"{decision(gate)}: {'; '.join(gate.reasons)}" if gate.reasons else decision(gate)


def _facts(report: Report) -> Iterator[Fact]:
    server = report.server
    if of_sample(report):
        yield Fact(SAMPLE_LABEL, "this tested the kit's own sample server, not yours", Tone.MILD)
    name = " ".join(filter(None, (server.name or "unnamed server", server.version)))
    yield Fact("contract", report.contract)
    yield Fact("target", f"{server.url} ({name}; MCP {', '.join(server.revisions) or 'revision unknown'})")
    if server.resource != server.url:
        yield Fact("resource", server.resource)
    yield from _controls(report.controls)
    if report.coverage:
        tone = Tone.MILD if any(kind.missing or kind.uncalled for kind in report.coverage) else Tone.PLAIN
        yield Fact("surface", _surface(report.coverage), tone)
    for note in report.notes:
        yield Fact("note", note)
    yield from _accepted_failures(report.results)
    if report.shard is not None:
        place = f"{report.shard.index} of {report.shard.of}"
        yield Fact("shard", f"{place}; `mcp-auth-contract report merge` decides over them all")


def _controls(controls: Sequence[ControlSeen]) -> Iterator[Fact]:
    """Say what was accepted, or once for each answer what was not."""
    refused: dict[str, list[ControlSeen]] = {}
    for control in controls:
        if not control.accepted:
            refused.setdefault(control.observed, []).append(control)
    for observed, alike in refused.items():
        named = f"{_called(alike[0])}{more(alike, ' control calls')}"
        yield Fact("control", f"{named}: NOT ACCEPTED, so no refusal can be believed ({observed})", Tone.BAD)
    if controls and not refused:
        yield Fact("control", f"{_called(controls[0])}: accepted ({controls[0].observed})")


def _accepted_failures(results: Sequence[Result]) -> Iterator[Fact]:
    """Say who accepted which failures until when."""
    covered = Counter(result.waived for result in results if result.waived is not None)
    for waiver, number in list(covered.items())[:_NAMED]:
        yield Fact("waived", f"{many(number, 'failure')}, {waived_by(waiver)}", Tone.MILD)
    if len(covered) > _NAMED:
        yield Fact("waived", f"and by {len(covered) - _NAMED} more waivers; -v shows them all", Tone.MILD)


def _called(control: ControlSeen) -> str:
    return f"{control.operation} as {control.principal}, MCP {control.revision}"


def _surface(coverage: Sequence[Coverage]) -> str:
    """Say how much of what the server lists is in the contract, as in "7 of 8 tools …; not in it: x"."""
    called = [(kind, kind.covered - len(kind.uncalled)) for kind in coverage if kind.listed]
    counted = ", ".join(f"{number} of {kind.listed} {kind.kind}" for kind, number in called)
    missing = [name for kind in coverage for name in kind.missing]
    without = f"; not in it: {_some(missing)}" if missing else ""
    uncalled = [name for kind in coverage for name in kind.uncalled]
    without = f"; in it but not called: {_some(uncalled)}{without}" if uncalled else without
    return f"{counted} of the server are in the contract{without}" if counted else "the server lists nothing"


def _some(names: Sequence[str]) -> str:
    others = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{others}"


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
