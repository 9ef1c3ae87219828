"""Judges over a part of an observation, and the answers that decide nothing."""

import pytest
from tests.unit.checks.literals import answer, call, facts, result

from mcp_auth_contract.checks import judging
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge_each, judge_on, narrowing, proves_nothing
from mcp_auth_contract.checks.observing import answers_in
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


def statuses(observed: CallObserved, facts: Facts) -> tuple[int, ...] | Verdict:
    return tuple(one.answer.status or 0 for one in observed.attempts) or Inconclusive("nothing was sent")


def test_the_first_finding_decides_and_words_are_a_failure_of_what_was_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "REGISTERED", {})

    @judge_each(statuses, "a status below 500")
    def no_breakdown(status: int, facts: Facts) -> Finding:
        """No fault of the server."""
        if status == 404:
            return Pass("not served")
        return str(status) if status >= 500 else None

    decide = judging.REGISTERED["no_breakdown"].decide
    assert decide(call(answer(200), answer(401)), facts()) == Pass()
    assert decide(call(answer(200), answer(502), answer(404)), facts()) == Fail("a status below 500", "502")
    assert decide(call(answer(404), answer(502)), facts()) == Pass("not served")
    assert decide(call(), facts()) == Inconclusive("nothing was sent")


def test_a_part_is_narrowed_where_there_is_one() -> None:
    @narrowing(statuses)
    def served(found: tuple[int, ...], facts: Facts) -> tuple[int, ...]:
        return tuple(status for status in found if status < 300)

    assert served(call(answer(200), answer(401)), facts()) == (200,)
    assert served(call(), facts()) == Inconclusive("nothing was sent")


def test_answers_are_found_in_fields_and_elements_in_their_order() -> None:
    first, second = answer(200), answer(401)
    assert list(call(first, second).answers) == [first, second]
    assert list(answers_in((None, [second], ("label", first)))) == [second, first]
