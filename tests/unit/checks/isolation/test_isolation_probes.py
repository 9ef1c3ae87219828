"""What the probes of isolation make of a contract: page tokens, other values, ids that nothing has."""

from pathlib import Path

import pytest

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.isolation import reach as isolation_reach
from mcp_auth_contract.checks.isolation import writes as isolation_writes
from mcp_auth_contract.checks.isolation.probe import forbidden, pointed, record_of
from mcp_auth_contract.contract import Contract, Ways, accesses, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.wire.conversation import Received

SAMPLE = (data_folder("scenarios") / "contracts" / "sample.toml").read_text("utf-8")


def contract(*edits: tuple[str, str]) -> Contract:
    text = SAMPLE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return read_contract(text, Path("sample.toml"))


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("/structuredContent/nextCursor", "abc"),
        ("/pages/1/a~1b", "def"),
        ("/pages/7/a~1b", None),
        ("/pages/x", None),
        ("/structuredContent", None),
        ("/empty", None),
        ("/none/of/it", None),
    ],
)
def test_a_page_token_is_found_where_the_contract_says(pointer: str, found: str | None) -> None:
    result = {"structuredContent": {"nextCursor": "abc"}, "pages": [{}, {"a/b": "def"}], "empty": ""}
    received = Received(Answer("x1", "POST", "https://a.test", 200), (), {"id": 1, "result": result})
    assert pointed(received, pointer) == found


def test_an_answer_without_a_result_has_no_page_token() -> None:
    assert pointed(Received(Answer("x1", "POST", "https://a.test", 403)), "/nextCursor") is None


def test_what_one_may_never_receive_are_the_records_of_others() -> None:
    assert [one.record for one in forbidden(contract(), "admin")] == ["INV-1 of alice", "INV-1 of carol"]


def test_another_value_is_a_number_that_does_not_name_the_record() -> None:
    sample = contract()
    write = accesses(sample, Ways.WRITES)[0]
    varied = isolation_writes._varied(sample, record_of(sample, write.record), write.operation)
    assert varied.arguments == {"invoice_id": "INV-1", "amount": 2}
    numbered = contract(('{ invoice_id = "INV-1", amount = 1 }', '{ invoice_id = "INV-1", amount = "much" }'))
    write = accesses(numbered, Ways.WRITES)[0]
    assert isolation_writes._varied(numbered, record_of(numbered, write.record), write.operation) == write.operation


def test_an_id_that_nothing_has_keeps_the_form_of_the_records() -> None:
    sample = contract()
    for access in accesses(sample, Ways.UNSHARED):
        absent = isolation_writes._absent(record_of(sample, access.record), access.operation)
        assert absent is not None
        assert absent != access.operation
        said = absent.name if not absent.arguments else absent.arguments["invoice_id"]
        assert "INV-" in said
        assert len(said) > len("INV-1")


@pytest.mark.parametrize("value", ["3f9a1c2e-7b41-4c55-9a0d-0123456789ab", "20261130001"])
def test_a_long_id_keeps_its_length(value: str) -> None:
    other = isolation_writes._another(value)
    assert len(other) == len(value)
    assert [one.isdecimal() for one in other] == [one.isdecimal() for one in value]


def test_an_id_is_written_with_its_owner_in_it_and_a_search_with_operators() -> None:
    sample = contract()
    forms: dict[str, list[str]] = {}
    for access in accesses(sample, Ways.REACHES):
        record = record_of(sample, access.record)
        forms[f"{access.record}:{access.operation.name}"] = [
            one for one, _ in isolation_reach._forms(sample, record, access.operation)
        ]
    by_id = forms["INV-1 of alice:get_invoice"]
    assert {"t1/INV-1", "alice/INV-1", "../t1/INV-1", "..%2ft1%2fINV-1", "%49NV-1"} <= set(by_id)
    assert forms["INV-1 of alice:invoice://INV-1"] == by_id
    assert {"*", "%", "", "' OR '1'='1", "tenant:t1"} <= set(forms["INV-1 of alice:search_invoices"])
    assert "INV-1 of alice:list_invoices" not in forms


def test_arguments_are_tried_from_another_tenant_where_there_is_one() -> None:
    assert {(one.record, one.principal) for one in accesses(contract(), Ways.REACHES)} == {
        ("INV-1 of alice", "carol"),
        ("INV-2 of bob", "carol"),
        ("INV-1 of carol", "alice"),
    }


def test_roles_are_tried_by_somebody_of_the_owners_tenant_whose_scopes_do() -> None:
    assert {(one.record, one.principal, one.operation.name) for one in accesses(contract(), Ways.ROLES)} == {
        ("INV-1 of alice", "bob", "get_invoice"),
        ("INV-2 of bob", "alice", "get_invoice"),
        ("INV-1 of carol", "namesake", "get_invoice"),
    }
