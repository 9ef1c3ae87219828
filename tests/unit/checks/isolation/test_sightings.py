"""A canary is found in whatever way an answer holds it."""

import base64
import html
import json
import string
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.isolation.sightings import sighted

CANARY = 'alice/t1 "INV-1" é<7f3a>'


def said(text: str = "", *, header: str = "", message: Any = None, stream: bool = False) -> Answer:
    headers = (("x-note", header),) if header else ()
    messages = ({"result": message},) if message is not None else ()
    return Answer(
        "x1", "POST", "https://a.test", 200, headers=headers, text=text, messages=messages, reply=None, stream=stream
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (CANARY, "the body"),
        (json.dumps({"note": CANARY}), "the body (escaped for JSON)"),
        (json.dumps({"note": CANARY}, ensure_ascii=False), "the body (escaped for JSON)"),
        (json.dumps({"text": json.dumps({"note": CANARY})}), "the body (escaped for JSON)"),
        (json.dumps({"note": CANARY}).replace("/", "\\/"), "the body (escaped for JSON)"),
        (f"https://a.test/?q={quote(CANARY, safe='')}", "the body (escaped for a URL)"),
        (f"https://a.test/?q={quote(CANARY, safe='').lower()}", "the body (escaped for a URL)"),
        (f"q={quote_plus(CANARY)}", "the body (escaped for a URL)"),
        (f"<p>{html.escape(CANARY)}</p>", "the body (escaped for HTML)"),
        (f"0x{CANARY.encode().hex()}", "the body (in hexadecimal)"),
        ("nothing of it", None),
        (CANARY[:-1], None),
    ],
)
def test_a_body_is_searched_in_every_spelling(text: str, where: str | None) -> None:
    assert sighted(CANARY, said(text)) == where


def test_headers_and_events_are_searched() -> None:
    assert sighted(CANARY, said(header=f"owner {CANARY}")) == "the header field x-note"
    assert sighted(CANARY, said(f"data: {CANARY}\n\n", stream=True)) == "an event"


@pytest.mark.parametrize(
    "value",
    [
        {"_meta": {"note": CANARY}},
        {"contents": [{"blob": base64.encodebytes((CANARY * 9).encode()).decode()}]},
        {"content": [{"text": json.dumps(json.dumps([{"a": {CANARY: 1}}]))}]},
        {"content": [{"text": base64.b64encode(json.dumps({"note": CANARY}).encode()).decode()}]},
    ],
)
def test_messages_are_searched_inside_their_texts(value: Any) -> None:
    assert sighted(CANARY, said("(cut)", message=value)) == "a text inside the message"


@settings(max_examples=60, deadline=None)
@given(
    st.text(string.ascii_letters + string.digits + "-", min_size=9, max_size=40),
    st.binary(max_size=5),
    st.binary(max_size=9),
)
def test_base64_is_searched_wherever_the_text_begins(canary: str, before: bytes, after: bytes) -> None:
    octets = before + canary.encode() + after
    assert sighted(canary, said(base64.b64encode(octets).decode())) is not None
    assert sighted(canary, said(base64.urlsafe_b64encode(octets).decode().rstrip("="))) is not None


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(max_size=12) | st.integers(),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=4), one, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_nothing_that_a_server_says_breaks_the_search(value: Any) -> None:
    assert sighted("alice-t1-INV-1-7f3a", said(json.dumps(value), message=value)) is None
