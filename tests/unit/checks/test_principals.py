"""Who meets whom in the sample contract, and in contracts that have less of everything."""

from pathlib import Path

import pytest

from mcp_auth_contract.checks.principals import foreign_to, meeting, owners, pair, victims
from mcp_auth_contract.contract import Contract, read_contract
from mcp_auth_contract.datafiles import data_folder

SAMPLE = (data_folder("scenarios") / "contracts" / "sample.toml").read_text("utf-8")
HEAD, TAIL = SAMPLE.index("[[records]]"), SAMPLE.index("[[cursors]]")
ALICE, BOB, CAROL = "alice-t1-INV-1-7f3a", "bob-t1-INV-2-91bd", "carol-t2-INV-1-c04e"


def record(owner: str, invoice: str, canary: str, readers: str = "") -> str:
    reads = f'reads = [{{ tool = "get_invoice", arguments = {{ invoice_id = "{invoice}" }} }}]'
    also = f"readers = [{readers}]\n" if readers else ""
    return f'[[records]]\nname = "{invoice} of {owner}"\nowner = "{owner}"\ncanary = "{canary}"\n{also}{reads}\n\n'


def contract(*records: str) -> Contract:
    """The sample contract, with other records if any are given."""
    text = SAMPLE if not records else SAMPLE[:HEAD] + "".join(records) + SAMPLE[TAIL:]
    return read_contract(text, Path("sample.toml"))


def test_all_owners_of_the_sample_meet_in_calls_that_are_the_same_for_all() -> None:
    met = meeting(contract(), "alice")
    assert [parts[0].principal for parts in met] == ["alice", "bob", "carol"]
    assert len({tuple(part.operation for part in parts) for parts in met}) == 1
    assert [parts[0].own for parts in met] == [{ALICE}, {BOB}, {CAROL}]
    assert all(not part.own & part.foreign for parts in met for part in parts)


def test_a_pair_makes_the_same_call_where_it_can() -> None:
    both = pair(contract(), "alice", only="carol")
    assert both is not None
    assert [parts[0].operation.name for parts in both] == ["get_invoice", "get_invoice"]
    assert both[0][0].operation == both[1][0].operation


def test_without_a_common_call_each_makes_the_calls_of_the_others_too() -> None:
    met = meeting(contract(record("alice", "INV-1", ALICE), record("bob", "INV-2", BOB)), "alice")
    assert [[(part.own, part.operation.arguments["invoice_id"]) for part in parts] for parts in met] == [
        [({ALICE}, "INV-1"), (frozenset(), "INV-2")],
        [({BOB}, "INV-2"), (frozenset(), "INV-1")],
    ]


@pytest.mark.parametrize(
    "records",
    [
        (record("alice", "INV-1", ALICE),),
        (record("alice", "INV-1", ALICE), record("bob", "INV-2", BOB, '"bob", "alice"')),
        (record("alice", "INV-1", ALICE, '"alice", "bob"'), record("bob", "INV-2", BOB)),
    ],
    ids=["one owner", "the first reads the second's", "the second reads the first's"],
)
def test_there_are_no_two_where_one_may_read_the_others_records(records: tuple[str, ...]) -> None:
    known = contract(*records)
    assert owners(known, "alice") == ("alice",)
    assert pair(known, "alice") is None
    assert victims(known, "alice") == ()


def test_a_reader_in_the_same_meeting_makes_no_record_private_and_one_outside_does_not_matter() -> None:
    known = contract(record("alice", "INV-1", ALICE, '"alice", "carol"'), record("bob", "INV-2", BOB))
    both = pair(known, "alice")
    assert both is not None
    assert [parts[0].own for parts in both] == [{ALICE}, {BOB}]
    assert foreign_to(known, "carol") == {BOB}


def test_the_victims_are_one_of_the_same_tenant_and_one_of_another() -> None:
    assert [theirs.principal for _, theirs in victims(contract(), "alice")] == ["bob", "carol"]
    assert all(mine.principal == "alice" for mine, _ in victims(contract(), "alice"))


def test_the_caller_makes_the_victims_call_where_there_is_no_common_one() -> None:
    ((mine, theirs),) = victims(contract(record("alice", "INV-1", ALICE), record("bob", "INV-2", BOB)), "alice")
    assert mine.operation == theirs.operation
    assert theirs.own == {BOB}
    assert mine.own == frozenset()
