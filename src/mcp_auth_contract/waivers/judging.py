"""Which failures are waived, and which waivers are no longer true."""

import datetime
from collections.abc import Sequence
from dataclasses import replace

from mcp_auth_contract.model import Fail, NotApplicable, Pass
from mcp_auth_contract.plan import Plan, Selection
from mcp_auth_contract.reports.model import Result, Waiver
from mcp_auth_contract.suggest import suggest


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
        return f"matches no case of this run{_near(waiver, results)}"
    if len(absent) == len(matched):
        return f"what it is about was not run ({absent[0]}); remove it, or keep it in a file for the run that shows it"
    if all(isinstance(result.outcome, Pass | NotApplicable) for result in matched):
        return "what it is about passes; remove it"
    return None


def _near(waiver: Waiver, results: Sequence[Result]) -> str:
    hint = "" if waiver.case is None else suggest(waiver.case, {result.case for result in results}, "")
    return f"; {hint} Else remove it" if hint else "; remove it"
