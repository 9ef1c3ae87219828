"""Where a canary hides in an answer, in every usual spelling."""

import base64
import binascii
import html
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

from mcp_auth_contract.answers import Answer

_DEEPEST = 6
"""How many texts inside texts are opened: JSON in a text of JSON, Base64 of it, and so on."""


def sighted(canary: str, answer: Answer) -> str | None:
    """Return where a text is in an answer, in words; None where it is not.

    It is looked for as it is, escaped for JSON, URLs and HTML, in Base64 and in hexadecimal, in the body, in each
    header field and in every text of the JSON-RPC messages, texts inside those included.
    """
    for name, value in answer.headers:
        if _written(canary, value):
            return f"the header field {name}"
    if how := _written(canary, answer.text):
        return _place(answer, how)
    if any(_inside(canary, message, 0) for message in answer.messages):
        return "a text inside the message"
    return None


def _place(answer: Answer, how: str) -> str:
    place = "an event" if answer.stream else "the body"
    return place if how == "plain" else f"{place} ({how})"


def _written(canary: str, text: str) -> str | None:
    """Return how a text holds the canary."""
    for how, forms in _forms(canary):
        if any(form in text for form in forms):
            return how
    return None


@cache
def _forms(canary: str) -> tuple[tuple[str, frozenset[str]], ...]:
    octets = canary.encode()
    escaped = {json.dumps(canary)[1:-1], json.dumps(canary, ensure_ascii=False)[1:-1]}
    escaped |= {form.replace("/", "\\/") for form in escaped}
    escaped |= {json.dumps(form)[1:-1] for form in escaped}
    urls = {quote(canary), quote(canary, safe=""), quote_plus(canary)}
    urls |= {form.lower() for form in urls if "%" in form}
    hexadecimal = octets.hex()
    return (
        ("plain", frozenset({canary})),
        ("escaped for JSON", frozenset(escaped)),
        ("escaped for a URL", frozenset(urls)),
        ("escaped for HTML", frozenset({html.escape(canary)})),
        ("in Base64", frozenset(_base64_forms(octets))),
        ("in hexadecimal", frozenset({hexadecimal, hexadecimal.upper()})),
    )


def _base64_forms(octets: bytes) -> Iterator[str]:
    """Yield what stands in the Base64 of any text around the octets: at each of the three places in a group."""
    for shift in range(3):
        # Groups that the neighbours have a part in are left out on both sides.
        start = (3 - shift) % 3
        whole = octets[start : start + (len(octets) - start) // 3 * 3]
        if len(whole) >= 6:
            yield base64.b64encode(whole).decode()
            yield base64.urlsafe_b64encode(whole).decode()


def _inside(canary: str, value: Any, depth: int) -> bool:
    """Look into every text of a JSON value, and open those that are JSON or Base64 themselves.

    Other spellings have been looked for in the whole body already.
    """
    match value:
        case str():
            if canary in value:
                return True
            return depth < _DEEPEST and any(_inside(canary, opened, depth + 1) for opened in _opened(value))
        case dict():
            return any(_inside(canary, one, depth) for pair in value.items() for one in pair)
        case list():
            return any(_inside(canary, one, depth) for one in value)
        case _:
            return False


def _opened(text: str) -> Iterator[Any]:
    if text[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            yield json.loads(text)
        return
    joined = "".join(text.split())
    if len(joined) % 4 == 0 and joined.isascii():
        with suppress(binascii.Error, ValueError):
            yield base64.b64decode(joined, validate=True).decode()
