"""One self-contained HTML file for whoever signs: no network, one style sheet, one small script, both by their hash."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Fail, NotApplicable
from mcp_auth_contract.reports.exchanges import HttpText, Step, http_text, lines_of, timeline_of
from mcp_auth_contract.reports.groups import SHOWN, Group, Part, by_check
from mcp_auth_contract.reports.hosts import told
from mcp_auth_contract.reports.matrices import matrices_of
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import encodable, printable
from mcp_auth_contract.reports.traceability import Traced, by_document, trace
from mcp_auth_contract.reports.verdict import Verdict, verdict_of, worst
from mcp_auth_contract.reports.view import ReportView, view_of
from mcp_auth_contract.requirements import Requirement

_EXCHANGES = 3
"""Exchanges shown of one case."""

_LISTED = 5000
"""Cases that pass listed one by one; a page with more is slow to open, and the JSON report has them all."""


_QUIET = frozenset({Part.REMARK, Part.PASSED, Part.NOT_APPLICABLE})


@dataclass(frozen=True, slots=True)
class CaseShown:
    """One case as the page lists it; `exchanges` are shown of the first cases of a check that did not pass."""

    result: Result
    verdict: Verdict
    expected: str
    exchanges: tuple[HttpText, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """One check with all its cases, the worst of them first."""

    check: Check
    verdict: Verdict
    numbers: str
    impacts: tuple[str, ...]
    cases: tuple[CaseShown, ...]
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the funnel from what was planned to what held."""

    name: str
    number: int
    share: int


def render_html(
    report: Report, checks: Sequence[Check] | None = None, requirements: Sequence[Requirement] | None = None
) -> str:
    """Render a report as HTML. `checks` and `requirements` are those that it is compared with; by default all."""
    view = view_of(report)
    traced = trace(report.results, load_builtin() if checks is None else checks, requirements)
    told_groups = [group for group in view.groups if group.part not in _QUIET]
    style, script = _part("page.css"), _part("page.js")
    text: str = _template().render(
        view=view,
        report=report,
        style=Markup(style),  # noqa: S704  a file of this package
        script=Markup(script),  # noqa: S704  a file of this package
        style_hash=_hash(style),
        script_hash=_hash(script),
        first=_first(view, told_groups),
        told_groups=told_groups,
        stages=_funnel(report),
        clauses=_clauses(report),
        matrices=matrices_of(report),
        documents=by_document(traced),
        coverage=_requirement_coverage(traced),
        untested=[one for one in traced if not one.tested],
        families=[family for family, _ in view.families],
        principals=sorted({one.about.principal for one in report.results} - {""}),
        records=sorted({one.about.record for one in report.results} - {""}),
        outcomes=[verdict.value for verdict in Verdict if verdict is not Verdict.NOT_RUN],
        tokens=report.tokens,
        unused_waivers=[one for one in report.waivers if all(result.waived != one for result in report.results)],
        because=told,
        Verdict=Verdict,
        CITATIONS=CITATIONS,
    )
    return text


def _first(view: ReportView, groups: Sequence[Group]) -> list[tuple[str, str]]:
    """Return anchor and headline of what shuts the gate: kit errors, causes of failures, and what was not seen."""
    shut: dict[Part, list[tuple[str, str]]] = {part: [] for part in (Part.ERROR, Part.INCONCLUSIVE)}
    for number, group in enumerate(groups, 1):
        if group.part in shut:
            shut[group.part].append((f"group-{number}", group.headline))
    causes = [(f"cause-{number}", cause.headline) for number, cause in enumerate(view.causes, 1) if cause.binding]
    return [*shut[Part.ERROR], *causes, *shut[Part.INCONCLUSIVE]]


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=FunctionLoader(_part),
        # What a server had a hand in holds control characters and halves of characters: none reaches the page.
        finalize=lambda value: _clean(value),
    )
    environment.filters["lines"] = lambda text: Markup(Markup.escape(lines_of(encodable(str(text)), 200_000)))  # noqa: S704
    environment.filters["slug"] = lambda text: "".join(char if char.isalnum() else "-" for char in str(text).lower())
    return environment.get_template("page.html")


def _clean(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return encodable(value) if "\n" in value and value == lines_of(value, len(value)) else printable(value, limit=8000)


def _funnel(report: Report) -> tuple[Stage, ...]:
    counts = report.counts
    planned = len(report.results)
    applicable = planned - counts["not_applicable"]
    observed = counts["pass"] + counts["fail"]
    numbers = (
        ("cases planned", planned),
        ("apply to this server", applicable),
        ("observed", observed),
        ("held", counts["pass"]),
    )
    return tuple(Stage(name, number, round(100 * number / planned) if planned else 0) for name, number in numbers)


def _clauses(report: Report) -> tuple[Clause, ...]:
    texts: dict[str, HttpText] = {}
    clauses = [_clause(report, results, texts) for results in by_check(report.results)]
    places = {verdict: place for place, verdict in enumerate(Verdict)}
    room = _LISTED
    kept: list[Clause] = []
    for clause in sorted(clauses, key=lambda clause: (places[clause.verdict], clause.check.id)):
        quiet = [case for case in clause.cases if case.verdict in (Verdict.HELD, Verdict.NOT_APPLICABLE)]
        loud = [case for case in clause.cases if case.verdict not in (Verdict.HELD, Verdict.NOT_APPLICABLE)]
        listed = quiet[: max(room, 0)]
        room -= len(listed)
        numbers = clause.numbers
        kept.append(
            Clause(
                clause.check,
                clause.verdict,
                numbers,
                clause.impacts,
                (*loud, *listed),
                len(quiet) - len(listed),
            )
        )
    return tuple(kept)


def _clause(report: Report, results: Sequence[Result], texts: dict[str, HttpText]) -> Clause:
    places = {verdict: place for place, verdict in enumerate(Verdict)}
    ordered = sorted(results, key=lambda result: places[verdict_of(result)])
    cases = []
    detailed = 0
    for result in ordered:
        verdict = verdict_of(result)
        loud = verdict not in (Verdict.HELD, Verdict.NOT_APPLICABLE) and detailed < SHOWN
        detailed += loud
        cases.append(_case(report, result, verdict, texts, loud=loud))
    counted: dict[str, int] = {}
    for case in cases:
        counted[case.verdict.value] = counted.get(case.verdict.value, 0) + 1
    impacts = tuple(dict.fromkeys((*(result.impact for result in ordered), results[0].check.impact.value)))
    numbers = ", ".join(f"{number} {word}" for word, number in counted.items())
    return Clause(results[0].check, worst(case.verdict for case in cases), numbers, impacts, tuple(cases))


def _case(report: Report, result: Result, verdict: Verdict, texts: dict[str, HttpText], *, loud: bool) -> CaseShown:
    expected = result.outcome.expected if isinstance(result.outcome, Fail) else ""
    if not loud:
        steps = timeline_of(result.evidence, report.exchanges) if not _plain(result) else ()
        return CaseShown(result, verdict, expected, (), steps)
    shown = []
    for key in [key for key in result.evidence if key in report.exchanges][:_EXCHANGES]:
        if key not in texts:
            texts[key] = http_text(encodable(report.exchanges[key]))
        shown.append(texts[key])
    return CaseShown(result, verdict, expected, tuple(shown), timeline_of(result.evidence, report.exchanges))


def _plain(result: Result) -> bool:
    """Whether a case has no drawing worth its room: all but the timelines."""
    return result.check.family not in ("time", "keys", "introspection") or isinstance(result.outcome, NotApplicable)


def _requirement_coverage(traced: Sequence[Traced]) -> Sequence[tuple[str, Mapping[str, int]]]:
    rows = []
    for document, members in by_document(traced).items():
        counted = dict.fromkeys((verdict.value for verdict in Verdict), 0)
        for one in members:
            counted[one.verdict.value] += 1
        rows.append((document, counted))
    return rows
