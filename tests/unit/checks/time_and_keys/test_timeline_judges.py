"""Timelines: what proves nothing, what was cut short, and the measured leeway."""

from dataclasses import replace

import pytest
from tests.unit.checks.literals import POINTER, answer, call, judged, result
from tests.unit.checks.time_and_keys.timeline_literals import leeway, server_clock, timeline

from mcp_auth_contract.answers import TransportFailure
from mcp_auth_contract.checks.tokens.observation import Heard
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass

REFUSED = answer(401, f"Bearer {POINTER}")
BROKEN = answer(500)
SILENT = answer(None, failure=TransportFailure.TIMEOUT)


@pytest.mark.parametrize("judge", ["withdrawn_refused", "new_accepted", "good_accepted"])
def test_a_timeline_that_was_not_granted_its_time_does_not_apply(judge: str) -> None:
    assert judged(judge, timeline(cut="it takes 61 s to be seen")) == NotApplicable("it takes 61 s to be seen")


@pytest.mark.parametrize("judge", ["forgeries_refused", "no_breakdown", "keys_fetched_rarely", "recovered"])
def test_a_timeline_without_steps_is_no_pass(judge: str) -> None:
    assert not isinstance(judged(judge, timeline()), Pass)


def test_a_forged_token_that_had_an_effect_fails_even_where_the_timeline_was_cut() -> None:
    assert isinstance(judged("forgeries_refused", timeline(("forged", result()), cut="no time left")), Fail)


def test_a_server_error_is_no_effect_of_a_forged_token_but_a_breakdown() -> None:
    assert judged("forgeries_refused", timeline(("forged", BROKEN))) == Pass()
    verdict = judged("no_breakdown", timeline(("forged", BROKEN)))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY


@pytest.mark.parametrize("status", [502, 503, 504])
def test_an_honest_word_of_unavailability_is_no_breakdown(status: int) -> None:
    assert judged("no_breakdown", timeline(("during", answer(status)), ("forged", REFUSED))) == Pass()


def test_a_withdrawn_key_proves_nothing_unless_it_worked_before_and_another_one_still_does() -> None:
    before = timeline(("before", REFUSED), ("withdrawn", REFUSED))
    kept = timeline(("before", result()), ("kept", REFUSED), ("withdrawn", REFUSED))
    assert isinstance(judged("withdrawn_refused", before), Inconclusive)
    assert isinstance(judged("withdrawn_refused", kept), Inconclusive)


def test_silence_for_an_honest_token_is_a_failure_to_serve_it() -> None:
    assert isinstance(judged("good_accepted", timeline(("good", SILENT))), Fail)


def test_a_cache_that_did_not_expire_says_nothing_about_recovery() -> None:
    assert isinstance(judged("recovered", timeline(("during", result()), cold=False)), NotApplicable)


def test_the_measured_leeway_is_told_beside_the_declared_one() -> None:
    said = judged("leeway_within_declared", leeway((-3, result()), (1, result()), (30, result()), (31, REFUSED)))
    assert said == Pass("leeway measured: 30 s at exp, declared 60 s")
    none = judged("leeway_within_declared", leeway((-3, result()), (1, REFUSED)))
    assert none == Pass("leeway measured: 0 s at exp, declared 60 s")


def test_a_leeway_beyond_every_offset_is_told_as_such() -> None:
    verdict = judged("leeway_within_declared", leeway((-3, result()), (1, result()), (62, result()), (3600, result())))
    assert isinstance(verdict, Fail)
    assert verdict.observed == "3600 s at exp or more"


def test_a_token_in_time_that_is_refused_makes_the_search_for_leeway_inconclusive() -> None:
    assert isinstance(judged("leeway_within_declared", leeway((-3, REFUSED))), Inconclusive)
    assert isinstance(judged("leeway_within_declared", leeway()), Inconclusive)


def test_a_limit_of_ten_fetches_a_minute_is_no_flood() -> None:
    assert judged("keys_fetched_rarely", timeline(("forged", REFUSED), fetches=10)) == Pass()


@pytest.mark.parametrize("heard", [None, Heard((), audible=False)])
def test_a_server_that_fetches_no_keys_has_not_shown_that_it_follows_no_url(heard: Heard | None) -> None:
    observed = replace(call(REFUSED), heard=heard)
    assert isinstance(judged("refused_without_fetching", observed), NotApplicable)


def test_a_clock_that_is_right_enough_passes_and_one_that_is_off_within_the_leeway_is_told() -> None:
    assert judged("server_clock_right", server_clock(result(), 0.0)) == Pass()
    assert judged("server_clock_right", server_clock(result(), -40)) == Pass("its clock is 40 s behind")


@pytest.mark.parametrize(("skew", "impact"), [(-3600.0, None), (3600.0, Impact.INTEROP)])
def test_a_clock_beyond_the_leeway_fails_only_where_a_token_proves_it(skew: float, impact: Impact | None) -> None:
    verdict = judged("server_clock_right", server_clock(result(), skew, result()))
    assert isinstance(verdict, Fail)
    assert verdict.impact is impact
    assert isinstance(judged("server_clock_right", server_clock(result(), skew, REFUSED)), Pass)
    assert isinstance(judged("server_clock_right", server_clock(result(), skew, answer(503))), Inconclusive)


def test_a_server_without_a_date_or_with_a_refused_good_token_shows_no_clock() -> None:
    assert isinstance(judged("server_clock_right", server_clock(result(), None)), NotApplicable)
    assert isinstance(judged("server_clock_right", server_clock(REFUSED, 0.0)), Inconclusive)
