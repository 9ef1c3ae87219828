"""Texts that resemble another text without being it, as careless comparisons confuse them."""

import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

Lookalike: TypeAlias = Callable[[str], str | None]
"""Makes a text that resembles a given one; None where there is none."""

_HOMOGLYPHS = str.maketrans("aceijopsxyhdktw", "асеіјорѕхуһԁктԝ")
_FOLDED = str.maketrans("isk", "ıſK")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def _unlike(make: Callable[[str], str]) -> Lookalike:
    return lambda text: None if (made := make(text)) == text else made


def _accented(text: str) -> str | None:
    """Put an acute accent on the first letter, which many database collations ignore."""
    where = next((index for index, letter in enumerate(text) if letter.isascii() and letter.isalpha()), None)
    if where is None:
        return None
    return unicodedata.normalize("NFC", f"{text[: where + 1]}\u0301{text[where + 1 :]}")


def _other_form(text: str) -> str | None:
    """Write the text in the Unicode normalization form that it is not in."""
    forms = (unicodedata.normalize("NFD", text), unicodedata.normalize("NFC", text))
    return next((form for form in forms if form != text), None)


LOOKALIKES: Mapping[str, Lookalike] = MappingProxyType(
    {
        "other_case": _unlike(lambda text: text.upper() if text != text.upper() else text.lower()),
        # Letters that upper() or lower() turns into ASCII (CVE-2019-19844).
        "folded_letter": _unlike(lambda text: text.translate(_FOLDED)),
        "accented": _accented,
        "other_unicode_form": _other_form,
        # Cyrillic letters that look like Latin ones (UTS 39).
        "homoglyph": _unlike(lambda text: text.translate(_HOMOGLYPHS)),
        # NFKC makes it ASCII again.
        "full_width": _unlike(lambda text: text.translate(_FULL_WIDTH)),
        "space_appended": lambda text: f"{text} ",
        "tab_appended": lambda text: f"{text}\t",
        "newline_appended": lambda text: f"{text}\n",
        "no_break_space_appended": lambda text: f"{text}\u00a0",
        "zero_width_space": lambda text: f"{text[: len(text) // 2]}\u200b{text[len(text) // 2 :]}",
        "nul_appended": lambda text: f"{text}\0",
        "shortened": lambda text: text[:-1] or None,
        "percent_encoded": lambda text: text[:-1] + "".join(f"%{octet:02X}" for octet in text[-1:].encode()),
    }
)
"""What a case-insensitive, trimming, normalizing or decoding comparison takes for the text itself, by name."""
