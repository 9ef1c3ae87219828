"""Arguments for a call of which only a JSON Schema and the server's own lists are known."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.contract.templates import expand, template_variables
from mcp_auth_contract.init.inspection import Inspection
from mcp_auth_contract.init.toml import Unwritable, key, value

_MOST = 30
_MOST_LISTED = 100
_LONGEST = 300
_LONGEST_KNOWN = 200
_DEEPEST = 6
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "alice@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000001",
}
_KINDS = ("string", "integer", "number", "boolean", "object", "array")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments for one call. `made_up` names those that nothing gave, `missing` those that could not be made."""

    values: Mapping[str, Any] = field(default_factory=dict)
    made_up: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Example:
    value: object
    made_up: bool


@dataclass(slots=True)
class _Making:
    """The schema that references start from, values known by name, and how many more parts of it are looked at."""

    root: Mapping[str, Any]
    known: Mapping[str, str]
    left: int = 500


def example_text(name: str) -> str:
    """Return a text for an argument of which nothing but the name is known."""
    return f"{name}-1" if name.isascii() and name.isidentifier() and len(name) < 40 else "example"


def known_values(seen: Inspection) -> Mapping[str, str]:
    """Return by name the values of template variables that the listed resources show.

    `invoice://INV-1` beside the template `invoice://{invoice_id}` says that INV-1 is an invoice_id.
    """
    found: dict[str, str] = {}
    for template in _texts(seen, "templates", "uriTemplate"):
        names, parts = template_variables(template), re.split(r"\{[^{}]*\}", template)
        if len(names) != 1 or len(parts) != 2:
            continue
        for uri in _texts(seen, "resources", "uri"):
            text = unquote(uri[len(parts[0]) : len(uri) - len(parts[1])])
            if 0 < len(text) <= _LONGEST_KNOWN and expand(template, {names[0]: text}) == uri:
                found.setdefault(names[0], text)
                break
    return found


def _texts(seen: Inspection, kind: str, member: str) -> Iterator[str]:
    for entry in seen.lists[kind].entries[:_MOST_LISTED] if kind in seen.lists else ():
        text = entry.get(member)
        if isinstance(text, str) and len(text) <= _LONGEST_KNOWN:
            yield text


def arguments_of(schema: object, known: Mapping[str, str]) -> Arguments:
    """Return a value for each required argument of an `inputSchema` (JSON Schema 2020-12, as far as tools use it).

    `known` are texts by name of the argument, better than any that can be made up.
    """
    if not isinstance(schema, Mapping):
        return Arguments()
    making, names = _Making(schema, known), _required(schema)
    values: dict[str, object] = {}
    made_up, missing = [], list(names[_MOST:])
    for name in names[:_MOST]:
        example = _example(_member(schema, name), making, name, 0)
        if example is None or not _fits(name, example.value):
            missing.append(name)
            continue
        values[name] = example.value
        if example.made_up:
            made_up.append(name)
    return Arguments(values, tuple(made_up), tuple(missing))


def _required(schema: Mapping[str, Any]) -> list[str]:
    named = schema.get("required")
    return list(dict.fromkeys(one for one in named if isinstance(one, str))) if isinstance(named, list) else []


def _member(schema: Mapping[str, Any], name: str) -> object:
    properties = schema.get("properties")
    return properties.get(name) if isinstance(properties, Mapping) else None


def _fits(name: str, given: object) -> bool:
    try:
        return len(key(name).as_string()) + len(value(given).as_string()) <= _LONGEST
    except Unwritable:
        return False


def _example(schema: object, making: _Making, name: str, depth: int) -> _Example | None:
    """Return a value that a schema allows, as far as that is easily seen; None where there is none to be seen."""
    making.left -= 1
    if depth > _DEEPEST or making.left < 0:
        return None
    if not isinstance(schema, Mapping):
        return _Example(example_text(name), made_up=True)
    given = _given(schema)
    if given is not None:
        return given
    reference = schema.get("$ref")
    if isinstance(reference, str):
        led_to = pointed_at(making.root, reference.removeprefix("#")) if reference.startswith("#") else None
        return _example(led_to, making, name, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        choices = schema.get(word)
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("type") != "null":
                return _example(choice, making, name, depth + 1)
    return _by_kind(schema, making, name, depth)


def _given(schema: Mapping[str, Any]) -> _Example | None:
    """Return what the schema itself offers."""
    for word in ("const", "default"):
        if schema.get(word) is not None:
            return _Example(schema[word], made_up=False)
    for word in ("examples", "enum"):
        offered = schema.get(word)
        first = next((one for one in offered if one is not None), None) if isinstance(offered, list) else None
        if first is not None:
            return _Example(first, made_up=False)
    return None


def _by_kind(schema: Mapping[str, Any], making: _Making, name: str, depth: int) -> _Example | None:
    stated = schema.get("type")
    kinds = stated if isinstance(stated, list) else [stated]
    made: object = None
    match next((one for one in kinds if one in _KINDS), None):
        case "integer":
            made = _number(schema)
        case "number":
            made = float(_number(schema))
        case "boolean":
            made = False
        case "array":
            member = _example(schema.get("items"), making, name, depth + 1) if schema.get("minItems") else None
            made = [member.value] if member else None if schema.get("minItems") else []
        case "object":
            made = _object(schema, making, depth)
        case _:
            made = making.known.get(name) or _text(schema, name)
    return None if made is None else _Example(made, made_up=True)


def _number(schema: Mapping[str, Any]) -> int:
    lowest = _limit(schema, "minimum", "exclusiveMinimum", 1)
    highest = _limit(schema, "maximum", "exclusiveMaximum", -1)
    number = 1 if lowest is None else max(1, lowest)
    return number if highest is None else min(number, highest)


def _limit(schema: Mapping[str, Any], inclusive: str, exclusive: str, step: int) -> int | None:
    for word, beyond in ((inclusive, 0), (exclusive, step)):
        limit = schema.get(word)
        if isinstance(limit, int | float) and not isinstance(limit, bool) and abs(limit) < 2**53:
            return int(limit) + beyond
    return None


def _text(schema: Mapping[str, Any], name: str) -> str:
    form = schema.get("format")
    if isinstance(form, str) and form in _FORMATS:
        return _FORMATS[form]
    text = example_text(name)
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    if isinstance(shortest, int) and len(text) < shortest <= _LONGEST:
        text = text.ljust(shortest, "x")
    return text[:longest] if isinstance(longest, int) and longest > 0 else text


def _object(schema: Mapping[str, Any], making: _Making, depth: int) -> dict[str, object] | None:
    members: dict[str, object] = {}
    for name in _required(schema)[:_MOST]:
        member = _example(_member(schema, name), making, name, depth + 1)
        if member is None:
            return None
        members[name] = member.value
    return members
