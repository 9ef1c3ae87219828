"""What two principals get on the way to one record, and where a canary hides in an answer."""

import base64
import binascii
import html
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

from mcp_auth_contract.observations.answer import Answer
from mcp_auth_contract.observations.reading import Accepted, Reading, describe

__all__ = [
    "Asked",
    "AuditObserved",
    "Canary",
    "CursorObserved",
    "MissingObserved",
    "RecordObserved",
    "WriteObserved",
    "sighted",
]

_DEEPEST = 6
"""How many texts inside texts are opened: JSON in a text of JSON, Base64 of it, and so on."""


@dataclass(frozen=True, slots=True)
class Canary:
    """The text that tells a record, and the record's name, by which alone reports call it."""

    record: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One call with everything that was answered: several answers where a list was read page by page.

    `reading` is that of the first page that was not accepted, else of the last one; `name` is the step of a sequence.
    """

    name: str
    principal: str
    answers: tuple[Answer, ...]
    reading: Reading

    @property
    def accepted(self) -> bool:
        """Whether every page was answered with a result."""
        return isinstance(self.reading, Accepted)

    @property
    def cut(self) -> bool:
        """Whether not everything that was sent was read."""
        return any(answer.truncated for answer in self.answers)

    @property
    def said(self) -> str:
        """The last answer in a few words."""
        return describe(self.answers[-1]) if self.answers else "nothing was sent"

    @property
    def result(self) -> str | None:
        """The results of all pages as text without `_meta`, to be compared; None without one."""
        results = [(answer.reply or {}).get("result") for answer in self.answers]
        if not all(isinstance(one, dict) for one in results):
            return None
        plain = [{key: value for key, value in one.items() if key != "_meta"} for one in results if one is not None]
        return json.dumps(plain, sort_keys=True)

    def shows(self, canary: Canary) -> str | None:
        """Return where a canary is in the answers, None where it is not."""
        found = (sighted(canary.text, answer) for answer in self.answers)
        return next((where for where in found if where is not None), None)


@dataclass(frozen=True, slots=True)
class RecordObserved:
    """The owner, somebody else, the owner, somebody else: calls on one way to a record, in this order.

    `foreign` are the canaries that the owner may never receive.
    """

    path: str
    owner: str
    principal: str
    canary: Canary
    calls: tuple[Asked, ...]
    foreign: tuple[Canary, ...] = ()

    def by(self, principal: str) -> Iterator[Asked]:
        """Yield one principal's calls."""
        return (call for call in self.calls if call.principal == principal)


@dataclass(frozen=True, slots=True)
class WriteObserved:
    """Writes on a record, read by its owner in between. Steps in order, each at most once:

    `own` the owner writes, `before` the owner reads, `foreign` somebody else writes another value, `after` and `again`
    the owner reads, `control` the owner writes that other value, `changed` the owner reads. With idempotency keys there
    are, in the place of `foreign`, `borrowed`, somebody else writes with the owner's key, `unborrowed`, with a key of
    their own, and `second`, the owner writes another value with the first key.
    """

    path: str
    owner: str
    principal: str
    canary: Canary
    calls: tuple[Asked, ...]

    def step(self, name: str) -> Asked | None:
        """Return a step, None where it did not come to it."""
        return next((call for call in self.calls if call.name == name), None)


@dataclass(frozen=True, slots=True)
class CursorObserved:
    """A page token of `owner` in the hands of `principal`. Steps in order:

    `first` the owner's first page, `other_first` that of somebody else, `other` the owner's page token used by somebody
    else, `second` by the owner. `handed` says that the owner's first page held a page token. `canaries` are those that
    the principal may never receive.
    """

    path: str
    owner: str
    principal: str
    canaries: tuple[Canary, ...]
    calls: tuple[Asked, ...]
    handed: bool = True

    def step(self, name: str) -> Asked | None:
        """Return a step, None where it did not come to it."""
        return next((call for call in self.calls if call.name == name), None)


@dataclass(frozen=True, slots=True)
class MissingObserved:
    """Somebody's call for a foreign record, and the same call for an id that does not exist; None: it has no id."""

    path: str
    principal: str
    foreign: Asked
    missing: Asked | None


@dataclass(frozen=True, slots=True)
class AuditObserved:
    """A reader's call and what the audit log gained by it. `lines` are the new ones; None: the log cannot be read.

    `names` are the words by which a line would name the reader.
    """

    path: str
    principal: str
    call: Asked
    lines: tuple[str, ...] | None
    names: tuple[str, ...]


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
