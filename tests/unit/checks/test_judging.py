"""Judges over a part of an observation, and the answers that decide nothing."""

import pytest
from tests.unit.checks.literals import answer, call, facts, result

from mcp_auth_contract.checks import judging
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge_on, proves_nothing
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.model import Fail, Inconclusive, Pass, Verdict


def status(observed: CallObserved, facts: Facts) -> int | Verdict:
    return next((one.answer.status or 0 for one in observed.attempts), Inconclusive("nothing was sent"))


def test_a_judge_decides_on_the_part_or_the_reason_for_its_absence_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "REGISTERED", {})

    @judge_on(status)
    def answered_200(status: int, facts: Facts) -> Verdict:
        """It is 200."""
        return Pass() if status == 200 else Fail("200", str(status))

    registered = judging.REGISTERED["answered_200"]
    assert registered.observes is CallObserved
    assert registered.decide.__doc__ == "It is 200."
    assert registered.decide(call(result()), facts()) == Pass()
    assert registered.decide(call(answer(404)), facts()) == Fail("200", "404")
    assert registered.decide(call(), facts()) == Inconclusive("nothing was sent")


@pytest.mark.parametrize(("code", "nothing"), [(None, True), (429, True), (200, False), (503, False)])
def test_no_answer_and_a_rate_limit_decide_nothing(code: int | None, nothing: bool) -> None:
    assert proves_nothing(answer(code)) is nothing
