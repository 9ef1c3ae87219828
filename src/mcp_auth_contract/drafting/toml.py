"""Writing TOML whose words come from a server: always valid, always one line, never a variable of the contract."""

import math
import re
import textwrap
from collections.abc import Iterable, Mapping

__all__ = ["Unwritable", "comment", "inline", "key", "question", "quoted", "server_text", "shown"]

_WIDTH = 112
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_INTEGERS = range(-(2**63), 2**63)
_MARK = "# ? "


class Unwritable(ValueError):
    """A value that a contract cannot hold: null, a number that TOML does not have, half a surrogate pair."""


def quoted(text: str) -> str:
    """Return a basic string (TOML 1.0), in which everything that cannot be seen is escaped.

    Variables of the contract stay what they are. Raises Unwritable for an unpaired surrogate.
    """
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable():
        return character
    number = ord(character)
    if 0xD800 <= number <= 0xDFFF:
        raise Unwritable("an unpaired surrogate")
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def server_text(text: str) -> str:
    """Return a basic string of what a server wrote: a variable in it would be filled in, and sent back to it."""
    return quoted(text.replace("${", "$${"))


def key(name: str) -> str:
    """Return a key, in quotes where it needs them. A contract replaces no variable there, so Unwritable for one."""
    if "${" in name:
        raise Unwritable("a variable in the name of a key")
    return name if _BARE.fullmatch(name) else quoted(name)


def inline(value: object) -> str:
    """Return a JSON value of a server's as one line of TOML. Raises Unwritable."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() if value in _INTEGERS:
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return server_text(value)
        case list() | tuple():
            return f"[{', '.join(map(inline, value))}]"
        case Mapping():
            members = (f"{key(name)} = {inline(member)}" for name, member in value.items())
            return f"{{ {', '.join(members)} }}" if value else "{}"
        case _:
            raise Unwritable("a value that TOML does not have")


def shown(text: str, limit: int = 100) -> str:
    """Return a server's words for people: one line of what can be seen, cut at `limit` characters."""
    kept = text[: 4 * limit]
    seen = "".join(one if one.isprintable() else " " if one.isspace() else "\ufffd" for one in kept)
    words = " ".join(seen.split())
    return words if len(words) <= limit and len(kept) == len(text) else f"{words[:limit]}…"


def comment(text: str) -> list[str]:
    """Return a comment of one or more lines."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False
    )


def question(text: str, examples: Iterable[str] = ()) -> list[str]:
    """Return a question to the author of the contract, and examples of an answer, each a line of TOML."""
    asked = textwrap.wrap(
        text, _WIDTH, initial_indent=_MARK, subsequent_indent="#   ", break_on_hyphens=False, break_long_words=False
    )
    return [*asked, *(f"# {line}" for line in examples)]
