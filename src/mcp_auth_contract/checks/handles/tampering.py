"""Altered forms of an opaque text of the server: each is what can be made of it without its keys."""

import base64
import json
from collections.abc import Iterator
from typing import Any

_PLACES = (1, 2, 3)
_MOST_VALUES = 8
_LATER_S = 3600


def alterations(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and altered forms of a text.

    One character in each quarter is another one of its kind; what stands behind the last full stop is left out, or
    empty; and where the text, or a part of it between full stops, is JSON, in Base64 or not, each of its first values
    is another one. Equal texts of one server have equal names, in the same order.
    """
    for place in _PLACES:
        changed = _changed_at(text, len(text) * place // 4)
        if changed != text:
            yield f"with another character after {place} of 4 parts", changed
    head, stop, tail = text.rpartition(".")
    if stop and head:
        yield "without its last part", head
        if tail:
            yield "with an empty last part", head + stop
    whole = tuple(_rewritten(text))
    yield from whole
    parts = () if whole else text.split(".")
    for index, part in enumerate(parts):
        for name, changed in _rewritten(part):
            yield name, ".".join((*parts[:index], changed, *parts[index + 1 :]))


def _changed_at(text: str, start: int) -> str:
    """Replace the first letter or digit from a place on by another of its kind, which is not the same in other case."""
    for at in range(start, len(text)):
        one = text[at]
        if one.isascii() and one.isalnum():
            return text[:at] + _another(one) + text[at + 1 :]
    return text


def _another(one: str) -> str:
    if one.isdigit():
        return str((int(one) + 5) % 10)
    first = "A" if one.isupper() else "a"
    # The first six letters stay among themselves, for they may be hexadecimal digits.
    size = 6 if one in "abcdefABCDEF" else 26
    changed = chr(ord(first) + (ord(one) - ord(first) + 3) % size)
    return changed if size == 6 or changed not in "abcdefABCDEF" else chr(ord(first) + 6)


def _rewritten(part: str) -> Iterator[tuple[str, str]]:
    for alphabet in (None, b"-_", b"+/"):
        try:
            value = json.loads(part.encode() if alphabet is None else _decoded(part, alphabet))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            for _, (where, changed) in zip(range(_MOST_VALUES), _with_another(value), strict=False):
                text = json.dumps(changed, separators=(",", ":"))
                yield f"with another value of {where}", text if alphabet is None else _encoded(text, alphabet, part)
            return


def _with_another(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the value with one of its scalars changed, and where that stands."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        if isinstance(inner, dict | list):
            for where, changed in _with_another(inner):
                yield f"{key}/{where}", _put(value, key, changed)
        elif isinstance(inner, bool):
            yield str(key), _put(value, key, not inner)
        elif isinstance(inner, int | float):
            yield str(key), _put(value, key, inner + _LATER_S)
        elif isinstance(inner, str) and (changed := _changed_at(inner, 0)) != inner:
            yield str(key), _put(value, key, changed)


def _put(value: Any, key: Any, inner: Any) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = inner
    return copy


def _decoded(part: str, alphabet: bytes) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=alphabet, validate=True)


def _encoded(text: str, alphabet: bytes, part: str) -> str:
    """Return the Base64 of a text, padded as the part was that it takes the place of."""
    made = base64.b64encode(text.encode(), altchars=alphabet).decode()
    return made if part.endswith("=") or len(part) % 4 == 0 else made.rstrip("=")
