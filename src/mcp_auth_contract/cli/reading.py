"""Commands that only read: plan, list, explain, defects."""

from collections.abc import Collection, Iterable
from pathlib import Path

import typer

from mcp_auth_contract.catalogue import Axis, Check, load_builtin
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.cli.finding import Sample, find_contract
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.model import Impact, Level, Revision
from mcp_auth_contract.plan import Selection, make_plan
from mcp_auth_contract.reports.examples import Example, load_examples
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.suggest import nearest, suggest
from mcp_auth_contract.tokens.defects import DEFECTS

_ASSUMED = (Revision.R2026_07_28, Revision.R2025_11_25)


def print_plan(
    file: Path | None,
    *,
    select: tuple[str, ...],
    deselect: tuple[str, ...],
    scenarios: tuple[Path, ...],
    every_revision: bool,
    sample: Sample,
) -> None:
    """Print one line per case: id, revision, level, and why it would not apply."""
    contract = find_contract(file, sample).contract
    revisions = contract.target.revisions or _ASSUMED
    plan = make_plan(
        load_builtin(scenarios),
        contract,
        revisions,
        selection=Selection(select, deselect),
        every_revision=every_revision,
    )
    for case in plan.cases:
        where = case.revision or "server"
        note = f"  {case.unasked}" if case.unasked else ""
        note = f"  not applicable: {case.inapplicable}" if case.inapplicable else note
        typer.echo(f"{case.check.level:<6} {where:<10}  {case.id}{note}")
    planned = [case for case in plan.cases if not case.inapplicable and not case.unasked]
    questions = {case.question for case in planned}
    assumed = "" if contract.target.revisions else "; the server says at run time which of these it speaks"
    typer.echo(
        f"{len(planned)} cases of {len({case.check.id for case in planned})} checks, {len(questions)} questions; "
        f"revisions {', '.join(revisions)}{assumed}. Nothing was sent.",
        err=True,
    )


def print_list(
    families: tuple[str, ...], levels: tuple[str, ...], impacts: tuple[str, ...], scenarios: tuple[Path, ...]
) -> None:
    """Print the checks of the catalogue that are of one of the families, of the levels and of the impacts, if any."""
    checks = load_builtin(scenarios)
    wanted_families = _known("family", (name.rstrip("-") for name in families), {check.family for check in checks})
    wanted_levels = _known("level", (name.upper() for name in levels), {level.value for level in Level})
    wanted_impacts = _known("impact", (name.lower() for name in impacts), {impact.value for impact in Impact})
    shown = [
        check
        for check in checks
        if check.family in wanted_families and check.level in wanted_levels and check.impact in wanted_impacts
    ]
    width = max((len(check.id) for check in shown), default=0)
    for check in shown:
        typer.echo(f"{check.id:<{width}}  {check.level:<6}  {check.impact:<20}  {check.title}")
    typer.echo(many(len(shown), "check"), err=True)


def _known(what: str, words: Iterable[str], known: Collection[str]) -> Collection[str]:
    """Return the words, or all that are known where there are none; raises UsageError for one that is not known."""
    wanted = tuple(words)
    for word in wanted:
        if word not in known:
            raise UsageError(f'no {what} is called "{word}"; {suggest(word, known)}')
    return wanted or known


def print_explanation(check_id: str, scenarios: tuple[Path, ...]) -> None:
    """Print everything known about one check."""
    checks = {check.id: check for check in load_builtin(scenarios)}
    name = check_id.split("[", 1)[0]
    if name not in checks:
        near = nearest(name, {check.id: check.title for check in checks.values()})
        named = " or ".join([", ".join(f'"{one}"' for one in near[:-1]), f'"{near[-1]}"'])
        raise UsageError(
            f'no check is called "{check_id}"; did you mean {named}? `mcp-auth-contract list` names them all'
        )
    typer.echo(explain(checks[name], load_examples().get(name)))


def explain(check: Check, example: Example | None) -> str:
    """Return the explanation of a check as plain text; one of your own (`--scenarios`) has no example."""
    lines = [check.id, f"  {check.title}", "", f"level      {check.level}", f"impact     {check.impact}"]
    if check.since or check.until:
        lines.append(f"revisions  {check.since or 'the first'} to {check.until or 'the newest'}")
    if check.needs:
        lines.append(f"needs      {', '.join(sorted(check.needs))}")
    lines.append(f"cases      {_cases(check)}")
    lines += ["", f"why   {check.why}", f"fix   {check.remedy}", ""]
    for key in check.cites:
        citation = CITATIONS[key]
        lines.append(f"source  {citation.title}")
        lines.append(f"        {citation.url}")
    if example is not None:
        lines += ["", f"example   {example.case}", f"expected  {example.expected}", f"observed  {example.observed}"]
    return "\n".join(lines)


_OVER = {
    Axis.ONCE: "one for the whole server",
    Axis.CONTROL: "one per revision, on the control operation",
    Axis.OPERATIONS: "one per operation that needs a token",
    Axis.MISSING_SCOPES: "one per operation and scope",
    Axis.IMPLIED_SCOPES: "one per operation and broader scope that implies one it needs",
    Axis.FREE_OPERATIONS: "one per operation that needs no scope",
    Axis.RECORDS: "one per record, path to it and principal who must not see it",
    Axis.VIEWS: "one per View, on the call of its tool",
}


def _cases(check: Check) -> str:
    listed = [*check.forms, *check.presentations]
    return f"{_OVER[check.over]}; for each of {', '.join(listed)}" if listed else _OVER[check.over]


def print_defects() -> None:
    """Print the defects of the mint."""
    width = max(map(len, DEFECTS))
    for name, defect in DEFECTS.items():
        variants = f" [{', '.join(defect.variants)}]" if defect.variants else ""
        typer.echo(f"{name:<{width}}  {defect.sentence}{variants}")
