"""A contract as a collector, each of its cases as a test, and the one run for all that pytest has selected."""

import asyncio
import datetime
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

from mcp_auth_contract.catalogue import FAMILIES, Check, load_builtin
from mcp_auth_contract.contract import Contract, load_contract
from mcp_auth_contract.errors import ContractError, KitError, Unreachable
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.execution.plan_run import EVERY_REVISION
from mcp_auth_contract.model import Impact, Level
from mcp_auth_contract.plan import Plan, Selection, make_plan
from mcp_auth_contract.pytest_plugin.outcomes import CaseOutcome, Status, outcomes_of
from mcp_auth_contract.reports.groups import sources
from mcp_auth_contract.reports.model import Report, Waiver
from mcp_auth_contract.waivers import find_waivers


@dataclass(frozen=True, slots=True)
class CollectedContract:
    """A contract with all of its cases, by id, each with its check."""

    contract: Contract
    checks: tuple[Check, ...]
    plan: Plan = field(repr=False)
    name: str
    fail_on: Level
    wait: float
    waivers: tuple[Waiver, ...]
    cases: Mapping[str, Check] = field(repr=False)


def collected(path: Path, *, name: str, fail_on: str, wait: float, waivers: Path | None) -> CollectedContract:
    """Read a contract and plan it, without a server and without keys.

    The plan holds every case that any server could show: in each revision, unless the contract names some, and with
    each variant of a fault. Raises ContractError and UsageError in the words of the command line.
    """
    contract = load_contract(path)
    checks = load_builtin()
    revisions = contract.target.revisions
    plan = make_plan(checks, contract, revisions or EVERY_REVISION, every_revision=not revisions)
    cases = {case.id: case.check for case in plan.cases}
    known = find_waivers(waivers, path, checks)
    for waiver in known:
        if not any(waiver.matches(case, check.id) for case, check in cases.items()):
            raise ContractError(f"{waiver.entry}: matches no case of {path.name}; remove it")
    return CollectedContract(contract, checks, plan, name, Level(fail_on.upper()), wait, known, cases)


class SharedRun:
    """The one run of a contract in this process; what it raised is raised again for each of its cases."""

    def __init__(self, contract: CollectedContract) -> None:
        self._contract = contract
        self._outcomes: Mapping[str, CaseOutcome] | None = None
        self._report: Report | None = None
        self._fault: BaseException | None = None

    def outcome(self, case: str, selected: Iterable[str]) -> CaseOutcome:
        """Return what became of a case; the first call runs it and all others that are selected."""
        if self._fault is not None:
            raise self._fault
        if self._outcomes is None or self._report is None:
            try:
                self._report = self._run(frozenset(selected))
            except Exception as fault:  # what ended the run ends every other item too, without a run for each
                self._fault = fault
                raise
            self._outcomes = outcomes_of(self._report, datetime.datetime.now(datetime.UTC).date())
            if self._report.interrupted:
                raise KeyboardInterrupt
        return self._outcomes.get(case) or self._unasked(case, self._report)

    def _run(self, selected: frozenset[str]) -> Report:
        collected = self._contract
        # What is decided before it expands into cases goes by the name of its check.
        ids = selected | {collected.cases[case].id for case in selected}
        options = Options(
            checks=collected.checks,
            selection=Selection(ids=ids),
            fail_on=collected.fail_on,
            name=collected.name,
            environ=dict(os.environ),
            wait=collected.wait,
            waivers=collected.waivers,
        )
        # A loop of its own, which leaves alone what pytest-asyncio or anyio have made the current one.
        with _as_in_production(), asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            try:
                return runner.run(run_contract(collected.contract, options))
            except SystemExit as left:  # pytest would end with the application's own exit code
                raise Unreachable(f"target.app: the server tried to end the process (code {left.code})") from None

    def _unasked(self, case: str, report: Report) -> CaseOutcome:
        """A case that the run's plan does not have: the server speaks other revisions, or the fault is none for it."""
        check = self._contract.cases[case]
        whole = next((one for one in report.results if one.case == check.id), None)
        if whole is not None and self._outcomes is not None:
            return self._outcomes[check.id]
        covered = report.server.revisions
        there = make_plan(self._contract.checks, self._contract.contract, covered or EVERY_REVISION)
        if all(one.id != case for one in there.cases):
            spoken = ", ".join(covered)
            return CaseOutcome(Status.SKIPPED, f"no question of the revisions that the server speaks ({spoken})")
        if "${" in case:
            return CaseOutcome(Status.ERROR, "a name of an operation may not hold a variable: write it out")
        told = "the fault makes no difference for the issuer, the audience and the claims of this contract"
        return CaseOutcome(Status.SKIPPED, told)


@contextmanager
def _as_in_production() -> Iterator[None]:
    """Let a server in this process warn and log as it does elsewhere: no warning is an error, no log is a test's."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    root.handlers[:] = [logging.NullHandler()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        root.handlers[:] = handlers


_EVERY = "mcp_auth_contract"
"""The marker that every case has, beside those of its family, level and impact."""


def _word(text: str) -> str:
    return text.replace("-", "_")


def register_markers(config: pytest.Config) -> None:
    """Make the markers known, for `--strict-markers` and `pytest --markers`."""
    known = {_EVERY: "a case of an authentication contract"}
    known |= {f"family_{_word(family)}": f"a case of a check {family}-…" for family in FAMILIES}
    known |= {level.lower(): f"a case of a check of level {level}" for level in Level}
    known |= {f"impact_{_word(impact)}": f"what a failure means: {impact}" for impact in Impact}
    for name, meaning in known.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


class CaseFailed(Exception):
    """A case that did not pass."""

    def __init__(self, outcome: CaseOutcome) -> None:
        super().__init__(outcome.summary)
        self.outcome = outcome


class _FailureRepr(TerminalRepr):
    """The report of a case instead of a traceback; `reprcrash` is what pytest's summary and JUnit quote."""

    def __init__(self, outcome: CaseOutcome, path: Path) -> None:
        self._text = outcome.text
        self.reprcrash = ReprFileLocation(str(path), 1, outcome.summary)

    def __str__(self) -> str:
        return self._text

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write it, its first line in red."""
        for number, line in enumerate(self._text.splitlines()):
            tw.line(line, red=not number, bold=not number)


class ContractFile(pytest.File):
    """A contract file. It is run once, at the first of its cases, for what pytest has selected."""

    run: SharedRun | None = None

    def collect(self) -> Iterator["CaseItem"]:
        """Yield one test for each case, in the order of the catalogue. No request is sent."""
        config, here = self.config, self.config.invocation_params.dir
        named = config.getoption("mcp_auth_waivers")
        contract = collected(
            self.path,
            name=str(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path),
            fail_on=config.getoption("mcp_auth_fail_on"),
            wait=config.getoption("mcp_auth_wait"),
            waivers=None if named is None else here / named,
        )
        self.run = SharedRun(contract)
        for case in contract.cases:
            # Written out: pytest 9 reads brackets as parameters, and does so with the ids that --lf remembers.
            yield CaseItem.from_parent(self, name=case, nodeid=f"{self.nodeid}::{case}", contract=contract)

    def repr_failure(  # type: ignore[override]  # as pytest's own collectors have it
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | TerminalRepr:
        """Tell a fault of the contract in its own words."""
        if isinstance(excinfo.value, KitError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def outcome(self, item: "CaseItem") -> CaseOutcome:
        """Return what became of a case; the first call runs the contract."""
        if self.run is None:
            raise RuntimeError("a case without its contract")
        selected = [one.name for one in self.session.items if isinstance(one, CaseItem) and one.parent is self]
        return self.run.outcome(item.name, selected)


class CaseItem(pytest.Item):
    """One case: a check at one place, in every revision in which it is asked."""

    def __init__(self, *, contract: CollectedContract, **given: Any) -> None:
        super().__init__(**given)
        check = contract.cases[self.name]
        self._outcome: CaseOutcome | None = None
        family, impact = _word(check.family), _word(check.impact)
        for marker in (_EVERY, f"family_{family}", check.level.lower(), f"impact_{impact}"):
            self.add_marker(marker)
        told = {"check": check.id, "level": check.level.value, "impact": check.impact.value}
        self.user_properties.extend((told | {"citations": sources(check)}).items())

    def setup(self) -> None:
        """Have the contract run. A contract that cannot be run, and a kit error, are errors and not failures."""
        parent = self.parent
        if not isinstance(parent, ContractFile):
            raise TypeError("a case stands below its contract")
        # pytest shows the exception of a setup with its traceback, but for this one.
        try:
            self._outcome = parent.outcome(self)
        except KitError as fault:
            raise pytest.fail.Exception(str(fault), pytrace=False) from None
        if self._outcome.status is Status.ERROR:
            raise pytest.fail.Exception(self._outcome.text, pytrace=False)

    def runtest(self) -> None:
        """Pass, or tell what was observed."""
        outcome = self._outcome
        if outcome is None or outcome.status is Status.PASSED:
            return
        match outcome.status:
            case Status.SKIPPED:
                raise pytest.skip.Exception(outcome.text, _use_item_location=True)
            case Status.XFAILED:
                raise pytest.xfail.Exception(outcome.text)
            case _:
                raise CaseFailed(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Tell the failure itself, without a traceback of the kit."""
        if isinstance(excinfo.value, CaseFailed):
            return _FailureRepr(excinfo.value.outcome, self.path)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple["os.PathLike[str] | str", int | None, str]:
        """Return file, line and title, for the head of a failure."""
        return self.path, 0, self.name
