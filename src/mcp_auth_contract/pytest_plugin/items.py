"""A contract as a collector, and each of its cases as a test."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

from mcp_auth_contract.catalogue import FAMILIES
from mcp_auth_contract.errors import KitError
from mcp_auth_contract.model import Impact, Level
from mcp_auth_contract.pytest_plugin.outcomes import CaseOutcome, Status
from mcp_auth_contract.pytest_plugin.run import CollectedContract, SharedRun, collected
from mcp_auth_contract.reports.groups import sources

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
