"""Handles, tasks and states of requests: none of them says who holds it, so holding one brings nothing."""

from mcp_auth_contract.answers import Ambiguous, Refused
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.handles.observation import (
    HandleObserved,
    OwnStateObserved,
    RequestStateObserved,
    Steps,
    TaskObserved,
    completed,
    task_status,
)
from mcp_auth_contract.checks.isolation.judges import leak, unproved
from mcp_auth_contract.checks.isolation.observation import Asked
from mcp_auth_contract.checks.judging import Finding, judge_on, proves_nothing
from mcp_auth_contract.checks.unpredictable import predictable
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict

_NOT_READ = "the tool goes on with any state, so the state means nothing to it"


def _unbegun(observed: Steps, name: str, failed: str) -> Verdict | None:
    """Why there is nothing to judge: the server has none of it, or its owner's first step failed."""
    if observed.unasked:
        return NotApplicable(observed.unasked)
    first = observed.step(name)
    if first is None or not first.accepted:
        return Inconclusive(f"{observed.owner} {failed}: {first.said if first else 'nothing was sent'}")
    return None


def _handle(observed: HandleObserved, facts: Facts) -> HandleObserved | Verdict:
    return _unbegun(observed, "made", "was given no handle") or observed


def _task(observed: TaskObserved, facts: Facts) -> TaskObserved | Verdict:
    return _unbegun(observed, "made", "could not start a task") or observed


def _no_state(observed: RequestStateObserved | OwnStateObserved) -> Verdict | None:
    return _unbegun(observed, "first", "was not asked")


def _used_state(observed: OwnStateObserved, facts: Facts) -> OwnStateObserved | Verdict:
    return _no_state(observed) or _not_gone_through(observed, "control") or observed


@judge_on(_handle)
def handle_bound(observed: HandleObserved, facts: Facts) -> Verdict:
    """A handle in another principal's hands brings nothing of its user's, and takes nothing (state hijacking)."""
    expected = f"nothing of {observed.owner} by the handle of {observed.owner}"
    other, own, control = observed.step("other"), observed.step("own"), observed.step("control")
    if control is None or not control.accepted:
        return Inconclusive(f"{observed.owner} cannot use the own handle: {control.said if control else 'not sent'}")
    if other is None or own is None:
        return Inconclusive(f"{observed.owner} was given no second handle")
    if broken := leak(other, expected, *observed.canaries):
        return broken
    if other.accepted and own.accepted and other.result == own.result:
        return Fail(expected, f"{other.said}, as for {observed.owner}")
    if doubt := unproved(other):
        return doubt
    if not own.accepted:
        if isinstance(own.reading, Ambiguous):
            return Inconclusive(f"{observed.owner}: {own.said}")
        after = f"{own.said} for {observed.owner} after {observed.principal} had used the handle"
        return Fail(f"the handle still there for {observed.owner}", after, Impact.AVAILABILITY)
    if other.accepted:
        return Pass(f"{observed.principal} is served with the handle of {observed.owner}, in another way")
    return Pass()


@judge_on(_handle, "handles from a secure random generator")
def handles_unguessable(observed: HandleObserved, facts: Facts) -> Finding:
    """Handles do not count, and do not tell the time (MCP 2026-07-28, state handle hijacking)."""
    handles = observed.handles
    different = tuple(dict.fromkeys(handles))
    if len(different) < 3:
        return NotApplicable(f"{len(handles)} calls made {len(different)} different handles, which shows no order")
    counting = f"{len(different)} handles that differ in a number that counts up, or tells the time"
    return counting if predictable(different) else None


@judge_on(_task)
def task_bound(observed: TaskObserved, facts: Facts) -> Verdict:
    """Nobody else gets a task, its status or its result (MCP 2025-11-25 tasks, isolation and access control)."""
    expected = f"no task of {observed.owner} for {observed.principal}"
    foreign = tuple(call for call in observed.calls if call.name.startswith(("foreign get", "foreign result")))
    for call in foreign:
        if broken := leak(call, expected, *observed.canaries):
            return broken
        if call.accepted:
            method = call.name.removeprefix("foreign ").removesuffix(" after")
            return Fail(expected, f"{call.said} to tasks/{method} by {observed.principal}")
    return _not_served(observed) or unproved(*foreign) or Pass()


@judge_on(_task)
def task_list_own(observed: TaskObserved, facts: Facts) -> Verdict:
    """A list of tasks holds none of others (MCP 2025-11-25 tasks, isolation and access control)."""
    expected = f"no task of {observed.owner} in the list of {observed.principal}"
    foreign, own = observed.step("foreign list"), observed.step("own list")
    if foreign is None or own is None:
        return NotApplicable("the server announces no list of tasks")
    if broken := leak(foreign, expected, *observed.canaries):
        return broken
    if foreign.name in observed.listing:
        return Fail(expected, f"{foreign.said}, the task among them")
    if own.name not in observed.listing:
        return Inconclusive(f"the list of {observed.owner} does not hold the own task: {own.said}")
    return unproved(foreign) or Pass()


@judge_on(_task)
def task_cancelled_by_owner_only(observed: TaskObserved, facts: Facts) -> Verdict:
    """Nobody else cancels a task (MCP 2025-11-25 tasks, isolation and access control).

    The extension acknowledges without a promise: there only a task that is cancelled was cancelled.
    """
    expected = f"the task of {observed.owner} not cancelled by {observed.principal}"
    foreign, state, own = (observed.step(name) for name in ("foreign cancel", "state", "own cancel"))
    if foreign is None or state is None or own is None:
        return NotApplicable("the server announces no way to cancel tasks")
    if broken := leak(foreign, expected, *observed.canaries):
        return broken
    if task_status(state) == "cancelled":
        return Fail(expected, f"{foreign.said}, and the task is cancelled", Impact.AVAILABILITY)
    if observed.core and foreign.accepted:
        return Fail(expected, f"{foreign.said} to tasks/cancel by {observed.principal}", Impact.AVAILABILITY)
    if doubt := _not_served(observed) or unproved(foreign):
        return doubt
    if not state.accepted:
        if isinstance(state.reading, Ambiguous):
            return Inconclusive(f"{observed.owner}: {state.said}")
        return Fail(expected, f"{foreign.said}, and the task is gone for its owner: {state.said}", Impact.AVAILABILITY)
    if not own.accepted:
        return NotApplicable("its owner could not cancel the task either, which had ended perhaps")
    if foreign.accepted:
        return Pass(f"tasks/cancel of {observed.principal} is acknowledged, without effect")
    return Pass()


def _foreign_use(observed: RequestStateObserved, facts: Facts) -> tuple[RequestStateObserved, Asked] | Verdict:
    other = observed.step("other")
    return _no_state(observed) or ((observed, other) if other else Inconclusive("nothing was sent"))


@judge_on(_foreign_use)
def request_state_keeps_records(uses: tuple[RequestStateObserved, Asked], facts: Facts) -> Verdict:
    """Whoever goes on with a call that another began gets none of that principal's records (MCP 2026-07-28, MRTR)."""
    observed, other = uses
    expected = f"no record of {observed.owner} by the requestState of {observed.owner}"
    leaked = leak(other, expected, *observed.canaries)
    return leaked or _not_gone_through(observed, "own") or unproved(other) or Pass()


@judge_on(_foreign_use)
def request_state_of_one_principal(uses: tuple[RequestStateObserved, Asked], facts: Facts) -> Verdict:
    """A state is refused from anybody but the principal it was given to (MCP 2026-07-28, MRTR)."""
    observed, other = uses
    failure = Fail(f"the requestState of {observed.owner} refused from {observed.principal}", other.said)
    verdict = failure if completed(other) else unproved(other) or Pass()
    return _not_gone_through(observed, "own") or verdict


@judge_on(_used_state)
def request_state_intact(observed: OwnStateObserved, facts: Facts) -> Verdict:
    """A state that was altered on its way is refused (MCP 2026-07-28, MRTR).

    Where any text will do, the state means nothing, and nothing can be gained by altering it.
    """
    garbage, altered = observed.step("garbage"), [observed.step(name) for name in observed.alterations]
    if garbage is None or not altered:
        return Inconclusive("nothing was altered")
    if completed(garbage):
        return NotApplicable(_NOT_READ)
    for call in altered:
        if call is not None and completed(call):
            return Fail("an altered requestState refused", f"{call.said} to one {call.name}")
    tried = [call for call in altered if call is not None]
    return _not_gone_through(observed, "control again") or unproved(*tried) or Pass()


@judge_on(_used_state)
def request_state_for_one_request(observed: OwnStateObserved, facts: Facts) -> Verdict:
    """A state is refused with another request than the one it was given for (MCP 2026-07-28, MRTR)."""
    garbage, second, replayed = (observed.step(name) for name in ("garbage", "second", "replayed"))
    if second is None or replayed is None:
        return NotApplicable("the contract names no other arguments for the tool (inputs.other)")
    if garbage is not None and completed(garbage):
        return NotApplicable(_NOT_READ)
    if isinstance(second.reading, Refused):
        return NotApplicable(f"the other call (inputs.other) does not work for {observed.owner}: {second.said}")
    if doubt := _not_gone_through(observed, "second"):
        return doubt
    if completed(replayed):
        return Fail("the requestState of one request refused with another", replayed.said)
    return unproved(replayed) or Pass()


def _not_served(observed: TaskObserved) -> Inconclusive | None:
    """The owner has to get the record out of the own task: else its absence elsewhere proves nothing."""
    own = observed.step("own")
    if own is None or not any(own.shows(canary) for canary in observed.canaries):
        return Inconclusive(f"the task of {observed.owner} brings no record: {own.said if own else 'nothing was sent'}")
    return None


def _not_gone_through(observed: RequestStateObserved | OwnStateObserved, name: str) -> Inconclusive | None:
    """The owner's call has to go through with its own state."""
    own = observed.step(name)
    if own is None:
        return Inconclusive("nothing was sent")
    if proves_nothing(own.answers[-1]):
        return Inconclusive(f"{own.principal}: {own.said}")
    if not completed(own):
        asks = ", asking for more" if own.accepted else ""
        return Inconclusive(f"the call of {own.principal} does not go through with its own state: {own.said}{asks}")
    return None
