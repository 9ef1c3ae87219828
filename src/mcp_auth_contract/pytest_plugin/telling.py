"""A case in words: for a failure as a block of labelled lines, for a skip in one line, for JUnit as properties."""

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Pass
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import printable

__all__ = ["properties_of", "told", "told_short"]

_WIDTH = 100
_LABEL = 11
_EXCHANGES = 1
_BODY = 300
_COMMAND = 8000


def properties_of(check: Check) -> list[tuple[str, object]]:
    """Return what a JUnit report tells about a check besides the outcome of the case."""
    return [
        ("check", check.id),
        ("level", check.level.value),
        ("impact", check.impact.value),
        ("citations", _sources(check)),
    ]


def told_short(result: Result) -> str:
    """Return what became of a case, in one line without its id."""
    match result.outcome:
        case Fail(expected=expected, observed=observed):
            said = f"expected {expected}, observed {observed}"
        case Inconclusive(reason=reason):
            said = f"inconclusive: {reason}"
        case NotApplicable(reason=reason) | Error(reason=reason):
            said = reason
        case Pass(advice=advice):
            said = advice or "holds"
    return printable(said)


def told(report: Report, results: Sequence[Result]) -> str:
    """Return the report of a case that did not hold; `results` are those of the revisions in which it did not."""
    check = results[0].check
    impacts = ", ".join(dict.fromkeys(result.impact for result in results))
    lines = [f"{check.level.value}: {check.title} ({impacts})"]
    for _, alike in groupby(results, key=lambda result: result.outcome):
        lines += _observed(list(alike))
    lines += _labelled("why", check.why)
    lines += _labelled("remedy", check.remedy)
    lines += _labelled("source", _sources(check))
    lines += _evidence(report, results[0])
    again = f"mcp-auth-contract run {shlex.quote(report.contract)} --select {shlex.quote(results[0].case)}"
    lines += _command("reproduce", again)
    by_hand = next((result.reproduce for result in results if result.reproduce), None)
    if by_hand is not None:
        lines += _command("", by_hand)
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
            yield from _labelled("unseen", f"inconclusive: {reason}")
        case Error(reason=reason):
            yield from _labelled("error", f"a fault in the kit: {reason}")
        case _:
            yield from _labelled("observed", told_short(results[0]))


def _sources(check: Check) -> str:
    return "; ".join(CITATIONS[key].label for key in check.cites)


def _labelled(label: str, text: str) -> Iterator[str]:
    wrapped = textwrap.wrap(
        printable(text, limit=2000), _WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False
    )
    for number, line in enumerate(wrapped or [""]):
        yield f"  {'' if number else label:<{_LABEL}}{line}"


def _command(label: str, command: str) -> Iterator[str]:
    """One line however long, so that it can be copied."""
    yield f"  {label:<{_LABEL}}{printable(command, limit=_COMMAND)}"


def _evidence(report: Report, result: Result) -> Iterator[str]:
    """The first exchange that a verdict rests on, redacted as it was recorded."""
    shown = result.evidence[:_EXCHANGES]
    label = "evidence"
    for name in shown:
        exchange = report.exchanges.get(name)
        if exchange is None:
            continue
        request, response = exchange["request"], exchange["response"]
        yield from _command(label, f"{name}  {request['method']} {request['url']}")
        label = ""
        for key, value in request["headers"]:
            if key.lower() in ("authorization", "mcp-protocol-version", "mcp-method", "mcp-session-id"):
                yield from _command("", f"  > {key}: {value}")
        if request["body"]:
            yield from _command("", f"  > {printable(request['body'], limit=_BODY)}")
        if response is None:
            yield from _command("", f"  < {exchange['trouble']} {exchange['detail']}")
            continue
        yield from _command("", f"  < {response['status']}")
        for key, value in response["headers"]:
            if key.lower() in ("www-authenticate", "content-type", "location"):
                yield from _command("", f"  < {key}: {value}")
        if response["body"]:
            yield from _command("", f"  < {printable(response['body'], limit=_BODY)}")
    if len(result.evidence) > len(shown):
        yield from _command(
            "", f"and {len(result.evidence) - len(shown)} more; the JSON report of the command below has them all"
        )
