"""The fine points of the judges of sessions."""

from dataclasses import replace

import pytest
from tests.unit.checks.literals import answer, facts, html, judged, login_redirect, result
from tests.unit.checks.sessions.session_literals import RANDOM, ids, scene, stream

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.sessions.observation import SessionEndObserved, SessionObserved
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass

CANARY = "alice-canary"
KNOWN = facts(canaries=frozenset({CANARY}))
SESSION_JUDGES = (
    "session_ended_404",
    "session_guarded",
    "session_header_ignored",
    "session_missing_id",
    "session_serves_owner",
    "session_serves_owner_or_advice",
    "session_unknown_id",
)


def own() -> Answer:
    return result(of=CANARY)


def deleted(status: int) -> Answer:
    return replace(answer(status), method="DELETE")


@pytest.mark.parametrize("name", SESSION_JUDGES)
def test_a_scene_that_cannot_be_played_is_not_applicable(name: str) -> None:
    assert judged(name, scene(absent="the server keeps no sessions")) == NotApplicable("the server keeps no sessions")


@pytest.mark.parametrize("name", SESSION_JUDGES)
@pytest.mark.parametrize("silent", [answer(None), answer(429)], ids=["no answer", "rate limit"])
def test_a_step_without_an_answer_proves_nothing(name: str, silent: Answer) -> None:
    assert isinstance(judged(name, scene(("owner", own()), ("good", silent))), Inconclusive)
    assert isinstance(judged(name, SessionObserved()), Inconclusive)


@pytest.mark.parametrize("name", SESSION_JUDGES)
def test_an_owner_who_is_not_served_proves_nothing(name: str) -> None:
    assert isinstance(judged(name, scene(("owner", answer(500)), ("gone", answer(404)))), Inconclusive)


def guarded(*steps: tuple[str, Answer]) -> object:
    return judged("session_guarded", scene(("owner", own()), *steps), KNOWN)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_intruder_may_be_refused_in_several_ways(status: int) -> None:
    verdict = guarded(("intruder", answer(status)), ("after", own()))
    assert isinstance(verdict, Pass)
    assert (verdict.advice is not None) is (status == 401)


def test_an_intruder_who_is_served_as_themselves_is_advice() -> None:
    verdict = guarded(("intruder", result(of="bob")), ("after", own()))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None
    assert "not bound" in verdict.advice


@pytest.mark.parametrize("part", ["stranger", "intruder", "own"])
def test_the_owners_record_reaches_nobody_else_whatever_the_status(part: str) -> None:
    for leaking in (replace(answer(404), text=CANARY), stream(f"data: {CANARY}\n\n")):
        assert isinstance(guarded((part, leaking)), Fail)


def test_a_served_intruder_says_nothing_where_no_record_would_show() -> None:
    served = scene(("owner", result()), ("intruder", result()), ("after", result()))
    assert isinstance(judged("session_guarded", served), NotApplicable)
    assert isinstance(judged("session_guarded", served, KNOWN), NotApplicable)


def test_a_silent_stream_counts_only_beside_the_owners_that_speaks() -> None:
    quiet, spoken = stream(": nothing\n\n"), stream(f"data: {CANARY}\n\n")
    assert isinstance(guarded(("witness", quiet), ("own", quiet)), NotApplicable)
    assert guarded(("witness", spoken), ("own", quiet)) == Pass()


def test_without_a_stream_there_is_nothing_to_guard() -> None:
    closed = replace(stream(status=405), stream=False)
    assert isinstance(guarded(("stranger", closed), ("stranger", closed)), NotApplicable)


def test_a_stream_that_opens_for_a_stranger_fails_even_empty() -> None:
    verdict = guarded(("stranger", stream()))
    assert isinstance(verdict, Fail)
    assert "open event stream" in verdict.observed


@pytest.mark.parametrize("page", [html(), replace(html(), method="GET"), login_redirect()])
def test_a_login_page_gives_nothing_away(page: Answer) -> None:
    assert guarded(("stranger", page), ("after", own())) == Pass()


def test_a_record_that_comes_without_the_session_too_is_another_fault() -> None:
    assert isinstance(guarded(("apart", own()), ("intruder", own())), Inconclusive)
    assert isinstance(guarded(("apart", answer(403)), ("intruder", own())), Fail)


def test_a_replay_of_what_the_weaker_token_may_ask_for_itself_is_another_fault() -> None:
    assert isinstance(guarded(("own", own()), ("allowed", own())), Inconclusive)
    assert isinstance(guarded(("own", own()), ("allowed", answer(403))), Fail)


def test_a_breakdown_is_a_matter_of_availability() -> None:
    verdict = guarded(("intruder", answer(500)))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY


def test_a_delete_that_is_answered_kindly_counts_by_what_comes_after() -> None:
    kept = guarded(("stranger", deleted(204)), ("after", own()))
    assert isinstance(kept, Pass)
    assert kept.advice is not None
    assert isinstance(guarded(("stranger", deleted(204)), ("after", answer(404))), Fail)
    assert isinstance(guarded(("intruder", deleted(204)), ("after", answer(404))), Fail)
    assert guarded(("intruder", deleted(405)), ("after", own())) == Pass()


def test_a_session_that_its_owner_cannot_end_has_no_end() -> None:
    kept = scene(("owner", own()), ("ended", deleted(405)), ("gone", own()))
    assert isinstance(judged("session_ended_404", kept), NotApplicable)


@pytest.mark.parametrize(("status", "kind"), [(404, Pass), (401, Pass), (400, Fail), (403, Fail), (500, Fail)])
def test_an_ended_session_is_404_and_401_is_advice(status: int, kind: type) -> None:
    over = scene(("owner", own()), ("ended", deleted(200)), ("gone", answer(status)))
    verdict = judged("session_ended_404", over)
    assert isinstance(verdict, kind)
    assert not isinstance(verdict, Pass) or (verdict.advice is not None) is (status == 401)


@pytest.mark.parametrize(("status", "advised"), [(404, False), (400, True), (401, True)])
def test_an_unknown_id_may_be_refused_in_several_ways(status: int, advised: bool) -> None:
    verdict = judged("session_unknown_id", scene(("owner", own()), ("unknown", answer(status))))
    assert isinstance(verdict, Pass)
    assert (verdict.advice is not None) is advised


def test_a_call_without_an_id_may_be_served() -> None:
    assert judged("session_missing_id", scene(("owner", own()), ("missing", own()))) == Pass()


def test_the_stateless_era_hands_out_no_session() -> None:
    minted = replace(result(), headers=(("mcp-session-id", "session#00000000"),))
    assert isinstance(judged("session_header_ignored", scene(("good", minted))), Fail)


@pytest.mark.parametrize(
    "guessable",
    [
        ("a", "a", "b"),
        ("7", "8", "9"),
        ("sess-0009-x", "sess-000a-x", "sess-000b-x"),
        ("1767225600123", "1767225600151", "1767225600180"),
        ("1767225600123000000", "1767225600151000000", "1767225600180000000"),
        ("18f3a2b4c5d60000", "18f3a2b4c9d60000", "18f3a2b4cfd60000"),
    ],
    ids=["repeated", "counted", "counted in hex", "milliseconds", "nanoseconds", "nanoseconds in hex"],
)
def test_ids_that_can_be_guessed_fail(guessable: tuple[str, ...]) -> None:
    assert isinstance(judged("session_ids_unpredictable", ids(*guessable)), Fail)


@pytest.mark.parametrize(
    "legal",
    [
        RANDOM,
        ("0190f3a2b4c57000a1b2c3d4e5f60718", "0190f3a2b4c97000c3d4e5f607182930", "0190f3a2b4d17000e5f6071829304152"),
        (
            "0190f3a2-b4c5-7000-a1b2-c3d4e5f60718",
            "0190f3a2-b4c9-7000-c3d4-e5f607182930",
            "0190f3a2-b4d1-7000-e5f6-071829304152",
        ),
        ("9f1c2ab47de88871", "03bb61f0a5c2d917", "c7d20e4418fa6b35"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzIjoxfQ.aaa1", "eyJhbGciOiJIUzI1NiJ9.eyJzIjoyfQ.b0b2", "eyJhbGciOiJIUzI1NiJ9.eyJzIjozfQ.c9"),
    ],
    ids=["random", "uuid7 in hex", "uuid7", "64 bits in hex", "signed"],
)  # fmt: skip
def test_ids_that_cannot_be_shown_to_be_weak_pass(legal: tuple[str, ...]) -> None:
    assert judged("session_ids_unpredictable", ids(*legal)) == Pass()
    assert judged("session_ids_visible_ascii", ids(*legal)) == Pass()


@pytest.mark.parametrize("name", ["session_ids_unpredictable", "session_ids_visible_ascii"])
def test_no_ids_are_no_sessions_or_no_observation(name: str) -> None:
    assert isinstance(judged(name, ids()), NotApplicable)
    assert isinstance(judged(name, ids(opened=answer(429))), Inconclusive)


def test_an_id_is_not_shown() -> None:
    assert "Zk3" not in repr(ids(*RANDOM))
    verdict = judged("session_ids_visible_ascii", ids("se cret"))
    assert isinstance(verdict, Fail)
    assert "se cret" not in verdict.observed
    assert "U+0020" in verdict.observed


def ending(ended: Answer | None, after: Answer | None) -> SessionEndObserved:
    later = Attempt("in the session after DELETE", "call", after, read(after)) if after else None
    return SessionEndObserved(ended, later)


@pytest.mark.parametrize("status", [401, 403, 404, 405, 501])
def test_a_session_that_lives_on_after_a_refused_delete_passes(status: int) -> None:
    assert judged("session_survives", ending(answer(status), result())) == Pass()


def test_a_delete_that_is_answered_and_ignored_passes_with_advice() -> None:
    assert judged("session_survives", ending(answer(204), result())) == Pass(
        "DELETE without a token was answered 204, but the session lives on"
    )


@pytest.mark.parametrize("after", [404, 400])
def test_a_session_ended_by_a_stranger_fails(after: int) -> None:
    assert judged("session_survives", ending(answer(200), answer(after))) == Fail(
        "the session lives on", f"200 to DELETE, then {after}"
    )


def test_the_end_of_a_session_is_judged_only_where_it_was_seen() -> None:
    assert isinstance(judged("session_survives", ending(None, None)), NotApplicable)
    for ended in (answer(None), answer(429)):
        assert isinstance(judged("session_survives", ending(ended, result())), Inconclusive)
    for after in (answer(500), answer(None), answer(429), answer(401)):
        assert isinstance(judged("session_survives", ending(answer(401), after)), Inconclusive)
    assert judged("session_survives", ending(answer(500), result())) == Fail("401 or 405", "500", Impact.AVAILABILITY)
