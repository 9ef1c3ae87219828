"""Results told together, in sentences: one group for each check, waiver or reason."""

import shlex
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass
from mcp_auth_contract.reports.model import Gate, Report, Result, Waiver

SAMPLE = "(the built-in sample)"
"""What a report calls the contract that needs no name on a command line."""

_WITH_FAULT = " with the fault "

SHOWN = 4
"""Cases shown of one group; the rest are counted, the JSON report has them all."""

_LEVELS = tuple(Level)


class Part(Enum):
    """Where a result is told, with the title; the worst comes first."""

    ERROR = "Kit errors; please report them (shuts the gate)"
    FAILED = "Failed (shuts the gate)"
    RECOMMENDED = "Failed, but only recommended (does not shut the gate)"
    WAIVED = "Failed, but waived (does not shut the gate)"
    INCONCLUSIVE = "Inconclusive (shuts the gate)"
    INCONCLUSIVE_RECOMMENDED = "Inconclusive (does not shut the gate)"
    REMARK = "Remarks on what passed"
    PASSED = "Passed"
    NOT_APPLICABLE = "Not applicable"


@dataclass(frozen=True, slots=True)
class Group:
    """Results told together: those of one check, of one waiver, or with one reason.

    `shown` are the sentences or ids of the first ones, if the headline does not tell them; `rest` counts the others
    where no more than the first `SHOWN` are told one by one. `facts` and `commands` are labelled; a command is only
    worth something when it is not cut.
    """

    part: Part
    results: tuple[Result, ...]
    headline: str
    shown: tuple[str, ...] = ()
    rest: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


def part_of(result: Result, gate: Gate) -> Part:
    """Return where a result is told, which says at once whether it shuts the gate."""
    match result.outcome:
        case Error():
            return Part.ERROR
        case Fail():
            milder = Part.RECOMMENDED if result.waived is None else Part.WAIVED
            return Part.FAILED if gate.binds(result) else milder
        case Inconclusive():
            return Part.INCONCLUSIVE if gate.binds(result) else Part.INCONCLUSIVE_RECOMMENDED
        case Pass(advice=advice):
            return Part.REMARK if advice else Part.PASSED
        case NotApplicable():
            return Part.NOT_APPLICABLE
        case _:
            assert_never(result.outcome)


def groups_of(report: Report, part: Part, results: Sequence[Result]) -> Iterator[Group]:
    """Yield the groups of one part; what passed without a remark is counted only."""
    match part:
        case Part.ERROR:
            yield from (Group(part, (result,), _told(result)) for result in results)
        case Part.FAILED:
            yield from (failed_group(report, group) for group in _by_level(results))
        case Part.RECOMMENDED:
            for group in _by_level(results):
                yield _first_of(part, group, ("fix", group[0].check.remedy))
        case Part.WAIVED:
            for group in _by(results, lambda result: result.waived):
                yield _first_of(part, group, *_waived(group[0]))
        case Part.REMARK:  # the others of the same check say the same of another variant
            for group in by_check(results):
                others = f" and {len(group) - 1} more" if len(group) > 1 else ""
                yield Group(part, tuple(group), f"{group[0].case}{others}: {group[0].said}")
        case Part.PASSED:
            return
        case _:  # one dead control would else fill pages
            for group in _by(results, lambda result: result.said):
                cases = tuple(dict.fromkeys(result.case for result in group))
                rest = f"and {len(cases) - SHOWN} more" if cases[SHOWN:] else ""
                yield Group(part, tuple(group), group[0].said, cases[:SHOWN], rest)


def failed_group(report: Report, results: Sequence[Result]) -> Group:
    """Return failures of one check with everything that helps to repair it."""
    check = results[0].check
    impacts = ", ".join(dict.fromkeys(result.impact for result in results))
    facts = (("why", check.why), ("fix", check.remedy), ("source", sources(check)))
    by_hand = next((result.reproduce for result in results if result.reproduce), None)
    return Group(
        Part.FAILED,
        tuple(results),
        f"{check.level.value}: {check.title} ({impacts})",
        tuple(map(_told, results[:SHOWN])),
        _rest(results),
        tuple((label, text) for label, text in facts if text),
        (("again", again(report, results[0])), *((("by hand", by_hand),) if by_hand else ())),
    )


def annotated(part: Part, results: Sequence[Result]) -> Group:
    """Return all results of one check as an annotation tells them, by the first of them."""
    first = results[0]
    said = f"{first.sentence}{more(results, f' of {first.check.id}')}"
    title = f"{first.check.level.value}: {first.check.title}"
    return Group(part, tuple(results), title, (said,), facts=(("fix", first.check.remedy), *_waived(first)))


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
    return _by(results, lambda result: result.check.id)


def _by(results: Iterable[Result], key: Callable[[Result], Hashable]) -> list[list[Result]]:
    groups: dict[Hashable, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return list(groups.values())


def _by_level(results: Iterable[Result]) -> list[list[Result]]:
    return by_check(sorted(results, key=lambda result: (_LEVELS.index(result.check.level), result.check.id)))


def _told(result: Result) -> str:
    return f"{result.sentence} [MCP {result.revision}]" if result.revision else result.sentence


def _first_of(part: Part, results: Sequence[Result], *facts: tuple[str, str]) -> Group:
    return Group(part, tuple(results), f"{_told(results[0])}{more(results)}", rest=_rest(results), facts=facts)


def _waived(result: Result) -> tuple[tuple[str, str], ...]:
    return () if result.waived is None else (("waived", waived_by(result.waived)),)


def _rest(results: Sequence[Result]) -> str:
    return f"… and {many(len(results) - SHOWN, 'more case')} of {results[0].check.id}" if results[SHOWN:] else ""


def again(report: Report, result: Result) -> str:
    """Return the command line that asks a case again."""
    if not report.contract.startswith("("):
        return f"mcp-auth-contract reproduce {shlex.join((result.case, report.contract, *report.options))}"
    if of_sample(report):
        fault = report.contract.removesuffix(")").partition(_WITH_FAULT)[2]
        words = report.options or ("--sample", *(("--fault", fault) if fault else ()))
        return f"mcp-auth-contract reproduce {shlex.join((result.case, *words))}"
    return f"mcp-auth-contract probe {shlex.join((report.server.url, '--select', result.case))}"


def faulty_sample(fault: str) -> str:
    """Return what reports call the contract of the sample server with a fault."""
    return f"{SAMPLE[:-1]}{_WITH_FAULT}{fault})"


def of_sample(report: Report) -> bool:
    """Whether a report is about the kit's own sample server."""
    return report.contract.startswith(SAMPLE[:-1])
