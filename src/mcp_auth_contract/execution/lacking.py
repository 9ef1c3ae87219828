"""What the server lacks is reported by one case; those that would have observed it do not apply."""

from collections.abc import Sequence
from dataclasses import replace

from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Outcome
from mcp_auth_contract.reports.model import Result


def reported_once(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the results, where a case that lacks what another check reports is not applicable if that check failed.

    Where it did not fail, or was not asked, the case stays inconclusive: nobody has said what is missing.
    """
    return tuple(_reported(result, results) for result in results)


def _reported(result: Result, results: Sequence[Result]) -> Result:
    if not isinstance(result.outcome, Inconclusive) or result.outcome.reported_by is None:
        return result
    reporter = _reporter(result, results)
    if reporter is None:
        return result
    what = result.outcome.reason.rsplit("; ", 1)[0]
    return replace(result, outcome=NotApplicable(f"{what}; {reporter} reports it"))


def _reporter(result: Result, results: Sequence[Result]) -> str | None:
    """Return the check that failed for what a case lacks: the one that it names, or the one which that one names."""
    revision, seen = result.revision, {result.check.id}
    outcome: Outcome | None = result.outcome
    while isinstance(outcome, Inconclusive) and outcome.reported_by is not None and outcome.reported_by not in seen:
        name = outcome.reported_by
        seen.add(name)
        named = [one.outcome for one in results if one.check.id == name and one.revision in (revision, None)]
        if any(isinstance(one, Fail) for one in named):
            return name
        outcome = next((one for one in named if isinstance(one, Inconclusive) and one.reported_by), None)
    return None
