"""Text that a hostile server had a hand in, made safe to print and to encode."""

import unicodedata
from collections.abc import Mapping
from typing import Any

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 600) -> str:
    """Return the text on one line with control and invisible characters escaped, cut at `limit` characters.

    Terminals obey escape sequences and XML forbids most control characters, so neither may pass.
    """
    safe = "".join(char if unicodedata.category(char) not in _UNSAFE else _escaped(char) for char in text)
    return safe if len(safe) <= limit else f"{safe[: limit - 1]}…"


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def encodable(value: Any) -> Any:
    """Return a JSON value with every unpaired surrogate replaced by U+FFFD, which no UTF-8 text can hold.

    JSON lets a server send one as an escape; many readers refuse the whole document for it.
    """
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value
