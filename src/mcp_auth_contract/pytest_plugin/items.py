"""A contract as a collector, and each of its cases as a test."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

from mcp_auth_contract.errors import KitError
from mcp_auth_contract.pytest_plugin.asking import ContractSession, SharedRun, planned
from mcp_auth_contract.pytest_plugin.marking import markers_of
from mcp_auth_contract.pytest_plugin.settling import Settled, Verdict
from mcp_auth_contract.pytest_plugin.telling import properties_of

__all__ = ["CaseItem", "ContractFile"]


class CaseFailed(Exception):
    """A case that did not hold."""

    def __init__(self, settled: Settled) -> None:
        super().__init__(settled.summary)
        self.settled = settled


class _Told(TerminalRepr):
    """The report of a case instead of a traceback; `reprcrash` is what pytest's summary and JUnit quote."""

    def __init__(self, settled: Settled, path: Path) -> None:
        self._text = settled.text
        self.reprcrash = ReprFileLocation(str(path), 1, settled.summary)

    def __str__(self) -> str:
        return self._text

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write it, its first line in red."""
        for number, line in enumerate(self._text.splitlines()):
            tw.line(line, red=not number, bold=not number)


class ContractFile(pytest.File):
    """A contract file. It is run once, at the first of its cases, and asks what pytest has selected."""

    run: SharedRun | None = None

    def collect(self) -> Iterator["CaseItem"]:
        """Yield one test for each case, in the order of the catalogue. No request is sent."""
        config = self.config
        named = config.getoption("mcp_auth_waivers")
        session = planned(
            self.path,
            name=_shown(self.path, config.invocation_params.dir),
            fail_on=config.getoption("mcp_auth_fail_on"),
            wait=config.getoption("mcp_auth_wait"),
            waivers=None if named is None else config.invocation_params.dir / named,
        )
        self.run = SharedRun(session)
        for case in session.cases:
            # Written out: pytest 9 reads brackets as parameters, and does so with the ids that --lf remembers.
            yield CaseItem.from_parent(self, name=case, nodeid=f"{self.nodeid}::{case}", contract=session)

    def repr_failure(  # type: ignore[override]  # as pytest's own collectors have it
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | TerminalRepr:
        """Tell a fault of the contract in its own words."""
        if isinstance(excinfo.value, KitError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def settled(self, item: "CaseItem") -> Settled:
        """Return what became of a case; the first call runs the contract."""
        if self.run is None:
            raise RuntimeError("a case without its contract")
        return self.run.settled(item.name, self._selected())

    def _selected(self) -> Iterable[str]:
        return [item.name for item in self.session.items if isinstance(item, CaseItem) and item.parent is self]


class CaseItem(pytest.Item):
    """One case: a check at one place, in every revision in which it is asked."""

    def __init__(self, *, contract: ContractSession, **given: Any) -> None:
        super().__init__(**given)
        check = contract.cases[self.name]
        self._settled: Settled | None = None
        for marker in markers_of(check):
            self.add_marker(marker)
        self.user_properties.extend(properties_of(check))

    def setup(self) -> None:
        """Have the contract run. A contract that cannot be run, and a fault in the kit, are errors and not failures."""
        parent = self.parent
        if not isinstance(parent, ContractFile):
            raise TypeError("a case stands below its contract")
        # pytest shows the exception of a setup with its traceback, but for this one.
        try:
            self._settled = parent.settled(self)
        except KitError as fault:
            raise pytest.fail.Exception(str(fault), pytrace=False) from None
        if self._settled.verdict is Verdict.ERROR:
            raise pytest.fail.Exception(self._settled.text, pytrace=False)

    def runtest(self) -> None:
        """Pass, or tell what was observed."""
        settled = self._settled
        if settled is None or settled.verdict is Verdict.PASSED:
            return
        match settled.verdict:
            case Verdict.SKIPPED:
                raise pytest.skip.Exception(settled.text, _use_item_location=True)
            case Verdict.XFAILED:
                raise pytest.xfail.Exception(settled.text)
            case _:
                raise CaseFailed(settled)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Tell the failure itself, without a traceback of the kit."""
        if isinstance(excinfo.value, CaseFailed):
            return _Told(excinfo.value.settled, self.path)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple["os.PathLike[str] | str", int | None, str]:
        """Return file, line and title, for the head of a failure."""
        return self.path, 0, self.name


def _shown(path: Path, folder: Path) -> str:
    try:
        return str(path.relative_to(folder))
    except ValueError:
        return str(path)
