"""What becomes of a case as a test: from the results of a run to pass, failure, expected failure, skip or error."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Outcome, Pass
from mcp_auth_contract.pytest_plugin.telling import told, told_short
from mcp_auth_contract.reports.model import Report, Result, Waiver
from mcp_auth_contract.waivers import stale_waivers

__all__ = ["Settled", "Verdict", "settle"]


class Verdict(Enum):
    """The outcome of a test."""

    PASSED = "passed"
    FAILED = "failed"
    XFAILED = "xfailed"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a case, what is told about it, and that in one line."""

    verdict: Verdict
    text: str = ""
    summary: str = ""


_WORST: tuple[type[Outcome], ...] = (Error, Fail, Inconclusive, Pass, NotApplicable)
"""A case is asked in several revisions; one outcome counts for all of them."""


def settle(report: Report, today: datetime.date) -> Mapping[str, Settled]:
    """Return what became of every case of a run.

    Failures and inconclusive cases of a level that does not shut the gate are expected failures, and so is what a
    waiver covers. A waiver that is no longer true fails the cases it is about: an expected failure is strict.
    """
    by_case: dict[str, list[Result]] = {}
    for result in report.results:
        by_case.setdefault(result.case, []).append(result)
    stale = [(waiver, said) for waiver in report.waivers for said in _stale(waiver, report, today)]
    return {case: _one(report, results, stale) for case, results in by_case.items()}


def _stale(waiver: Waiver, report: Report, today: datetime.date) -> Sequence[str]:
    return stale_waivers((waiver,), report.results, today, whole=report.shard is None)


def _one(report: Report, results: Sequence[Result], stale: Sequence[tuple[Waiver, str]]) -> Settled:
    worst = next(kind for kind in _WORST if any(isinstance(result.outcome, kind) for result in results))
    decisive = [result for result in results if isinstance(result.outcome, worst)]
    first = decisive[0]
    about = [said for waiver, said in stale if waiver.matches(first.case, first.check.id)]
    if worst is Error:
        return Settled(Verdict.ERROR, told(report, decisive), told_short(first))
    if worst is NotApplicable:
        return Settled(Verdict.SKIPPED, told_short(first))
    if worst is Pass:
        if not about:
            return Settled(Verdict.PASSED)
        return Settled(Verdict.FAILED, "\n".join(["[XPASS(strict)]", *about]), f"[XPASS(strict)] {about[0]}")
    waived = next((result.waived for result in decisive if result.waived is not None), None)
    if all(result.waived is not None for result in decisive) and waived is not None:
        known = f"waived until {waived.expires} by {waived.owner}: {waived.reason}"
        return Settled(Verdict.XFAILED, f"{known} ({told_short(first)})")
    if first.check.level not in report.gate.binding:
        return Settled(Verdict.XFAILED, f"{first.check.level}: {told_short(first)}")
    return Settled(Verdict.FAILED, "\n".join([told(report, decisive), *about]), told_short(first))
