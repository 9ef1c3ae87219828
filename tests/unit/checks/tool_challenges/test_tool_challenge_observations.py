"""Reading a challenge out of a tool result, whatever stands there."""

import pytest

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.tool_challenges.observation import (
    ToolDeclared,
    challenged_in_result,
    result_challenges,
    result_texts,
)

CHALLENGE = 'Bearer error="invalid_token", resource_metadata="https://mcp.example.com/metadata"'


def told(value: object) -> Answer:
    reply = {"jsonrpc": "2.0", "id": 1, "result": {"_meta": {"mcp/www_authenticate": value}}}
    return Answer("x1", "POST", "https://mcp.example.com/mcp", 200, messages=(reply,), reply=reply)


@pytest.mark.parametrize("value", [CHALLENGE, [CHALLENGE], f"'{CHALLENGE}'", [f" '{CHALLENGE}' "]])
def test_a_string_and_a_list_read_alike_with_and_without_single_quotes(value: object) -> None:
    challenges = result_challenges(told(value))
    assert challenges.get("error") == "invalid_token"
    assert challenges.get("resource_metadata") == "https://mcp.example.com/metadata"
    assert not challenges.faults


@pytest.mark.parametrize("value", [7, {"Bearer": {}}, [CHALLENGE, 7], True])
def test_another_kind_of_value_is_seen_but_has_no_texts(value: object) -> None:
    assert challenged_in_result(told(value))
    assert result_texts(told(value)) is None
    assert result_challenges(told(value)).challenges == ()


@pytest.mark.parametrize(
    "reply", [None, {}, {"result": None}, {"result": []}, {"result": {"_meta": []}}, {"error": {}}]
)
def test_other_replies_hold_no_challenge(reply: dict[str, object] | None) -> None:
    answer = Answer("x1", "POST", "https://mcp.example.com/mcp", 200, reply=reply)
    assert not challenged_in_result(answer)
    assert result_texts(answer) is None


def test_a_member_that_is_null_says_nothing() -> None:
    assert not challenged_in_result(told(None))


@pytest.mark.parametrize(
    "entry", [None, {}, {"securitySchemes": "x"}, {"_meta": None}, {"_meta": {"securitySchemes": 1}}]
)
def test_odd_entries_of_tools_have_no_schemes(entry: dict[str, object] | None) -> None:
    assert ToolDeclared("get_invoice", frozenset(), public=False, entry=entry).schemes == ()
