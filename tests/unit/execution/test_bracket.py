"""Outcomes are believed only between two accepted controls, and a spoiling case is found in few calls."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from mcp_auth_contract.execution.bracket import Bracket, Held

ACCEPTED = Held(accepted=True, observed="200 with a result")
LOCKED = Held(accepted=False, observed="401")


@dataclass
class Server:
    """A server that some cases lock, until `recover` is asked often enough; `heals` False: for ever."""

    spoiling: frozenset[int] = frozenset()
    heals: bool = True
    locked: bool = False
    controls: int = 0
    recoveries: int = 0
    ran: list[tuple[int, ...]] = field(default_factory=list)
    believed: list[int] = field(default_factory=list)
    doubted: dict[int, str] = field(default_factory=dict)

    async def control(self) -> Held:
        self.controls += 1
        return LOCKED if self.locked else ACCEPTED

    async def recover(self) -> Held:
        self.recoveries += 1
        self.locked = self.locked and not self.heals
        return LOCKED if self.locked else ACCEPTED

    async def run(self, cases: Sequence[int]) -> None:
        self.ran.append(tuple(cases))
        self.locked = self.locked or not self.spoiling.isdisjoint(cases)

    def doubt(self, case: int, reason: str) -> None:
        assert case not in self.doubted
        self.doubted[case] = reason

    def over(self, cases: Sequence[int]) -> None:
        bracket = Bracket(self.control, self.run, self.believed.append, self.doubt, self.recover)
        asyncio.run(bracket.over(cases))


@dataclass
class Flickering(Server):
    """A server whose control fails now and then, whatever was run; the opening one is accepted."""

    seed: int = 0

    async def control(self) -> Held:
        turn, self.controls = self.controls, self.controls + 1
        return LOCKED if turn and (turn * 2654435761 + self.seed * 40503) % 7 < 3 else ACCEPTED


CASES = tuple(range(24))


def test_between_two_accepted_controls_every_case_is_believed() -> None:
    server = Server()
    server.over(CASES)
    assert server.believed == list(CASES)
    assert server.doubted == {}
    assert (server.controls, server.recoveries, server.ran) == (2, 0, [CASES])


def test_nothing_is_run_when_the_opening_control_fails() -> None:
    server = Server(locked=True)
    server.over(CASES)
    assert server.ran == []
    assert server.believed == []
    assert set(server.doubted) == set(CASES)
    assert set(server.doubted.values()) == {"the control was not accepted: 401"}
    assert server.controls == 1


@pytest.mark.parametrize("spoiler", [0, 1, 11, 12, 23])
def test_a_case_that_spoils_the_control_stands_alone_in_the_end_and_the_others_are_believed(spoiler: int) -> None:
    server = Server(spoiling=frozenset({spoiler}))
    server.over(CASES)
    assert sorted(server.believed) == [case for case in CASES if case != spoiler]
    assert server.doubted == {spoiler: "the control was no longer accepted afterwards: 401"}
    assert (spoiler,) in server.ran


def test_the_search_for_one_spoiling_case_takes_two_batches_for_each_halving() -> None:
    server = Server(spoiling=frozenset({17}))
    server.over(CASES)
    assert len(server.ran) <= 1 + 2 * 5  # 24 cases are halved five times at most


@pytest.mark.parametrize("spoiling", [{0, 23}, {3, 4, 5}, set(range(0, 24, 2)), set(CASES)])
def test_several_spoiling_cases_are_all_found(spoiling: set[int]) -> None:
    server = Server(spoiling=frozenset(spoiling))
    server.over(CASES)
    assert set(server.doubted) == spoiling
    assert set(server.believed) == set(CASES) - spoiling
    assert len(server.ran) <= 2 * len(CASES) - 1


def test_a_control_that_never_recovers_casts_doubt_on_the_whole_batch_at_once() -> None:
    server = Server(spoiling=frozenset({7}), heals=False)
    server.over(CASES)
    assert server.believed == []
    assert set(server.doubted) == set(CASES)
    assert set(server.doubted.values()) == {"the control was no longer accepted afterwards: 401"}
    assert (len(server.ran), server.controls, server.recoveries) == (1, 2, 1)


def test_a_control_lost_during_the_search_keeps_what_was_believed_before() -> None:
    server = Server(spoiling=frozenset({20}))
    recover = server.recover

    async def recover_twice() -> Held:
        server.heals = server.recoveries < 2
        return await recover()

    bracket = Bracket(server.control, server.run, server.believed.append, server.doubt, recover_twice)
    asyncio.run(bracket.over(CASES))
    assert server.believed == list(CASES[:12])
    assert set(server.doubted) == set(CASES[12:])


def test_a_second_half_is_not_run_while_the_control_is_lost() -> None:
    server = Server(spoiling=frozenset({2}))
    recover = server.recover

    async def recover_once() -> Held:
        server.heals = server.recoveries < 1
        return await recover()

    bracket = Bracket(server.control, server.run, server.believed.append, server.doubt, recover_once)
    asyncio.run(bracket.over(CASES))
    assert server.ran == [CASES, CASES[:12]]
    assert server.believed == []
    assert set(server.doubted) == set(CASES)
    assert server.doubted[23] == "the control was no longer accepted: 401"


def test_every_case_is_settled_once_when_the_control_fails_now_and_then() -> None:
    for seed in range(32):
        server = Flickering(seed=seed)
        server.over(CASES)
        settled = [*server.believed, *server.doubted]
        assert sorted(settled) == list(CASES)
        assert len(server.ran) <= 2 * len(CASES) - 1


def test_a_batch_of_one_is_doubted_after_one_recovery() -> None:
    server = Server(spoiling=frozenset({5}))
    server.over((5,))
    assert (server.ran, server.recoveries) == ([(5,)], 1)
    assert set(server.doubted) == {5}
