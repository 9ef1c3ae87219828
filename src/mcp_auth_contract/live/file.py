"""Reading a file of live records, and refusing anything in it that a reviewer could not rely on."""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_auth_contract.errors import ContractError, UsageError
from mcp_auth_contract.reports.model import LiveRecord
from mcp_auth_contract.suggest import suggest

DEFAULT_NAME = "mcp-auth-contract-live.toml"
"""The file beside the contract that is read where none is named."""

STEPS: Mapping[str, str] = {
    "connect": "Add the server in the host by its URL. The host must find the authorization server by itself.",
    "link": "Sign in. The host must open the authorization server's own page, with your server named as the resource.",
    "consent": "Read the consent page. It must name the scopes that the contract asks for, and no others.",
    "first-call": "Let the host call a tool that needs a scope. The result must be that of the user who signed in.",
    "step-up": "Let the host call a tool that needs a further scope. It must ask for that scope, and then call.",
    "reconnect": "Wait until the access token has expired, or restart the host. It must go on without a new sign-in.",
    "unlink": "Remove the server in the host, or revoke its access. A further call must fail.",
}
"""The steps of a record, with what to do and what must be seen."""

OUTCOMES = ("passed", "failed", "not applicable")
"""How a step may have ended."""

_KEYS = ("host", "version", "date", "who", "expires", "note", "steps")


@dataclass(frozen=True, slots=True)
class _Entry:
    file: Path
    number: int
    values: Mapping[str, Any]

    def fault(self, key: str, what: str) -> ContractError:
        host = self.values.get("host")
        told = f" ({host})" if isinstance(host, str) and host else ""
        return ContractError(f"{self.file}: record {self.number}{told}: {key}: {what}")

    def text(self, key: str, what: str, *, required: bool = True) -> str:
        value = self.values.get(key, "")
        if not isinstance(value, str):
            raise self.fault(key, f"must be a string; {what}")
        if required and not value.strip():
            raise self.fault(key, f"{'left to fill in' if key in self.values else 'missing'}; {what}")
        return " ".join(value.split())

    def day(self, key: str, what: str) -> datetime.date:
        value = self.values.get(key, "")
        if isinstance(value, str) and not value.strip():
            raise self.fault(key, f"{'left to fill in' if key in self.values else 'missing'}; {what}")
        if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
            raise self.fault(key, f"must be a date without quotes and time; {what}")
        return value


def find_records(named: Path | None, contract: Path) -> tuple[LiveRecord, ...]:
    """Return the records of the named file, else of mcp-auth-contract-live.toml beside the contract, if there."""
    if named is not None:
        return load_records(named)
    beside = contract.parent / DEFAULT_NAME
    return load_records(beside) if beside.is_file() else ()


def load_records(file: Path) -> tuple[LiveRecord, ...]:
    """Return the records of a file, in its order.

    Raises UsageError when there is no such file, ContractError, naming file, record, key and repair, for one that
    cannot be read, an unknown key or step, and what is left to fill in.
    """
    if not file.is_file():
        raise UsageError(f"{file}: no such file of live records")
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ContractError(f"{file}: not readable as TOML: {fault}") from None
    except OSError as fault:
        raise ContractError(f"{file}: cannot be read: {fault.strerror}") from None
    for word in content:
        if word != "record":
            raise ContractError(f"{file}: {word}: unknown table; {suggest(word, ['record'])}")
    tables = content.get("record", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ContractError(f"{file}: record: write each one as a table of its own, below a line [[record]]")
    return tuple(_record(_Entry(file, number, values)) for number, values in enumerate(tables, 1))


def _record(entry: _Entry) -> LiveRecord:
    for key in entry.values:
        if key not in _KEYS:
            raise entry.fault(key, f"unknown key; {suggest(key, _KEYS)}")
    date = entry.day("date", "write the day of the walk, as in date = 2027-02-01")
    expires = entry.day("expires", "write the last day on which it counts, as in expires = 2027-05-01")
    if expires < date:
        raise entry.fault("expires", f"lies before the day of the walk ({date})")
    return LiveRecord(
        host=entry.text("host", "name the host, as release.hosts of the contract does"),
        version=entry.text("version", "write the host's version, or its date where it has none"),
        date=date,
        who=entry.text("who", "name who walked the steps"),
        expires=expires,
        steps=_steps(entry),
        note=entry.text("note", "say what the reviewer should know", required=False),
    )


def _steps(entry: _Entry) -> tuple[tuple[str, str], ...]:
    steps = entry.values.get("steps")
    if not isinstance(steps, dict):
        raise entry.fault("steps", f"missing; write how each step ended: {', '.join(STEPS)}")
    for step in steps:
        if step not in STEPS:
            raise entry.fault(f"steps.{step}", f"unknown step; {suggest(step, STEPS)}")
    for step in STEPS:
        if steps.get(step) not in OUTCOMES:
            told = "missing" if step not in steps else "left to fill in" if not steps[step] else "unknown outcome"
            raise entry.fault(f"steps.{step}", f'{told}; write "passed", "failed" or "not applicable"')
    return tuple((step, steps[step]) for step in STEPS)
