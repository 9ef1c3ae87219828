"""Who sees and changes whose records: a canary in no byte of another principal's answer, and its owner still served."""

from mcp_auth_contract.answers import Accepted, Ambiguous, Answer, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.isolation.observation import (
    Asked,
    AuditObserved,
    Canary,
    CursorObserved,
    MissingObserved,
    ReachObserved,
    RecordObserved,
    RefusedWritesObserved,
    RepeatedWriteObserved,
    StrangersObserved,
    WriteObserved,
)
from mcp_auth_contract.checks.judging import judge, proves_nothing
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict


@judge
def record_hidden(observed: RecordObserved, facts: Facts) -> Verdict:
    """Nobody but its readers receives a record, while its owner does, before and after (OAuth 2.1 §5.2)."""
    expected = f"no byte of {observed.canary.record} for {observed.principal}"
    others = tuple(observed.by(observed.principal))
    leaks = filter(None, (leak(call, expected, observed.canary) for call in others))
    return next(leaks, None) or _uncontrolled(observed) or unproved(*others) or Pass()


@judge
def strangers_denied(observed: StrangersObserved, facts: Facts) -> Verdict:
    """Whoever resembles a record's owner in one thing is somebody else (OAuth 2.1 §5.2).

    A server may refuse users whom it does not know altogether. A user of the owner's tenant may share the record unless
    the contract bars somebody of that tenant.
    """
    advice: str | None = None
    for call in observed.strangers:
        found = leak(call, f"no byte of {observed.canary.record} for {call.principal}", observed.canary)
        if found is not None and call.principal not in observed.spared:
            return found
        if found is not None:
            advice = f"{call.principal} gets {observed.canary.record}; the contract bars nobody of that tenant"
    if doubt := _uncontrolled(observed):
        return doubt
    for call in observed.strangers:
        if proves_nothing(call.answers[-1]):
            return Inconclusive(f"{call.principal}: {call.said}")
        if call.accepted and call.cut:
            return Inconclusive(f"{call.principal}: the answer was longer than is read")
    return Pass(advice)


@judge
def arguments_reach_no_further(observed: ReachObserved, facts: Facts) -> Verdict:
    """What an argument names in another form is not reached by whoever may not (OAuth 2.1 §5.2)."""
    if not observed.tried:
        return NotApplicable("no argument of the call is known to name the record, or to search for it")
    if observed.plain.shows(observed.canary) is not None:
        return NotApplicable("the record is shown whatever is asked for; isolation-read-denied reports it")
    return _nothing_opened(observed, "asking for {!r}")


@judge
def roles_open_nothing(observed: ReachObserved, facts: Facts) -> Verdict:
    """What nobody verified, or only looks like a role, opens no other principal's record (OAuth 2.1 §5.2)."""
    if observed.plain.shows(observed.canary) is not None:
        return NotApplicable("the record is shown without any role; isolation-read-denied reports it")
    return _nothing_opened(observed, "with {}")


def _nothing_opened(observed: ReachObserved, how: str) -> Verdict:
    for call in observed.tried:
        where = call.shows(observed.canary)
        if where is not None:
            said = f"{call.said}, {observed.canary.record} in {where} for {call.principal} {how.format(call.name)}"
            return Fail(f"no byte of {observed.canary.record} for {observed.principal}", said)
    if doubt := _uncontrolled(observed) or unproved(observed.plain):
        return doubt
    for call in observed.tried:
        if call.unread or proves_nothing(call.answers[-1]):
            return Inconclusive(f"{call.principal} {how.format(call.name)}: {call.unread or call.said}")
    return Pass()


@judge
def owner_undisturbed(observed: RecordObserved, facts: Facts) -> Verdict:
    """The owner gets the own record, whoever asked for it just before; a cache that forgets who gives another one.

    Another principal's record beside the own one is a leak that the cases of that record report.
    """
    expected = f"{observed.canary.record} for its owner, whoever asked before"
    own = tuple(observed.by(observed.owner))
    seen = [call.shows(observed.canary) is not None for call in own]
    for call, found in zip(own, seen, strict=True):
        if not found and (broken := leak(call, expected, *observed.foreign)):
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
        if proves_nothing(call.answers[-1]):
            return Inconclusive(f"{call.principal}: {call.said}")
        if call.shows(observed.canary) is None:
            if call.unread:
                return Inconclusive(f"{call.principal}: {call.unread}")
            return Fail(f"{observed.canary.record} for its reader {observed.principal}", f"{call.said} without it")
    return Pass()


@judge
def foreign_write_denied(observed: WriteObserved, facts: Facts) -> Verdict:
    """Another principal's write leaves a record as it is, as its owner reads it (OAuth 2.1 §5.2)."""
    expected = f"{observed.canary.record} unchanged by {observed.principal}, and not shown"
    foreign = observed.foreign
    if why := leak(foreign, expected, observed.canary) or _no_write_control(observed):
        return why
    if observed.after.result != observed.before.result:
        if not observed.steady:
            return _refused_at_least(foreign, "what the owner reads differs each time")
        return Fail(expected, f"{foreign.said}, and the owner reads another value", Impact.PRIVILEGE_ESCALATION)
    shown = Pass() if observed.shown else _refused_at_least(foreign, "no read shows what a write changes")
    return unproved(foreign) or shown


@judge
def refused_write_undone(observed: RefusedWritesObserved, facts: Facts) -> Verdict:
    """What is refused is not carried out: the owner reads the same before and after (OAuth 2.1 §5.2)."""
    if doubt := _no_write_control(observed):
        return doubt
    if not observed.steady:
        return NotApplicable("what the owner reads differs each time")
    if not observed.shown:
        return NotApplicable("what the owner reads does not show what a write changes")
    for one in observed.refused:
        if proves_nothing(one.write.answers[-1]):
            return Inconclusive(f"{one.write.said} to a write with {one.credential}")
        if one.write.accepted:
            return Inconclusive(f"{one.write.said} to a write with {one.credential}; another check reports it")
        if not one.after.accepted:
            return Inconclusive(f"the owner cannot read behind a write with {one.credential}: {one.after.said}")
        if one.after.result != observed.before.result:
            seen = f"{one.write.said} to a write with {one.credential}, and the owner reads another value"
            return Fail(f"{observed.canary.record} unchanged", seen)
    return Pass()


@judge
def one_write_per_key(observed: RepeatedWriteObserved, facts: Facts) -> Verdict:
    """A write repeated with its idempotency key has no second effect (draft-ietf-httpapi-idempotency-key-header)."""
    if doubt := _no_write_control(observed):
        return doubt
    if observed.after.result != observed.before.result:
        if not observed.steady:
            return NotApplicable("what the owner reads differs each time")
        said = "the owner reads another value after the second write with the same key"
        return Fail("one effect for one idempotency key", said)
    return Pass() if observed.shown else NotApplicable("no read shows what a write changes")


@judge
def key_bound(observed: RepeatedWriteObserved, facts: Facts) -> Verdict:
    """An idempotency key in another principal's hands does not bring the answer to its owner's write."""
    expected = f"nothing of {observed.canary.record} for {observed.principal} by the idempotency key of its owner"
    if observed.unborrowed.shows(observed.canary) is not None:
        return NotApplicable("the record is shown with any key; isolation-write-denied reports it")
    if why := leak(observed.borrowed, expected, observed.canary) or _no_write_control(observed):
        return why
    if observed.own.shows(observed.canary) is None:
        return NotApplicable("the answer to a write does not show the record")
    return unproved(observed.borrowed) or Pass()


@judge
def cursor_bound(observed: CursorObserved, facts: Facts) -> Verdict:
    """A page token of one principal brings no other one that principal's records (MCP 2026-07-28, state hijacking).

    A token that only counts may lead on in the records of whoever uses it; that is no leak.
    """
    expected = f"no record of {observed.owner} by the page token of {observed.owner}"
    first, use = observed.first, observed.use
    if not first.accepted:
        return Inconclusive(f"{observed.owner} got no list: {first.said}")
    if use is None:
        return NotApplicable(f"the list of {observed.owner} has no second page")
    if broken := leak(use.other, expected, *observed.canaries):
        return broken
    if not use.second.accepted:
        return Inconclusive(f"{observed.owner} got no second page: {use.second.said}")
    if doubt := unproved(use.other):
        return doubt
    if not use.other.accepted:
        return Pass()
    if use.other.result != use.second.result:
        return Pass(f"the page token of {observed.owner} leads {observed.principal} on, in other records")
    if first.result == use.other_first.result:
        return NotApplicable(f"{observed.owner} and {observed.principal} are shown the same list")
    return Fail(expected, f"{use.other.said}, the page that {observed.owner} gets")


@judge
def foreign_like_missing(observed: MissingObserved, facts: Facts) -> Verdict:
    """Better no difference between a foreign record and none, which tells who has what; a breakdown is a failure."""
    foreign, missing = observed.foreign, observed.missing
    if missing is None:
        return NotApplicable("no argument of the call is known to name the record")
    for call in (foreign, missing):
        if proves_nothing(call.answers[-1]):
            return Inconclusive(call.said)
        if isinstance(call.reading, Ambiguous):
            what = "does not exist" if call is missing else "belongs to another principal"
            return Fail("a refusal, or an empty answer", f"{call.said} for a record that {what}")
    if _form(foreign) == _form(missing):
        return Pass()
    return Pass(f"a foreign record ({foreign.said}) is told from one that does not exist ({missing.said})")


@judge
def reader_audited(observed: AuditObserved, facts: Facts) -> Verdict:
    """The audit log names the reader of another principal's record; its form is the server's own affair."""
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


def _uncontrolled(observed: RecordObserved | StrangersObserved | ReachObserved) -> Inconclusive | None:
    """The owner has to see the record, before and after: else its absence elsewhere proves nothing."""
    own = tuple(observed.by(observed.owner)) if isinstance(observed, RecordObserved) else observed.own
    for call in own:
        if call.shows(observed.canary) is None:
            said = call.unread or call.said
            return Inconclusive(f"the owner {observed.owner} does not get {observed.canary.record}: {said}")
    return None if own else Inconclusive("nothing was sent")


def leak(call: Asked, expected: str, *canaries: Canary) -> Fail | None:
    """A canary in the answers to a principal who is no reader."""
    shown = ((canary.record, call.shows(canary)) for canary in canaries)
    found = (f"{call.said}, {record} in {where} for {call.principal}" for record, where in shown if where is not None)
    return next((Fail(expected, one) for one in found), None)


def unproved(*calls: Asked) -> Inconclusive | None:
    """Answers that hold no canary for a reason that has nothing to do with whose record it is."""
    for call in calls:
        if call.unread:
            return Inconclusive(f"{call.principal}: {call.unread}")
        match call.reading:
            case Ambiguous():
                return Inconclusive(f"{call.principal}: {call.said}")
            case Refused(how=Refusal.UNAUTHORIZED):
                return Inconclusive(f"the token of {call.principal} is refused altogether: {call.said}")
            case Refused() if any(_for_scope(answer) for answer in call.answers):
                return Inconclusive(f"{call.principal} is refused for a scope, not for the record: {call.said}")
            case Accepted() | Refused() if call.cut:
                return Inconclusive(f"{call.principal}: the answer was longer than is read")
    return None if calls else Inconclusive("nothing was sent")


def _for_scope(answer: Answer) -> bool:
    bearer = answer.challenges.bearer
    return bearer is not None and bearer.get("error") == "insufficient_scope"


def _no_write_control(observed: WriteObserved | RefusedWritesObserved | RepeatedWriteObserved) -> Inconclusive | None:
    """The owner's own writes and reads have to work."""
    for each in (observed.own, observed.before, observed.after, observed.control):
        if not each.accepted:
            does = "read" if each in (observed.before, observed.after) else "write"
            return Inconclusive(f"the owner {observed.owner} cannot {does} {observed.canary.record}: {each.said}")
    return None


def _refused_at_least(foreign: Asked, why: str) -> Verdict:
    """Where no read tells, only a refusal does."""
    decided = Pass() if isinstance(foreign.reading, Refused) else Inconclusive(f"{foreign.said}, and {why}")
    return unproved(foreign) or decided


def _form(call: Asked) -> tuple[object, ...]:
    """Return what an answer shows of its reason: status, reading, and the error without the words of the request."""
    answer = call.answers[-1]
    error = (answer.reply or {}).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return answer.status, call.reading, code, describe(answer)
