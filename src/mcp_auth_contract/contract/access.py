"""Who asks for whose records, and on which way: the isolation matrix of a contract, known before anything is sent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from typing import Any, assert_never

from mcp_auth_contract.contract.models import Contract, Handle, Principal, Record, RecordPath
from mcp_auth_contract.contract.operations import Operation, operations, principal_for, satisfies
from mcp_auth_contract.model import OperationKind


class Ways(StrEnum):
    """Which calls of the matrix are meant."""

    READS = "reads"
    """A principal who is no reader reads one record."""
    LISTS = "lists"
    """A principal who is no reader lists, searches or exports records."""
    UNSHARED = "unshared"
    """The same, by an id under which the principal has no record."""
    STRANGERS = "strangers"
    """Users whom no contract names read, list, search or export; `principal` is the owner whom they resemble."""
    REACHES = "reaches"
    """One principal who is no reader takes each way to a record, of another tenant if there is such a one."""
    ROLES = "roles"
    """One principal who is no reader takes the first way to a record, of the owner's tenant if possible."""
    READERS = "readers"
    """A reader who is not the owner reads one record."""
    WRITES = "writes"
    """A principal who is not the owner changes one record."""
    OWN_WRITES = "own_writes"
    """An owner changes one record of their own."""
    KEYED = "keyed"
    """The same, by a tool that takes an idempotency key."""
    CURSORS = "cursors"
    """A principal uses the page token of another."""
    HANDLES = "handles"
    """A principal uses the handle of another."""
    TASKS = "tasks"
    """A principal who is no reader asks for the task in which the owner reads one record."""
    STATES = "states"
    """A principal continues a call that another began (`requestState`)."""
    OWN_STATES = "own_states"
    """A principal continues a call of their own."""


@dataclass(frozen=True, slots=True)
class Access:
    """A principal who takes a way to a record of `owner`. `record` is empty where no single one is meant.

    `scopes` are those of the principal's token: None for their own, where these open the way; else their own and what
    the way needs besides, for isolation must not be hidden by a missing scope.
    """

    record: str
    owner: str
    principal: str
    operation: Operation
    scopes: frozenset[str] | None = None


def operation_of(contract: Contract, path: RecordPath) -> Operation:
    """Return the call that a path to a record makes: what is declared, with the arguments of the path."""
    if path.kind is OperationKind.RESOURCE:
        resource = contract.resource_for(path.name)
        return Operation(path.kind, path.name, () if resource is None else resource.required_scopes)
    declared = next(one for one in operations(contract) if (one.kind, one.name) == (path.kind, path.name))
    return declared.calling(declared.arguments if path.arguments is None else path.arguments)


def tool_call(contract: Contract, tool: str, arguments: Mapping[str, Any] | None = None) -> Operation:
    """Return the call of a declared tool, with other arguments than those declared where some are given."""
    declared = next(one for one in operations(contract) if (one.kind, one.name) == (OperationKind.TOOL, tool))
    return declared if arguments is None else declared.calling(arguments)


def keyed(contract: Contract, operation: Operation, key: str) -> Operation:
    """Return the call under an idempotency key; unchanged where its tool takes none."""
    argument = next((tool.idempotency for tool in contract.tools if tool.name == operation.name), None)
    if argument is None or operation.kind is not OperationKind.TOOL:
        return operation
    return operation.calling({**operation.arguments, argument: key})


def handle_calls(contract: Contract, handle: Handle) -> tuple[Operation, Operation]:
    """Return the call that makes a handle, and the one that takes it, as it is declared; a URI has no such call yet."""
    used = Operation(OperationKind.RESOURCE, "") if handle.argument is None else tool_call(contract, handle.user)
    return tool_call(contract, handle.tool, handle.arguments), used


def handle_use(contract: Contract, handle: Handle, given: str) -> Operation:
    """Return the call that takes this very handle."""
    used = handle_calls(contract, handle)[1]
    if handle.argument is None:
        return replace(used, name=given)
    return used.calling({**used.arguments, handle.argument: given})


def accesses(contract: Contract, ways: Ways) -> tuple[Access, ...]:
    """Return the calls of one part of the matrix, in the order of the contract."""
    return tuple(dict.fromkeys(_found(contract, ways)))


def no_access(contract: Contract, ways: Ways) -> str:
    """Return why a part of the matrix is empty, for a contract where it is."""
    if ways is Ways.CURSORS:
        if not contract.cursors:
            return "the contract declares no cursors"
        return "the contract has no two principals whose pages could be mixed up"
    if ways is Ways.HANDLES and not contract.handles:
        return "the contract declares no handles"
    if ways in (Ways.STATES, Ways.OWN_STATES) and not contract.inputs:
        return "the contract names no tool that asks for input"
    if ways in (Ways.HANDLES, Ways.STATES, Ways.OWN_STATES):
        return "the contract has no two principals who could be mixed up"
    if not contract.records:
        return "the contract declares no records"
    if ways is Ways.READERS:
        return "no record has readers besides its owner"
    if ways is Ways.KEYED:
        return "no record is written by a tool with an idempotency key"
    if ways is Ways.TASKS and all(key != Ways.READS or path.tool is None for _, key, path in contract.paths()):
        return "no record of the contract is read by a tool"
    if ways is Ways.STRANGERS:
        return "every principal of the contract may read every record"
    if ways is Ways.OWN_WRITES:
        return f"no record of the contract has {Ways.WRITES}"
    if ways in (Ways.UNSHARED, Ways.TASKS, Ways.REACHES, Ways.ROLES):
        return no_access(contract, Ways.READS)
    if not any(key == ways for _, key, _ in contract.paths()):
        return f"no record of the contract has {ways}"
    return "every principal of the contract may do so"


def _found(contract: Contract, ways: Ways) -> Iterator[Access]:
    paths = [(record, path) for record, key, path in contract.paths() if key == ways.removeprefix("own_")]
    match ways:
        case Ways.READS | Ways.LISTS | Ways.WRITES:
            for record, path in paths:
                for principal in contract.principals:
                    if not record.may_read(principal):
                        yield _access(contract, record, path, principal)
        case Ways.OWN_WRITES:
            for record, path in paths:
                yield Access(record.name, record.owner, record.owner, operation_of(contract, path))
        case Ways.UNSHARED:
            for access in _found(contract, Ways.READS):
                own = [record for record in contract.records if record.may_read(access.principal)]
                if all(operation_of(contract, path) != access.operation for record in own for path in record.reads):
                    yield access
        case Ways.STRANGERS:
            for record, key, path in contract.paths():
                if key in (Ways.READS, Ways.LISTS) and not all(map(record.may_read, contract.principals)):
                    yield Access(record.name, record.owner, record.owner, operation_of(contract, path))
        case Ways.REACHES:
            for record, key, path in contract.paths():
                operation = operation_of(contract, path)
                telling = operation.kind is OperationKind.RESOURCE or any(
                    isinstance(one, str) for one in operation.arguments.values()
                )
                stranger = _farthest(contract, record)
                if key in (Ways.READS, Ways.LISTS) and telling and stranger is not None:
                    yield _access(contract, record, path, stranger)
        case Ways.ROLES:
            for record in contract.records:
                barred = _barred(contract, record)
                ways_in = [_access(contract, record, path, name) for path in record.reads[:1] for name in barred]
                # A scope that the principal lacks would hide what a role opens.
                yield from [one for one in ways_in if one.scopes is None][:1]
        case Ways.READERS:
            for record in contract.records:
                for path, principal in product(record.reads, record.readers):
                    # What a reader's scopes do not open, a reader may not do.
                    access = _access(contract, record, path, principal)
                    if principal != record.owner and access.scopes is None:
                        yield access
        case Ways.KEYED:
            keyed = {tool.name for tool in contract.tools if tool.idempotency is not None}
            yield from (access for access in _found(contract, Ways.WRITES) if access.operation.name in keyed)
        case Ways.TASKS:
            reads = _found(contract, Ways.READS)
            yield from (access for access in reads if access.operation.kind is OperationKind.TOOL)
        case Ways.CURSORS:
            for cursor in contract.cursors:
                operation = tool_call(contract, cursor.tool)
                for owner, holder in contract.principals.items():
                    if satisfies(contract, frozenset(holder.scopes), operation.scopes):
                        yield from _others(contract, owner, operation, operation.scopes)
        case Ways.HANDLES:
            for handle in contract.handles:
                made, used = handle_calls(contract, handle)
                needed = tuple(dict.fromkeys((*made.scopes, *used.scopes)))
                holders = contract.principals.items()
                able = [name for name, one in holders if satisfies(contract, frozenset(one.scopes), needed)]
                likely = principal_for(contract, made)
                if able:
                    yield from _others(contract, likely if likely in able else able[0], made, needed)
        case Ways.STATES | Ways.OWN_STATES:
            for asking in contract.inputs:
                operation = tool_call(contract, asking.tool)
                owner = principal_for(contract, operation)
                if ways is Ways.STATES:
                    yield from _others(contract, owner, operation, operation.scopes)
                else:
                    yield Access("", owner, owner, operation)
        case _:
            assert_never(ways)


def _others(contract: Contract, owner: str, operation: Operation, needed: tuple[str, ...]) -> Iterator[Access]:
    for principal in contract.principals:
        if principal != owner and not _same_data(contract, owner, principal):
            yield Access("", owner, principal, operation, _scopes(contract, principal, needed))


def _same_data(contract: Contract, owner: str, principal: str) -> bool:
    """Tell whether a principal may see whatever the owner sees, or is the same user in the server's eyes."""
    one, other = contract.principals[owner], contract.principals[principal]
    if (one.subject, one.tenant) == (other.subject, other.tenant):
        return True
    own = [record for record in contract.records if record.owner == owner]
    return bool(own) and all(record.may_read(principal) for record in own)


def _access(contract: Contract, record: Record, path: RecordPath, principal: str) -> Access:
    operation = operation_of(contract, path)
    return Access(record.name, record.owner, principal, operation, _scopes(contract, principal, operation.scopes))


def _barred(contract: Contract, record: Record) -> list[str]:
    """Return who may not read a record, first those of its owner's tenant."""
    home = contract.principals[record.owner].tenant
    barred = [name for name in contract.principals if not record.may_read(name)]
    return sorted(barred, key=lambda name: contract.principals[name].tenant != home)


def _farthest(contract: Contract, record: Record) -> str | None:
    """Return the first principal who may not read a record, of another tenant than its owner if there is one."""
    barred = [name for name in contract.principals if not record.may_read(name)]
    home = contract.principals[record.owner].tenant
    return next((name for name in barred if contract.principals[name].tenant != home), next(iter(barred), None))


def _scopes(contract: Contract, principal: str, needed: tuple[str, ...]) -> frozenset[str] | None:
    own = frozenset(contract.principals[principal].scopes)
    return None if satisfies(contract, own, needed) else own | frozenset(needed)


_SUBJECT = "stranger-5c1e"
_TENANT = "tenant-5c1e"
_CLIENT = "client-5c1e"


def strangers(contract: Contract, owner: str) -> Mapping[str, Principal]:
    """Return who must not be taken for the owner, by names of their own.

    A namesake in another tenant, where the contract has tenants; a neighbour, who has the owner's tenant and client; an
    outsider, who has the client alone; and somebody who shares nothing with the owner. None has further claims, which
    might name the owner, or a role.
    """
    known = contract.principals[owner]
    tenanted = contract.claims.tenant is not None and known.tenant is not None
    elsewhere = _other_tenant(contract, known) if tenanted else None
    plain = known.model_copy(update={"claims": {}})
    unknown = plain.model_copy(update={"subject": _SUBJECT})
    outside = unknown.model_copy(update={"tenant": elsewhere})
    found = {f"namesake-of-{owner}": plain.model_copy(update={"tenant": elsewhere})} if tenanted else {}
    found[nearest(owner)] = unknown
    if tenanted:
        found[f"outsider-to-{owner}"] = outside
    return {**found, f"unknown-to-{owner}": outside.model_copy(update={"client": _CLIENT})}


def nearest(owner: str) -> str:
    """Return the name of the stranger who has the owner's tenant and client."""
    return f"neighbour-of-{owner}"


def namesake_of(contract: Contract, owner: str) -> str | None:
    """Return the name of the stranger with the owner's subject; None where the contract has no tenants."""
    name = f"namesake-of-{owner}"
    return name if name in strangers(contract, owner) else None


def stranger_named(contract: Contract, name: str) -> Principal:
    """Return the stranger of that name. Raises KeyError for a name that is none."""
    return {key: one for owner in contract.principals for key, one in strangers(contract, owner).items()}[name]


def _other_tenant(contract: Contract, known: Principal) -> str:
    """Return a tenant where the contract knows nobody of that subject, one that it names if there is one."""
    taken = {one.tenant for one in contract.principals.values() if one.subject == known.subject}
    named = (one.tenant for one in contract.principals.values() if one.tenant is not None)
    return next((tenant for tenant in named if tenant not in taken), _TENANT)
