"""The report as Markdown (GitHub's kind), for the page of a job: the decision first, then what to do about it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Fail
from mcp_auth_contract.reports.groups import SHOWN, Group, Part, many
from mcp_auth_contract.reports.hosts import told
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.reports.view import ReportView, Tone, view_of

_ROWS = 150
"""Rows of one table."""

_PAGE = 1_000_000
"""Bytes of a job summary; GitHub drops one that is longer than a MiB."""

_CELL = 300
_FACT = 600
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~@&]|:(?=//)|(?<=www)\.|^[#+-])")


def render_summary(report: Report) -> str:
    """Render a report as Markdown for the page of a job, with as many rows as it takes."""
    rows = _ROWS
    text = render_markdown(report, rows)
    while len(text.encode("utf-8", "replace")) > _PAGE and rows > 1:
        rows //= 2
        text = render_markdown(report, rows)
    return text


def render_markdown(report: Report, rows: int = _ROWS) -> str:
    """Render a report as Markdown, ending with a line break; no table is longer than `rows`.

    What a server or a contract had a hand in stands in code spans, in which no markup, link or mention works.
    """
    view = view_of(report)
    parts = [
        _head(view),
        _causes(view, rows),
        _hosts(view),
        _live(view),
        *(_part(view, part, rows) for part in Part if part not in (Part.REMARK, Part.PASSED, Part.NOT_APPLICABLE)),
        _families(view),
    ]
    return "\n".join("\n".join(part) + "\n" for part in parts if part)


def code_span(text: object, limit: int = _CELL) -> str:
    """Return text in a code span that also holds inside a table: a fence longer than any run of backticks in it."""
    safe = printable(str(text), limit=limit).strip() or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", safe)), default=0))
    padding = " " if "`" in safe else ""
    # A pipe ends a cell even inside code; a backslash before it is taken away again by the table's reader.
    return f"{fence}{padding}{safe}{padding}{fence}".replace("|", "\\|")


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _head(view: ReportView) -> list[str]:
    told = ", ".join(count.phrase for count in view.counts if count.number or count.name != "error")
    lines = [f"## Authentication contract: {view.decision}", "", f"**{told}.**", ""]
    if view.report.finding:
        lines += [f"**{_plain(view.report.finding)}.**", ""]
    if view.report.gate.reasons:
        lines += [*(f"- {_plain(reason)}" for reason in view.report.gate.reasons), ""]
    made = f"{_plain(view.report.started)}: {view.tried}"
    facts = ([_label(fact.label, fact.tone), code_span(fact.text, limit=_FACT)] for fact in view.facts)
    return [*lines, *_table((_plain(view.title), made), facts)]


def _causes(view: ReportView, most: int) -> list[str]:
    """The failures by what they come down to, the worst first."""
    if not view.causes:
        return []
    rows = (
        [
            code_span(cause.headline) if cause.example.about.operation else _plain(cause.headline),
            str(len(cause.results)),
            f"{cause.level}, {cause.impact}" if cause.binding else f"{cause.level}, {cause.impact}; recommended",
            _plain(cause.decision),
            code_span(cause.example.case),
        ]
        for cause in view.causes[:most]
    )
    table = _table(("what happens", "cases", "how bad", "what to decide", "plainest case"), rows)
    return ["### What the failures come down to", "", *table]


def _hosts(view: ReportView) -> list[str]:
    """What MCP hosts would make of the server."""
    if not view.report.hosts:
        return []
    rows = (
        [one.name, one.verdict.value, code_span("; ".join(map(told, one.reasons))) if one.reasons else ""]
        for one in view.report.hosts
    )
    return ["### MCP hosts", "", *_table(("host", "verdict", "because"), rows)]


def _live(view: ReportView) -> list[str]:
    """What people saw in real hosts."""
    rows = [
        [
            code_span(record.host),
            code_span(record.version),
            f"{record.date} by {code_span(record.who)}, until {record.expires}",
            f"failed: {', '.join(record.failed)}" if record.failed else "passed",
        ]
        for record in view.report.live
    ]
    return ["### Live records", "", *_table(("host", "version", "seen", "steps"), rows)] if rows else []


def _label(label: str, tone: Tone) -> str:
    return f"**{label}**" if tone is Tone.BAD else label


def _part(view: ReportView, part: Part, most: int) -> list[str]:
    groups = view.of(part)
    if not groups:
        return []
    match part:
        case Part.FAILED | Part.RECOMMENDED:
            table = _failures(groups, most)
        case Part.WAIVED:
            results = [result for group in groups for result in group.results]
            table = _table(("case", "observed", "owner", "until", "reason"), map(_waived, results[:most]))
            table += _hidden(len(results) - most)
        case Part.ERROR:
            rows = ([_case(group.results[0]), code_span(group.results[0].said)] for group in groups[:most])
            table = _table(("case", "what happened"), rows)
        case _:
            rows = ([code_span(group.headline), _cases(group)] for group in groups[:most])
            table = _table(("why", "cases"), rows)
    return [f"### {part.value}", "", *table]


def _failures(groups: Sequence[Group], most: int) -> list[str]:
    rows: list[list[str]] = []
    hidden = 0
    for group in groups:
        shown = list(_group(group))
        if len(rows) + len(shown) > most:
            hidden += len(group.results)
        else:
            rows += shown
    return _table(("case", "level", "impact", "expected", "observed", "how to fix it"), rows) + _hidden(hidden)


def _hidden(number: int) -> list[str]:
    return ["", f"… and {many(number, 'more case')}, which the JSON report has."] if number > 0 else []


def _group(group: Group) -> Iterator[list[str]]:
    shown = group.results[:SHOWN]
    for number, result in enumerate(shown, 1):
        outcome = result.outcome
        if isinstance(outcome, Fail):
            yield [
                " ".join(filter(None, (_case(result), _plain(group.rest) if number == len(shown) else ""))),
                result.check.level.value,
                result.impact,
                code_span(outcome.expected),
                code_span(outcome.observed),
                _remedy(result) if number == 1 else "as above",
            ]


def _remedy(result: Result) -> str:
    links = "; ".join(f"[{_plain(CITATIONS[key].label)}]({CITATIONS[key].url})" for key in result.check.cites)
    return f"{_plain(result.check.remedy)}{f' ({links})' if links else ''}"


def _case(result: Result) -> str:
    return f"{code_span(result.case)}{f' (MCP {result.revision})' if result.revision else ''}"


def _cases(group: Group) -> str:
    return " ".join(filter(None, (", ".join(map(code_span, group.shown)), group.rest)))


def _waived(result: Result) -> list[str]:
    observed = code_span(result.outcome.observed) if isinstance(result.outcome, Fail) else ""
    if result.waived is None:
        return [_case(result), observed, "", "", ""]
    waiver = result.waived
    return [_case(result), observed, code_span(waiver.owner), waiver.expires.isoformat(), code_span(waiver.reason)]


def _families(view: ReportView) -> list[str]:
    if not view.families:
        return []
    rows = [[family, *map(str, numbers)] for family, numbers in view.families]
    rows.append(["**all**", *(f"**{count.number}**" for count in view.counts)])
    table = _table(("family", *(count.label for count in view.counts)), rows)
    return ["<details>", f"<summary>Coverage: {view.ran}</summary>", "", *table, "", "</details>"]
