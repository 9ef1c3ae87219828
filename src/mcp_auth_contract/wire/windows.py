"""Finding pieces of secrets in whatever form a server may have given them.

A signature that was halved, wrapped over lines, reversed, encoded or escaped is a secret all the same. Pieces of a few
characters, the windows, are looked for in a text and in all that it says once decoded. Work is linear in the text.
"""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

__all__ = ["Span", "Windows"]

_WIDTH = 8
_STEP, _STRIDE = 5, 2
"""Windows begin at each fifth character of a secret and are looked for at each second one of a text: as the two have no
common divisor, of 17 characters in a row one window is seen."""
_LEAST = 12
_SHORTEST = 16
_SHORTEST_SECRET = 20
_MOST_OF_A_SECRET = 2048
_DEPTH = 4
_DISTINCT = 10
_CHANGES = 0.35
_SAMPLE = 64
_FEW_ESCAPES = 8
_SHORTEST_LIST = 35

_RUN = re.compile(rf"[A-Za-z0-9_-]{{{_SHORTEST},}}")
_SECRET_RUN = re.compile(rf"[A-Za-z0-9_-]{{{_SHORTEST_SECRET},}}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{22,}")
_BASE32 = re.compile(r"[A-Z2-7]{26,}|[a-z2-7]{26,}")
_HEX = re.compile(r"[0-9A-Fa-f]{32,}")
# Octets as numbers, hexadecimal or decimal: 65:79:4a, 0x65, 0x79, [101, 121, 74].
_NUMBERS = re.compile(
    r"(?<![0-9A-Za-z])(?:0[xX])?[0-9A-Fa-f]{2,3}(?:(?:,\s?|[ :;\n-])(?:0[xX])?[0-9A-Fa-f]{2,3}(?![0-9A-Za-z])){11,}+"
)
_NUMBER = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{2,3})")
_ESCAPE = re.compile(
    r"%([0-9A-Fa-f]{2})|&#[xX]0{0,6}([0-9A-Fa-f]{2});?|(?<!\\)\\++(?:u\{?00|u\{|x)([0-9A-Fa-f]{2})\}?|=([0-9A-F]{2})"
    r"|&#0{0,6}([0-9]{2,3});?|(?<!\\)\\++([01][0-7]{2})"
)
# Looking for one of these costs less than a pattern.
_ESCAPE_MARKS = ("%", "&#", "\\u", "\\x", "\\0", "\\1")
_BREAK_MARKS = ("\n", "\r", "\\n", "\\r")
_BREAK = r"(?:[ \t]*+(?:[\r\n]|\\++[nr])[ \t]*+)++"
_WRAPPED = re.compile(rf"(?<![\w\\-])(?:\\++[nrt])*+([\w-]++(?:{_BREAK}[\w-]++){{2,}}+)")
_BREAKS = re.compile(r"[ \t\r\n]++|(?<!\\)\\++[nr]")
_PRINTABLE = re.compile(rb"[!-~]{12,}")
_READABLE = re.compile(rb"[ -~\n\t]{12,}")
_KINDS = str.maketrans(
    dict.fromkeys(ascii_lowercase, "a") | dict.fromkeys(ascii_uppercase, "A") | dict.fromkeys(digits, "0")
)
_URL_SAFE = str.maketrans("-_", "+/")


class Span(NamedTuple):
    """Where in a text a secret was found, by its label. `numbers`: it stands there as a list of numbers."""

    start: int
    end: int
    label: str
    numbers: bool = False


class Windows:
    """The windows of all secrets of a run. Only what looks random has any: words would be found everywhere."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, int, str]] = {}

    def add(self, secret: str, label: str) -> None:
        """Look for this secret from now on; of a JWT for its signature or its ciphertext."""
        for piece in _random_pieces(secret):
            step = _STEP if len(piece) >= 2 * _SHORTEST_SECRET else 1
            readable = _readable(piece)
            for at in range(0, len(piece) - _WIDTH + 1, step):
                window = piece[at : at + _WIDTH]
                if len(set(window)) > _WIDTH // 2 and at not in readable:
                    self._places.setdefault(window, (piece, at, label))

    def spans(self, text: str) -> list[Span]:
        """Return the places of secrets, from left to right and without overlaps."""
        if not self._places or len(text) < _SHORTEST:
            return []
        apart: list[Span] = []
        for span in sorted(self._find(text, _DEPTH)):
            if apart and span.start < apart[-1].end:
                last = apart[-1]
                apart[-1] = Span(last.start, max(last.end, span.end), last.label, last.numbers and span.numbers)
            else:
                apart.append(span)
        return apart

    def _find(self, text: str, depth: int) -> Iterator[Span]:
        for found in _RUN.finditer(text):
            start = _after_escape(text, found.start())
            run = text[start : found.end()]
            yield from (Span(start + begin, start + end, label) for begin, end, label in self._in_run(run))
            end_of_run = found.end()
            for begin, end, label in self._in_run(run[::-1]):
                yield Span(end_of_run - end, end_of_run - begin, label)
        if depth:
            yield from self._encoded(text, depth - 1)
            yield from self._wrapped(text, depth - 1)
            yield from self._escaped(text, depth - 1)

    def _in_run(self, run: str) -> Iterator[tuple[int, int, str]]:
        seen = [run[at : at + _WIDTH] for at in range(0, len(run) - _WIDTH + 1, _STRIDE)]
        if self._places.keys().isdisjoint(seen):
            return
        done = 0
        for number, window in enumerate(seen):
            place = self._places.get(window)
            at = number * _STRIDE
            if place is None or at < done:
                continue
            piece, inside, label = place
            start, end = at, at + _WIDTH
            before, after = inside, inside + _WIDTH
            while start > done and before and run[start - 1] == piece[before - 1]:
                start, before = start - 1, before - 1
            while end < len(run) and after < len(piece) and run[end] == piece[after]:
                end, after = end + 1, after + 1
            if end - start >= _LEAST:
                yield start, end, label
                done = end

    def _encoded(self, text: str, depth: int) -> Iterator[Span]:
        for run in _BASE64.finditer(text):
            for pattern, decode in ((_BASE64, _from_base64), (_BASE32, _from_base32), (_HEX, _from_hex)):
                for found in pattern.finditer(text, _after_escape(text, run.start()), run.end()):
                    label = self._label_in(decode(found.group()), depth)
                    if label is not None:
                        yield Span(*found.span(), label)
        if len(text) < _SHORTEST_LIST:
            return
        for found in _NUMBERS.finditer(text):
            label = self._label_in(_from_numbers(found.group()), depth)
            if label is not None:
                yield Span(found.start(), found.end(), label, numbers=True)

    def _label_in(self, decodings: Iterator[bytes], depth: int) -> str | None:
        for octets in decodings:
            if _PRINTABLE.search(octets):
                for span in self._find(octets.decode("latin-1"), depth):
                    return span.label
        return None

    def _wrapped(self, text: str, depth: int) -> Iterator[Span]:
        if not any(mark in text for mark in _BREAK_MARKS):
            return
        for found in _WRAPPED.finditer(text):
            for span in self._find(_BREAKS.sub("", found.group(1)), depth):
                yield Span(found.start(1), found.end(1), span.label)
                break

    def _escaped(self, text: str, depth: int) -> Iterator[Span]:
        """Look at the text without its escapes, and find out where each character came from."""
        if not any(mark in text for mark in _ESCAPE_MARKS) and text.count("=") < _FEW_ESCAPES:
            return
        escapes = list(_ESCAPE.finditer(text))
        if len(escapes) < _FEW_ESCAPES:
            return
        parts: list[str] = []
        places: list[int] = []
        length = done = 0
        for found in escapes:
            parts += (text[done : found.start()], _character(found))
            places.append(length + found.start() - done)
            length, done = places[-1] + 1, found.end()
        parts.append(text[done:])

        def source(position: int) -> tuple[int, int]:
            at = bisect_right(places, position) - 1
            if at < 0:
                return position, position + 1
            if places[at] == position:
                return escapes[at].span()
            start = escapes[at].end() + position - places[at] - 1
            return start, start + 1

        for span in self._find("".join(parts), depth):
            yield Span(source(span.start)[0], source(span.end - 1)[1], span.label)


def _random_pieces(secret: str) -> Iterator[str]:
    parts = secret.split(".")
    pieces = parts[2:3] if len(parts) == 3 else parts[3:] if len(parts) == 5 else [secret]
    for piece in pieces:
        for found in _SECRET_RUN.finditer(piece):
            run = found.group()[:_MOST_OF_A_SECRET]
            if not run.startswith("eyJ") and _looks_random(run):
                yield run


def _looks_random(run: str) -> bool:
    kinds = run[:_SAMPLE].translate(_KINDS)
    changes = sum(one != following for one, following in pairwise(kinds))
    return len(set(run)) >= _DISTINCT and changes >= _CHANGES * len(kinds)


def _readable(piece: str) -> set[int]:
    """Where windows would show what is no secret: words in Base64, such as claims."""
    places: set[int] = set()
    for offset, octets in enumerate(_from_base64(piece)):
        for found in _READABLE.finditer(octets):
            places.update(range(offset + found.start() * 4 // 3 - _WIDTH + 2, offset + found.end() * 4 // 3 + 1))
    return places


def _after_escape(text: str, start: int) -> int:
    """Leave the letters of an escape outside, lest a lone backslash stays behind."""
    if not start or text[start - 1] != "\\":
        return start
    return start + (5 if text[start] == "u" else 1)


def _character(escape: re.Match[str]) -> str:
    number = escape.lastindex or 1
    code = int(escape[number], (16, 16, 16, 16, 10, 8)[number - 1])
    return chr(code) if " " <= chr(code) <= "~" else " "


def _from_base64(run: str) -> Iterator[bytes]:
    standard = run.translate(_URL_SAFE)
    for offset in range(4):
        rest = standard[offset:]
        yield base64.b64decode(rest[: len(rest) // 4 * 4])


def _from_base32(run: str) -> Iterator[bytes]:
    upper = run.upper()
    for offset in range(8):
        rest = upper[offset:]
        yield base64.b32decode(rest[: len(rest) // 8 * 8])


def _from_hex(run: str) -> Iterator[bytes]:
    for offset in range(2):
        rest = run[offset:]
        yield binascii.unhexlify(rest[: len(rest) // 2 * 2])


def _from_numbers(listed: str) -> Iterator[bytes]:
    numbers = [found[1] for found in _NUMBER.finditer(listed)]
    for base in (16, 10):
        if base == 10 and not all(map(str.isdecimal, numbers)):
            continue
        codes = [int(one, base) for one in numbers]
        yield bytes(code if code < 256 else 0 for code in codes)
