"""TOML whose words come from a server: always valid, always one line, never a variable of the contract."""

import math
import textwrap
from collections.abc import Iterable, Mapping

import tomlkit
from tomlkit.items import Item, Key, KeyType, SingleKey

MARK = "# ? "
"""Begins a line that asks the author of the contract something."""

_WIDTH = 112
_INTEGERS = range(-(2**63), 2**63)


class Unwritable(ValueError):
    """A value that a contract cannot hold: null, a number that TOML does not have, half a surrogate pair."""


def _quoted(text: str) -> str:
    """Return a basic string (TOML 1.0) in which everything that cannot be seen is escaped."""
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise Unwritable("an unpaired surrogate")
    codes = ((one, ord(one)) for one in tomlkit.string(text).as_string())
    escapes = ((one, f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}") for one, code in codes)
    return "".join(one if one.isprintable() else escape for one, escape in escapes)


def key(name: str) -> Key:
    """Return a key, in quotes where it needs them. A contract replaces no variable there, so Unwritable for one."""
    if "${" in name:
        raise Unwritable("a variable in the name of a key")
    made = SingleKey(name)
    return made if made.is_bare() else SingleKey(name, KeyType.Basic, original=_quoted(name))


def value(given: object, *, variables: bool = False) -> Item:
    """Return a JSON value as one line of TOML. Raises Unwritable.

    `${` is doubled, for a variable in a server's words would be filled in and sent back to it; with `variables` the
    words are the user's, and keep theirs.
    """
    match given:
        case bool() | int() if given in _INTEGERS:
            return tomlkit.item(given)
        case float() if math.isfinite(given):
            return tomlkit.item(given)
        case str():
            text = given if variables else given.replace("${", "$${")
            return tomlkit.string(_quoted(text)[1:-1], escape=False)
        case list() | tuple():
            array = tomlkit.array()
            array.extend(value(member, variables=variables) for member in given)
            return array
        case Mapping():
            table = tomlkit.inline_table()
            for name, member in given.items():
                table.append(key(name), value(member, variables=variables))
            return table
        case _:
            raise Unwritable("a value that TOML does not have")


def shown(text: str, limit: int = 100) -> str:
    """Return a server's words for people: one line of what can be seen, cut at `limit` characters."""
    kept = text[: 4 * limit]
    seen = "".join(one if one.isprintable() else " " if one.isspace() else "\ufffd" for one in kept)
    words = " ".join(seen.split())
    return words if len(words) <= limit and len(kept) == len(text) else f"{words[:limit]}…"


class Section:
    """A part of a drafted contract: comments, questions and keys, under a header where it has one.

    `header` is the table's name or names; `entry` makes it one entry of a list of tables.
    """

    def __init__(self, *header: str, entry: bool = False) -> None:
        self._header = header
        self._entry = entry
        self._table = tomlkit.table()

    def __str__(self) -> str:
        document = tomlkit.document()
        if not self._header:
            for name, item in self._table.value.body:
                document.append(name, item)
            return document.as_string()
        table: Item = self._table
        for inner in reversed(self._header[1:]):
            table = tomlkit.table(is_super_table=True).append(key(inner), table)
        if self._entry:
            table = tomlkit.aot()
            table.append(self._table)
        return document.append(key(self._header[0]), table).as_string()

    def set(self, name: str, given: object, known: str = "", *, variables: bool = False) -> None:
        """Write a key; `known` stands behind it in a comment."""
        item = value(given, variables=variables)
        if known:
            item.comment(known).trivia.comment_ws = "  "
        self._table.append(name, item)

    def set_lines(self, name: str, given: Iterable[object]) -> None:
        """Write a key with a list of one line for each member."""
        array = tomlkit.array()
        array.extend(map(value, given))
        self._table.append(name, array.multiline(multiline=True))

    def remark(self, text: str) -> None:
        """Write a comment of one or more lines."""
        self._comments(textwrap.wrap(text, _WIDTH - 2, break_on_hyphens=False, break_long_words=False))

    def ask(self, text: str, example: "Section | Mapping[str, object] | None" = None) -> None:
        """Write a question to the author of the contract, and in comments what an answer looks like."""
        asked = textwrap.wrap(text, _WIDTH - 4, break_on_hyphens=False, break_long_words=False)
        self._comments([f"{'  ' if number else '? '}{line}" for number, line in enumerate(asked)])
        if isinstance(example, Mapping):
            section = Section()
            for name, given in example.items():
                section.set(name, given)
            example = section
        self._comments(str(example or "").splitlines())

    def _comments(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._table.add(tomlkit.comment(line))
