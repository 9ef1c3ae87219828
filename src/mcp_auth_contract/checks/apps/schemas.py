"""JSON Schema: what the extension says of its metadata, and what a tool promises of its result."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

from mcp_auth_contract.datafiles import data_folder

_FILE = "mcp-apps-2.0.4.json"
_MOST = 120
_NAMES = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose members are named by the author."""
_DATA = frozenset({"const", "enum", "default", "examples"})


class Unevaluated(Exception):
    """A schema that cannot be used, or that the kit does not evaluate."""


@cache
def metadata_schema(name: str) -> Mapping[str, Any]:
    """Return a definition of the extension's published schema (MCP Apps, `schema.json`)."""
    text = (data_folder("scenarios") / "schemas" / _FILE).read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)["$defs"][name]
    return found


def faults(value: object, schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what a value breaks of a schema: the keyword, the place in the value, what is wrong. Raises Unevaluated."""
    # Loading the library takes as long as some runs: only contracts with Views pay for it.
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    tame: Any = _tamed(schema)
    kind = validator_for(tame, default=Draft202012Validator)
    found: list[ValidationError] = []
    try:
        kind.check_schema(tame)
        # An empty registry: nothing is fetched for a reference.
        found += kind(tame, registry=Registry()).iter_errors(cast("Any", value))
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, AttributeError) as error:
        raise Unevaluated(f"not a usable JSON Schema ({type(error).__name__})") from None
    for one in found:
        place = "/".join(map(str, one.absolute_path))
        yield str(one.validator), place, one.message[:_MOST]


def _tamed(schema: Any) -> Any:
    """Return a schema without regular expressions, which are the server's and could keep the kit busy for ever.

    Where names are patterns, nothing is said about further names either.
    """
    if isinstance(schema, list):
        return [_tamed(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    dropped = {"pattern"}
    if "patternProperties" in schema:
        dropped |= {"patternProperties", "additionalProperties", "unevaluatedProperties"}
    tame: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _NAMES and isinstance(value, Mapping):
            tame[keyword] = {name: _tamed(one) for name, one in value.items()}
        elif keyword not in dropped:
            tame[keyword] = value if keyword in _DATA else _tamed(value)
    return tame
