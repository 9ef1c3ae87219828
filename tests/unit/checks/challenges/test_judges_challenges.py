"""What a challenge must say, and the many legal ways of saying it."""

from typing import Any

import pytest
from tests.unit.checks.literals import (
    PATH_URL,
    POINTER,
    answer,
    call,
    facts,
    html,
    judged,
    result,
    rpc_error,
    tool_error,
)

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.registry import JUDGES
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge_syntax import FaultKind

WHOLE = f'Bearer realm="mcp", error="invalid_token", scope="invoices:read", {POINTER}'
ON_401 = sorted(
    name
    for name in JUDGES
    if name.startswith(("challenge_", "has_", "error_")) and name != "challenge_readable_by_browsers"
)
ON_403 = sorted(name for name in JUDGES if name.startswith("scope_challenge_"))


def of(name: str, *lines: str, status: int = 401) -> Verdict:
    return judged(name, call(answer(status, *lines)))


LEGAL = {
    "in the second header line": ['Basic realm="a"', WHOLE],
    "behind another scheme in one line": [f'Basic realm="a", {WHOLE}'],
    "before DPoP": [f'{WHOLE}, DPoP algs="ES256 PS256", error="invalid_token"'],
    "behind Negotiate without parameters": [f"Negotiate, {WHOLE}"],
    "in lower case": [WHOLE.replace("Bearer", "bearer")],
    "in upper case": [WHOLE.replace("Bearer", "BEARER")],
    "with names in upper case": [
        f'Bearer ERROR="invalid_token", Scope="invoices:read", Resource_Metadata="{PATH_URL}"'
    ],
    "with unquoted tokens": [f"Bearer error=invalid_token, scope=read, {POINTER}"],
    "with space around the equals sign": [f'Bearer error = "invalid_token", scope = "read", {POINTER}'],
    "with a realm that has escaped quotes": [
        f'Bearer realm="the \\"mcp\\" realm", error="invalid_token", scope="read", {POINTER}'
    ],
    "with two Bearer challenges": [f'Bearer {POINTER}, Bearer error="invalid_token", scope="read"'],
    "with a realm in each of two challenges": [
        f'Basic realm="a", Bearer realm="b", error="invalid_token", scope="read", {POINTER}'
    ],
    "with unknown parameters": [f'{WHOLE}, authorization_uri="https://auth.example.com", max_age="5"'],
    "with URI scopes": [f'Bearer error="invalid_token", scope="urn:x:y api://guid/.default files:*", {POINTER}'],
    "with a comma inside a scope": [f'Bearer error="invalid_token", scope="rating=G,PG-13 read", {POINTER}'],
    "with empty list elements": [f", {WHOLE} ,"],
}


@pytest.mark.parametrize("lines", LEGAL.values(), ids=LEGAL)
@pytest.mark.parametrize("name", ON_401)
def test_a_legal_challenge_passes_every_judge(name: str, lines: list[str]) -> None:
    assert of(name, *lines) == Pass()


def test_the_body_of_a_refusal_is_free() -> None:
    bodies: list[dict[str, Any]] = [
        {"error": "invalid_token"},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}},
    ]
    for body in bodies:
        assert judged("no_result_in_refusal", call(answer(401, WHOLE, body=body))) == Pass()


@pytest.mark.parametrize(
    ("name", "lines", "expected", "observed"),
    [
        ("has_www_authenticate", [], "401 with a WWW-Authenticate header", "401 without one"),
        ("has_bearer_challenge", ['Basic realm="a", Digest realm="b"'], "a Bearer challenge", "only basic, digest"),
        ("has_www_authenticate", [""], "401 with a WWW-Authenticate header", "401 with an empty one"),
        ("has_bearer_challenge", ["="], "a Bearer challenge", "only unreadable ones"),
        ("challenge_has_parameter", ["Bearer"], "Bearer with at least one parameter", "a bare Bearer challenge"),
        ("has_resource_metadata", ['Bearer realm="a"'], "a challenge with resource_metadata", "none"),
        ("has_resource_metadata", ['Bearer resource_metadata=""'], "a challenge with resource_metadata", "none"),
        ("challenge_has_scope", [f"Bearer {POINTER}"], "a challenge with scope", "none"),
        ("error_is_invalid_token", [f"Bearer {POINTER}"], 'error="invalid_token"', "no error parameter"),
        (
            "error_is_invalid_token",
            ['Bearer error="invalid_request"'],
            'error="invalid_token"',
            'error="invalid_request"',
        ),
        (
            "error_is_invalid_token",
            ['Bearer realm="a", DPoP error="invalid_token"'],
            'error="invalid_token"',
            "no error parameter",
        ),
    ],
)
def test_a_challenge_that_lacks_something_is_told_what(
    name: str, lines: list[str], expected: str, observed: str
) -> None:
    assert of(name, *lines) == Fail(expected, observed)


MALFORMED = {
    "an unquoted URL": (f"Bearer resource_metadata={PATH_URL}", FaultKind.UNQUOTED),
    "single quotes": (f"Bearer resource_metadata='{PATH_URL}'", FaultKind.SINGLE_QUOTES),
    "a missing comma": (f'Bearer error="invalid_token" {POINTER}', FaultKind.MISSING_COMMA),
    "an open quotation": ('Bearer error="invalid_token', FaultKind.UNTERMINATED),
    "a scope list without quotes": ("Bearer scope=a b", FaultKind.UNQUOTED),
    "letters beyond ASCII": ('Bearer realm="café"', FaultKind.NON_ASCII),
}


@pytest.mark.parametrize(("line", "kind"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_header_is_a_fault_of_syntax_and_is_named(line: str, kind: FaultKind) -> None:
    verdict = of("challenge_syntax", line)
    assert isinstance(verdict, Fail)
    assert verdict.expected == "a header that parses as RFC 9110 §11.6.1 says"
    assert kind.value in verdict.observed


def test_each_fault_of_the_header_belongs_to_one_judge_and_a_bare_realm_to_none() -> None:
    lines = {
        FaultKind.DUPLICATE: ('Bearer realm="a", realm="b"', "challenge_unique_parameters"),
        FaultKind.CHARACTERS: ('Bearer error_description="no \\\\ key"', "challenge_characters"),
        FaultKind.EMPTY_SCOPE: ('Bearer scope=""', "challenge_scope_form"),
        FaultKind.SCOPE_FORM: ("Bearer scope=\"['a']\"", "challenge_scope_form"),
        FaultKind.UNQUOTED: (f"Bearer resource_metadata={PATH_URL}", "challenge_syntax"),
        FaultKind.UNQUOTED_REALM: ("Bearer realm=mcp", None),
    }
    forms = [
        name for name in JUDGES if name.startswith("challenge_") and ("_has_" not in name and "browsers" not in name)
    ]
    for line, owner in lines.values():
        failed = [name for name in forms if isinstance(of(name, line), Fail)]
        assert failed == ([owner] if owner else [])


@pytest.mark.parametrize("scope", ["", " ", "a,b", '[\\"a\\", \\"b\\"]', "a, b"])
def test_a_scope_that_is_no_list_separated_by_spaces_fails_its_form(scope: str) -> None:
    verdict = of("challenge_scope_form", f'Bearer scope="{scope}"')
    assert isinstance(verdict, Fail)
    assert verdict.expected == "scope as a list separated by spaces"


def test_a_fault_is_found_in_any_of_the_attempts() -> None:
    observed = call(answer(401, WHOLE), answer(401))
    assert isinstance(judged("has_www_authenticate", observed), Fail)
    observed = call(answer(401, WHOLE), answer(401, "Bearer realm='a'"))
    assert isinstance(judged("challenge_syntax", observed), Fail)


def test_attempts_that_were_not_answered_401_do_not_hide_those_that_were() -> None:
    for other in (answer(404), answer(None), answer(429)):
        assert judged("has_www_authenticate", call(answer(401, WHOLE), other)) == Pass()
        assert isinstance(judged("has_www_authenticate", call(other, answer(401))), Fail)


@pytest.mark.parametrize("name", sorted(set(ON_401) - {"has_www_authenticate"}))
def test_a_401_without_a_header_is_counted_once(name: str) -> None:
    verdict = judged(name, call(answer(401)))
    assert verdict == Inconclusive("the 401 has no WWW-Authenticate header; challenge-www-authenticate reports it")


@pytest.mark.parametrize("name", ["challenge_has_parameter", "error_is_invalid_token"])
def test_a_401_without_bearer_is_counted_once(name: str) -> None:
    verdict = of(name, 'Basic realm="a"')
    assert verdict == Inconclusive("the 401 has no Bearer challenge; challenge-bearer-scheme reports it")


def test_a_resource_for_dpop_alone_need_not_offer_bearer() -> None:
    line = f'DPoP algs="ES256", error="invalid_dpop_proof", {POINTER}'
    assert of("has_bearer_challenge", line) == Pass()
    assert of("error_is_invalid_token", line) == NotApplicable("the 401 offers DPoP only")
    assert of("challenge_has_parameter", line) == NotApplicable("the 401 offers DPoP only")


def test_a_server_without_scopes_need_not_name_any() -> None:
    observed = call(answer(401, f"Bearer {POINTER}"))
    known = facts(needed=frozenset())
    assert isinstance(judged("challenge_has_scope", observed, known), NotApplicable)
    anonymous = facts(needed=frozenset(), has_contract=False)
    assert judged("challenge_has_scope", observed, anonymous) == Fail("a challenge with scope", "none")


@pytest.mark.parametrize("name", [*ON_401, "no_result_in_refusal", "no_session_id_in_refusal"])
@pytest.mark.parametrize("each", [result(), html(), rpc_error(), answer(404), answer(500)])
def test_without_a_401_there_is_no_challenge_to_judge(name: str, each: Answer) -> None:
    assert isinstance(judged(name, call(each)), Inconclusive)


@pytest.mark.parametrize("name", [*ON_401, "no_result_in_refusal", "no_session_id_in_refusal"])
def test_a_stranger_that_is_served_everything_has_met_no_protected_server(name: str) -> None:
    anonymous = facts(has_contract=False)
    for served in (result(), rpc_error()):
        assert isinstance(judged(name, call(served), anonymous), NotApplicable)
    for unclear in (html(), answer(404), answer(500), answer(None), answer(429)):
        assert isinstance(judged(name, call(unclear), anonymous), Inconclusive)


def test_a_realm_without_quotes_is_advice_and_an_empty_line_beside_a_challenge_is_a_fault() -> None:
    verdict = of("challenge_syntax", f"Bearer realm=mcp, {POINTER}")
    assert isinstance(verdict, Pass)
    assert "realm without quotes" in (verdict.advice or "")
    assert isinstance(of("challenge_syntax", f"Bearer realm=mcp, resource_metadata={PATH_URL}"), Fail)
    assert of("challenge_syntax", WHOLE, "") == Fail(
        "a header that parses as RFC 9110 §11.6.1 says", f"{FaultKind.EMPTY.value}: a field line without a challenge"
    )


@pytest.mark.parametrize("name", [*ON_401, "no_result_in_refusal", "no_session_id_in_refusal"])
def test_a_tool_challenge_has_no_header_to_judge_where_the_contract_allows_it(name: str) -> None:
    observed = call(tool_error(WHOLE))
    assert isinstance(judged(name, observed, facts(challenge="tool")), NotApplicable)
    assert isinstance(judged(name, observed, facts(challenge="either")), NotApplicable)
    assert isinstance(judged(name, observed), Inconclusive)


@pytest.mark.parametrize("name", ON_401)
def test_where_either_form_is_allowed_a_header_that_is_sent_is_judged(name: str) -> None:
    assert judged(name, call(answer(401, WHOLE)), facts(challenge="either")) == Pass()
    assert isinstance(judged(name, call(result()), facts(challenge="either")), Inconclusive)
    assert isinstance(judged(name, call(answer(429)), facts(challenge="either")), Inconclusive)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_that_carries_a_result_or_a_session_fails(status: int) -> None:
    leaking = answer(status, WHOLE, body={"jsonrpc": "2.0", "id": 7, "result": {"content": []}}, reply=False)
    assert judged("no_result_in_refusal", call(leaking)) == Fail(
        "a refusal without a result", f"{status} whose body holds a JSON-RPC result"
    )
    opened = answer(status, WHOLE, headers=(("mcp-session-id", "s1"),))
    assert judged("no_session_id_in_refusal", call(opened)) == Fail(
        "a refusal without a session id", f"{status} with an Mcp-Session-Id"
    )


INSUFFICIENT = f'Bearer error="insufficient_scope", scope="invoices:write", {POINTER}'
LEGAL_403 = {
    "the operation's scopes only": [INSUFFICIENT],
    "existing scopes repeated": [INSUFFICIENT.replace("invoices:write", "invoices:read invoices:write")],
    "in the second line": ['DPoP algs="ES256"', INSUFFICIENT],
    "in any case": [INSUFFICIENT.replace("Bearer", "BEARER").replace("scope=", "SCOPE=")],
    "in the second of two Bearer challenges": ['Bearer realm="gateway"', INSUFFICIENT],
    "with the pointer in another challenge": [
        f'Bearer error="insufficient_scope", scope="invoices:write", DPoP algs="ES256", {POINTER}'
    ],
    "with an unquoted error": [f'Bearer error=insufficient_scope, scope="invoices:write", {POINTER}'],
}


@pytest.mark.parametrize("lines", LEGAL_403.values(), ids=LEGAL_403)
@pytest.mark.parametrize("name", ON_403)
def test_a_legal_scope_challenge_passes(name: str, lines: list[str]) -> None:
    assert of(name, *lines, status=403) == Pass()


WRONG_403 = {
    "no header": ([], "403 without a WWW-Authenticate header"),
    "another scheme": (['Basic error="insufficient_scope"'], "403 with a challenge of scheme basic only"),
    "the error beside another scheme": (['Bearer realm="a", DPoP error="insufficient_scope"'], "403 without error"),
    "a bare Bearer": (["Bearer"], "403 without error"),
    "another error": (['Bearer error="invalid_token"'], '403 with error="invalid_token"'),
    "the error in upper case": (['Bearer error="INSUFFICIENT_SCOPE"'], '403 with error="INSUFFICIENT_SCOPE"'),
}


@pytest.mark.parametrize(("lines", "observed"), WRONG_403.values(), ids=WRONG_403)
def test_a_403_for_scope_says_so_in_a_bearer_challenge(lines: list[str], observed: str) -> None:
    assert of("scope_challenge_error", *lines, status=403) == Fail('403 with error="insufficient_scope"', observed)


@pytest.mark.parametrize(
    ("line", "observed"),
    [
        ('Bearer error="insufficient_scope"', "no scope parameter"),
        ('Bearer scope="invoices:read"', 'scope="invoices:read"'),
        ('Bearer scope="invoices:writeall"', 'scope="invoices:writeall"'),
        ('Bearer scope="INVOICES:WRITE"', 'scope="INVOICES:WRITE"'),
        ('Bearer realm="a", DPoP scope="invoices:write"', "no scope parameter"),
    ],
)
def test_a_403_for_scope_names_the_missing_scope_as_a_whole_word(line: str, observed: str) -> None:
    expected = 'scope naming "invoices:write"'
    assert of("scope_challenge_names_missing", line, status=403) == Fail(expected, observed)


def test_a_403_for_scope_without_the_pointer_fails_the_check_for_it() -> None:
    line = 'Bearer error="insufficient_scope", scope="invoices:write"'
    assert of("scope_challenge_metadata", line, status=403) == Fail("a challenge with resource_metadata", "none")


@pytest.mark.parametrize("name", ON_403)
def test_scope_challenges_are_judged_on_403_only(name: str) -> None:
    told = Inconclusive("no 403 was answered; scope-missing-403 reports it")
    for each in (answer(401, WHOLE), answer(404), rpc_error(), tool_error()):
        assert judged(name, call(each)) == told
    ran = Inconclusive("the operation ran; scope-missing-denied reports it")
    assert judged(name, call(answer(403, INSUFFICIENT), result())) == ran
    assert judged(name, call(answer(429))) == Inconclusive("with a handshake of its own: 429")


@pytest.mark.parametrize("name", ON_403)
def test_scope_challenges_in_tool_results_have_no_header_to_judge(name: str) -> None:
    observed = call(tool_error(INSUFFICIENT))
    assert isinstance(judged(name, observed, facts(challenge="tool")), NotApplicable)
    assert isinstance(judged(name, observed, facts(challenge="either")), NotApplicable)
    assert judged(name, call(answer(403, INSUFFICIENT)), facts(challenge="either")) == Pass()


@pytest.mark.parametrize("name", ["scope_challenge_names_missing", "scope_challenge_metadata"])
def test_a_403_without_bearer_is_counted_once(name: str) -> None:
    told = Inconclusive("the 403 has no Bearer challenge; scope-challenge-error reports it")
    assert of(name, status=403) == told
