"""Who may do what, as tables that are taken in at a glance: operations by scope, records by principal."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.verdict import Verdict, verdict_of, worst

ENOUGH = "its scopes"
"""The column of a token that has every scope of the operation."""

STRANGERS = "users unknown to the contract"
"""The column of those whom the kit makes up."""

_STRANGERS_DENIED = "isolation-strangers-denied"

WORDS = {
    "scope-exact-accepted": ("served", "not served"),
    "scope-superset-accepted": ("served", "not served"),
    "scope-missing-denied": ("denied", "let in"),
    "isolation-read-denied": ("denied", "leaked"),
    "isolation-list-filtered": ("left out", "leaked"),
    "isolation-strangers-denied": ("denied", "leaked"),
    "isolation-write-denied": ("denied", "written"),
    "isolation-reader-served": ("served", "not served"),
}
"""The checks that fill a matrix, with the word for one that held and the word for one that is broken."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of a matrix: the worst that was seen there, in a word, and the cases."""

    verdict: Verdict
    word: str
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table with a title. `corner` says what the rows and columns are; a row without a cell has None."""

    title: str
    corner: tuple[str, str]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def matrices_of(report: Report) -> tuple[Matrix, ...]:
    """Return the matrices that the results of a report fill; none where they do not tell what they are about."""
    by_scope = _matrix(report.results, "Scopes", ("operation", "token with or without"), _scope_place)
    by_record = _matrix(report.results, "Isolation", ("record and operation", "principal"), _record_place)
    return tuple(matrix for matrix in (by_scope, by_record) if matrix.rows)


def _scope_place(result: Result) -> tuple[str, str] | None:
    about = result.about
    if not about.operation or not result.check.id.startswith("scope-"):
        return None
    return f"{about.kind} {about.operation}", f"without {about.scope}" if about.scope else ENOUGH


def _record_place(result: Result) -> tuple[str, str] | None:
    about = result.about
    if not (about.operation and about.owner and about.principal):
        return None
    record = about.record or f"what is {about.owner}'s"
    column = STRANGERS if result.check.id == _STRANGERS_DENIED else about.principal
    return f"{record}: {about.kind} {about.operation}", column


def _matrix(
    results: Iterable[Result],
    title: str,
    corner: tuple[str, str],
    place_of: Callable[[Result], tuple[str, str] | None],
) -> Matrix:
    found: dict[str, dict[str, list[Result]]] = {}
    columns: dict[str, None] = {}
    owners: dict[str, str] = {}
    for result in results:
        place = place_of(result) if result.check.id in WORDS else None
        if place is not None:
            found.setdefault(place[0], {}).setdefault(place[1], []).append(result)
            columns.setdefault(place[1])
            owners.setdefault(place[0], result.about.owner)
    ordered = sorted(columns, key=lambda column: (column != ENOUGH, column == STRANGERS, column))
    rows = tuple(
        (row, tuple(_cell(cells.get(column, ()), column == owners[row]) for column in ordered))
        for row, cells in sorted(found.items())
    )
    return Matrix(title, corner, tuple(ordered), rows)


def _cell(results: Sequence[Result], owner: bool) -> Cell | None:
    if not results:
        return Cell(Verdict.NOT_APPLICABLE, "owner") if owner else None
    verdict = worst(map(verdict_of, results))
    shown = [result for result in results if verdict_of(result) is verdict]
    return Cell(verdict, _word(verdict, shown), tuple(dict.fromkeys(result.case for result in shown)))


def _word(verdict: Verdict, results: Sequence[Result]) -> str:
    """Say what was seen in terms of access: what is right in one place is a hole in the other."""
    if verdict not in (Verdict.HELD, Verdict.BROKEN):
        return str(verdict.value)
    words = (WORDS[result.check.id][verdict is Verdict.BROKEN] for result in results)
    return ", ".join(dict.fromkeys(words))
