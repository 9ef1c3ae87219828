"""What pytest prints of a case that did not pass: the report's words, and the exchange that they rest on."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.model import Error, Fail, Inconclusive
from mcp_auth_contract.reports.groups import failed_group, sources
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import printable

_WIDTH = 100
_LABEL = 11
_BODY = 300
_COMMAND = 8000
_REQUEST = ("authorization", "mcp-protocol-version", "mcp-method", "mcp-session-id")
_RESPONSE = ("www-authenticate", "content-type", "location")


def user_properties(check: Check) -> list[tuple[str, object]]:
    """Return what a JUnit report tells about a check besides the outcome of the case."""
    return [
        ("check", check.id),
        ("level", check.level.value),
        ("impact", check.impact.value),
        ("citations", sources(check)),
    ]


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
    wrapped = textwrap.wrap(
        printable(text, limit=2000), _WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False
    )
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
