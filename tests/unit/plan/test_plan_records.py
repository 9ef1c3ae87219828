"""Checks over records: a case for each way of somebody to somebody's record, named by all three."""

from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import Axis, Check, load_builtin
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.contract import Contract, Ways, accesses, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Case, make_anonymous_plan, make_plan

SAMPLE = (data_folder("scenarios") / "contracts" / "sample.toml").read_text("utf-8")
CHECKS = tuple(check for check in load_builtin() if check.over is Axis.RECORDS)
NEWEST = (Revision.R2026_07_28,)


def contract(*edits: tuple[str, str]) -> Contract:
    text = SAMPLE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return read_contract(text, Path("sample.toml"))


def cases(name: str, *edits: tuple[str, str], revisions: tuple[Revision, ...] = NEWEST) -> list[Case]:
    check = next(one for one in CHECKS if one.id == name)
    return list(make_plan([check], contract(*edits), revisions).cases)


def test_a_case_is_named_by_record_principal_and_way() -> None:
    ids = [case.id for case in cases("isolation-read-denied")]
    assert "isolation-read-denied[INV-1 of alice:bob:get_invoice]" in ids
    assert "isolation-read-denied[INV-1 of carol:alice:invoice://INV-1]" in ids
    assert not any(":alice:" in one for one in ids if "of alice" in one)
    assert len(ids) == len(set(ids)) == len(accesses(contract(), Ways.READS))


def test_a_tool_that_leads_twice_to_a_record_is_numbered() -> None:
    once = '{ tool = "search_invoices", arguments = { query = "INV" } }'
    twice = (once, once + ', { tool = "search_invoices", arguments = { query = "alice" } }')
    ids = [case.id for case in cases("isolation-list-filtered", twice)]
    assert "isolation-list-filtered[INV-1 of alice:bob:search_invoices:2]" in ids
    assert len(ids) == len(set(ids))


def test_the_question_holds_both_principals_and_the_token_is_the_askers() -> None:
    for case in cases("isolation-list-filtered"):
        question = case.question
        assert question is not None
        assert question.owner is not None
        assert question.owner != question.principal
        assert case.base is None


def test_both_judges_of_a_read_share_one_question() -> None:
    denied = {case.question for case in cases("isolation-read-denied")}
    undisturbed = {case.question for case in cases("isolation-owner-undisturbed")}
    assert denied < undisturbed


def test_a_page_token_is_named_by_its_two_principals() -> None:
    assert "isolation-cursor-bound[alice:bob:list_invoices]" in [case.id for case in cases("isolation-cursor-bound")]


def test_the_tasks_of_both_eras_are_tried() -> None:
    both = (Revision.R2026_07_28, Revision.R2025_11_25, Revision.R2025_06_18)
    for name, revision in (("isolation-task-extension-bound", both[0]), ("isolation-task-bound", both[1])):
        assert {case.revision for case in cases(name, revisions=both)} == {revision}


def test_a_handle_is_not_used_where_that_would_write() -> None:
    writing = ('argument = "export_id"', 'argument = "export_id"\nused_by = "update_invoice"')
    assert {case.inapplicable for case in cases("isolation-handle-bound", writing)} == {None}
    forbidden = ("writes = true", "writes = false")
    assert {case.inapplicable for case in cases("isolation-handle-bound", forbidden)} == {None}
    settled = {case.inapplicable for case in cases("isolation-handle-bound", writing, forbidden)}
    assert settled == {"the contract allows no writes (policy.writes = false)"}


def test_foreign_reads_are_tried_in_every_revision() -> None:
    both = (Revision.R2026_07_28, Revision.R2025_11_25)
    assert len(cases("isolation-read-denied", revisions=both)) == 2 * len(cases("isolation-read-denied"))
    assert len(cases("isolation-list-filtered", revisions=both)) == 2 * len(cases("isolation-list-filtered"))
    within = (Revision.R2025_11_25, Revision.R2025_06_18)
    assert len(cases("isolation-list-filtered", revisions=within)) == len(cases("isolation-list-filtered"))


@pytest.mark.parametrize(
    "name",
    [
        "isolation-write-denied",
        "isolation-key-bound",
        "isolation-key-one-effect",
        "isolation-request-state-bound",
        "isolation-request-state-intact",
    ],
)
def test_nothing_is_written_that_the_contract_does_not_allow(name: str) -> None:
    settled = {case.inapplicable for case in cases(name, ("writes = true", "writes = false"))}
    assert settled == {"the contract allows no writes (policy.writes = false)"}
    assert {case.inapplicable for case in cases(name)} == {None}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_what_a_contract_does_not_declare_is_not_applicable(check: Check) -> None:
    bare = read_contract(SAMPLE.split("# INV-1 exists in both tenants")[0], Path("sample.toml"))
    (case,) = make_plan([check], bare, (check.until or NEWEST[0],)).cases
    assert case.id == check.id
    assert case.inapplicable is not None
    assert case.inapplicable.startswith("the contract ")


def test_without_a_contract_nothing_is_asked() -> None:
    assert make_anonymous_plan(CHECKS, NEWEST).cases == ()


def test_what_writes_runs_alone() -> None:
    assert {probe.name for probe in PROBES.values() if probe.records and probe.alone} == {
        "audit",
        "record_write",
        "refused_write",
        "repeated_write",
    }
    assert set(PROBES["record"].forms) <= {ways.value for ways in Ways}
