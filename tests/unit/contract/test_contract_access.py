"""The isolation matrix of a contract: everybody who may not, on every way, and nothing twice."""

import re
from pathlib import Path

import pytest

from mcp_auth_contract.contract import Access, Contract, Ways, accesses, handle_use, no_access, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.model import OperationKind

SAMPLE = (data_folder("scenarios") / "contracts" / "sample.toml").read_text("utf-8")


def contract(*edits: tuple[str, str]) -> Contract:
    text = SAMPLE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return read_contract(text, Path("sample.toml"))


def found(ways: Ways, *edits: tuple[str, str]) -> tuple[Access, ...]:
    return accesses(contract(*edits), ways)


def test_everybody_but_the_readers_is_foreign_on_every_path() -> None:
    sample = contract()
    for ways in (Ways.READS, Ways.LISTS, Ways.WRITES):
        expected = [
            (record.name, principal, path.name)
            for record, key, path in sample.paths()
            if key == ways
            for principal in sample.principals
            if principal != record.owner and principal not in record.readers
        ]
        assert [(one.record, one.principal, one.operation.name) for one in accesses(sample, ways)] == expected


def test_a_way_that_the_own_scopes_do_not_open_is_asked_with_more_of_them() -> None:
    exports = {one.principal: one.scopes for one in found(Ways.LISTS) if one.operation.name == "export_invoices"}
    assert exports["bob"] == {"invoices:read", "invoices:export"}
    assert {one.scopes for one in found(Ways.READS)} == {None}


def test_a_path_has_its_own_arguments_or_those_of_the_tool() -> None:
    edit = ('{ tool = "get_invoice", arguments = { invoice_id = "INV-2" } }', '{ tool = "get_invoice" }')
    named = {one.operation.call_arguments for one in found(Ways.READS) if one.operation.name == "get_invoice"}
    assert named == {'{"invoice_id":"INV-1"}', '{"invoice_id":"INV-2"}'}
    plain = {one.operation.call_arguments for one in found(Ways.READS, edit) if one.operation.name == "get_invoice"}
    assert plain == {'{"invoice_id":"INV-1"}'}


def test_only_declared_readers_whose_scopes_suffice_are_served() -> None:
    assert {(one.record, one.principal) for one in found(Ways.READERS)} == {("INV-2 of bob", "admin")}
    weak = ('subject = "admin"\ntenant = "t1"\nscopes = ["invoices:read"]', 'subject = "admin"\ntenant = "t1"')
    assert found(Ways.READERS, weak) == ()


def test_an_id_that_one_has_a_record_of_is_not_unknown_to_one() -> None:
    shared = {(one.record, one.principal) for one in found(Ways.READS)} - {
        (one.record, one.principal) for one in found(Ways.UNSHARED)
    }
    assert shared == {("INV-1 of alice", "carol"), ("INV-1 of carol", "alice")}


def test_page_tokens_go_from_each_principal_to_each_other_one() -> None:
    pairs = {(one.owner, one.principal) for one in found(Ways.CURSORS)}
    names = set(contract().principals)
    # The admin may see whatever bob owns, so bob's page token tells nothing new.
    assert pairs == {(one, other) for one in names for other in names if one != other} - {("bob", "admin")}


def test_handles_and_states_go_from_the_one_they_work_for_to_each_other_one() -> None:
    others = set(contract().principals) - {"alice"}
    for ways, tool in ((Ways.HANDLES, "export_invoices"), (Ways.STATES, "approve_invoice")):
        calls = found(ways)
        assert {(one.owner, one.principal) for one in calls} == {("alice", other) for other in others}
        assert {one.operation.name for one in calls} == {tool}
    (own,) = found(Ways.OWN_STATES)
    assert (own.owner, own.principal, own.scopes) == ("alice", "alice", None)


def test_who_uses_a_handle_holds_the_scopes_of_both_calls() -> None:
    apart = ('argument = "export_id"', 'argument = "export_id"\nused_by = "update_invoice"')
    bob = next(one for one in found(Ways.HANDLES, apart) if one.principal == "bob")
    assert bob.scopes == {"invoices:read", "invoices:export", "invoices:write"}


def test_a_handle_that_is_a_uri_is_read_as_a_resource() -> None:
    by_id, by_uri = contract().handles
    used = handle_use(contract(), by_uri, "export://x")
    assert (used.kind, used.name, used.arguments) == (OperationKind.RESOURCE, "export://x", {})
    assert handle_use(contract(), by_id, "x").arguments == {"export_id": "x"}


def test_a_handle_that_nobody_may_make_and_use_is_in_nobodys_hands() -> None:
    weak = ('scopes = ["invoices:read", "invoices:write", "invoices:export"]', 'scopes = ["invoices:read"]')
    strong = ('[[tools]]\nname = "whoami"', '[[tools]]\nname = "whoami"')
    unlisted = ('    { tool = "export_invoices" },\n', "")
    assert found(Ways.HANDLES, weak, strong, unlisted) == ()


def test_tasks_are_asked_for_where_a_tool_reads_a_record() -> None:
    reads = {one for one in found(Ways.READS) if one.operation.name == "get_invoice"}
    assert set(found(Ways.TASKS)) == reads
    only = re.sub(r"    \{ tool = \"get_invoice\"[^\n]*\n", "", SAMPLE)
    bare = read_contract(only, Path("sample.toml"))
    assert accesses(bare, Ways.TASKS) == ()
    assert no_access(bare, Ways.TASKS) == "no record of the contract is read by a tool"


def test_the_matrix_grows_with_principals_records_and_paths_alone() -> None:
    more = (
        "[[tools]]\nname = \"whoami\"",
        "[principals.dave]\nsubject = \"dave\"\ntenant = \"t2\"\nscopes = [\"invoices:read\"]\n\n[[tools]]\nname = \"whoami\"",
    )  # fmt: skip
    paths = sum(key == "reads" for _, key, _ in contract().paths())
    assert len(found(Ways.READS, more)) == len(found(Ways.READS)) + paths


@pytest.mark.parametrize("ways", Ways)
def test_an_empty_part_of_the_matrix_has_a_reason(ways: Ways) -> None:
    empty = SAMPLE.split("# INV-1 exists in both tenants")[0]
    bare = read_contract(empty, Path("sample.toml"))
    assert accesses(bare, ways) == ()
    assert no_access(bare, ways) in {
        "the contract declares no cursors",
        "the contract declares no handles",
        "the contract declares no records",
        "the contract names no tool that asks for input",
    }
