"""Shards: every case in exactly one part, the parts about equal, the cut the same everywhere."""

from collections import Counter
from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import load_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import Shard, plan_digest, sharded
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Plan, Selection, make_plan

SAMPLE = data_folder("scenarios") / "contracts" / "sample.toml"
REVISIONS = (Revision.R2026_07_28, Revision.R2025_11_25)


def plan(*select: str, file: Path = SAMPLE) -> Plan:
    return make_plan(load_builtin(), load_contract(file), REVISIONS, selection=Selection(select))


WHOLE = plan()


@pytest.mark.slow
@pytest.mark.parametrize("of", [1, 2, 3, 4, 7, 16])
def test_every_case_is_in_exactly_one_part_and_parts_are_about_equal(of: int) -> None:
    parts = [sharded(WHOLE, Shard(index, of))[0] for index in range(1, of + 1)]
    assert Counter(case for part in parts for case in part.cases) == Counter(WHOLE.cases)
    questions = [len({case.question for case in part.cases if not case.inapplicable}) for part in parts]
    assert max(questions) <= 2 * min(questions)
    for part in parts:
        assert any(case.base is not None for case in part.cases)
        order = [WHOLE.cases.index(case) for case in part.cases[:40]]
        assert order == sorted(order)


def test_cases_with_one_id_or_one_question_stay_together() -> None:
    parts = [sharded(WHOLE, Shard(index, 4))[0] for index in range(1, 5)]
    ids = [{case.id for case in part.cases} for part in parts]
    questions = [{case.question for case in part.cases if case.question and not case.inapplicable} for part in parts]
    for seen in (ids, questions):
        assert sum(len(part) for part in seen) == len(set().union(*seen))


def test_each_base_is_spread_over_the_parts() -> None:
    parts = [sharded(WHOLE, Shard(index, 2))[0] for index in (1, 2)]
    bases = [Counter(case.base for case in part.cases if case.base is not None) for part in parts]
    (biggest, count), *_ = (bases[0] + bases[1]).most_common(1)
    assert all(part[biggest] > count / 4 for part in bases)


@pytest.mark.slow
def test_the_same_plan_is_always_cut_alike_and_has_one_digest() -> None:
    again = plan()
    for index in (1, 2, 3):
        part, seen = sharded(WHOLE, Shard(index, 3))
        other, seen_again = sharded(again, Shard(index, 3))
        assert [case.id for case in part.cases] == [case.id for case in other.cases]
        assert seen == seen_again
        assert seen.plan == plan_digest((case.id, case.revision) for case in WHOLE.cases)
    assert sharded(plan("token"), Shard(1, 3))[1].plan != sharded(WHOLE, Shard(1, 3))[1].plan


def test_a_digest_knows_no_order_and_every_revision() -> None:
    new, old = REVISIONS
    assert plan_digest([("a", new), ("b", None)]) == plan_digest([("b", None), ("a", new)])
    assert len({plan_digest([("a", one)]) for one in (new, old, None)}) == 3
    assert plan_digest([("a", new)]) != plan_digest([("a", new), ("a", new)])
    assert plan_digest([("\ud800", None)])


def test_more_parts_than_there_are_cases_are_refused() -> None:
    few = plan("token-expired-refused")
    with pytest.raises(UsageError, match=r"--shard 1/200: the plan can be cut into \d+ at most"):
        sharded(few, Shard(1, 200))
    with pytest.raises(UsageError, match="into 1 at most"):
        sharded(Plan((), REVISIONS), Shard(1, 2))


@pytest.mark.parametrize(
    "text", ["", "2", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/", "/2", "1/257", "²/2", "1.0/2"]
)
def test_a_part_is_written_as_two_numbers(text: str) -> None:
    with pytest.raises(UsageError, match="write it like 2/4"):
        Shard.parse(text)


def test_a_part_is_read() -> None:
    assert Shard.parse("2/4") == Shard(2, 4)
