"""The fine points of judging scopes: what settles a question, and what proves nothing."""

import pytest
from tests.unit.checks.literals import answer, call, facts, judged, result, rpc_error, tool_error
from tests.unit.checks.scopes.scope_literals import BOTH, EVERYTHING, READ, WRITE, bypass, rounds, surface, weak

from mcp_auth_contract.checks.scopes.observation import challenge_scopes
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass

ROUNDS = ("rounds_complete", "rounds_consistent", "rounds_satisfiable", "rounds_single")
WIDER = facts(
    needed=frozenset({READ, WRITE}),
    missing=READ,
    wider={READ: frozenset({READ, "admin"}), WRITE: frozenset({WRITE, "admin"})},
)


@pytest.mark.parametrize("name", ROUNDS)
def test_a_challenge_is_judged_only_where_there_is_one(name: str) -> None:
    assert isinstance(judged(name, rounds(result()), BOTH), Inconclusive)
    assert isinstance(judged(name, rounds(answer(429)), BOTH), Inconclusive)
    assert isinstance(judged(name, rounds(), BOTH), Inconclusive)
    assert isinstance(judged(name, rounds(answer(403), tool_error()), BOTH), NotApplicable)


def test_a_challenge_in_a_tool_result_counts_as_one() -> None:
    told = tool_error(f'Bearer error="insufficient_scope", scope="{READ} {WRITE}"')
    assert challenge_scopes(told) == {READ, WRITE}
    assert judged("rounds_complete", rounds(told, told, told), BOTH) == Pass()


def test_words_that_are_no_scopes_never_enter_a_token() -> None:
    assert challenge_scopes(weak('a\\"b c')) == {"c"}
    assert len(challenge_scopes(weak(" ".join(f"s{number}" for number in range(99)))) or ()) == 50


def test_a_broader_scope_names_what_it_implies() -> None:
    assert judged("rounds_complete", rounds(weak("admin")), WIDER) == Pass()
    assert judged("scope_challenge_names_missing", call(weak("admin")), WIDER) == Pass()
    assert isinstance(judged("scope_challenge_names_missing", call(weak(WRITE)), WIDER), Fail)
    assert isinstance(judged("scope_challenge_names_missing", call(weak("admin")), BOTH), Fail)


def test_two_challenges_with_one_scope_each_are_not_one_challenge_for_all() -> None:
    verdict = judged("rounds_complete", rounds(weak(READ, WRITE)), BOTH)
    assert isinstance(verdict, Fail)
    assert verdict.observed == f'scope="{READ}" and scope="{WRITE}"'


def test_an_operation_of_one_scope_has_nothing_to_be_complete_about() -> None:
    assert isinstance(judged("rounds_complete", rounds(weak("x")), facts(needed=frozenset({READ}))), NotApplicable)


def test_the_order_of_scopes_is_no_difference() -> None:
    assert judged("rounds_consistent", rounds(weak(f"{READ} {WRITE}"), weak(f"{WRITE} {READ}")), BOTH) == Pass()
    assert isinstance(judged("rounds_consistent", rounds(weak(READ), answer(403)), BOTH), Fail)


def test_several_rounds_may_satisfy_and_are_still_too_many() -> None:
    stepwise = rounds(weak(READ), then=((READ, weak(WRITE)), (f"{READ} {WRITE}", result())))
    assert judged("rounds_satisfiable", stepwise, BOTH) == Pass()
    assert isinstance(judged("rounds_single", stepwise, BOTH), Fail)


def test_a_challenge_for_what_the_token_holds_cannot_be_satisfied() -> None:
    assert isinstance(judged("rounds_satisfiable", rounds(weak("")), BOTH), Fail)
    limited = rounds(EVERYTHING, then=((f"{READ} {WRITE}", answer(429)),))
    assert isinstance(judged("rounds_satisfiable", limited, BOTH), Inconclusive)


def test_what_is_answered_though_not_listed_is_a_remark() -> None:
    verdict = judged("surface_offered", surface(unlisted=(("quiet", result()),)))
    assert verdict == Pass("answered, and not listed: quiet")
    assert isinstance(judged("surface_offered", surface(unlisted=(("gone", answer(None)),))), Inconclusive)


@pytest.mark.parametrize("name", ["surface_declared", "surface_offered"])
def test_a_list_that_did_not_end_proves_nothing(name: str) -> None:
    assert isinstance(judged(name, surface("a", undeclared=("a",), complete=False)), Inconclusive)


def test_a_message_that_nobody_gets_through_with_is_no_way() -> None:
    assert isinstance(judged("not_past_scopes", bypass(None, control=rpc_error())), NotApplicable)
    assert isinstance(judged("not_past_scopes", bypass(None, control=answer(None))), Inconclusive)
    assert isinstance(judged("not_past_scopes", bypass(answer(429))), Inconclusive)


def test_a_breakdown_is_no_refusal_and_milder_than_a_bypass() -> None:
    verdict = judged("not_past_scopes", bypass(answer(500)))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY


def test_the_permitted_thing_may_run_in_the_place_of_the_forbidden_one() -> None:
    allowed, forbidden = result(currencies=["EUR"]), result(content=["INV-1"])
    assert judged("not_past_scopes", bypass(allowed, forbidden, allowed, weak(READ))) == Pass()
    assert isinstance(judged("not_past_scopes", bypass(forbidden, forbidden, allowed, weak(READ))), Fail)
    alike = result(content=["INV-2"])
    assert isinstance(judged("not_past_scopes", bypass(alike, forbidden, allowed, weak(READ))), Fail)
    third = judged("not_past_scopes", bypass(result(other=1), forbidden, allowed, weak(READ)))
    assert isinstance(third, Pass)
    assert third.advice


def test_what_runs_plainly_is_told_by_another_check() -> None:
    through = bypass(result(content=["INV-1"]), plain=result(content=["INV-1"]))
    assert isinstance(judged("not_past_scopes", through), NotApplicable)


def hidden(*answers: object) -> CallObserved:
    seen = call(*answers)  # type: ignore[arg-type]
    return CallObserved(seen.operation, seen.attempts, hidden=True)


def test_a_hidden_tool_that_is_unknown_is_refused() -> None:
    verdict = judged("refused_for_scope", hidden(rpc_error(), answer(400)))
    assert isinstance(verdict, Pass)
    assert verdict.advice
    assert isinstance(judged("refused_for_scope", call(rpc_error())), Fail)
    assert isinstance(judged("refused_for_scope", hidden(rpc_error(), answer(500))), Fail)
    assert isinstance(judged("denied", hidden(rpc_error(), result())), Fail)
    for name in ("scope_challenge_error", "scope_challenge_metadata", "scope_challenge_names_missing"):
        assert isinstance(judged(name, hidden(rpc_error(), answer(400))), NotApplicable)
        assert isinstance(judged(name, hidden(answer(403))), Fail | Inconclusive)
