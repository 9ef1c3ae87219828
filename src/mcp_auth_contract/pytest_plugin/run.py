"""The run of a contract: one for all of its cases that pytest has selected."""

import asyncio
import datetime
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.contract import Contract, load_contract
from mcp_auth_contract.errors import ContractError, Unreachable
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.execution.plan_run import EVERY_REVISION
from mcp_auth_contract.model import Level
from mcp_auth_contract.plan import Plan, Selection, make_plan
from mcp_auth_contract.pytest_plugin.outcomes import CaseOutcome, Status, outcomes_of
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
