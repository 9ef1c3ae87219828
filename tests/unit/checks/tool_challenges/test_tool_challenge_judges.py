"""Challenges in tool results: their form, what stands beside them, and when a status is as right."""

import pytest
from tests.unit.checks.literals import POINTER, answer, call, facts, judged, result, rpc_error, tool_error
from tests.unit.checks.tool_challenges.tool_literals import INVALID, WEAK, challenged

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass

IN_TOOL, EITHER = facts(challenge="tool"), facts(challenge="either")
UNAUTHORIZED = answer(401, f"Bearer {POINTER}")
FORBIDDEN = answer(403, 'Bearer error="insufficient_scope"')
FORMS = (
    "in_band_bearer",
    "in_band_error",
    "in_band_description",
    "in_band_pointer",
    "in_band_invalid_token",
    "in_band_insufficient_scope",
    "in_band_names_missing",
    "in_band_text",
    "no_data_beside_challenge",
)


def calls(*each: tuple[str, Answer]) -> CallObserved:
    return CallObserved("get_invoice", tuple(Attempt("", step, one, read(one)) for step, one in each))


@pytest.mark.parametrize("value", [INVALID, (INVALID,), (INVALID, 'DPoP algs="ES256"')])
def test_a_challenge_is_a_string_or_a_list_of_strings(value: object) -> None:
    assert judged("in_band_bearer", call(challenged(value)), IN_TOOL) == Pass()
    assert judged("in_band_refusal", call(challenged(value)), IN_TOOL) == Pass()


@pytest.mark.parametrize("value", [{"Bearer": 1}, 7, (INVALID, 7), True])
def test_another_kind_of_value_is_no_challenge(value: object) -> None:
    verdict = judged("in_band_bearer", call(challenged(value)), IN_TOOL)
    assert verdict == Fail("a string or a list of strings", "another kind of value")


@pytest.mark.parametrize("value", [(), ("",), ("Bearer",), ('Token error="x"',), ('error="invalid_token"',)])
def test_a_value_without_a_bearer_challenge_fails(value: object) -> None:
    assert isinstance(judged("in_band_bearer", call(challenged(value)), IN_TOOL), Fail)


def test_single_quotes_around_the_challenge_are_advice_and_its_values_are_read() -> None:
    observed = call(challenged((f"'{INVALID}'",)))
    verdict = judged("in_band_bearer", observed, IN_TOOL)
    assert isinstance(verdict, Pass)
    assert "single quotes" in (verdict.advice or "")
    assert judged("in_band_pointer", observed, IN_TOOL) == Pass()


@pytest.mark.parametrize(("value", "said"), [('Bearer error=""', "an empty one"), (f"Bearer {POINTER}", "none")])
def test_an_empty_error_is_none(value: str, said: str) -> None:
    assert judged("in_band_error", call(challenged(value)), IN_TOOL) == Fail("a challenge with error", said)


def test_without_a_token_either_error_is_right() -> None:
    for error in ("invalid_token", "insufficient_scope"):
        assert judged("in_band_error", call(challenged(f'Bearer error="{error}"')), IN_TOOL) == Pass()


def test_to_an_invalid_token_401_is_right_whatever_the_contract_says() -> None:
    bad = call(UNAUTHORIZED, UNAUTHORIZED, change="the token has expired")
    assert judged("in_band_refusal", bad, IN_TOOL) == Pass()
    assert judged("in_band_text", bad, IN_TOOL) == NotApplicable(
        "refused by the HTTP status, as MCP demands of an invalid token"
    )
    assert isinstance(judged("in_band_refusal", call(FORBIDDEN, change="the token has expired"), IN_TOOL), Fail)
    weak = call(UNAUTHORIZED, UNAUTHORIZED)
    assert isinstance(judged("in_band_refusal", weak, IN_TOOL), Fail)
    assert isinstance(judged("in_band_text", weak, IN_TOOL), Inconclusive)


@pytest.mark.parametrize("policy", [IN_TOOL, EITHER])
def test_a_status_beside_is_right_only_where_the_contract_says_either(policy: object) -> None:
    for refusal in (UNAUTHORIZED, FORBIDDEN):
        verdict = judged("in_band_refusal", call(refusal, challenged()), policy)  # type: ignore[arg-type]
        assert isinstance(verdict, Pass if policy is EITHER else Fail)


@pytest.mark.parametrize("form", FORMS)
def test_a_refusal_by_status_has_no_form_to_judge(form: str) -> None:
    assert isinstance(judged(form, call(UNAUTHORIZED), EITHER), NotApplicable)
    assert isinstance(judged(form, call(UNAUTHORIZED), IN_TOOL), Inconclusive)
    assert isinstance(judged(form, call(result()), IN_TOOL), Inconclusive)


def test_a_handshake_may_be_refused_by_its_status() -> None:
    assert judged("in_band_refusal", calls(("initialize", UNAUTHORIZED), ("call", challenged())), IN_TOOL) == Pass()
    alone = calls(("initialize", UNAUTHORIZED))
    assert isinstance(judged("in_band_refusal", alone, IN_TOOL), Inconclusive)
    assert judged("in_band_refusal", alone, EITHER) == Pass()


def test_a_session_of_somebody_else_may_be_hidden() -> None:
    hidden = calls(("call", challenged()), ("call", answer(404)))
    assert judged("in_band_refusal", hidden, IN_TOOL) == Pass()
    assert isinstance(judged("in_band_refusal", call(answer(404)), IN_TOOL), Fail)


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (challenged(status=401), "401 whose body holds the result with the challenge"),
        (challenged(isError=False), "a result with a challenge, but without isError"),
        (tool_error(), "200 with a tool result with isError"),
        (rpc_error(), "200 with a JSON-RPC error"),
        (answer(500), "500"),
    ],
)
def test_another_refusal_is_told_as_what_it_is(refusal: Answer, said: str) -> None:
    verdict = judged("in_band_refusal", call(refusal), IN_TOOL)
    assert isinstance(verdict, Fail)
    assert verdict.observed == said


def test_an_operation_that_ran_is_the_finding_of_another_check() -> None:
    assert isinstance(judged("in_band_refusal", call(result()), IN_TOOL), Inconclusive)


@pytest.mark.parametrize("content", [[], [{"type": "text", "text": " "}], [{"type": "image"}], "text", None, ["x"]])
def test_content_without_a_text_fails(content: object) -> None:
    assert isinstance(judged("in_band_text", call(challenged(content=content)), IN_TOOL), Fail)


def test_a_record_beside_the_challenge_fails_with_and_without_is_error() -> None:
    known = facts(challenge="tool", canaries=frozenset({"alice-7f3a"}))
    for error in (True, False):
        beside = challenged(isError=error, structuredContent={"note": "alice-7f3a"})
        assert isinstance(judged("no_data_beside_challenge", call(challenged(), beside), known), Fail)
    assert judged("no_data_beside_challenge", call(challenged(WEAK)), known) == Pass()


def test_structured_content_that_is_no_record_is_advice() -> None:
    known = facts(challenge="tool", canaries=frozenset({"alice-7f3a"}))
    verdict = judged("no_data_beside_challenge", call(challenged(structuredContent={"error": "sign in"})), known)
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None


def test_without_a_record_nothing_shows_whose_data_came() -> None:
    assert isinstance(judged("no_data_beside_challenge", call(challenged()), IN_TOOL), NotApplicable)


def test_a_success_brings_no_challenge() -> None:
    assert judged("no_challenge_in_success", call(result()), IN_TOOL) == Pass()
    assert isinstance(judged("no_challenge_in_success", call(challenged(isError=False)), IN_TOOL), Fail)
    assert isinstance(judged("no_challenge_in_success", call(challenged()), IN_TOOL), Inconclusive)


@pytest.mark.parametrize("name", ["refused_as_invalid_token", "refused_for_missing_token", "refused_for_scope"])
def test_a_challenge_in_a_result_is_no_refusal_where_the_contract_says_http(name: str) -> None:
    assert isinstance(judged(name, call(challenged()), facts(challenge="http")), Fail)
    assert judged(name, call(challenged()), IN_TOOL) == Pass()


@pytest.mark.parametrize("policy", ["tool", "either"])
def test_a_401_may_repeat_the_challenge_in_its_body_where_results_tell_of_refusals(policy: str) -> None:
    twice = call(challenged(status=401))
    assert judged("no_result_in_refusal", twice, facts(challenge=policy)) == Pass()
    assert isinstance(judged("no_result_in_refusal", twice, facts(challenge="http")), Fail)
    known = facts(challenge=policy, canaries=frozenset({"alice-7f3a"}))
    leaking = call(challenged(status=401, structuredContent={"note": "alice-7f3a"}))
    assert isinstance(judged("no_data_beside_challenge", leaking, known), Fail)
