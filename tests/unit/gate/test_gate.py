"""The gate opens only when everything that had to be seen was seen, and held."""

from itertools import count

import pytest

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Error, Fail, Impact, Inconclusive, Level, NotApplicable, Outcome, Pass, Revision
from mcp_auth_contract.reports.model import ControlSeen, Result

NUMBER = count()
PASS = Pass()
FAIL = Fail("401", "200 with a result")
UNSEEN = Inconclusive("no answer in time")
ABSENT = NotApplicable("the server has no sessions")
ERROR = Error("KeyError in a judge")


def result(outcome: Outcome, level: Level = Level.MUST) -> Result:
    check = Check(
        id="token-expired-refused",
        family="token",
        title="An expired token is refused",
        level=level,
        impact=Impact.AUTH_BYPASS,
        cites=(),
        requirements=(),
        probe="call",
        judge="refused_as_invalid_token",
        why="",
        remedy="",
    )
    return Result(f"token-expired-refused[{next(NUMBER)}]", check, None, outcome)


@pytest.mark.parametrize("outcomes", [[PASS], [PASS, ABSENT], [Pass("a remark")]])
def test_the_gate_opens_when_all_that_was_seen_held(outcomes: list[Outcome]) -> None:
    gate = decide([result(outcome) for outcome in outcomes])
    assert (gate.open, gate.exit_code, gate.reasons) == (True, 0, ())


@pytest.mark.parametrize(
    ("outcomes", "code", "reasons"),
    [
        ([PASS, FAIL], 1, ("1 case of level MUST failed",)),
        ([FAIL, FAIL], 1, ("2 cases of level MUST failed",)),
        ([PASS, UNSEEN], 3, ("1 case of level MUST ended inconclusive",)),
        ([UNSEEN, UNSEEN], 3, ("2 cases of level MUST ended inconclusive",)),
        ([PASS, ERROR], 4, ("1 case ended with a kit error",)),
    ],
)
def test_each_kind_of_trouble_shuts_the_gate_with_its_own_code_and_line(
    outcomes: list[Outcome], code: int, reasons: tuple[str, ...]
) -> None:
    gate = decide([result(outcome) for outcome in outcomes])
    assert (gate.open, gate.exit_code, gate.reasons) == (False, code, reasons)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([FAIL, UNSEEN], 1),
        ([UNSEEN, FAIL], 1),
        ([ERROR, FAIL], 4),
        ([ERROR, UNSEEN], 4),
        ([UNSEEN, FAIL, ERROR, PASS], 4),
    ],
)
def test_a_fault_of_the_kit_wins_over_a_broken_clause_and_that_over_an_unseen_one(
    outcomes: list[Outcome], code: int
) -> None:
    gate = decide([result(outcome) for outcome in outcomes])
    assert gate.exit_code == code
    assert len(gate.reasons) == len({type(outcome) for outcome in outcomes} - {Pass})


@pytest.mark.parametrize("level", [Level.SHOULD, Level.MAY])
@pytest.mark.parametrize("outcome", [FAIL, UNSEEN])
def test_recommendations_do_not_shut_the_gate_by_default(level: Level, outcome: Outcome) -> None:
    gate = decide([result(PASS), result(outcome, level)])
    assert (gate.open, gate.exit_code) == (True, 0)
    assert not gate.binds(result(outcome, level))


@pytest.mark.parametrize(("outcome", "code"), [(FAIL, 1), (UNSEEN, 3)])
def test_fail_on_should_makes_recommendations_binding(outcome: Outcome, code: int) -> None:
    gate = decide([result(PASS), result(outcome, Level.SHOULD)], fail_on=Level.SHOULD)
    assert (gate.open, gate.exit_code) == (False, code)
    assert "MUST or SHOULD" in gate.reasons[0]
    assert gate.binds(result(outcome, Level.SHOULD))
    assert gate.binds(result(outcome, Level.MUST))


def test_fail_on_should_leaves_permissions_free() -> None:
    assert decide([result(PASS), result(FAIL, Level.MAY)], fail_on=Level.SHOULD).open


@pytest.mark.parametrize("fail_on", [Level.MUST, Level.SHOULD])
def test_a_fault_of_the_kit_shuts_the_gate_at_every_level(fail_on: Level) -> None:
    assert decide([result(PASS), result(ERROR, Level.MAY)], fail_on=fail_on).exit_code == 4


@pytest.mark.parametrize("outcomes", [[], [ABSENT], [ABSENT, ABSENT]])
def test_the_gate_is_shut_when_nothing_was_run(outcomes: list[Outcome]) -> None:
    gate = decide([result(outcome) for outcome in outcomes])
    assert (gate.open, gate.exit_code, gate.reasons) == (False, 3, ("no check was run at all",))


@pytest.mark.parametrize("level", [Level.SHOULD, Level.MAY])
@pytest.mark.parametrize("also", [[], [ABSENT]])
def test_the_gate_is_shut_when_nothing_was_observed_whatever_the_level(level: Level, also: list[Outcome]) -> None:
    gate = decide([result(UNSEEN, level), *map(result, also)])
    told = "nothing was observed: no case passed and none failed"
    assert (gate.open, gate.exit_code, gate.reasons) == (False, 3, (told,))


@pytest.mark.parametrize("seen", [PASS, FAIL])
def test_one_case_that_was_observed_is_enough_at_whatever_level(seen: Outcome) -> None:
    assert decide([result(seen, Level.SHOULD), result(UNSEEN, Level.SHOULD)]).open


def control(*, accepted: bool) -> ControlSeen:
    return ControlSeen("get_invoice", "alice", Revision.R2025_11_25, accepted, "200")


def test_the_gate_is_shut_when_control_calls_were_made_and_none_was_accepted() -> None:
    gate = decide([result(PASS), result(UNSEEN, Level.SHOULD)], [control(accepted=False)])
    assert (gate.open, gate.exit_code, gate.reasons) == (False, 3, ("no control call was accepted",))
    assert decide([result(PASS)], [control(accepted=False), control(accepted=True)]).open


def test_an_interrupted_run_is_shut_though_all_that_it_saw_held() -> None:
    gate = decide([result(PASS)], interrupted=True)
    assert (gate.open, gate.exit_code, gate.reasons) == (False, 3, ("the run was interrupted",))


@pytest.mark.parametrize(("outcome", "code"), [(FAIL, 1), (ERROR, 4), (UNSEEN, 3)])
def test_what_an_interrupted_run_found_still_decides_the_code(outcome: Outcome, code: int) -> None:
    gate = decide([result(outcome)], interrupted=True)
    assert gate.exit_code == code
    assert gate.reasons[-1] == "the run was interrupted"


def test_an_interrupted_run_of_nothing_gives_both_reasons() -> None:
    assert decide([], interrupted=True).reasons == ("the run was interrupted", "no check was run at all")


def test_a_milder_impact_is_shown_and_does_not_open_the_gate() -> None:
    mild = result(Fail("401", "400", Impact.INTEROP))
    assert mild.impact == "interop"
    assert result(FAIL).impact == "auth-bypass"
    assert decide([mild]).exit_code == 1


def test_a_server_that_asks_for_no_token_shuts_the_gate_whatever_passed() -> None:
    gate = decide([result(PASS)], unprotected="this server asks for no token at all")
    assert (gate.open, gate.exit_code, gate.reasons) == (False, 1, ("this server asks for no token at all",))
    assert decide([], unprotected="open").reasons == ("open",)
