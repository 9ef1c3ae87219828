"""An answer reads as accepted, refused in one of the known ways, or ambiguous, and is described in a few words."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_auth_contract.answers import (
    Accepted,
    AmbiguityReason,
    Ambiguous,
    Answer,
    Reading,
    Refusal,
    Refused,
    TransportFailure,
    describe,
    read,
)

CHALLENGE = (("www-authenticate", 'Bearer error="invalid_token", resource_metadata="https://rs.test/x"'),)


def answer(status: int | None = 200, reply: Mapping[str, Any] | None = None, *headers: tuple[str, str]) -> Answer:
    messages = () if reply is None else (reply,)
    return Answer("x1", "POST", "http://rs.test/mcp", status, headers=headers, messages=messages, reply=reply)


def result(value: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": value}


ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}
TOOL_ERROR = result({"content": [], "isError": True})
TOOL_CHALLENGE = result({"content": [], "isError": True, "_meta": {"mcp/www_authenticate": ['Bearer error="x"']}})


@pytest.mark.parametrize(
    ("status", "reading"),
    [
        (100, Ambiguous(AmbiguityReason.UNREADABLE)),
        (301, Ambiguous(AmbiguityReason.REDIRECT)),
        (302, Ambiguous(AmbiguityReason.REDIRECT)),
        (308, Ambiguous(AmbiguityReason.REDIRECT)),
        (400, Refused(Refusal.MALFORMED)),
        (401, Refused(Refusal.UNAUTHORIZED)),
        (402, Refused(Refusal.OTHER)),
        (403, Refused(Refusal.FORBIDDEN)),
        (404, Refused(Refusal.NOT_SERVED)),
        (405, Refused(Refusal.NOT_SERVED)),
        (406, Refused(Refusal.NOT_SERVED)),
        (410, Refused(Refusal.NOT_SERVED)),
        (415, Refused(Refusal.NOT_SERVED)),
        (421, Refused(Refusal.NOT_SERVED)),
        (429, Ambiguous(AmbiguityReason.RATE_LIMITED)),
        (431, Refused(Refusal.OTHER)),
        (500, Ambiguous(AmbiguityReason.SERVER_ERROR)),
        (501, Refused(Refusal.NOT_SERVED)),
        (503, Ambiguous(AmbiguityReason.SERVER_ERROR)),
    ],
)
@pytest.mark.parametrize("reply", [None, result({}), ERROR], ids=["no body", "result", "error"])
@pytest.mark.parametrize("expects_reply", [True, False])
def test_outside_success_the_status_alone_is_read(
    status: int, reading: Reading, reply: Mapping[str, Any] | None, expects_reply: bool
) -> None:
    assert read(answer(status, reply), expects_reply=expects_reply) == reading


@pytest.mark.parametrize("trouble", list(TransportFailure))
def test_without_a_status_there_is_no_answer(trouble: TransportFailure) -> None:
    assert read(Answer("x1", "GET", "http://rs.test", trouble=trouble)) == Ambiguous(AmbiguityReason.NO_ANSWER)


@pytest.mark.parametrize(
    ("reply", "reading"),
    [
        (result({"tools": []}), Accepted()),
        (result({}), Accepted()),
        (result({"content": [], "isError": False}), Accepted()),
        (result({"content": [], "isError": None}), Accepted()),
        (TOOL_ERROR, Refused(Refusal.TOOL_ERROR)),
        (result({"isError": True, "_meta": None}), Refused(Refusal.TOOL_ERROR)),
        (result({"isError": True, "_meta": {"other": 1}}), Refused(Refusal.TOOL_ERROR)),
        (TOOL_CHALLENGE, Refused(Refusal.TOOL_CHALLENGE)),
        (ERROR, Refused(Refusal.RPC_ERROR)),
        (result(None), Ambiguous(AmbiguityReason.UNREADABLE)),
        (result([]), Ambiguous(AmbiguityReason.UNREADABLE)),
        (result("ok"), Ambiguous(AmbiguityReason.UNREADABLE)),
        (None, Ambiguous(AmbiguityReason.UNREADABLE)),
    ],
)
def test_within_success_the_reply_is_read(reply: Mapping[str, Any] | None, reading: Reading) -> None:
    assert read(answer(200, reply)) == reading


def test_a_challenge_in_a_result_that_is_no_error_refuses_nothing() -> None:
    assert read(answer(200, result({"content": [], "_meta": {"mcp/www_authenticate": ["Bearer"]}}))) == Accepted()


@pytest.mark.parametrize("status", [200, 202, 204])
def test_a_notification_is_accepted_by_success_without_a_reply(status: int) -> None:
    assert read(answer(status), expects_reply=False) == Accepted()
    assert read(answer(status), expects_reply=True) == Ambiguous(AmbiguityReason.UNREADABLE)


def test_a_page_for_people_accepts_nothing() -> None:
    page = answer(200, None, ("content-type", "Text/HTML; charset=utf-8"))
    assert read(page, expects_reply=False) == Ambiguous(AmbiguityReason.UNREADABLE)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (answer(401, None, *CHALLENGE), '401 with error="invalid_token"'),
        (answer(401), "401 without a WWW-Authenticate header"),
        (answer(403), "403 without a WWW-Authenticate header"),
        (answer(401, None, ("www-authenticate", "Bearer")), "401"),
        (answer(401, None, ("www-authenticate", 'Basic realm="x"')), "401"),
        (answer(400), "400"),
        (answer(200, result({})), "200 with a result"),
        (answer(202), "202"),
        (answer(200, ERROR), "200 with a JSON-RPC error"),
        (answer(200, TOOL_ERROR), "200 with a tool result with isError"),
        (answer(200, TOOL_CHALLENGE), "200 with a tool result with a challenge"),
        (answer(302, None, ("location", "/login")), "302 to /login"),
        (answer(302), "302 to nowhere"),
        (answer(500), "500"),
        (Answer("x1", "GET", "u", trouble=TransportFailure.TLS, detail="expired"), "TLS failed (expired)"),
        (Answer("x1", "GET", "u", trouble=TransportFailure.TIMEOUT), "no answer in time"),
    ],
)
def test_an_answer_is_described_in_a_few_words(seen: Answer, words: str) -> None:
    assert describe(seen) == words


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.integers(100, 599), st.fixed_dictionaries({}, optional={"result": JSON_VALUES, "error": JSON_VALUES}))
def test_whatever_the_server_says_is_read_and_described(status: int, reply: dict[str, Any]) -> None:
    seen = answer(status, {"jsonrpc": "2.0", "id": 1, **reply})
    assert isinstance(read(seen), Accepted | Refused | Ambiguous)
    assert describe(seen).startswith(str(status))


def test_header_fields_keep_their_lines_and_the_media_type_its_essence() -> None:
    seen = answer(401, None, ("www-authenticate", 'Basic realm="a"'), *CHALLENGE, ("content-type", " Text/HTML ;x=1"))
    assert len(seen.header_lines("www-authenticate")) == 2
    assert seen.header("www-authenticate") == 'Basic realm="a"'
    assert seen.media_type == "text/html"
    bearer = seen.challenges.bearer
    assert bearer is not None
    assert bearer.get("error") == "invalid_token"


@pytest.mark.parametrize(
    ("reply", "reading"),
    [
        ({"id": 1, "result": {}, "error": None}, Accepted()),
        ({"id": 1, "result": None, "error": {"code": -32600}}, Refused(Refusal.RPC_ERROR)),
        ({"id": 1, "result": {}, "error": {"code": -32600}}, Ambiguous(AmbiguityReason.UNREADABLE)),
    ],
)
def test_a_result_does_not_hide_behind_an_error(reply: dict[str, object], reading: object) -> None:
    assert read(Answer("x1", "POST", "http://127.0.0.1/mcp", status=200, reply=reply)) == reading


def test_a_503_that_says_when_to_come_back_limits_the_rate_and_another_is_an_error() -> None:
    limited = Answer("x1", "POST", "http://a/", 503, headers=(("retry-after", "5"),))
    assert read(limited) == Ambiguous(AmbiguityReason.RATE_LIMITED)
    assert read(Answer("x1", "POST", "http://a/", 503)) == Ambiguous(AmbiguityReason.SERVER_ERROR)
    assert not Answer("x1", "POST", "http://a/", 500, headers=(("retry-after", "5"),)).limits_rate
