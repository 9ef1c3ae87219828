"""Writes on somebody else's record, ids that do not exist, and what the audit log says of readers."""

import asyncio
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.observation import AuditObserved, MissingObserved, WriteObserved
from mcp_auth_contract.checks.isolation.probe import callers, canary_of, record_of
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.contract import Contract, Operation, Record, operation_of
from mcp_auth_contract.model import OperationKind

_DIGITS = frozenset("0123456789")


_ENOUGH = 8


_AUDIT_POLLS = 10


_AUDIT_PAUSE_S = 0.1


async def ask_record_write(question: Question, context: Context) -> WriteObserved:
    """Let somebody else write another value into a record, and its owner read it before and after.

    The owner then writes the same value: where the owner's read shows that, it would have shown the other's. In the
    end the owner writes what the contract says.
    """
    operation, owner, other = callers(question, context)
    contract = owner.contract
    canary, reading = canary_of(contract, question.record), _reading(contract, record_of(contract, question.record))
    varied = _varied(contract, record_of(contract, question.record), operation)
    calls = [
        await owner.call(operation, "own"),
        await owner.call(reading, "before"),
        await other.call(varied, "foreign"),
        await owner.call(reading, "after"),
        await owner.call(reading, "again"),
        await owner.call(varied, "control"),
        await owner.call(reading, "changed"),
    ]
    if varied != operation:
        calls.append(await owner.call(operation, "put back"))
    return WriteObserved(operation.name, owner.principal, other.principal, canary, tuple(calls))


async def ask_repeated_write(question: Question, context: Context) -> WriteObserved:
    """Let the owner write twice with one idempotency key, somebody else with the same one in between.

    A write that only sets a value shows nothing when it is repeated as it was. So the second one has another value,
    where there is one: a server that keeps its word answers as before or refuses. A last write with a key of its own
    shows that the value could have been changed.
    """
    operation, owner, other = callers(question, context)
    contract = owner.contract
    record = record_of(contract, question.record)
    reading, argument = _reading(contract, record), _key_argument(contract, operation)
    varied = _varied(contract, record, operation)

    def keyed(called: Operation, key: str) -> Operation:
        return called.calling({**called.arguments, argument: key})

    first, last, others = (f"kit-{secrets.token_hex(8)}" for _ in range(3))
    calls = [
        await owner.call(keyed(operation, first), "own"),
        await owner.call(reading, "before"),
        await other.call(keyed(operation, first), "borrowed"),
        await other.call(keyed(operation, others), "unborrowed"),
        await owner.call(keyed(varied, first), "second"),
        await owner.call(reading, "after"),
        await owner.call(reading, "again"),
        await owner.call(keyed(varied, last), "control"),
        await owner.call(reading, "changed"),
        await owner.call(keyed(operation, f"{last}-back"), "put back"),
    ]
    canary = canary_of(contract, question.record)
    return WriteObserved(operation.name, owner.principal, other.principal, canary, tuple(calls))


async def ask_missing_record(question: Question, context: Context) -> MissingObserved:
    """Let somebody ask for a foreign record, and then for one that does not exist."""
    operation, owner, other = callers(question, context)
    absent = _absent(record_of(owner.contract, question.record), operation)
    foreign = await other.call(operation, "foreign")
    missing = None if absent is None else await other.call(absent, "missing")
    return MissingObserved(operation.name, other.principal, foreign, missing)


async def ask_audit(question: Question, context: Context) -> AuditObserved:
    """Let a reader read somebody else's record, and look at the lines that the audit log gains."""
    operation, owner, reader = callers(question, context)
    contract = owner.contract
    file = contract.folder / (contract.audit.file if contract.audit is not None else "")
    before = _lines(file)
    call = await reader.call(operation, "reader")
    subject = contract.principals[reader.principal].subject
    new: tuple[str, ...] | None = None
    for _ in range(_AUDIT_POLLS):
        after = _lines(file)
        new = None if after is None else after[len(before or ()) :]
        if new and any(subject in line for line in new):
            break
        await asyncio.sleep(_AUDIT_PAUSE_S)
    return AuditObserved(operation.name, reader.principal, call, new, (subject,))


def _lines(file: Path) -> tuple[str, ...] | None:
    try:
        return tuple(file.read_text("utf-8", "replace").splitlines())
    except OSError:
        return None


def _reading(contract: Contract, record: Record) -> Operation:
    """Return the call by which an owner sees the record, one that shows it alone where there is one."""
    return operation_of(contract, next(iter((*record.reads, *record.lists))))


def _key_argument(contract: Contract, operation: Operation) -> str:
    return next(tool.idempotency or "" for tool in contract.tools if tool.name == operation.name)


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
    if operation.kind is OperationKind.RESOURCE:
        head, slash, last = operation.name.rpartition("/")
        return replace(operation, name=f"{head}{slash}{_another(last)}") if last else None
    texts = {name: value for name, value in operation.arguments.items() if isinstance(value, str)}
    named = [name for name, value in texts.items() if value in record.name] or list(texts)
    if len(named) != 1:
        return None
    arguments: dict[str, Any] = {**operation.arguments, named[0]: _another(texts[named[0]])}
    return operation.calling(arguments)


def _another(value: str) -> str:
    """Return an identifier of the same form that nothing has: other digits, and more of them where there are few."""
    changed = "".join(str(secrets.randbelow(10)) if one in _DIGITS else one for one in value)
    few = sum(one in _DIGITS for one in value) < _ENOUGH
    return f"{changed}{secrets.randbelow(9 * 10**8) + 10**8}" if few else changed
