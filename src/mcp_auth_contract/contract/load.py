"""Reading a contract file: all its problems at once, one line each."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mcp_auth_contract.contract.consistency import inconsistencies
from mcp_auth_contract.contract.interpolate import unknown_variables
from mcp_auth_contract.contract.models import Contract
from mcp_auth_contract.contract.problems import Problem, contract_error, validation_problems
from mcp_auth_contract.errors import ContractError

PYPROJECT = "pyproject.toml"
"""A file of this name holds the contract in a table."""

_TABLE = "mcp-auth-contract"
_ABOUT_THE_PLACE = frozenset({"app", "env", "path", "ready", "start", "url"})


def load_contract(path: Path) -> Contract:
    """Read and check a contract file; its variables are still in it.

    Raises ContractError with one line for each problem: `file: key: what is wrong (value); repair`.
    """
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ContractError(f"{path}: no such file; write one, or run without a contract to see the sample") from None
    except UnicodeDecodeError:
        raise ContractError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ContractError(f"{path}: cannot be read ({error.strerror}); name a file that you may read") from None
    return read_contract(text, path)


def read_contract(text: str, source: Path) -> Contract:
    """Check the text of a contract file, as `load_contract` does for a file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise contract_error(str(source), [_not_toml(str(error))]) from None
    except ValueError:  # Python refuses to read an integer of thousands of digits
        raise ContractError(f"{source}: not TOML: a number with too many digits; write it as text in quotes") from None
    except RecursionError:
        raise ContractError(f"{source}: not TOML that can be read: nested too deeply; nest less") from None
    if source.name == PYPROJECT:
        own = table_in(tables)
        if own is None:
            raise ContractError(f"{source}: no table [tool.{_TABLE}]; write the contract below it, or name its file")
        tables = own
    problems = unknown_variables(tables)
    try:
        contract = Contract.model_validate(tables)
    except ValidationError as error:
        raise contract_error(str(source), [*validation_problems(error, tables), *problems]) from None
    problems += inconsistencies(contract, resolved=False)
    if problems:
        raise contract_error(str(source), problems)
    return contract.located(source)


def table_in(tables: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the contract that stands in a pyproject.toml, None where it has none."""
    tools = tables.get("tool")
    own = tools.get(_TABLE) if isinstance(tools, dict) else None
    return own if isinstance(own, dict) else None


def _not_toml(message: str) -> Problem:
    """Move the place to the front of what tomllib says: `Invalid value (at line 3, column 8)`."""
    what, told, place = message.removesuffix(")").rpartition(" (at ")
    if not told:
        what, place = message, "somewhere"
    twice = re.search("overwrite|twice|already", what) is not None
    return Problem(place, f"not TOML: {what}", "keep one of them" if twice else "correct it (https://toml.io)")


def at_url(contract: Contract, url: str) -> Contract:
    """Return the contract for a server at another URL, which nobody starts; a resource it names stays what it is.

    Raises ContractError as `load_contract` does, for a host that the contract does not authorize above all.
    """
    tables = contract.raw()
    kept = {key: value for key, value in tables["target"].items() if key not in _ABOUT_THE_PLACE}
    moved = {**tables, "target": {**kept, "url": url}}
    try:
        return Contract.model_validate(moved).located(contract.source)
    except ValidationError as error:
        raise contract_error(contract.label, validation_problems(error, moved)) from None
