"""Altered forms of an opaque text of the server: each is what can be made of it without its keys."""

import base64
import binascii
import json
from collections.abc import Callable, Iterator
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
    for opened, closed in _FORMS:
        try:
            value = json.loads(opened(part))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            for _, (where, changed) in zip(range(_MOST_VALUES), _with_another(value), strict=False):
                yield f"with another value of {where}", closed(json.dumps(changed, separators=(",", ":")), part)
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


def _plain(part: str) -> bytes:
    return part.encode()


def _standard(part: str) -> bytes:
    return _decoded(part, b"+/")


def _url(part: str) -> bytes:
    return _decoded(part, b"-_")


def _decoded(part: str, others: bytes) -> bytes:
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=others, validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("not Base64") from error


def _as_written(text: str, _part: str) -> str:
    return text


def _in_standard(text: str, part: str) -> str:
    return _padded_alike(base64.b64encode(text.encode()).decode(), part)


def _in_url(text: str, part: str) -> str:
    return _padded_alike(base64.urlsafe_b64encode(text.encode()).decode(), part)


def _padded_alike(text: str, part: str) -> str:
    padded = part.endswith("=") or len(part) % 4 == 0
    return text if padded else text.rstrip("=")


_FORMS: tuple[tuple[Callable[[str], bytes], Callable[[str, str], str]], ...] = (
    (_plain, _as_written),
    (_url, _in_url),
    (_standard, _in_standard),
)
