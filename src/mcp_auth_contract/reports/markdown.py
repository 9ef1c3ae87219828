"""The report as Markdown (GitHub's kind), for the page of a job: the decision first, then what to do about it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, outcome_name
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.runner.result import Report, Result

__all__ = ["render_markdown", "render_summary"]

_SHOWN = 4
"""Cases shown of one broken check; the rest are counted, the JSON report has them all."""

_ROWS = 150
"""Rows of one table."""

_PAGE = 1_000_000
"""Bytes of a job summary; GitHub drops one that is longer than a MiB."""

_CELL = 300
_COLUMNS = ("pass", "fail", "inconclusive", "not_applicable", "error")
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
    parts = [
        _head(report),
        _faults(report, rows),
        _broken(report, rows),
        _unseen(report, rows),
        _waived(report, rows),
        _coverage(report),
    ]
    return "\n".join("\n".join(part) + "\n" for part in parts if part)


def _code(text: object, limit: int = _CELL) -> str:
    """Text in a code span that also holds inside a table: a fence longer than any run of backticks in it."""
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


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _head(report: Report) -> list[str]:
    gate, target = report.gate, report.target
    state = "open" if gate.open else "SHUT"
    counts = report.counts
    waived = sum(1 for result in report.results if result.waived is not None)
    told = [f"{counts['pass']} held", f"{counts['fail']} broke{f' ({waived} waived)' if waived else ''}"]
    told += [f"{counts['inconclusive']} not seen", f"{counts['not_applicable']} not applicable"]
    if counts["error"]:
        told.append(f"{_many(counts['error'], 'fault')} in the kit")
    lines = [f"## Authentication contract: gate {state} (exit {gate.exit_code})", "", f"**{', '.join(told)}.**"]
    if gate.reasons:
        lines += ["", *(f"- {_plain(reason)}" for reason in gate.reasons)]
    server = f"{target.name or 'unnamed server'}{f' {target.version}' if target.version else ''}"
    revisions = ", ".join(target.revisions) or "revision unknown"
    place = f"Contract {_code(report.contract)}, target {_code(target.url)} ({_code(server)}; MCP {revisions})"
    made = f"mcp-auth-contract {_plain(report.kit_version)}, {_plain(report.started)}, {report.duration_s:.1f} s"
    lines += ["", f"{place}, {made}."]
    if report.shard is not None:
        lines += ["", f"Shard {report.shard.index} of {report.shard.of}; the merged report decides."]
    lost = [control for control in report.controls if not control.held]
    for control in lost:
        who = f"{_code(control.operation)} as {_code(control.principal)}, MCP {control.revision}"
        said = _code(control.observed)
        lines += ["", f"**Control not accepted, so no refusal can be believed:** {who}: {said}"]
    for note in report.notes:
        lines += ["", f"Note: {_code(note, limit=600)}"]
    return lines


def _faults(report: Report, most: int) -> list[str]:
    faults = [result for result in report.results if isinstance(result.outcome, Error)]
    if not faults:
        return []
    rows = ([_case(result), _code(_reason(result))] for result in faults[:most])
    return ["### Faults in the kit; please report them", "", *_table(("case", "what happened"), rows)]


def _broken(report: Report, most: int) -> list[str]:
    broken = [result for result in report.results if isinstance(result.outcome, Fail) and result.waived is None]
    binding = [result for result in broken if report.gate.binds(result)]
    milder = [result for result in broken if not report.gate.binds(result)]
    lines: list[str] = []
    if binding:
        lines += ["### Broken (shuts the gate)", "", *_failures(binding, most)]
    if milder:
        lines += [""] if lines else []
        lines += ["### Recommended, but not followed (does not shut the gate)", "", *_failures(milder, most)]
    return lines


def _failures(results: Sequence[Result], most: int) -> list[str]:
    head = ("case", "level", "impact", "expected", "observed", "how to fix it")
    rows: list[list[str]] = []
    hidden = 0
    for group in _by_check(results):
        shown = group[:_SHOWN]
        if len(rows) + len(shown) > most:
            hidden += len(group)
            continue
        for number, result in enumerate(shown):
            outcome = result.outcome
            if not isinstance(outcome, Fail):
                continue
            more = (
                f" … and {_many(len(group) - len(shown), 'more case')}"
                if number == len(shown) - 1 and group[_SHOWN:]
                else ""
            )
            rows.append(
                [
                    f"{_case(result)}{more}",
                    result.check.level.value,
                    result.impact,
                    _code(outcome.expected),
                    _code(outcome.observed),
                    _remedy(result) if number == 0 else "as above",
                ]
            )
    lines = _table(head, rows)
    return [*lines, "", f"… and {_many(hidden, 'more case')}, which the JSON report has."] if hidden else lines


def _remedy(result: Result) -> str:
    links = "; ".join(f"[{_plain(CITATIONS[key].label)}]({CITATIONS[key].url})" for key in result.check.cites)
    return f"{_plain(result.check.remedy)}{f' ({links})' if links else ''}"


def _by_check(results: Iterable[Result]) -> list[list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: (list(Level).index(result.check.level), result.check.id)):
        groups.setdefault(result.check.id, []).append(result)
    return list(groups.values())


def _case(result: Result) -> str:
    return f"{_code(result.case)}{f' (MCP {result.revision})' if result.revision else ''}"


def _reason(result: Result) -> str:
    match result.outcome:
        case Inconclusive(reason=reason) | NotApplicable(reason=reason) | Error(reason=reason):
            return reason
        case _:
            return ""


def _unseen(report: Report, most: int) -> list[str]:
    unseen = [result for result in report.results if isinstance(result.outcome, Inconclusive)]
    if not unseen:
        return []
    groups: dict[tuple[bool, str], list[Result]] = {}
    for result in sorted(unseen, key=lambda result: not report.gate.binds(result)):
        groups.setdefault((report.gate.binds(result), _reason(result)), []).append(result)

    def rows() -> Iterator[list[str]]:
        for (binds, reason), results in list(groups.items())[:most]:
            cases = list(dict.fromkeys(result.case for result in results))
            more = f" and {len(cases) - _SHOWN} more" if cases[_SHOWN:] else ""
            yield [_code(reason), ", ".join(map(_code, cases[:_SHOWN])) + more, "yes" if binds else "no"]

    return ["### Could not be seen", "", *_table(("why", "cases", "shuts the gate"), rows())]


def _waived(report: Report, most: int) -> list[str]:
    waived = [result for result in report.results if result.waived is not None]
    if not waived:
        return []
    rows = [
        [
            _case(result),
            _code(result.outcome.observed) if isinstance(result.outcome, Fail) else "",
            _code(result.waived.owner),
            result.waived.expires.isoformat(),
            _code(result.waived.reason),
        ]
        for result in waived[:most]
        if result.waived is not None
    ]
    lines = ["### Waived", "", *_table(("case", "observed", "owner", "until", "reason"), rows)]
    return [*lines, "", f"… and {len(waived) - most} more."] if waived[most:] else lines


def _coverage(report: Report) -> list[str]:
    families: dict[str, dict[str, int]] = {}
    for result in report.results:
        counted = families.setdefault(result.check.family, dict.fromkeys(_COLUMNS, 0))
        counted[outcome_name(result.outcome)] += 1
    if not families:
        return []
    rows = [[family, *(str(counted[name]) for name in _COLUMNS)] for family, counted in sorted(families.items())]
    rows.append(["**all**", *(f"**{report.counts[name]}**" for name in _COLUMNS)])
    head = ("family", "held", "broke", "not seen", "not applicable", "faults")
    ran = {result.check.id for result in report.results if not isinstance(result.outcome, NotApplicable)}
    title = f"{_many(len(report.results), 'case')}, {_many(len(ran), 'check')} run"
    return ["<details>", f"<summary>Coverage: {title}</summary>", "", *_table(head, rows), "", "</details>"]
