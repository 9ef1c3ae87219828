"""The text of a contract as a report may hold it, and the line on which it declares a thing."""

import re
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

MARK = "<redacted>"

_TEXT_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_VARIABLES_ALONE = re.compile(r"(?:\$\{[^}]*\})*")
_SECRET_TABLES = frozenset({"headers", "env"})
_SECRET_NAME = re.compile(r"(?i)secret|passw|token|credential|authorization|cookie|api.?key|private")
_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_\"'. -]+?)\s*\]\]?\s*")
_PUBLIC_NAMES = frozenset({"issuer.tokens"})
_SHORTEST = 8
_NAMED_BY = {"tools": "name", "resources": "uri", "prompts": "name", "records": "name"}


def published_source(text: str) -> str | None:
    """Return the text of a contract without comments and without what may be a secret; its lines stay where they are.

    What `headers` and `env` say, and every key whose name tells of a secret, is replaced unless it consists of
    variables alone. None where that cannot be done safely.
    """
    try:
        document = tomlkit.parse(text)
        secrets = set(_hidden(document))
        shown = "".join(_without_comments(tomlkit.dumps(document)))
        tomllib.loads(shown)
    except (TOMLKitError, ValueError, TypeError, KeyError):
        return None
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            shown = shown.replace(secret, MARK)
    same = len(shown.split("\n")) == len(text.split("\n"))
    return shown if same else None


def _without_comments(text: str) -> Iterator[str]:
    end = 0
    for found in _TEXT_OR_COMMENT.finditer(text):
        before = text[end : found.start()]
        comment = found[0].startswith("#")
        yield before.rstrip(" \t") if comment else before
        yield "" if comment else found[0]
        end = found.end()
    yield text[end:]


def _hidden(table: MutableMapping[str, Any], place: str = "", *, secret: bool = False) -> Iterator[str]:
    """Replace what may be a secret in a document, and yield it."""
    for key, value in list(table.items()):
        here = f"{place}{key}"
        hide = secret or key in _SECRET_TABLES or (bool(_SECRET_NAME.search(key)) and here not in _PUBLIC_NAMES)
        yield from _hidden_value(table, key, value, here, secret=hide)


def _hidden_value(
    parent: MutableMapping[str, Any] | MutableSequence[Any], key: Any, value: Any, place: str, *, secret: bool
) -> Iterator[str]:
    if isinstance(value, MutableMapping):
        yield from _hidden(value, f"{place}.", secret=secret)
    elif isinstance(value, MutableSequence):
        words = [secret] * len(value)
        if place == "target.start":  # the value of an option stands in the option or behind it
            told = [bool(_SECRET_NAME.search(str(one))) for one in value]
            options = [one and str(value[at]).startswith("-") and "=" not in value[at] for at, one in enumerate(told)]
            words = [(one and "=" in value[at]) or (at > 0 and options[at - 1]) for at, one in enumerate(told)]
        for at, one in enumerate(list(value)):
            yield from _hidden_value(value, at, one, place, secret=words[at])
    elif secret and isinstance(value, str) and not _VARIABLES_ALONE.fullmatch(value):
        lines = value.as_string().count("\n") if hasattr(value, "as_string") else 0
        parent[key] = tomlkit.string(MARK + "\n" * lines, multiline=lines > 0)
        yield str(value)


def declared_lines(source: str) -> Mapping[tuple[str, str], int]:
    """Return the line, from 1, on which a contract declares each thing, by table and name.

    `("target", "")` is the server, `("tools", "get_invoice")` a tool, `("principals", "alice")` a principal. A thing
    that stands in no table of its own (an inline array) is left out.
    """
    try:
        tables = tomllib.loads(source)
    except ValueError:
        return {}
    plain = _TEXT_OR_COMMENT.sub(
        lambda found: re.sub(r"[^\n]", "_", found[0]) if "\n" in found[0] else found[0], source
    )
    found: dict[tuple[str, str], int] = {}
    counted: dict[str, int] = {}
    for number, line in enumerate(plain.split("\n"), 1):
        header = _HEADER.match(line)
        if header is None:
            continue
        table = header[2].strip()
        if header[1] == "[[" and table in _NAMED_BY:
            entries, place = tables.get(table, []), counted.get(table, 0)
            counted[table] = place + 1
            if place < len(entries):
                found.setdefault((table, str(entries[place].get(_NAMED_BY[table], ""))), number)
        elif header[1] == "[":
            name, _, rest = table.partition(".")
            found.setdefault((name, rest.strip("\"'") if name == "principals" else ""), number)
    return found
