"""What becomes of a case as a test: pass, failure, expected failure, skip or error, and what pytest prints of it."""

import datetime
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from mcp_auth_contract.gate import unproved
from mcp_auth_contract.model import Error, Fail, Inconclusive
from mcp_auth_contract.reports.groups import Part, failed_group, part_of, waived_by
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
    whole = report.shard is None
    told = [(one, stale_waivers((one,), report.results, today, whole=whole)) for one in report.waivers]
    stale = [(waiver, said) for waiver, sentences in told for said in sentences]
    proved = unproved(report.results, report.controls) is None
    return {case: _outcome(report, results, stale, proved=proved) for case, results in by_case.items()}


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


_WIDTH = 100
_LABEL = 11
_BODY = 300
_COMMAND = 8000
_REQUEST = ("authorization", "mcp-protocol-version", "mcp-method", "mcp-session-id")
_RESPONSE = ("www-authenticate", "content-type", "location")


def failure_text(report: Report, results: Sequence[Result]) -> str:
    """Return the report of a case that did not pass; `results` are those of the revisions in which it did not."""
    group = failed_group(report, results)
    lines = [group.headline]
    for _, alike in groupby(results, key=lambda result: result.outcome):
        lines += _observed(list(alike))
    for label, text in group.facts:
        lines += _labelled(label, text)
    lines += _evidence(report, results[0])
    for label, command in group.commands:
        lines += _line(label, command)
    return "\n".join(lines)


def _observed(results: Sequence[Result]) -> Iterator[str]:
    """What was observed in the revisions in which it was the same."""
    revisions = ", ".join(result.revision for result in results if result.revision is not None)
    if revisions:
        yield from _labelled("revision", f"MCP {revisions}")
    match results[0].outcome:
        case Fail(expected=expected, observed=observed):
            yield from _labelled("expected", expected)
            yield from _labelled("observed", observed)
        case Inconclusive(reason=reason):
            yield from _labelled("observed", f"inconclusive: {reason}")
        case Error(reason=reason):
            yield from _labelled("observed", f"a kit error: {reason}")
        case _:
            yield from _labelled("observed", results[0].said)


def _labelled(label: str, text: str) -> Iterator[str]:
    shown = printable(text, limit=2000)
    wrapped = textwrap.wrap(shown, _WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(wrapped or [""]):
        yield f"  {'' if number else label:<{_LABEL}}{line}"


def _line(label: str, text: str) -> Iterator[str]:
    """One line however long, so that it can be copied."""
    yield f"  {label:<{_LABEL}}{printable(text, limit=_COMMAND)}"


def _evidence(report: Report, result: Result) -> Iterator[str]:
    """The first exchange that a verdict rests on, redacted as it was recorded."""
    name = next(iter(result.evidence), "")
    exchange = report.exchanges.get(name)
    if exchange is not None:
        request, response = exchange["request"], exchange["response"]
        yield from _line("evidence", f"{name}  {request['method']} {request['url']}")
        shown = [f"> {key}: {value}" for key, value in request["headers"] if key.lower() in _REQUEST]
        shown += [f"> {printable(request['body'], limit=_BODY)}"] if request["body"] else []
        if response is None:
            shown.append(f"< {exchange['trouble']} {exchange['detail']}")
        else:
            shown.append(f"< {response['status']}")
            shown += [f"< {key}: {value}" for key, value in response["headers"] if key.lower() in _RESPONSE]
            shown += [f"< {printable(response['body'], limit=_BODY)}"] if response["body"] else []
        for line in shown:
            yield from _line("", f"  {line}")
    if len(result.evidence) > 1:
        yield from _line("", f"and {len(result.evidence) - 1} more; the JSON report of the command below has them all")
