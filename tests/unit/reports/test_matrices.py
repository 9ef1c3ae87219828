"""Matrices: the worst of a place, in words about access."""

from dataclasses import replace
from typing import Any

from tests.unit.reports.examples import NEWEST, SCOPE, report

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.model import Fail, Inconclusive, Outcome, Pass
from mcp_auth_contract.reports.matrices import ENOUGH, STRANGERS, WORDS, Cell, Matrix, matrices_of
from mcp_auth_contract.reports.model import About, Result
from mcp_auth_contract.reports.verdict import Verdict


def result(check: str, outcome: Outcome, **about: Any) -> Result:
    given = {"kind": "tool", "operation": "get_invoice", **about}
    return Result(f"{check}[{outcome}]", replace(SCOPE, id=check), NEWEST, outcome, about=About(**given))


def words(matrix: Matrix) -> dict[tuple[str, str], str]:
    return {
        (row, column): cell.word
        for row, cells in matrix.rows
        for column, cell in zip(matrix.columns, cells, strict=True)
        if cell is not None
    }


def test_the_checks_that_fill_a_matrix_exist() -> None:
    assert set(WORDS) <= {check.id for check in load_builtin()}


def test_scopes_are_told_by_operation() -> None:
    (matrix,) = matrices_of(
        report(
            [
                result("scope-exact-accepted", Pass()),
                result("scope-missing-denied", Pass(), scope="a"),
                result("scope-missing-denied", Fail("a refusal", "200"), scope="a"),
                result("scope-missing-denied", Inconclusive("429"), scope="b"),
            ]
        )
    )
    assert matrix.columns[0] == ENOUGH
    assert words(matrix) == {
        ("tool get_invoice", ENOUGH): "served",
        ("tool get_invoice", "without a"): "let in",
        ("tool get_invoice", "without b"): "not observed",
    }


def test_isolation_is_told_by_record_and_principal() -> None:
    reach = {"owner": "alice", "record": "INV-1"}
    (matrix,) = matrices_of(
        report(
            [
                result("isolation-read-denied", Fail("no canary", "it"), principal="bob", **reach),
                result("isolation-reader-served", Pass(), principal="admin", **reach),
                result("isolation-strangers-denied", Pass(), principal="alice", **reach),
                result("isolation-read-denied", Pass(), principal="alice", owner="bob", record="INV-2"),
            ]
        )
    )
    row, other = "INV-1: tool get_invoice", "INV-2: tool get_invoice"
    assert matrix.columns == ("admin", "alice", "bob", STRANGERS)
    assert words(matrix) == {
        (row, "admin"): "served",
        (row, "alice"): "owner",
        (row, "bob"): "leaked",
        (row, STRANGERS): "denied",
        (other, "alice"): "denied",
        (other, "bob"): "owner",
    }
    leaked = next(
        cell for name, cells in matrix.rows if name == row for cell in cells if cell and cell.word == "leaked"
    )
    assert leaked == Cell(Verdict.BROKEN, "leaked", leaked.cases)
    assert len(leaked.cases) == 1


def test_a_report_that_does_not_tell_what_its_cases_are_about_has_no_matrix() -> None:
    assert matrices_of(report([Result("scope-missing-denied[x]", SCOPE, NEWEST, Pass())])) == ()
