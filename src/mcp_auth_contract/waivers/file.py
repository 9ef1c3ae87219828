"""Reading a waivers file, and refusing anything in it that is not plainly somebody's decision."""

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.errors import ContractError, UsageError
from mcp_auth_contract.reports.model import Waiver
from mcp_auth_contract.suggest import suggest

_DEFAULT_NAME = "mcp-auth-contract-waivers.toml"
_KEYS = ("check", "case", "reason", "owner", "expires")
_WHAT = {
    "reason": "say why it is accepted for now",
    "owner": "name who answers for it",
    "expires": "write the last day on which it counts, as in expires = 2027-03-31",
}
_PATTERN = frozenset("*?")


@dataclass(frozen=True, slots=True)
class _Entry:
    file: Path
    number: int
    values: Mapping[str, Any]

    def fault(self, key: str, what: str) -> ContractError:
        told = next((f" ({self.values[one]})" for one in ("check", "case") if self.values.get(one)), "")
        return ContractError(f"{self.file}: waiver {self.number}{told}: {key}: {what}")


def find_waivers(named: Path | None, contract: Path, checks: Sequence[Check]) -> tuple[Waiver, ...]:
    """Return the waivers of the named file, else of mcp-auth-contract-waivers.toml beside the contract, if there."""
    if named is not None:
        return load_waivers(named, checks)
    beside = contract.parent / _DEFAULT_NAME
    return load_waivers(beside, checks) if beside.is_file() else ()


def load_waivers(file: Path, checks: Sequence[Check]) -> tuple[Waiver, ...]:
    """Return the waivers of a file, in its order.

    Raises UsageError when there is no such file, ContractError, naming file, entry, key and nearest known word, for
    one that cannot be read, an unknown key or check, a pattern, a waiver twice, and what is left to fill in.
    """
    if not file.is_file():
        raise UsageError(f"{file}: no such waivers file")
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ContractError(f"{file}: not readable as TOML: {fault}") from None
    except OSError as fault:
        raise ContractError(f"{file}: cannot be read: {fault.strerror}") from None
    for word in content:
        if word != "waiver":
            raise ContractError(f"{file}: {word}: unknown table; {suggest(word, ['waiver'])}")
    tables = content.get("waiver", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ContractError(f"{file}: waiver: write each one as a table of its own, below a line [[waiver]]")
    known = {check.id for check in checks}
    waivers: dict[tuple[str | None, str | None], Waiver] = {}
    for number, values in enumerate(tables, 1):
        waiver = _waiver(_Entry(file, number, values), known)
        earlier = waivers.setdefault((waiver.check, waiver.case), waiver)
        if earlier is not waiver:
            key = "check" if waiver.check is not None else "case"
            raise ContractError(f"{waiver.entry}: {key}: waived by waiver {earlier.number} already; keep one of them")
    return tuple(waivers.values())


def _waiver(entry: _Entry, known: set[str]) -> Waiver:
    values = entry.values
    for key in values:
        if key not in _KEYS:
            raise entry.fault(key, f"unknown key; {suggest(key, _KEYS)}")
    if ("check" in values) is ("case" in values):
        raise entry.fault("check", 'write either check = "id" or case = "id[…]", and not both')
    check = _id(entry, "check", known) if "check" in values else None
    case = _id(entry, "case", known) if "case" in values else None
    return Waiver(
        file=str(entry.file),
        number=entry.number,
        check=check,
        case=case,
        reason=_text(entry, "reason"),
        owner=_text(entry, "owner"),
        expires=_day(entry),
    )


def _id(entry: _Entry, key: str, known: set[str]) -> str:
    value = entry.values[key]
    if not isinstance(value, str) or not value.strip():
        raise entry.fault(key, "must be an id, as `mcp-auth-contract plan` prints it")
    name = value.split("[", 1)[0]
    if name not in known:
        if _PATTERN & set(name):
            raise entry.fault(key, f'"{value}" is a pattern; a waiver takes one exact id')
        hint = suggest(name, known, "`mcp-auth-contract list` names them all")
        raise entry.fault(key, f'no check is called "{name}"; {hint}')
    if key == "check" and "[" in value:
        raise entry.fault(key, f'"{value}" is a case; write case = "{value}"')
    return value


def _text(entry: _Entry, key: str) -> str:
    value = entry.values.get(key)
    if key not in entry.values:
        raise entry.fault(key, f"missing; {_WHAT[key]}")
    if not isinstance(value, str):
        raise entry.fault(key, f"must be a string; {_WHAT[key]}")
    if not value.strip():
        raise entry.fault(key, f"left to fill in; {_WHAT[key]}")
    return " ".join(value.split())


def _day(entry: _Entry) -> datetime.date:
    value = entry.values.get("expires")
    if "expires" not in entry.values:
        raise entry.fault("expires", f"missing; {_WHAT['expires']}")
    if isinstance(value, str) and not value.strip():
        raise entry.fault("expires", f"left to fill in; {_WHAT['expires']}")
    if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
        raise entry.fault("expires", f"must be a date without quotes and time; {_WHAT['expires']}")
    return value
