"""Failures told by their cause, from scenarios/causes.toml: the decision that a server lacks or takes wrongly."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.model import Fail, Impact, Level
from mcp_auth_contract.reports.model import Gate, Result

FILE = "causes.toml"
"""Its name in the folder `scenarios`."""

_APART = 2
"""So many operations are told apart; more are one cause together."""

_NAMED = 4
_LEVELS = tuple(Level)
_IMPACTS = tuple(impact.value for impact in Impact)
_BREAKDOWN = re.compile(r"5\d\d\b")
_DOCUMENTS = frozenset({"prm", "as"})
"""Families whose checks read documents: a 5xx there is no refusal that went wrong."""


@dataclass(frozen=True, slots=True)
class CauseEntry:
    """One cause of the table; the comment at the head of the file says what each field means."""

    id: str
    headline: str
    decision: str
    checks: tuple[str, ...]
    many: str = ""
    hides: tuple[str, ...] = ()
    crash: bool = False
    form: bool = False

    def place(self, check: str) -> int | None:
        """Return the place of a check in this cause, the plainest first; None for one of another cause."""
        return next((number for number, one in enumerate(self.checks) if fnmatchcase(check, one)), None)


@dataclass(frozen=True, slots=True)
class Cause:
    """Failures that one decision would repair; `example` is the plainest. `binding` says that they shut the gate."""

    id: str
    headline: str
    decision: str
    results: tuple[Result, ...]
    example: Result
    binding: bool

    @property
    def level(self) -> Level:
        """The strictest level of its checks."""
        return _LEVELS[min(_LEVELS.index(result.check.level) for result in self.results)]

    @property
    def impact(self) -> str:
        """The worst impact that was seen."""
        return min((result.impact for result in self.results), key=_worth)

    @property
    def checks(self) -> tuple[str, ...]:
        """The ids of its checks."""
        return tuple(dict.fromkeys(result.check.id for result in self.results))


@cache
def load_causes() -> tuple[CauseEntry, ...]:
    """Return the table of causes; raises ContractError where it is wrong."""
    content = tomllib.loads((data_folder("scenarios") / FILE).read_text("utf-8"))
    try:
        entries = tuple(CauseEntry(**_row(told)) for told in content["cause"])
    except (TypeError, KeyError) as fault:
        raise ContractError(f"scenarios/{FILE}: {fault}") from None
    known = {entry.id for entry in entries}
    for entry in entries:
        if unknown := {name.rstrip("?") for name in entry.hides} - known:
            raise ContractError(f"scenarios/{FILE}: {entry.id}: hides: no such cause ({', '.join(sorted(unknown))})")
    return entries


def _row(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}


def causes_of(results: Iterable[Result], gate: Gate) -> tuple[Cause, ...]:
    """Return the causes of all failures that nobody has waived, the worst first."""
    failed = [result for result in results if isinstance(result.outcome, Fail) and result.waived is None]
    told: list[Cause] = []
    for binding in (True, False):
        told += _told([result for result in failed if gate.binds(result) is binding], binding=binding)
    return tuple(told)


def _told(failed: Sequence[Result], *, binding: bool) -> Sequence[Cause]:
    entries = {entry.id: entry for entry in load_causes()}
    order = list(entries)
    by_cause: dict[str, list[Result]] = {}
    for result in failed:
        by_cause.setdefault(_entry_of(result), []).append(result)
    _hide(by_cause, entries)
    causes = [
        cause
        for name, group in by_cause.items()
        for cause in (_of_entry(entries[name], group, binding) if name in entries else [_own(group, binding)])
    ]

    def worst_first(cause: Cause) -> tuple[int, int, int, int]:
        place = order.index(cause.id) if cause.id in entries else len(order)
        return _LEVELS.index(cause.level), _worth(cause.impact), place, -len(cause.results)

    return sorted(causes, key=worst_first)


def _entry_of(result: Result) -> str:
    """Return the cause of a failure; for one that is in no cause, the id of its check."""
    entries, outcome = load_causes(), result.outcome
    if isinstance(outcome, Fail):
        if _BREAKDOWN.match(outcome.observed) and result.check.family not in _DOCUMENTS:
            return next(entry.id for entry in entries if entry.crash)
        own = next((entry for entry in entries if entry.place(result.check.id) is not None), None)
        milder = outcome.impact is not None and _worth(outcome.impact.value) > _worth(result.check.impact.value)
        if milder and result.check.family in ("token", "challenge", "session", "time", "keys", "introspection"):
            return next(entry.id for entry in entries if entry.form)
        if own is not None:
            return own.id
    return result.check.id


def _hide(by_cause: dict[str, list[Result]], entries: dict[str, CauseEntry]) -> None:
    """Count with a cause the failures that it brings along."""

    def plain(name: str) -> bool:
        first = entries[name].checks[0]
        return any(fnmatchcase(result.check.id, first) for result in by_cause.get(name, ()))

    evident = {name for name in by_cause if name in entries and plain(name)}
    for name in [name for name in entries if name in evident]:
        for hidden in entries[name].hides if name in by_cause else ():
            cause = hidden.rstrip("?")
            if cause in by_cause and not (hidden.endswith("?") and cause in evident):
                by_cause[name] += by_cause.pop(cause)


def _of_entry(entry: CauseEntry, results: Sequence[Result], binding: bool) -> Iterator[Cause]:
    if not entry.many:
        yield _cause(entry, entry.headline, results, binding)
        return
    apart: dict[str, list[Result]] = {}
    for result in results:
        apart.setdefault(result.about.operation, []).append(result)
    if len(apart) <= _APART:
        for group in apart.values():
            yield _cause(entry, entry.headline, group, binding)
    else:
        yield _cause(entry, entry.many, results, binding, tuple(filter(None, apart)))


def _cause(
    entry: CauseEntry, headline: str, results: Sequence[Result], binding: bool, operations: Sequence[str] = ()
) -> Cause:
    def plainness(result: Result) -> tuple[int, int, int]:
        place = entry.place(result.check.id)
        return (
            len(entry.checks) if place is None else place,
            _LEVELS.index(result.check.level),
            _worth(result.impact),
        )

    example = min(results, key=plainness)
    about = example.about
    more = f" and {len(operations) - _NAMED} more" if len(operations) > _NAMED else ""
    names = {
        "operation": about.operation or "an operation",
        "operations": ", ".join(operations[:_NAMED]) + more,
        "principal": about.principal or "another user",
        "owner": about.owner or "its owner",
        "observed": example.outcome.observed[:3] if isinstance(example.outcome, Fail) else "",
    }
    said = re.sub(r"\{(\w+)\}", lambda found: names[found[1]], headline)
    return Cause(entry.id, said[:1].upper() + said[1:], entry.decision, tuple(results), example, binding)


def _own(results: Sequence[Result], binding: bool) -> Cause:
    """A cause of its own for a check that the table does not know, such as one of `--scenarios`."""
    check = results[0].check
    return Cause(check.id, f"Not so: {check.title}", check.remedy, tuple(results), results[0], binding)


def _worth(impact: str) -> int:
    return _IMPACTS.index(impact) if impact in _IMPACTS else len(_IMPACTS)
