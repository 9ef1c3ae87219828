"""What becomes of a case as a test: from the results of a run to pass, failure, expected failure, skip or error."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from mcp_auth_contract.gate import unproved
from mcp_auth_contract.pytest_plugin.failure_text import failure_text
from mcp_auth_contract.reports.groups import Part, part_of, waived_by
from mcp_auth_contract.reports.model import Report, Result, Waiver
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.waivers import stale_waivers


class Status(Enum):
    """The outcome of a test, in pytest's words."""

    PASSED = "passed"
    FAILED = "failed"
    XFAILED = "xfailed"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What became of a case: what is told about it at length, and in one line."""

    status: Status
    text: str = ""
    summary: str = ""


def outcomes_of(report: Report, today: datetime.date) -> Mapping[str, CaseOutcome]:
    """Return what became of every case of a run; one that ran in several revisions is as good as its worst result.

    What does not shut the gate, a recommendation or a failure that is waived, is an expected failure. A waiver that is
    no longer true fails the cases it is about: an expected failure is strict. In a run that proved nothing, what could
    not be observed is no expected failure at any level.
    """
    by_case: dict[str, list[Result]] = {}
    for result in report.results:
        by_case.setdefault(result.case, []).append(result)
    stale = [(waiver, said) for waiver in report.waivers for said in _stale(waiver, report, today)]
    proved = unproved(report.results, report.controls) is None
    return {case: _outcome(report, results, stale, proved=proved) for case, results in by_case.items()}


def _stale(waiver: Waiver, report: Report, today: datetime.date) -> Sequence[str]:
    return stale_waivers((waiver,), report.results, today, whole=report.shard is None)


def _outcome(
    report: Report, results: Sequence[Result], stale: Sequence[tuple[Waiver, str]], *, proved: bool
) -> CaseOutcome:
    worst = next(part for part in Part if any(part_of(result, report.gate) is part for result in results))
    decisive = [result for result in results if part_of(result, report.gate) is worst]
    first = decisive[0]
    inconclusive = worst in (Part.INCONCLUSIVE, Part.INCONCLUSIVE_RECOMMENDED)
    short = printable(f"inconclusive: {first.said}" if inconclusive else first.said)
    about = [said for waiver, said in stale if waiver.matches(first.case, first.check.id)]
    match worst:
        case Part.ERROR:
            return CaseOutcome(Status.ERROR, failure_text(report, decisive), short)
        case Part.FAILED | Part.INCONCLUSIVE:
            return CaseOutcome(Status.FAILED, "\n".join([failure_text(report, decisive), *about]), short)
        case Part.INCONCLUSIVE_RECOMMENDED if not proved:
            return CaseOutcome(Status.FAILED, failure_text(report, decisive), short)
        case Part.WAIVED if first.waived is not None:
            return CaseOutcome(Status.XFAILED, f"waived {waived_by(first.waived)} ({short})")
        case Part.RECOMMENDED | Part.INCONCLUSIVE_RECOMMENDED:
            return CaseOutcome(Status.XFAILED, f"{first.check.level}: {short}")
        case Part.NOT_APPLICABLE:
            return CaseOutcome(Status.SKIPPED, short)
        case _ if about:
            return CaseOutcome(Status.FAILED, "\n".join(["[XPASS(strict)]", *about]), f"[XPASS(strict)] {about[0]}")
        case _:
            return CaseOutcome(Status.PASSED)
