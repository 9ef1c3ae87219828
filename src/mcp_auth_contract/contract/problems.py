"""What is wrong with a contract: one line for each problem, in the words of the file's author."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from mcp_auth_contract.contract.models import Contract
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.suggest import suggest

_SHOWN_CHARACTERS = 80

_Location = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: `key: what (value); repair`. `value` is already in the file's notation, or None to keep it back."""

    key: str
    what: str
    repair: str
    value: str | None = None

    def __str__(self) -> str:
        value = "" if self.value is None else f" ({self.value})"
        return f"{self.key}: {self.what}{value}; {self.repair}"


def contract_error(label: str, problems: Iterable[Problem]) -> ContractError:
    """Return the error that tells all problems of the contract `label`, one a line, each once."""
    return ContractError("\n".join(dict.fromkeys(f"{label}: {_one_line(str(problem))}" for problem in problems)))


def _one_line(text: str) -> str:
    """A name may hold line breaks or the control sequences of a terminal."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def key_name(location: _Location, tables: object) -> str:
    """Return how the author finds a place in the file: `tools[get_invoice].scopes[2]`, counting from 1.

    An entry of a list is called by its name or URI where it has one. `tables` is the file as read.
    """
    name = ""
    for step in location:
        tables = _step(tables, step)
        if isinstance(step, str):
            name += f".{step}" if name else step
        else:
            own = tables.get("name", tables.get("uri")) if isinstance(tables, Mapping) else None
            name += f"[{own if isinstance(own, str) and own else step + 1}]"
    return name


def validation_problems(error: ValidationError, tables: object, below: _Location = ()) -> list[Problem]:
    """Translate pydantic's errors; values are shown as they stand in `tables`, never as validated.

    `below` is the place of what was validated, when it was not all of the tables.
    """
    details = error.errors()
    return [
        _problem(detail["type"], below + detail["loc"], detail.get("ctx", {}), tables)
        for detail in details
        if not (detail["type"] == "too_short" and _has_wrong_entry(detail["loc"], details))
    ]


def _has_wrong_entry(location: _Location, details: Sequence[Mapping[str, Any]]) -> bool:
    """A list that is too short only because its entries are wrong is no problem of its own."""
    depth = len(location)
    return any(len(other["loc"]) > depth and other["loc"][:depth] == location for other in details)


_DIGITS = "write digits without quotes"
_PLAIN = {
    "string_type": ("not text", "write it in quotes"),
    "int_type": ("not a whole number", _DIGITS),
    "int_from_float": ("not a whole number", _DIGITS),
    "float_type": ("not a number", _DIGITS),
    "finite_number": ("not a number", _DIGITS),
    "bool_type": ("neither true nor false", "write true or false without quotes"),
    "greater_than": ("too small", "write a number above {gt:g}"),
    "greater_than_equal": ("too small", "write {ge:g} or more"),
    "less_than_equal": ("too large", "write {le:g} or less"),
    "contract_problem": ("{what}", "{repair}"),
}
"""By pydantic's type of error: what is wrong, and how to repair it, with members of its context in braces."""


def _problem(kind: str, location: _Location, context: Mapping[str, Any], tables: object) -> Problem:
    if location and location[-1] == "[key]":
        return Problem(key_name(location[:-1], tables), f"the name is {context.get('what')}", context["repair"])
    location = _inside(location, tables)
    if context.get("at"):
        location = (*location, context["at"])
    key, value = key_name(location, tables), reduce(_step, location, tables)
    # In a key whose values are never shown (`repr=False`) something may be secret.
    fields = (_field_at(location[:depth]) for depth in range(1, len(location) + 1))
    shown = None if any(field is not None and not field.repr for field in fields) else _shown(value)
    if kind in _PLAIN:
        what, repair = (text.format_map(context) for text in _PLAIN[kind])
        return Problem(key, what, repair, shown)
    match kind:
        case "extra_forbidden":
            known = _table_at(location[:-1])
            keys = sorted(known.model_fields) if known is not None else []
            return Problem(key, "unknown key", suggest(str(location[-1]), keys, f"the keys here are {', '.join(keys)}"))
        case "missing" | "too_short":
            return Problem(key, "missing" if kind == "missing" else "empty", _missing_repair(location))
        case "literal_error" | "enum":
            words = re.findall(r"'([^']*)'", context["expected"])
            repair = "write one of " + ", ".join(f'"{word}"' for word in words)
            repair = suggest(value, words, repair) if isinstance(value, str) else repair
            return Problem(key, "unknown word", repair, shown)
        case "tuple_type":
            repair = f"write [{shown}]" if isinstance(value, str) and shown and len(value) < 20 else "write it in [ ]"
            if isinstance(value, Mapping) and len(location) == 1:
                repair = f"write its header as [[{location[0]}]]"
            return Problem(key, "not a list", repair, shown)
        case "mapping_type" | "dict_type" | "model_type" | "model_attributes_type":
            return Problem(key, "not a table", _table_repair(location, value), shown)
        case "invalid-json-value":
            return Problem(key, "holds a value that JSON does not have", "write dates and times as text in quotes")
        case _:
            return Problem(key, "not a value this key takes", f"compare it with the reference of {key}", shown)


def _inside(location: _Location, tables: object) -> _Location:
    """Return the part of a location that is in the file; the rest names a branch of one of pydantic's unions."""
    for depth, step in enumerate(location[:-1]):
        tables = _step(tables, step)
        if not isinstance(tables, Mapping | list | tuple):
            return location[: depth + 1]
    return location


def _step(tables: object, step: int | str) -> object:
    if isinstance(tables, Mapping):
        return tables.get(step)
    if isinstance(tables, Sequence) and not isinstance(tables, str) and isinstance(step, int) and step < len(tables):
        return tables[step]
    return None


def _shown(value: object) -> str | None:
    match value:
        case Enum():
            return _shown(value.value)
        case bool() | int() | float() | str():
            # A URL may hold a password before its host.
            text = json.dumps(value, ensure_ascii=False)
            before, slashes, rest = text.partition("//")
            _, at, after = rest.rpartition("@")
            text = f"{before}//…@{after}" if slashes and at else text
            return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        case _:
            return None


def _missing_repair(location: _Location) -> str:
    field = _field_at(location)
    match location:
        case ("target",):
            return 'add [target] with url = "http://127.0.0.1:8000/mcp"'
        case ("principals",):
            return 'add [principals.alice] with subject = "alice"'
        case _ if field is not None and field.examples:
            return f"write {location[-1]} = {json.dumps(field.examples[0])}"
        case _ if field is not None and isinstance(field.default, tuple) and field.default:
            return f"write {location[-1]} = {json.dumps(field.default)}"
        case _:
            return "write something or remove the key"


def _table_repair(location: _Location, value: object) -> str:
    match location:
        case (str(name),) if name != "principals" and isinstance(value, list):
            return f"write its header as [{name}]"
        case ("principals",):
            return "write one header for each, [principals.NAME]"
        case ("principals", name):
            return f"write its keys under [principals.{name}]"
        case (str(name),):
            return f"write its keys under [{name}]"
        case _:
            return "write it as { key = value }"


def _field_at(location: _Location) -> FieldInfo | None:
    table = _table_at(location[:-1])
    return None if table is None else table.model_fields.get(str(location[-1]))


def _table_at(location: _Location) -> type[BaseModel] | None:
    """Return the table whose keys stand at a location, or None for a free mapping."""
    table: type[BaseModel] | None = Contract
    for depth, step in enumerate(location):
        if table is None:
            return None
        names_a_principal = depth == 1 and location[0] == "principals"
        if isinstance(step, int) or names_a_principal:
            continue
        field = table.model_fields.get(step)
        table = _table_in(field.annotation) if field is not None else None
    return table


def _table_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        table = _table_in(inner)
        if table is not None:
            return table
    return None
