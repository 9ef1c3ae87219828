"""A contract as a collector, and each of its cases as a test."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

from mcp_auth_contract.errors import KitError
from mcp_auth_contract.pytest_plugin.failure_text import user_properties
from mcp_auth_contract.pytest_plugin.markers import markers_of
from mcp_auth_contract.pytest_plugin.outcomes import CaseOutcome, Status
from mcp_auth_contract.pytest_plugin.run import CollectedContract, SharedRun, collected


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
        config = self.config
        named = config.getoption("mcp_auth_waivers")
        contract = collected(
            self.path,
            name=_shown(self.path, config.invocation_params.dir),
            fail_on=config.getoption("mcp_auth_fail_on"),
            wait=config.getoption("mcp_auth_wait"),
            waivers=None if named is None else config.invocation_params.dir / named,
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
        return self.run.outcome(item.name, self._selected())

    def _selected(self) -> Iterable[str]:
        return [item.name for item in self.session.items if isinstance(item, CaseItem) and item.parent is self]


class CaseItem(pytest.Item):
    """One case: a check at one place, in every revision in which it is asked."""

    def __init__(self, *, contract: CollectedContract, **given: Any) -> None:
        super().__init__(**given)
        check = contract.cases[self.name]
        self._outcome: CaseOutcome | None = None
        for marker in markers_of(check):
            self.add_marker(marker)
        self.user_properties.extend(user_properties(check))

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


def _shown(path: Path, folder: Path) -> str:
    try:
        return str(path.relative_to(folder))
    except ValueError:
        return str(path)
