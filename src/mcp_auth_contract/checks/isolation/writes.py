"""Writes on another principal's record, ids that do not exist, and what the audit log says of readers."""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from mcp_auth_contract.checks.client import Credential, PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.observation import (
    Asked,
    AuditObserved,
    MissingObserved,
    RefusedWrite,
    RefusedWritesObserved,
    RepeatedWriteObserved,
    WriteObserved,
)
from mcp_auth_contract.checks.isolation.probe import asked, canary_of, new_key, owner_and_other, record_of, step
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import AccessQuestion
from mcp_auth_contract.contract import Contract, Operation, Record, Ways, implying, keyed, operation_of
from mcp_auth_contract.model import OperationKind

_DIGITS = frozenset("0123456789")
_ENOUGH = 8
_AUDIT_POLLS = 10
_AUDIT_PAUSE_S = 0.1


@probe("Does another principal's write change a record?", ways=Ways.WRITES, writes=True, alone=True)
async def ask_record_write(question: AccessQuestion, context: Context) -> WriteObserved:
    """Let another principal write another value into a record, and its owner read it before and after.

    The owner then writes the same value: where the owner's read shows that, it would have shown the other's. In the
    end the owner writes what the contract says. Each write has an idempotency key of its own, where the tool takes one:
    a server answers a known key from memory, or refuses it with other arguments, and either would hide the write.
    """
    operation, contract = question.operation, context.contract
    owner, other = owner_and_other(question, context)
    record = record_of(contract, question.record)
    reading, varied = _reading(contract, record), _varied(contract, record, operation)

    async def write(caller: PrincipalSession, called: Operation, name: str) -> Asked:
        return await asked(caller, keyed(contract, called, new_key()), name)

    return WriteObserved(
        owner=question.owner,
        principal=question.principal,
        canary=canary_of(contract, question.record),
        own=await write(owner, operation, "own"),
        before=await asked(owner, reading, "before"),
        foreign=await write(other, varied, "foreign"),
        after=await asked(owner, reading, "after"),
        again=await asked(owner, reading, "again"),
        control=await write(owner, varied, "control"),
        changed=await asked(owner, reading, "changed"),
        put_back=await write(owner, operation, "put back") if varied != operation else None,
    )


@probe("Is a write carried out although it is refused?", ways=Ways.OWN_WRITES, writes=True, alone=True)
async def ask_refused_write(question: AccessQuestion, context: Context) -> RefusedWritesObserved:
    """Write another value with credentials that are not enough, and let the owner read behind each of them."""
    operation, contract = question.operation, context.contract
    owner, _ = owner_and_other(question, context)
    record = record_of(contract, question.record)
    reading, varied = _reading(contract, record), _varied(contract, record, operation)
    own, before, after, again = (
        await asked(owner, operation, "own"),
        await asked(owner, reading, "before"),
        await asked(owner, reading, "after"),
        await asked(owner, reading, "again"),
    )
    tried: list[RefusedWrite] = []
    for words, credential in _not_enough(question, context):
        received = await owner.say(call_of(varied), token=credential, note=f"isolation, a write with {words}")
        written = step("refused", owner, received)
        tried.append(RefusedWrite(words, written, await asked(owner, reading, f"behind {words}")))
    return RefusedWritesObserved(
        owner=question.owner,
        principal=question.owner,
        canary=canary_of(contract, question.record),
        own=own,
        before=before,
        after=after,
        again=again,
        refused=tuple(tried),
        control=await asked(owner, varied, "control"),
        changed=await asked(owner, reading, "changed"),
        put_back=await asked(owner, operation, "put back") if varied != operation else None,
    )


def _not_enough(question: AccessQuestion, context: Context) -> Iterator[tuple[str, Credential]]:
    """Yield credentials that open no write, with words: those that the kit can make."""
    minter, contract = context.minter, context.contract
    yield "no token", None
    yield "a forged token", minter.forged(question.owner)
    if context.issuer is None:
        return
    if not minter.profile.opaque:
        yield "an expired token", minter.mint(question.owner, "expired")
    for scope in question.operation.scopes:
        held = minter.profile.known_scopes - {scope} - implying(contract, scope)
        yield f"a token without {scope}", minter.mint(question.owner, "good", scopes=held)


@probe("Does a repeated write have an effect?", ways=Ways.KEYED, writes=True, alone=True)
async def ask_repeated_write(question: AccessQuestion, context: Context) -> RepeatedWriteObserved:
    """Let the owner write twice with one idempotency key, another principal with the same one in between.

    A write that only sets a value shows nothing when it is repeated as it was. So the second one has another value,
    where there is one: a server that keeps its word answers as before or refuses. A last write with a key of its own
    shows that the value could have been changed.
    """
    operation, contract = question.operation, context.contract
    owner, other = owner_and_other(question, context)
    record = record_of(contract, question.record)
    reading, varied = _reading(contract, record), _varied(contract, record, operation)
    first, last, others, back = (new_key() for _ in range(4))
    return RepeatedWriteObserved(
        owner=question.owner,
        principal=question.principal,
        canary=canary_of(contract, question.record),
        own=await asked(owner, keyed(contract, operation, first), "own"),
        before=await asked(owner, reading, "before"),
        borrowed=await asked(other, keyed(contract, operation, first), "borrowed"),
        unborrowed=await asked(other, keyed(contract, operation, others), "unborrowed"),
        second=await asked(owner, keyed(contract, varied, first), "second"),
        after=await asked(owner, reading, "after"),
        again=await asked(owner, reading, "again"),
        control=await asked(owner, keyed(contract, varied, last), "control"),
        changed=await asked(owner, reading, "changed"),
        put_back=await asked(owner, keyed(contract, operation, back), "put back"),
    )


@probe("Is a foreign record told from none?", ways=Ways.UNSHARED)
async def ask_missing_record(question: AccessQuestion, context: Context) -> MissingObserved:
    """Ask for another principal's record, and then for one that does not exist."""
    operation = question.operation
    _, other = owner_and_other(question, context)
    absent = _absent(record_of(context.contract, question.record), operation)
    foreign = await asked(other, operation, "foreign")
    missing = None if absent is None else await asked(other, absent, "missing")
    return MissingObserved(question.principal, foreign, missing)


@probe("What does the audit log say of a reader?", ways=Ways.READERS, alone=True)
async def ask_audit(question: AccessQuestion, context: Context) -> AuditObserved:
    """Let a reader read another principal's record, and look at the lines that the audit log gains."""
    contract, (_, reader) = context.contract, owner_and_other(question, context)
    file = contract.folder / (contract.audit.file if contract.audit is not None else "")
    before = _lines(file)
    call = await asked(reader, question.operation, "reader")
    subject = contract.principals[question.principal].subject
    new: tuple[str, ...] | None = None
    for _ in range(_AUDIT_POLLS):
        after = _lines(file)
        new = None if after is None else after[len(before or ()) :]
        if new and any(subject in line for line in new):
            break
        await asyncio.sleep(_AUDIT_PAUSE_S)
    return AuditObserved(question.principal, call, new, (subject,))


def _lines(file: Path) -> tuple[str, ...] | None:
    try:
        return tuple(file.read_text("utf-8", "replace").splitlines())
    except OSError:
        return None


def _reading(contract: Contract, record: Record) -> Operation:
    """Return the call by which an owner sees the record, one that shows it alone where there is one."""
    return operation_of(contract, next(iter((*record.reads, *record.lists))))


def _varied(contract: Contract, record: Record, operation: Operation) -> Operation:
    """Return the write with another number in it, one that does not name the record; the write itself where none is."""
    known = [operation_of(contract, path) for path in record.reads]
    naming = {str(value) for one in known for value in one.arguments.values()}
    for name, value in operation.arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) not in naming:
            return operation.calling({**operation.arguments, name: value + 1})
    return operation


def _absent(record: Record, operation: Operation) -> Operation | None:
    """Return the call with another id in the place of the record's; None where no argument is known to be the id."""
    return next((make(_another(value)) for value, make in naming(record, operation)), None)


def naming(record: Record, operation: Operation) -> Iterator[tuple[str, Callable[[str], Operation]]]:
    """Yield the id by which a call names the record, and how it is called with another; nothing where none is known."""
    if operation.kind is OperationKind.RESOURCE:
        head, slash, last = operation.name.rpartition("/")
        if last:
            yield last, lambda value: replace(operation, name=f"{head}{slash}{value}")
        return
    texts = {name: value for name, value in operation.arguments.items() if isinstance(value, str)}
    named = [name for name, value in texts.items() if value in record.name] or list(texts)
    if len(named) == 1 and texts[named[0]]:
        yield texts[named[0]], lambda value: operation.calling({**operation.arguments, named[0]: value})


def _another(value: str) -> str:
    """Return an identifier of the same form that nothing has: other digits, and more of them where there are few."""
    changed = "".join(str(secrets.randbelow(10)) if one in _DIGITS else one for one in value)
    few = sum(one in _DIGITS for one in value) < _ENOUGH
    return f"{changed}{secrets.randbelow(9 * 10**8) + 10**8}" if few else changed
