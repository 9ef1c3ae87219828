"""Who sees and changes whose records: a canary in no byte of anybody else's answer, and its owner still served."""

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.isolation.observation import (
    Asked,
    AuditObserved,
    CursorObserved,
    MissingObserved,
    RecordObserved,
    WriteObserved,
)
from mcp_auth_contract.checks.isolation.parts import leak, unproved
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict


@judge
def record_hidden(observed: RecordObserved, facts: Facts) -> Verdict:
    """Nobody but its readers receives a record, while its owner does, before and after (OAuth 2.1 §5.2)."""
    expected = f"no byte of {observed.canary.record} for {observed.principal}"
    others = tuple(observed.by(observed.principal))
    for call in others:
        if broken := leak(call, observed.canary, expected):
            return broken
    return _uncontrolled(observed) or unproved(*others) or Pass()


@judge
def owner_undisturbed(observed: RecordObserved, facts: Facts) -> Verdict:
    """The owner gets the own record, whoever asked for it just before; a cache that forgets who gives another one.

    Somebody else's record beside the own one is a leak that the cases of that record report.
    """
    expected = f"{observed.canary.record} for its owner, whoever asked before"
    own = tuple(observed.by(observed.owner))
    seen = [call.shows(observed.canary) is not None for call in own]
    for call, found in zip(own, seen, strict=True):
        for canary in observed.foreign if not found else ():
            if broken := leak(call, canary, expected):
                return broken
    if not any(seen):
        return _uncontrolled(observed) or Pass()
    for call, found in zip(own, seen, strict=True):
        if not found:
            if doubt := unproved(call):
                return doubt
            order = "the first time" if call is own[0] else f"after {observed.principal} had asked"
            return Fail(expected, f"{call.said} without it, {order}", Impact.AVAILABILITY)
    return Pass()


@judge
def reader_served(observed: RecordObserved, facts: Facts) -> Verdict:
    """A declared reader receives the record that its owner receives."""
    if doubt := _uncontrolled(observed):
        return doubt
    for call in observed.by(observed.principal):
        match call.reading:
            case Ambiguous(why=AmbiguityReason.NO_ANSWER | AmbiguityReason.RATE_LIMITED):
                return Inconclusive(f"{call.principal}: {call.said}")
        if call.shows(observed.canary) is None:
            return Fail(f"{observed.canary.record} for its reader {observed.principal}", f"{call.said} without it")
    return Pass()


@judge
def foreign_write_denied(observed: WriteObserved, facts: Facts) -> Verdict:
    """Somebody else's write leaves a record as it is, as its owner reads it (OAuth 2.1 §5.2)."""
    expected = f"{observed.canary.record} unchanged by {observed.principal}, and not shown"
    foreign, before, after = observed.step("foreign"), observed.step("before"), observed.step("after")
    if foreign is None or before is None or after is None:
        return Inconclusive("nothing was sent")
    if broken := leak(foreign, observed.canary, expected):
        return broken
    if doubt := _no_write_control(observed):
        return doubt
    if after.result != before.result:
        if not _steady(observed):
            return _refused_at_least(foreign, "what the owner reads differs each time")
        return Fail(expected, f"{foreign.said}, and the owner reads another value", Impact.PRIVILEGE_ESCALATION)
    if doubt := unproved(foreign):
        return doubt
    changed = observed.step("changed")
    if changed is None or changed.result == before.result:
        return _refused_at_least(foreign, "no read shows what a write changes")
    return Pass()


@judge
def one_write_per_key(observed: WriteObserved, facts: Facts) -> Verdict:
    """A write repeated with its idempotency key has no second effect (draft-ietf-httpapi-idempotency-key-header)."""
    expected = "one effect for one idempotency key"
    before, after, changed = observed.step("before"), observed.step("after"), observed.step("changed")
    if before is None or after is None:
        return Inconclusive("nothing was sent")
    if doubt := _no_write_control(observed):
        return doubt
    if after.result != before.result:
        if not _steady(observed):
            return NotApplicable("what the owner reads differs each time")
        return Fail(expected, "the owner reads another value after the second write with the same key")
    if changed is None or changed.result == before.result:
        return NotApplicable("no read shows what a write changes")
    return Pass()


@judge
def key_bound(observed: WriteObserved, facts: Facts) -> Verdict:
    """An idempotency key in somebody else's hands does not bring the answer to its owner's write."""
    expected = f"nothing of {observed.canary.record} for {observed.principal} by the idempotency key of its owner"
    own, borrowed, unborrowed = observed.step("own"), observed.step("borrowed"), observed.step("unborrowed")
    if own is None or borrowed is None or unborrowed is None:
        return Inconclusive("nothing was sent")
    if unborrowed.shows(observed.canary) is not None:
        return NotApplicable("the record is shown with any key; isolation-write-denied reports it")
    if broken := leak(borrowed, observed.canary, expected):
        return broken
    if doubt := _no_write_control(observed):
        return doubt
    if own.shows(observed.canary) is None:
        return NotApplicable("the answer to a write does not show the record")
    return unproved(borrowed) or Pass()


@judge
def cursor_bound(observed: CursorObserved, facts: Facts) -> Verdict:
    """A page token of one user brings nobody else that user's records (MCP 2026-07-28, state handle hijacking).

    A token that only counts may lead on in the records of whoever uses it; that is no leak.
    """
    expected = f"no record of {observed.owner} by the page token of {observed.owner}"
    other, second = observed.step("other"), observed.step("second")
    first, other_first = observed.step("first"), observed.step("other_first")
    if first is None or not first.accepted:
        return Inconclusive(f"{observed.owner} got no list: {first.said if first else 'nothing was sent'}")
    if not observed.handed:
        return NotApplicable(f"the list of {observed.owner} has no second page")
    if other is None or second is None or other_first is None:
        return Inconclusive("nothing was sent")
    for canary in observed.canaries:
        if broken := leak(other, canary, expected):
            return broken
    if not second.accepted:
        return Inconclusive(f"{observed.owner} got no second page: {second.said}")
    if doubt := unproved(other):
        return doubt
    if not other.accepted:
        return Pass()
    if other.result != second.result:
        return Pass(f"the page token of {observed.owner} leads {observed.principal} on, in other records")
    if first.result == other_first.result:
        return NotApplicable(f"{observed.owner} and {observed.principal} are shown the same list")
    return Fail(expected, f"{other.said}, the page that {observed.owner} gets")


@judge
def foreign_like_missing(observed: MissingObserved, facts: Facts) -> Verdict:
    """Better no difference between a foreign record and none, which tells who has what; a breakdown is a failure."""
    foreign, missing = observed.foreign, observed.missing
    if missing is None:
        return NotApplicable("no argument of the call is known to name the record")
    for call in (foreign, missing):
        match call.reading:
            case Ambiguous(why=AmbiguityReason.NO_ANSWER | AmbiguityReason.RATE_LIMITED):
                return Inconclusive(call.said)
            case Ambiguous():
                what = "does not exist" if call is missing else "belongs to somebody else"
                return Fail("a refusal, or an empty answer", f"{call.said} for a record that {what}")
    if _form(foreign) == _form(missing):
        return Pass()
    return Pass(f"a foreign record ({foreign.said}) is told from one that does not exist ({missing.said})")


@judge
def reader_audited(observed: AuditObserved, facts: Facts) -> Verdict:
    """The audit log names the reader of somebody else's record; its form is the server's own affair."""
    call = observed.call
    if not call.accepted:
        return Inconclusive(f"{observed.principal} was not served: {call.said}")
    if observed.lines is None:
        return Inconclusive("the audit log cannot be read")
    if any(name in line for line in observed.lines for name in observed.names):
        return Pass()
    if observed.lines:
        return Pass(f"the audit log gained a line that does not name {observed.principal} as the token does")
    return Fail("a line in the audit log", "none")


def _uncontrolled(observed: RecordObserved) -> Inconclusive | None:
    """The owner has to see the record, before and after: else its absence elsewhere proves nothing."""
    own = tuple(observed.by(observed.owner))
    for call in own:
        if call.shows(observed.canary) is None:
            return Inconclusive(f"the owner {observed.owner} does not get {observed.canary.record}: {call.said}")
    return None if own else Inconclusive("nothing was sent")


def _no_write_control(observed: WriteObserved) -> Inconclusive | None:
    """The owner's own writes and reads have to work."""
    for name in ("own", "before", "after", "control"):
        step = observed.step(name)
        if step is None:
            return Inconclusive("nothing was sent")
        if not step.accepted:
            what = "write" if name in ("own", "control") else "read"
            return Inconclusive(f"the owner {observed.owner} cannot {what} {observed.canary.record}: {step.said}")
    return None


def _steady(observed: WriteObserved) -> bool:
    after, again = observed.step("after"), observed.step("again")
    return after is not None and again is not None and after.result == again.result


def _refused_at_least(foreign: Asked, why: str) -> Verdict:
    """Where no read tells, only a refusal does."""
    if doubt := unproved(foreign):
        return doubt
    if isinstance(foreign.reading, Refused):
        return Pass()
    return Inconclusive(f"{foreign.said}, and {why}")


def _form(call: Asked) -> tuple[object, ...]:
    """Return what an answer shows of its reason: status, reading, and the error without the words of the request."""
    answer = call.answers[-1]
    error = (answer.reply or {}).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return answer.status, call.reading, code, describe(answer), isinstance(call.reading, Accepted)
