"""Text that a hostile server had a hand in, made safe to print."""

import unicodedata

__all__ = ["printable"]

_KEPT = frozenset(" ")
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 600) -> str:
    """Return the text on one line with control and invisible characters escaped, cut at `limit` characters.

    Terminals obey escape sequences and XML forbids most control characters, so neither may pass.
    """
    safe = "".join(
        char if char in _KEPT or unicodedata.category(char) not in _UNSAFE else f"\\u{ord(char):04x}" for char in text
    )
    return safe if len(safe) <= limit else f"{safe[: limit - 1]}…"
