"""Which cases of a plan are wanted."""

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass

from mcp_auth_contract.catalogue import FAMILIES, Check
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.plan.case import Case
from mcp_auth_contract.suggest import suggest


@dataclass(frozen=True, slots=True)
class Selection:
    """Which checks and cases to run: ids, families (`token-`) or patterns (`scope-*[update_*]`).

    `ids` are exact ids of cases and, for what is settled before it expands into cases, of checks; None for all. `core`
    leaves the core checks, which a plan then has in its first revision alone.
    """

    select: tuple[str, ...] = ()
    deselect: tuple[str, ...] = ()
    ids: frozenset[str] | None = None
    core: bool = False

    def admits(self, case: Case) -> bool:
        """Whether a case is to run."""
        return (case.check.core or not self.core) and self._admits(case.id, case.check.id, case.check.family)

    def admits_name(self, case: str, check: str) -> bool:
        """Whether a case that no plan holds would be to run, by its id and the one of its check."""
        if self.core:
            return False
        family = next((one for one in FAMILIES if check.startswith(f"{one}-")), "")
        return self._admits(case, check, family)

    def _admits(self, case: str, check: str, family: str) -> bool:
        if self.ids is not None and case not in self.ids:
            return False
        wanted = not self.select or any(_matches(pattern, case, check, family) for pattern in self.select)
        return wanted and not any(_matches(pattern, case, check, family) for pattern in self.deselect)

    def names_only(self, checks: Iterable[Check]) -> bool:
        """Whether every pattern is the id or the family of a check, so that no plan is needed to know it."""
        known = {name for check in checks for name in (check.id, check.family)}
        return all(pattern in known or pattern.rstrip("-") in known for pattern in (*self.select, *self.deselect))

    def demand_known(self, cases: Iterable[Case]) -> None:
        """Raise UsageError for a pattern that matches nothing: a typo must not silently remove a check."""
        known = list(cases)
        for option, patterns in (("--select", self.select), ("--deselect", self.deselect)):
            for pattern in patterns:
                if not any(_matches(pattern, case.id, case.check.id, case.check.family) for case in known):
                    ids = {case.check.id for case in known} | {case.check.family for case in known}
                    raise UsageError(f'{option}: no check or case is called "{pattern}"; {_hint(pattern, ids)}')


def _hint(pattern: str, ids: set[str]) -> str:
    return suggest(pattern.split("[")[0], ids, "`mcp-auth-contract list` names them all")


def _matches(pattern: str, case: str, check: str, family: str) -> bool:
    if pattern in (case, check) or pattern.rstrip("-") == family:
        return True
    if "*" not in pattern and "?" not in pattern:
        return False
    # Brackets belong to case ids, not to the pattern language.
    escaped = pattern.replace("[", "[[]")
    return fnmatch.fnmatchcase(case, escaped) or fnmatch.fnmatchcase(check, escaped)
