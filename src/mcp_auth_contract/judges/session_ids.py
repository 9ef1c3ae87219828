"""Are session ids such that nobody can guess one, and everybody can send one?"""

import re
from collections.abc import Iterable
from itertools import pairwise

from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.observations import Accepted, SessionIdsObserved, describe

__all__ = ["session_ids_unpredictable", "session_ids_visible_ascii"]

_NARROW = 100_000
"""Random numbers are not all within so many of each other."""

_LARGEST_CLOCK = 2**64
"""A time in nanoseconds is less; a UUID of version 7, whose time goes before random bits, is more."""

_VISIBLE = re.compile(r"[\x21-\x7e]+")


def _no_ids(observed: SessionIdsObserved) -> Verdict | None:
    if observed.ids:
        return None
    for attempt in observed.handshakes:
        if not isinstance(attempt.reading, Accepted):
            return Inconclusive(f"no session was opened: {describe(attempt.answer)}")
    return NotApplicable("the server keeps no sessions") if observed.handshakes else Inconclusive("nothing was sent")


def session_ids_visible_ascii(observed: SessionIdsObserved, facts: Facts) -> Verdict:
    """A session id consists of the characters 0x21 to 0x7E (MCP session management)."""
    if doubt := _no_ids(observed):
        return doubt
    for ident in observed.ids:
        if not _VISIBLE.fullmatch(ident):
            odd = sorted({f"U+{ord(one):04X}" for one in ident if not "\x21" <= one <= "\x7e"})
            return Fail("visible ASCII characters", f"an id with {', '.join(odd) or 'nothing in it'}")
    return Pass()


def session_ids_unpredictable(observed: SessionIdsObserved, facts: Facts) -> Verdict:
    """Session ids do not repeat, and do not count or tell the time (MCP session hijacking). More cannot be shown."""
    if doubt := _no_ids(observed):
        return doubt
    expected = "ids from a secure random generator"
    ids = observed.ids
    if len(set(ids)) < len(ids):
        return Fail(expected, f"the same id for {len(ids) - len(set(ids)) + 1} of {len(ids)} sessions")
    if len(ids) < 3:
        return Inconclusive(f"only {len(ids)} sessions could be opened")
    if all(ident.isascii() and ident.isprintable() for ident in ids):
        numbers = _varying(ids)
        if numbers is not None and _counts(numbers):
            return Fail(expected, f"{len(ids)} ids that differ in a number that counts up, or tells the time")
    return Pass()


def _varying(ids: Iterable[str]) -> list[int] | None:
    """Return the numbers by which ids differ that are otherwise equal; None where they differ in more than that."""
    texts = list(ids)
    first = texts[0]
    start = next((at for at, group in enumerate(zip(*texts, strict=False)) if len(set(group)) > 1), len(first))
    while start > 0 and first[start - 1].isalnum():
        start -= 1
    rests = [text[start:] for text in texts]
    tails = {re.sub(r"\A[0-9a-fA-F]+", "", rest) for rest in rests}
    heads = [re.match(r"[0-9a-fA-F]+", rest) for rest in rests]
    if len(tails) > 1 or any(head is None for head in heads):
        return None
    digits = [head.group() for head in heads if head is not None]
    base = 10 if all(text.isdecimal() for text in digits) else 16
    return [int(text, base) for text in digits]


def _counts(numbers: list[int]) -> bool:
    """Whether numbers lie close together, or rise in steps that are small for their size, as clocks do."""
    if max(numbers) - min(numbers) < _NARROW:
        return True
    steps = [after - before for before, after in pairwise(numbers)]
    return all(step > 0 for step in steps) and max(steps) * 1_000_000 < max(numbers) < _LARGEST_CLOCK
