"""Texts that resemble another text without being it, as careless comparisons confuse them."""

import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

__all__ = ["LOOKALIKES", "Lookalike", "accented", "full_width", "homoglyph", "other_case", "percent_encoded"]

Lookalike: TypeAlias = Callable[[str], str | None]
"""Makes a text that resembles a given one; None where there is none."""

_HOMOGLYPHS = str.maketrans("aceijopsxyhdktw", "асеіјорѕхуһԁктԝ")
_FOLDED = str.maketrans("isk", "ıſK")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def other_case(text: str) -> str | None:
    """Swap upper and lower case."""
    return _unlike(text, text.upper() if text != text.upper() else text.lower())


def homoglyph(text: str) -> str | None:
    """Put Cyrillic letters in the place of Latin ones that look the same (UTS 39)."""
    return _unlike(text, text.translate(_HOMOGLYPHS))


def full_width(text: str) -> str | None:
    """Write each ASCII character in its full width, which NFKC makes ASCII again."""
    return _unlike(text, text.translate(_FULL_WIDTH))


def accented(text: str) -> str | None:
    """Put an acute accent on the first letter, which many database collations ignore."""
    where = next((index for index, letter in enumerate(text) if letter.isascii() and letter.isalpha()), None)
    if where is None:
        return None
    return unicodedata.normalize("NFC", f"{text[: where + 1]}\u0301{text[where + 1 :]}")


def percent_encoded(text: str) -> str | None:
    """Percent-encode the last character."""
    return text[:-1] + "".join(f"%{octet:02X}" for octet in text[-1:].encode())


def _folded(text: str) -> str | None:
    """Put letters that upper() or lower() turns into ASCII in the place of the ASCII ones (CVE-2019-19844)."""
    return _unlike(text, text.translate(_FOLDED))


def _other_form(text: str) -> str | None:
    """Write the text in the Unicode normalization form that it is not in."""
    forms = (unicodedata.normalize("NFD", text), unicodedata.normalize("NFC", text))
    return next((form for form in forms if form != text), None)


def _zero_width(text: str) -> str:
    middle = len(text) // 2
    return f"{text[:middle]}\u200b{text[middle:]}"


def _unlike(text: str, made: str) -> str | None:
    return None if made == text else made


LOOKALIKES: Mapping[str, Lookalike] = MappingProxyType(
    {
        "other_case": other_case,
        "folded_letter": _folded,
        "accented": accented,
        "other_unicode_form": _other_form,
        "homoglyph": homoglyph,
        "full_width": full_width,
        "space_appended": lambda text: f"{text} ",
        "tab_appended": lambda text: f"{text}\t",
        "newline_appended": lambda text: f"{text}\n",
        "no_break_space_appended": lambda text: f"{text}\u00a0",
        "zero_width_space": _zero_width,
        "nul_appended": lambda text: f"{text}\0",
        "percent_encoded": percent_encoded,
    }
)
"""What a case-insensitive, trimming, normalizing or decoding comparison takes for the text itself, by name."""
