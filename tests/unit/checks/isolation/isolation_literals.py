"""Five-line literals of the isolation matrix: who asked, and what came back."""

from typing import Any

from tests.unit.checks.literals import result, tool_error

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.isolation.observation import (
    Asked,
    AuditObserved,
    Canary,
    CursorObserved,
    MissingObserved,
    PageTokenUse,
    ReachObserved,
    RecordObserved,
    RefusedWrite,
    RefusedWritesObserved,
    RepeatedWriteObserved,
    StrangersObserved,
    WriteObserved,
)

ALICE = Canary("INV-1 of alice", "alice-t1-INV-1-7f3a")
CAROL = Canary("INV-1 of carol", "carol-t2-INV-1-c04e")
NOTHING = tool_error()
OWN = result(note=ALICE.text)
FOREIGN = result(note=CAROL.text)


def asked(principal: str, *answers: Answer, name: str = "call") -> Asked:
    """A call and its pages, read by the last one."""
    return Asked(name, principal, answers)


def record(
    control: Answer = OWN, foreign: Answer = NOTHING, again: Answer = OWN, last: Answer = NOTHING
) -> RecordObserved:
    """The owner alice, bob, alice and bob ask for alice's record."""
    calls = (asked("alice", control), asked("bob", foreign), asked("alice", again), asked("bob", last))
    return RecordObserved("alice", "bob", ALICE, calls, (CAROL,))


def strangers(
    namesake: Answer = NOTHING, neighbour: Answer = NOTHING, *, own: Answer = OWN, spared: bool = False
) -> StrangersObserved:
    """A namesake and a neighbour ask for alice's record between two calls of alice; the contract may spare the latter."""
    asking = (asked("namesake-of-alice", namesake), asked("neighbour-of-alice", neighbour))
    lenient = frozenset({"neighbour-of-alice"}) if spared else frozenset()
    return StrangersObserved("alice", ALICE, asking, (asked("alice", own),) * 2, lenient)


def reach(*tried: Answer, plain: Answer = NOTHING, own: Answer = OWN) -> ReachObserved:
    """Bob asks for alice's record as it is, and then in other forms."""
    calls = tuple(asked("bob", each, name="t1/INV-1") for each in tried)
    return ReachObserved("alice", "bob", ALICE, (asked("alice", own),) * 2, asked("bob", plain), calls)


def _writes(**steps: Answer) -> dict[str, Any]:
    sound = {
        "own": OWN,
        "before": result(note=ALICE.text, amount=1),
        "after": result(note=ALICE.text, amount=1),
        "again": result(note=ALICE.text, amount=1),
        "control": OWN,
        "changed": result(note=ALICE.text, amount=2),
    }
    others = {"foreign", "borrowed", "unborrowed"}
    calls = {
        name: asked("bob" if name in others else "alice", each, name=name) for name, each in {**sound, **steps}.items()
    }
    return {"owner": "alice", "principal": "bob", "canary": ALICE, **calls}


def write(foreign: Answer = NOTHING, **steps: Answer) -> WriteObserved:
    """Writes on alice's record; a step that is not given is what it is on a sound server."""
    return WriteObserved(**_writes(foreign=foreign, **steps))


def refused(write: Answer, after: Answer | None = None, **steps: Answer) -> RefusedWritesObserved:
    """A write of alice with a forged token between her own; the read behind it shows the old value by default."""
    behind = result(note=ALICE.text, amount=1) if after is None else after
    tried = RefusedWrite("a forged token", asked("alice", write), asked("alice", behind))
    return RefusedWritesObserved(**{**_writes(**steps), "principal": "alice"}, refused=(tried,))


def repeated(**steps: Answer) -> RepeatedWriteObserved:
    """Writes on alice's record with idempotency keys."""
    return RepeatedWriteObserved(**_writes(**{"borrowed": NOTHING, "unborrowed": NOTHING, "second": OWN, **steps}))


def cursor(*, handed: bool = True, first: Answer | None = None, **steps: Answer) -> CursorObserved:
    """Bob uses the page token of alice, refused unless told otherwise."""
    sound = {"other_first": result(invoices=["INV-2"]), "other": NOTHING, "second": result(invoices=["INV-11"])}
    calls = {
        name: asked("bob" if name.startswith("other") else "alice", each, name=name)
        for name, each in {**sound, **steps}.items()
    }
    page = asked("alice", first or result(invoices=["INV-1"]), name="first")
    use = PageTokenUse(**calls) if handed else None
    return CursorObserved("alice", "bob", (ALICE,), page, use)


def missing(foreign: Answer = NOTHING, absent: Answer | None = NOTHING) -> MissingObserved:
    """Bob asks for alice's record, and for one that does not exist."""
    return MissingObserved("bob", asked("bob", foreign), None if absent is None else asked("bob", absent))


def audit(*lines: str, call: Answer = OWN) -> AuditObserved:
    """What the audit log gained when the admin read alice's record."""
    return AuditObserved("admin", asked("admin", call), lines, ("admin",))
