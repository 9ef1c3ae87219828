"""The judges of whole runs: what is a finding, what is everybody's own, and what another check reports."""

from dataclasses import replace

import pytest
from tests.unit.checks.leaks.leak_literals import (
    BAD,
    CHALLENGE,
    DENIED,
    GOOD,
    MISSING,
    OF_CAROL,
    SOUND_UPSTREAM,
    exchanged,
    run,
)
from tests.unit.checks.literals import answer, facts, judged, result, rpc_error, tool_error

from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    ExchangesObserved,
    Passed,
    UpstreamObserved,
    Written,
)
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass

_SILENT = ("no_token_in_answers", "no_canary_in_refusals", "no_foreign_canary", "no_public_cache")


@pytest.mark.parametrize("name", _SILENT)
def test_the_silence_of_a_server_that_served_nobody_proves_nothing(name: str) -> None:
    assert isinstance(judged(name, ExchangesObserved((MISSING, BAD))), Inconclusive)


def test_a_fault_names_the_exchanges_that_decided_and_says_how_often() -> None:
    leaking = replace(MISSING, answer=replace(MISSING.answer, exchange="x7"), leaked=("token-good#12345678",))
    verdict = judged("no_token_in_answers", run(leaking, leaking))
    assert isinstance(verdict, Fail)
    assert verdict.evidence == ("x7", "x7")
    assert verdict.observed == "token-good in 401 to POST tools/call with no token, 2 times"


def test_a_reader_may_meet_a_canary_in_an_error_of_their_own() -> None:
    own = exchanged(
        tool_error(), "POST", "tools/call", credential=CredentialKind.GOOD, sender="carol", secrets=(OF_CAROL,)
    )
    assert judged("no_canary_in_refusals", run(own)) == Pass()


@pytest.mark.parametrize("said", [tool_error(), rpc_error(), answer(404), answer(500)])
def test_nobody_else_may_meet_it_in_any_error(said: object) -> None:
    foreign = exchanged(said, "POST", "tools/call", credential=CredentialKind.GOOD, sender="alice", secrets=(OF_CAROL,))
    assert isinstance(judged("no_canary_in_refusals", run(foreign)), Fail)


def test_not_even_a_reader_may_meet_it_in_a_401() -> None:
    own = exchanged(answer(401, CHALLENGE), "POST", credential=CredentialKind.GOOD, sender="carol", secrets=(OF_CAROL,))
    assert isinstance(judged("no_canary_in_refusals", run(own)), Fail)


def test_calls_of_operations_are_left_to_the_checks_of_isolation() -> None:
    foreign = exchanged(
        result(), "POST", "tools/call", credential=CredentialKind.GOOD, sender="alice", secrets=(OF_CAROL,)
    )
    assert judged("no_foreign_canary", run(foreign)) == Pass()


def test_a_reader_with_a_bad_token_is_left_to_the_checks_of_tokens() -> None:
    own = exchanged(answer(200), "GET", credential=CredentialKind.OTHER, sender="carol", secrets=(OF_CAROL,))
    assert judged("no_foreign_canary", run(own)) == Pass()
    assert isinstance(judged("no_foreign_canary", run(replace(own, sender="bob"))), Fail)


def test_a_document_that_anybody_can_fetch_holds_no_record() -> None:
    document = exchanged(answer(200), "GET", at_endpoint=False, secrets=(OF_CAROL,))
    assert isinstance(judged("no_foreign_canary", run(document)), Fail)


def test_what_all_refusals_lack_is_left_to_the_check_of_its_own() -> None:
    bare = replace(MISSING, answer=answer(401))
    verdict = judged("every_refusal_challenged", ExchangesObserved((GOOD, bare, replace(BAD, answer=answer(401)))))
    assert isinstance(verdict, Inconclusive)
    assert "challenge-www-authenticate" in verdict.reason


def test_bad_tokens_are_a_kind_of_their_own() -> None:
    bare = replace(BAD, answer=answer(401))
    assert judged("every_refusal_challenged", ExchangesObserved((GOOD, MISSING, bare, bare, bare))) == Pass()
    verdict = judged("every_refusal_challenged", ExchangesObserved((GOOD, MISSING, BAD, BAD, bare)))
    assert isinstance(verdict, Fail)


def test_a_403_is_no_kind_that_another_check_looks_at() -> None:
    handed = replace(DENIED, session=True)
    assert isinstance(judged("no_session_ids_in_refusals", ExchangesObserved((GOOD, MISSING, BAD, handed))), Fail)


def test_a_401_beside_the_endpoint_is_no_answer_of_the_resource() -> None:
    beside = exchanged(answer(401), "POST", at_endpoint=False)
    assert judged("every_refusal_challenged", run(beside)) == Pass()


def test_a_403_for_an_origin_needs_no_reason() -> None:
    browser = replace(DENIED, answer=answer(403), origin=True)
    assert judged("every_denial_explained", run(browser, browser)) == Pass()


def test_a_403_in_the_session_of_another_needs_no_reason() -> None:
    foreign = replace(DENIED, answer=answer(403), foreign=True)
    assert judged("every_denial_explained", run(foreign, foreign)) == Pass()
    own = replace(DENIED, answer=answer(403))
    assert isinstance(judged("every_denial_explained", run(own)), Fail)


def test_a_403_whose_body_names_the_error_says_why() -> None:
    told = replace(DENIED, answer=answer(403, body={"error": "account_suspended"}))
    assert judged("every_denial_explained", run(told)) == Pass()


def test_without_a_403_there_is_nothing_to_explain() -> None:
    assert isinstance(judged("every_denial_explained", ExchangesObserved((GOOD, MISSING))), NotApplicable)


@pytest.mark.parametrize("line", ["private, max-age=60", "no-store", "public, no-store", "max-age=60"])
def test_answers_that_no_shared_cache_keeps_are_fine(line: str) -> None:
    kept = replace(GOOD, answer=replace(GOOD.answer, headers=(("cache-control", line),)))
    assert judged("no_public_cache", run(kept)) == Pass()


def test_a_public_method_may_be_kept_by_every_cache() -> None:
    listed = replace(GOOD, rpc="tools/list", answer=replace(GOOD.answer, headers=(("cache-control", "s-maxage=9"),)))
    assert judged("no_public_cache", run(listed), facts(public=frozenset({"tools/list"}))) == Pass()
    assert isinstance(judged("no_public_cache", run(listed)), Fail)


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):",
        '{"detail": "File \\"/srv/a.py\\", line 3"}',
        "Error: no\n    at verify (/app/index.js:10:5)",
        "Error: no\n    at /app/index.js:10:5",
        '{"stack": "Error: no\\\\n    at async Object.<anonymous> (node:internal/main:10:5)"}',
        "java.lang.Error\n\tat com.example.Tokens.verify(Tokens.java:31)",
        "Error\n   at Tokens.Verify(String t) in C:\\app\\Tokens.cs:line 3\n   at /app/x.js:1",
        "panic\n goroutine 1 [running]:",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_program_in_an_error_is_found(text: str) -> None:
    shown = exchanged(replace(answer(500), text=text), "POST")
    assert isinstance(judged("no_trace_in_errors", run(shown)), Fail)


@pytest.mark.parametrize(
    "text",
    [
        "jwt.exceptions.DecodeError",
        "no such file: /srv/app/keys/a.pem",
        "no such file: C:\\app\\keys\\a.pem",
        '{"error": "no such file: C:\\\\app\\\\keys\\\\a.pem"}',
    ],
)
def test_a_name_or_a_path_is_a_remark(text: str) -> None:
    verdict = judged("no_trace_in_errors", run(exchanged(replace(answer(401, CHALLENGE), text=text), "POST")))
    assert isinstance(verdict, Pass)
    assert verdict.advice


def test_an_ordinary_error_is_none() -> None:
    said = '{"error": "invalid_token", "error_description": "the token has expired at 10:30:00"}'
    assert judged("no_trace_in_errors", run(exchanged(replace(answer(401), text=said), "POST"))) == Pass()


def test_without_output_there_is_nothing_to_search() -> None:
    assert isinstance(judged("no_token_written", run()), NotApplicable)


def test_a_log_that_is_not_there_proves_nothing() -> None:
    assert isinstance(judged("no_token_written", run(written=(Written("a.log", readable=False),))), Inconclusive)


def test_an_upstream_that_heard_nothing_proves_nothing() -> None:
    assert isinstance(judged("no_token_passed_on", UpstreamObserved(())), NotApplicable)
    assert isinstance(judged("no_token_passed_on", UpstreamObserved(SOUND_UPSTREAM.calls)), NotApplicable)


def test_a_token_in_the_query_for_the_upstream_is_passed_on() -> None:
    passed = Passed("GET /exports", (("query", "token-good#12345678"),))
    verdict = judged("no_token_passed_on", UpstreamObserved(SOUND_UPSTREAM.calls, (passed,)))
    assert isinstance(verdict, Fail)
    assert verdict.observed == "GET /exports with token-good in its query"


def test_a_contract_without_secrets_leaves_none_to_be_looked_for() -> None:
    assert isinstance(judged("no_environment_in_answers", run()), NotApplicable)
