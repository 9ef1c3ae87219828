"""The gate fails closed: it opens only when everything that had to be seen was seen, and passed."""

from collections.abc import Sequence

from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.reports.model import ControlSeen, Gate, Result


def decide(
    results: Sequence[Result],
    controls: Sequence[ControlSeen] = (),
    *,
    fail_on: Level = Level.MUST,
    interrupted: bool = False,
    stale: Sequence[str] = (),
    unprotected: str | None = None,
) -> Gate:
    """Decide over the results of a run.

    Exit codes: 0 open · 1 a check failed, or a waiver is no longer true · 3 something that had to be observed could
    not be · 4 a kit error. 4 wins over 1, and 1 over 3. `fail_on` SHOULD shuts the gate for recommendations as well.
    A failure that is waived does not shut it; each sentence in `stale`, about a waiver, does. Where nothing else shuts
    it, something must have been seen: a case that passed or failed, at whatever level, and, where control calls were
    made, one that was accepted. `unprotected` says that the server asks for no token: whatever passed, nothing is
    closed.
    """
    binding = (Level.MUST,) if fail_on is Level.MUST else (Level.MUST, Level.SHOULD)
    levels = " or ".join(binding)
    bound = [result for result in results if result.check.level in binding]
    failed = [result for result in bound if isinstance(result.outcome, Fail) and result.waived is None]
    inconclusive = [result for result in bound if isinstance(result.outcome, Inconclusive)]
    faults = [result for result in results if isinstance(result.outcome, Error)]

    reasons: list[str] = [] if unprotected is None else [unprotected]
    if faults:
        reasons.append(f"{many(len(faults), 'case')} ended with a kit error")
    if failed:
        reasons.append(f"{many(len(failed), 'case')} of level {levels} failed")
    if inconclusive:
        reasons.append(f"{many(len(inconclusive), 'case')} of level {levels} ended inconclusive")
    if interrupted:
        reasons.append("the run was interrupted")
    if (missing := unproved(results, controls)) and not (unprotected or faults or failed or inconclusive):
        reasons.append(missing)
    code = 4 if faults else 1 if failed or stale or unprotected else 3 if reasons else 0
    reasons += stale
    return Gate(open=not reasons, exit_code=code, reasons=tuple(reasons), binding=binding, stale=tuple(stale))


def unproved(results: Sequence[Result], controls: Sequence[ControlSeen]) -> str | None:
    """Return what a run lacks to prove anything at all, whatever the level of its checks; None where it lacks nothing.

    A run that needs no control call, such as one of metadata alone, makes none.
    """
    if all(isinstance(result.outcome, NotApplicable) for result in results):
        return "no check was run at all"
    if not any(isinstance(result.outcome, Pass | Fail) for result in results):
        return "nothing was observed: no case passed and none failed"
    if controls and not any(control.accepted for control in controls):
        return "no control call was accepted"
    return None
