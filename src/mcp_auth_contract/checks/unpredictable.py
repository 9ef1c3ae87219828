"""Do texts that a server makes up show how the next one will look?"""

import re
from collections.abc import Sequence
from itertools import pairwise

_NARROW = 100_000
"""Random numbers are not all within so many of each other."""


_LARGEST_CLOCK = 2**64
"""A time in nanoseconds is less; a UUID of version 7, whose time goes before random bits, is more."""


def predictable(texts: Sequence[str]) -> bool:
    """Tell whether at least three different texts, in the order they were made, count up or tell the time."""
    if not all(text.isascii() and text.isprintable() for text in texts):
        return False
    numbers = _varying(texts)
    return numbers is not None and _counts(numbers)


def _varying(ids: Sequence[str]) -> list[int] | None:
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
