"""Waivers: read from a file, laid over the results of a run, told when they are no longer true, drafted."""

import datetime
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.errors import ContractError, UsageError
from mcp_auth_contract.model import Fail, NotApplicable, Pass
from mcp_auth_contract.plan import Plan, Selection
from mcp_auth_contract.reports.groups import Part, by_check, more, part_of
from mcp_auth_contract.reports.model import Report, Result, Waiver
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


def in_scope(waivers: Sequence[Waiver], plan: Plan, selection: Selection) -> tuple[Waiver, ...]:
    """Return the waivers, those marked as not judged that are about more than the selection lets run.

    A selected case may hold while another of the same check, which was not asked, still needs the waiver.
    """
    return tuple(replace(waiver, judged=_selected(waiver, plan, selection)) for waiver in waivers)


def _selected(waiver: Waiver, plan: Plan, selection: Selection) -> bool:
    if any(waiver.matches(case.id, case.check.id) for case in plan.left_out):
        return False
    if any(waiver.matches(case.id, case.check.id) for case in plan.cases):
        return True
    name = waiver.check or waiver.case or ""
    return selection.admits_name(name, name.split("[", 1)[0])


def waive(results: Sequence[Result], waivers: Sequence[Waiver], today: datetime.date) -> tuple[Result, ...]:
    """Return the results, each failure with the waiver that covers it. One of the case goes before one of its check.

    What could not be observed is never waived: nobody has seen what there is to answer for.
    """
    valid = [waiver for waiver in waivers if not waiver.expired(today)]
    by_case = {waiver.case: waiver for waiver in valid if waiver.case is not None}
    by_check = {waiver.check: waiver for waiver in valid if waiver.check is not None}

    def waived(result: Result) -> Result:
        if not isinstance(result.outcome, Fail):
            return result
        return replace(result, waived=by_case.get(result.case) or by_check.get(result.check.id))

    return tuple(waived(result) for result in results)


def stale_waivers(
    waivers: Sequence[Waiver], results: Sequence[Result], today: datetime.date, *, whole: bool = True
) -> tuple[str, ...]:
    """Return a sentence, with file, entry and repair, for each waiver that has expired or covers no failure.

    `whole` is false for one shard of a run: what its waivers are about may stand in another one, so that only expiry
    can be told. A waiver of something that was not seen is not judged; the gate is shut for that anyway.
    """
    said = []
    for waiver in waivers:
        if waiver.expired(today):
            said.append(
                f"{waiver.entry}: expired on {waiver.expires}; repair the server and remove it, "
                f"or have {waiver.owner} agree to a new date"
            )
        elif whole and waiver.judged and (why := _idle(waiver, results)):
            said.append(f"{waiver.entry}: {why}")
    return tuple(said)


def _idle(waiver: Waiver, results: Sequence[Result]) -> str | None:
    matched = [result for result in results if waiver.matches(result.case, result.check.id)]
    absent = [result.outcome.reason for result in matched if isinstance(result.outcome, NotApplicable)]
    if not matched:
        hint = "" if waiver.case is None else suggest(waiver.case, {result.case for result in results}, "")
        repair = f"{hint} Else remove it" if hint else "remove it"
        return f"matches no case of this run; {repair}"
    if len(absent) == len(matched):
        return f"what it is about was not run ({absent[0]}); remove it, or keep it in a file for the run that shows it"
    if all(isinstance(result.outcome, Pass | NotApplicable) for result in matched):
        return "what it is about passes; remove it"
    return None


_HEAD = """\
# Waivers drafted by mcp-auth-contract {version} for {contract}, run of {started}.
# Each needs an owner, who answers for it, and a last day: expires = 2027-03-31 (no quotes).
# Until both are filled in, the file is refused. What passes or has expired shuts the gate: remove it then.
"""


def draft_waivers(report: Report, *, whole: bool) -> str | None:
    """Return the text of a waivers file for each failure that shuts the gate, None where there is none.

    A check of which every case that ran has failed is one entry where the run was a `whole` one; else each case is one.
    """
    parts = [(part_of(result, report.gate), result) for result in report.results]
    failed = [result for part, result in parts if part is Part.FAILED]
    others = {result.check.id for part, result in parts if part not in (Part.FAILED, Part.NOT_APPLICABLE)}
    if not failed:
        return None
    contract = json.dumps(report.contract, ensure_ascii=True)
    head = _HEAD.format(version=report.kit_version, contract=contract, started=report.started)
    day = report.started[:10]
    entries = []
    for results in by_check(failed):
        check = results[0].check.id
        cases: dict[str, list[Result]] = {}
        for result in results:
            cases.setdefault(result.case, []).append(result)
        if whole and len(cases) > 1 and check not in others:
            entries.append(_entry("check", check, results, day))
        else:
            entries += [_entry("case", case, alike, day) for case, alike in cases.items()]
    return "\n".join([head, *entries])


def _entry(key: str, name: str, failed: Sequence[Result], day: str) -> str:
    return "\n".join(
        [
            f"# {failed[0].check.title}: {_comment(failed[0].said)}{more(failed)}",
            "[[waiver]]",
            f"{key} = {_string(name)}",
            f'reason = "failed when this was drafted, {day}"',
            'owner = ""    # who answers for it',
            'expires = ""  # the last day on which it counts',
            "",
        ]
    )


def _comment(text: str) -> str:
    """Text for a comment of one line. What cannot be printed, a line end above all, is escaped."""
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def _string(text: str) -> str:
    """A TOML basic string. What a server wrote into it is escaped; TOML knows no surrogates."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
