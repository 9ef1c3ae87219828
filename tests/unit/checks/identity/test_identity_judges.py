"""The fine points of the judges of identity: what is a mix-up, what proves nothing, what is only a remark."""

import pytest
from tests.unit.checks.identity.identity_literals import MINE, REFUSED, THEIRS, by_alice, by_bob, lists, scene
from tests.unit.checks.literals import answer, judged, result, tool_error

from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass

BOTH = result(note=f"{MINE.text}{THEIRS.text}")
PLAIN = (by_alice("alone"), by_bob("alone"))
IN_TURN = (by_alice("in turn"), by_bob("in turn"))
EMPTY = result(content=[])
ON_SCENES = ("callers_kept_apart", "each_token_decides", "foreign_identity_ignored")


@pytest.mark.parametrize("name", ON_SCENES)
def test_a_scene_that_lacks_a_principal_is_not_applicable_and_one_without_calls_proves_nothing(name: str) -> None:
    assert judged(name, scene(missing="nobody else")) == NotApplicable("nobody else")
    assert judged(name, scene()) == Inconclusive("nothing was sent")


@pytest.mark.parametrize("each", [REFUSED, answer(400), tool_error()])
def test_an_override_may_be_refused(each) -> None:
    assert judged("foreign_identity_ignored", scene(*PLAIN, by_alice("override", each))) == Pass()


def test_an_override_that_empties_the_answer_is_a_remark() -> None:
    verdict = judged("foreign_identity_ignored", scene(*PLAIN, by_alice("override", EMPTY, "argument owner")))
    assert verdict == Pass("answered without the caller's own record: argument owner")


def test_another_users_record_beside_the_own_one_is_a_leak_of_the_override() -> None:
    verdict = judged("foreign_identity_ignored", scene(*PLAIN, by_alice("override", BOTH, "argument owner")))
    assert isinstance(verdict, Fail)
    assert "argument owner" in verdict.observed


@pytest.mark.parametrize("plain", [by_alice("alone", BOTH), by_alice("alone", REFUSED), by_alice("alone", EMPTY)])
@pytest.mark.parametrize("name", ["callers_kept_apart", "foreign_identity_ignored"])
def test_a_plain_call_that_is_not_as_it_should_be_proves_nothing_about_the_rest(name: str, plain) -> None:
    leaking = (by_alice("override", THEIRS), by_alice("together", THEIRS))
    assert isinstance(judged(name, scene(plain, *leaking)), Inconclusive)


@pytest.mark.parametrize("each", [answer(None), answer(429), answer(500), answer(503)])
@pytest.mark.parametrize("name", ["override", "together"])
def test_no_answer_a_rate_limit_and_a_server_error_prove_nothing(name: str, each) -> None:
    judge = "foreign_identity_ignored" if name == "override" else "callers_kept_apart"
    assert isinstance(judged(judge, scene(*PLAIN, *IN_TURN, by_alice(name, each))), Inconclusive)


def test_a_leak_counts_even_where_another_call_was_not_answered() -> None:
    observed = scene(*PLAIN, by_alice("override", answer(500)), by_alice("override", THEIRS))
    assert isinstance(judged("foreign_identity_ignored", observed), Fail)


def test_a_mix_up_of_callers_in_turn_counts_and_a_plain_leak_does_not() -> None:
    mixed = judged("callers_kept_apart", scene(by_alice("in turn"), by_bob("in turn", MINE)))
    assert isinstance(mixed, Fail)
    leaked = judged("callers_kept_apart", scene(by_alice("in turn", BOTH), by_bob("in turn")))
    assert isinstance(leaked, Inconclusive)


def test_a_mix_up_says_how_many_calls_of_whom_were_tried() -> None:
    observed = scene(*IN_TURN, by_alice("together"), by_bob("together", MINE, "round 1 of 10"))
    verdict = judged("callers_kept_apart", observed)
    assert isinstance(verdict, Fail)
    assert "for bob, round 1 of 10" in verdict.observed
    assert "(2 calls of alice, bob were tried)" in verdict.observed


def test_a_record_in_a_header_field_is_seen() -> None:
    hidden = answer(
        200, body={"jsonrpc": "2.0", "id": 1, "result": {"note": MINE.text}}, headers=(("x-note", THEIRS.text),)
    )
    assert isinstance(judged("callers_kept_apart", scene(*IN_TURN, by_alice("together", hidden))), Fail)


def test_an_answer_that_lost_the_own_record_is_a_matter_of_availability() -> None:
    verdict = judged("callers_kept_apart", scene(*IN_TURN, by_alice("together", EMPTY)))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY


def test_refusals_are_no_mix_up_but_where_all_are_refused_nothing_is_shown() -> None:
    some = judged("callers_kept_apart", scene(*PLAIN, by_alice("together"), by_bob("together", REFUSED)))
    assert some == Pass("1 of 2 calls were refused")
    none = judged("callers_kept_apart", scene(*PLAIN, by_alice("together", REFUSED), by_bob("together", REFUSED)))
    assert isinstance(none, Inconclusive)


@pytest.mark.parametrize(
    ("part", "impact"),
    [("none", Impact.AUTH_BYPASS), ("bad", Impact.AUTH_BYPASS), ("poor", Impact.PRIVILEGE_ESCALATION)],
)
def test_a_token_that_gets_through_behind_a_better_one_fails_with_its_own_impact(part: str, impact: Impact) -> None:
    observed = scene(by_alice(f"{part} alone", REFUSED), by_alice("rich"), by_alice(part))
    verdict = judged("each_token_decides", observed)
    assert isinstance(verdict, Fail)
    assert verdict.impact is impact


def test_another_principal_may_get_their_own_record_and_not_the_first_ones() -> None:
    own = scene(by_bob("other alone"), by_alice("rich"), by_bob("other"), by_alice("rich"))
    assert judged("each_token_decides", own) == Pass()
    mixed = judged("each_token_decides", scene(by_bob("other alone"), by_alice("rich"), by_bob("other", MINE)))
    assert isinstance(mixed, Fail)
    assert mixed.impact is Impact.TENANT_LEAK


def test_a_token_that_gets_through_by_itself_is_another_checks_matter() -> None:
    observed = scene(by_alice("poor alone"), by_alice("rich"), by_alice("poor"))
    assert isinstance(judged("each_token_decides", observed), Inconclusive)
    besides = scene(by_alice("poor alone"), by_alice("none alone", REFUSED), by_alice("rich"), by_alice("none"))
    assert isinstance(judged("each_token_decides", besides), Fail)


def test_the_good_token_comes_first_and_stays_good() -> None:
    assert isinstance(judged("each_token_decides", scene(by_alice("rich", REFUSED))), Inconclusive)
    spoilt = judged("each_token_decides", scene(by_alice("rich"), by_alice("bad", REFUSED), by_alice("rich", REFUSED)))
    assert isinstance(spoilt, Fail)
    assert spoilt.impact is Impact.AVAILABILITY
    ended = judged(
        "each_token_decides", scene(by_alice("rich"), by_alice("bad", REFUSED), by_alice("rich", answer(404)))
    )
    assert ended == Pass("the session ended when another token came: 404")


def test_a_difference_of_lists_counts_when_it_shows_twice_in_the_same_place() -> None:
    name = "list_depends_on_token_only"
    assert judged(name, lists(("get put", "get put", "get", "get put"), ("get", "get", "get", "get"))) == Pass(
        "tools/list changed in between, once"
    )
    assert isinstance(judged(name, lists(("get", "get put"), ("get", "get", "put"))), Pass)
    verdict = judged(name, lists(("get put", "get", "get put"), ("get put", "get all", "get put")))
    assert isinstance(verdict, Fail)
    assert verdict.observed == "tools/list on a new connection: without put, twice in two turns"


def test_a_list_that_is_not_served_or_not_read_to_its_end() -> None:
    name = "list_depends_on_token_only"
    assert isinstance(judged(name, lists((None,), last=answer(404))), NotApplicable)
    assert isinstance(judged(name, lists((None,), last=answer(500))), Inconclusive)
    assert isinstance(judged(name, lists((None,))), Inconclusive)
    assert isinstance(judged(name, lists(("get", None), last=answer(403))), Fail)
    assert judged(name, lists()) == Inconclusive("nothing was sent")
