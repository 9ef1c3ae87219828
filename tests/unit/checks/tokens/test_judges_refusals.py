"""The right refusal, every legal variation of it, and the milder impact of a wrong one."""

import pytest
from tests.unit.checks.literals import (
    POINTER,
    answer,
    call,
    event_stream,
    facts,
    html,
    judged,
    login_redirect,
    result,
    rpc_error,
    tool_error,
)

from mcp_auth_contract.answers import Answer, Attempt, TransportFailure, read
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.model import Fail, Impact, Inconclusive, Pass, Revision

BEARER = f'Bearer error="invalid_token", {POINTER}'
REFUSED = answer(401, BEARER)
WEAK = answer(403, 'Bearer error="insufficient_scope", scope="invoices:write"')
INVALID = '401 with error="invalid_token"'
CHALLENGED = tool_error(BEARER)


@pytest.mark.parametrize(
    ("observed", "seen"),
    [
        (call(result()), "200 with a result"),
        (call(event_stream()), "200 with a result"),
        (call(result(), change="expired 15 min ago"), "200 with a result (expired 15 min ago)"),
        (call(REFUSED, result()), "200 with a result, inside a live session"),
        (call(result(), REFUSED), "200 with a result, with a handshake of its own"),
        (call(answer(None), result()), "200 with a result, inside a live session"),
        (call(answer(429), result()), "200 with a result, inside a live session"),
    ],
)
@pytest.mark.parametrize("name", ["refused_as_invalid_token", "refused_for_missing_token", "refused_as_malformed"])
def test_an_operation_that_ran_in_any_way_is_a_bypass_of_full_impact(
    name: str, observed: CallObserved, seen: str
) -> None:
    verdict = judged(name, observed)
    assert isinstance(verdict, Fail)
    assert verdict.observed == seen
    assert verdict.impact is None


def test_a_refusal_in_the_middle_of_a_handshake_names_its_step() -> None:
    each = answer(400)
    observed = CallObserved("get_invoice", (Attempt("with a handshake of its own", "initialize", each, read(each)),))
    assert judged("refused_as_invalid_token", observed) == Fail(
        INVALID, "400, with a handshake of its own at initialize", Impact.INTEROP
    )


@pytest.mark.parametrize(
    ("wrong", "seen", "impact"),
    [
        (answer(400), "400", Impact.INTEROP),
        (answer(403), "403 without a WWW-Authenticate header", Impact.INTEROP),
        (WEAK, '403 with error="insufficient_scope"', Impact.INTEROP),
        (answer(404), "404", Impact.INTEROP),
        (answer(418), "418", Impact.INTEROP),
        (login_redirect(), "302 to https://login.example.com/", Impact.INTEROP),
        (html(), "200 that is no MCP answer (text/html)", Impact.INTEROP),
        (tool_error(), "200 with a tool result with isError", Impact.INTEROP),
        (CHALLENGED, "200 with a tool result with a challenge", Impact.INTEROP),
        (rpc_error(), "200 with a JSON-RPC error", Impact.INTEROP),
        (answer(500), "500", Impact.AVAILABILITY),
        (answer(503), "503", Impact.AVAILABILITY),
        (answer(501), "501", Impact.INTEROP),
    ],
)
@pytest.mark.parametrize(
    "name", ["refused_as_invalid_token", "refused_for_missing_token", "invalid_before_insufficient"]
)
def test_a_refusal_with_the_wrong_status_fails_with_a_milder_impact(
    name: str, wrong: Answer, seen: str, impact: Impact
) -> None:
    verdict = judged(name, call(wrong))
    assert isinstance(verdict, Fail)
    assert verdict.observed == seen
    assert verdict.impact is impact


def test_each_refusal_says_which_status_it_expects() -> None:
    expected = {
        "refused_as_invalid_token": INVALID,
        "refused_for_missing_token": "401 with a challenge",
        "refused_as_malformed": "401, or 400",
        "invalid_before_insufficient": "401, for the token is no longer valid",
        "refused_for_scope": '403 with error="insufficient_scope"',
        "refused_as_bad_request": "400",
        "refused_without_fault": "a 4xx status",
        "denied": "a refusal",
        "foreign_origin_refused": "403",
    }
    for name, text in expected.items():
        verdict = judged(name, call(answer(500)))
        assert isinstance(verdict, Fail)
        assert verdict.expected == text


def test_a_401_passes_whatever_its_challenge_for_that_is_another_question() -> None:
    for bare in (answer(401), answer(401, "Bearer"), answer(401, 'DPoP algs="ES256"', "Bearer")):
        assert judged("refused_as_invalid_token", call(bare, bare)) == Pass()


def test_a_live_session_may_hide_behind_404_once_the_credential_was_refused_elsewhere() -> None:
    assert judged("refused_as_invalid_token", call(REFUSED, answer(404))) == Pass()
    assert judged("refused_as_invalid_token", call(CHALLENGED, answer(404)), facts(challenge="tool")) == Pass()


@pytest.mark.parametrize("status", [405, 406, 410])
def test_other_closed_doors_do_not_hide_a_session(status: int) -> None:
    assert judged("refused_as_invalid_token", call(REFUSED, answer(status))) == Fail(
        INVALID, f"{status}, inside a live session", Impact.INTEROP
    )


def test_404_in_every_way_is_no_refusal_of_a_token() -> None:
    verdict = judged("refused_as_invalid_token", call(answer(404), answer(404)))
    assert verdict == Fail(INVALID, "404, with a handshake of its own", Impact.INTEROP)


@pytest.mark.parametrize("policy", ["tool", "either"])
@pytest.mark.parametrize("name", ["refused_as_invalid_token", "refused_for_missing_token", "refused_for_scope"])
def test_a_tool_result_with_a_challenge_refuses_where_the_contract_allows_it(name: str, policy: str) -> None:
    assert judged(name, call(CHALLENGED, CHALLENGED), facts(challenge=policy)) == Pass()
    assert isinstance(judged(name, call(CHALLENGED)), Fail)
    assert isinstance(judged(name, call(tool_error()), facts(challenge=policy)), Fail)


@pytest.mark.parametrize("policy", ["tool", "either"])
def test_the_form_that_the_contract_allows_is_named_in_what_was_expected(policy: str) -> None:
    assert judged("refused_as_invalid_token", call(answer(400)), facts(challenge=policy)) == Fail(
        f'{INVALID}, or a tool result with _meta["mcp/www_authenticate"]', "400", Impact.INTEROP
    )


@pytest.mark.parametrize("policy", ["tool", "either"])
def test_an_http_refusal_passes_beside_tool_challenges(policy: str) -> None:
    assert judged("refused_as_invalid_token", call(REFUSED, CHALLENGED), facts(challenge=policy)) == Pass()


def test_a_tool_challenge_is_no_answer_to_a_wrong_protocol_version() -> None:
    assert judged("refused_as_bad_request", call(answer(400))) == Pass()
    verdict = judged("refused_as_bad_request", call(CHALLENGED), facts(challenge="either"))
    assert verdict == Fail("400", "200 with a tool result with a challenge", Impact.INTEROP)


def test_a_wrong_protocol_version_that_is_served_fails() -> None:
    assert judged("refused_as_bad_request", call(result())) == Fail("400", "200 with a result")


def test_a_token_in_the_wrong_place_may_be_called_malformed_but_a_missing_one_may_not() -> None:
    assert judged("refused_for_missing_token", call(answer(400), offered="in the query")) == Pass()
    verdict = judged("refused_for_missing_token", call(answer(404), offered="in the query"))
    assert verdict == Fail("401 with a challenge, or 400", "404", Impact.INTEROP)
    assert judged("refused_for_missing_token", call(answer(400))) == Fail("401 with a challenge", "400", Impact.INTEROP)


def test_broken_credentials_are_refused_with_400_or_401_alike() -> None:
    assert judged("refused_as_malformed", call(answer(400), REFUSED)) == Pass()
    assert judged("refused_as_malformed", call(answer(403))) == Fail(
        "401, or 400", "403 without a WWW-Authenticate header", Impact.INTEROP
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 431, 494])
def test_an_unreasonable_request_is_refused_by_any_4xx(status: int) -> None:
    assert judged("refused_without_fault", call(answer(status))) == Pass()


def test_an_unreasonable_request_that_is_served_or_breaks_the_server_fails() -> None:
    assert judged("refused_without_fault", call(result())) == Fail("a 4xx status", "200 with a result")
    assert judged("refused_without_fault", call(answer(502))) == Fail("a 4xx status", "502", Impact.AVAILABILITY)
    assert judged("refused_without_fault", call(login_redirect())) == Fail(
        "a 4xx status", "302 to https://login.example.com/", Impact.INTEROP
    )


@pytest.mark.parametrize("name", ["refused_as_invalid_token", "denied", "accepted", "one_order_only"])
@pytest.mark.parametrize("failure", TransportFailure)
def test_the_reason_of_silence_is_told(name: str, failure: TransportFailure) -> None:
    verdict = judged(name, call(REFUSED, answer(None, failure=failure)))
    assert verdict == Inconclusive(f"inside a live session: {failure.value}")


@pytest.mark.parametrize("each", [REFUSED, WEAK, answer(400), answer(404), CHALLENGED])
def test_denied_accepts_any_form_of_refusal(each: Answer) -> None:
    assert judged("denied", call(each, each)) == Pass()


@pytest.mark.parametrize(("each", "how"), [(tool_error(), "tool result with isError"), (rpc_error(), "JSON-RPC error")])
def test_denied_inside_a_200_passes_with_advice_unless_the_contract_agreed_to_it(each: Answer, how: str) -> None:
    told = Pass(f"refused inside a 200 ({how}): a host cannot tell it from a failed tool")
    assert judged("denied", call(each)) == told
    assert judged("denied", call(each), facts(challenge="tool")) == Pass()


@pytest.mark.parametrize(
    ("each", "seen", "impact"),
    [
        (answer(500), "500", Impact.AVAILABILITY),
        (html(), "200 that is no MCP answer (text/html)", Impact.INTEROP),
        (login_redirect(), "302 to https://login.example.com/", Impact.INTEROP),
    ],
)
def test_denied_wants_a_refusal_of_every_attempt(each: Answer, seen: str, impact: Impact) -> None:
    assert judged("denied", call(each)) == Fail("a refusal", seen, impact)
    both = judged("denied", call(tool_error(), each))
    assert both == Fail("a refusal", f"{seen}, inside a live session", impact)


def test_denied_reports_what_ran_at_full_impact() -> None:
    assert judged("denied", call(WEAK, result())) == Fail("a refusal", "200 with a result, inside a live session")


@pytest.mark.parametrize("each", [result(), event_stream()])
def test_accepted_takes_json_and_event_streams(each: Answer) -> None:
    assert judged("accepted", call(each)) == Pass()


@pytest.mark.parametrize("each", [REFUSED, tool_error(), rpc_error(), html(), answer(202), answer(500)])
def test_accepted_wants_a_result_in_every_way(each: Answer) -> None:
    verdict = judged("accepted", call(result(), each))
    assert isinstance(verdict, Fail)
    assert verdict.expected == "a result"
    assert verdict.observed.endswith("inside a live session")


def test_a_weak_token_is_answered_403_and_not_401() -> None:
    assert judged("refused_for_scope", call(WEAK)) == Pass()
    verdict = judged("refused_for_scope", call(REFUSED))
    assert verdict == Fail('403 with error="insufficient_scope"', INVALID, Impact.INTEROP)


def test_a_weak_token_that_ran_is_counted_once_by_the_check_for_it() -> None:
    verdict = judged("refused_for_scope", call(result()))
    assert verdict == Inconclusive("the operation ran; scope-missing-denied reports it")


def test_an_invalid_and_weak_token_is_invalid_first() -> None:
    assert judged("invalid_before_insufficient", call(REFUSED)) == Pass()
    assert judged("invalid_before_insufficient", call(WEAK)) == Fail(
        "401, for the token is no longer valid", '403 with error="insufficient_scope"', Impact.INTEROP
    )


@pytest.mark.parametrize(
    "observed",
    [call(result(), REFUSED), call(REFUSED, result()), call(REFUSED, answer(400)), call(answer(400), answer(400))],
)
def test_two_authorization_lines_may_be_refused_or_one_of_them_read(observed: CallObserved) -> None:
    assert judged("one_order_only", observed) == Pass()


def test_two_authorization_lines_may_not_work_in_both_orders() -> None:
    assert judged("one_order_only", call(result(), result())) == Fail(
        "at most one order accepted", "the good token accepted behind a forged one, and before it"
    )
    assert judged("one_order_only", call(REFUSED, answer(500))) == Fail(
        "400, 401, or the first line alone read", "500, inside a live session", Impact.AVAILABILITY
    )


ORIGINS = [
    (facts(loopback=True), Fail("403", "200 with a result")),
    (facts(loopback=False), Pass("a foreign Origin is served; a public server may choose to")),
]


@pytest.mark.parametrize(("known", "verdict"), ORIGINS)
def test_a_foreign_origin_is_served_at_most_by_a_public_server(known: Facts, verdict: Pass | Fail) -> None:
    assert judged("foreign_origin_refused", call(result()), known) == verdict


def test_a_foreign_origin_is_served_by_no_server_that_speaks_plain_http() -> None:
    known = facts(loopback=False, endpoint="http://build.internal.example.com/mcp")
    assert judged("foreign_origin_refused", call(result()), known) == Fail("403", "200 with a result")


def test_a_foreign_origin_is_refused_in_any_way_with_advice_where_the_revision_says_403() -> None:
    older, newer = facts(revision=Revision.R2025_06_18), facts(revision=Revision.R2025_11_25)
    assert judged("foreign_origin_refused", call(answer(403)), newer) == Pass()
    for each in (REFUSED, answer(400), rpc_error()):
        assert judged("foreign_origin_refused", call(each), older) == Pass()
        verdict = judged("foreign_origin_refused", call(each), newer)
        assert isinstance(verdict, Pass)
        assert "newer revisions say 403" in (verdict.advice or "")


def test_a_foreign_origin_that_breaks_the_server_is_not_refused() -> None:
    verdict = judged("foreign_origin_refused", call(answer(500)), facts(loopback=True))
    assert verdict == Fail("403", "500", Impact.AVAILABILITY)


@pytest.mark.parametrize("name", ["not_served", "trouble_told", "redirect_preferably_refused"])
def test_while_the_issuer_fails_a_503_with_retry_after_is_an_answer(name: str) -> None:
    assert judged(name, call(answer(503, headers=(("retry-after", "7"),)))) == Pass()


def test_a_redirect_that_was_followed_fails_and_how_its_failure_is_told_does_not() -> None:
    assert judged("redirect_preferably_refused", call(result())) == Fail("a refusal", "200 with a result")
    assert judged("redirect_preferably_refused", call(answer(500))) == Pass()
