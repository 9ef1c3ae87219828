"""Principals who meet: owners of records, and the calls by which one is told from the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mcp_auth_contract.contract import Contract, Operation, operation_of, satisfies
from mcp_auth_contract.contract.models import Record
from mcp_auth_contract.model import OperationKind

NO_TWO_OWNERS = "the contract has no two principals who own records that the other one may not read"

_MOST = 3
_MOST_CALLS = 5


@dataclass(frozen=True, slots=True)
class Part:
    """A call of one principal, with the canaries that it brings to nobody else, and those they must never receive."""

    principal: str
    operation: Operation
    own: frozenset[str]
    foreign: frozenset[str]


def foreign_to(contract: Contract, principal: str) -> frozenset[str]:
    """Return the canaries of all records that a principal may not read."""
    return frozenset(record.canary for record in contract.records if not record.may_read(principal))


def other_users(contract: Contract, principal: str, *, same_tenant: bool) -> Iterator[str]:
    """Yield the principals who are other users than this one: those of the same tenant, or those of other tenants."""
    here = contract.principals[principal]
    for name, one in contract.principals.items():
        if one.subject != here.subject and (one.tenant == here.tenant) is same_tenant:
            yield name


def owners(contract: Contract, first: str) -> tuple[str, ...]:
    """Return the principals who own a record that they can reach; `first` goes first if it is one.

    Each of the others owns something that the first one may not read, and may not read something of the first one.
    """
    found = sorted(contract.principals, key=lambda name: name != first)
    able = [name for name in found if any(True for _ in _ways(contract, name, ()))]
    return tuple(able[:1] + [name for name in able[1:] if _strangers(contract, able[0], name)])


def _strangers(contract: Contract, one: str, other: str) -> bool:
    return all(any(True for _ in _ways(contract, owner, (reader,))) for owner, reader in ((one, other), (other, one)))


def meeting(contract: Contract, first: str) -> tuple[tuple[Part, ...], ...]:
    """Return up to three owners' parts: the calls that are the same for all of them, up to five, else their own.

    Where no call is the same for all, each one also makes the calls of the others, which bring them nothing.
    """
    chosen: list[str] = []
    for name in owners(contract, first):
        if len(chosen) < _MOST and all(_strangers(contract, one, name) for one in chosen):
            chosen.append(name)
    return _parts(contract, chosen)


def pair(
    contract: Contract, first: str, *, only: str | None = None
) -> tuple[tuple[Part, ...], tuple[Part, ...]] | None:
    """Return the parts of two owners, by choice of two who make the same call; None where there are no two.

    `only` names the second one.
    """
    one, *others = owners(contract, first) or ("",)
    named = [name for name in others if only in (None, name)]
    best = next((each for each in named if _shared(contract, (one, each))), named[0] if named else None)
    if best is None:
        return None
    mine, theirs = _parts(contract, (one, best))
    return mine, theirs


def victims(contract: Contract, caller: str) -> tuple[tuple[Part, Part], ...]:
    """Return up to two meetings of the caller's call with a victim's: of the same tenant, and of another one.

    A server that believes the user's name alone shows itself by a victim in the caller's own tenant; one that
    believes the tenant's by a victim in another. Both call the same where that can be, else the caller calls what
    the victim does.
    """
    first, *others = owners(contract, caller) or ("",)
    home = contract.principals[first].tenant if others else None
    near = next((name for name in others if contract.principals[name].tenant == home), None)
    far = next((name for name in others if contract.principals[name].tenant != home), None)
    met = (pair(contract, first, only=name) for name in (near, far) if name is not None)
    return tuple(_against(*both) for both in met if both is not None)


def _against(mine: tuple[Part, ...], theirs: tuple[Part, ...]) -> tuple[Part, Part]:
    same = [(one, other) for one in mine for other in theirs if one.operation == other.operation]
    return min(same, key=lambda both: (not both[1].own, not both[0].own), default=(mine[0], theirs[0]))


def _parts(contract: Contract, names: Sequence[str]) -> tuple[tuple[Part, ...], ...]:
    shared = _shared(contract, names)
    each = {name: call for name in names for call in islice(_ways(contract, name, names), 1)}
    made: list[tuple[Part, ...]] = []
    for name in names:
        calls = shared[:_MOST_CALLS] or [each[name], *each.values()]
        allowed = (call for call in dict.fromkeys(calls) if _may_call(contract, name, call))
        made.append(tuple(_part(contract, name, call, names) for call in allowed))
    return tuple(made)


def _shared(contract: Contract, names: Sequence[str]) -> list[Operation]:
    """Return the calls by which each of the principals gets a record of their own, tools first."""
    ways = [dict.fromkeys(_ways(contract, name, names)) for name in names]
    common = [call for call in ways[0] if all(call in other for other in ways[1:])] if ways else []
    return sorted(common, key=lambda call: call.kind is not OperationKind.TOOL)


def _part(contract: Contract, name: str, call: Operation, among: Sequence[str]) -> Part:
    own = frozenset(
        record.canary
        for record in _records(contract, name, among)
        if any(operation_of(contract, path) == call for path in (*record.reads, *record.lists))
    )
    return Part(name, call, own, foreign_to(contract, name))


def _records(contract: Contract, owner: str, among: Sequence[str]) -> list[Record]:
    """Return the records of an owner that none of the others present may read."""
    others = [name for name in among if name != owner]
    return [one for one in contract.records if one.owner == owner and not any(map(one.may_read, others))]


def _ways(contract: Contract, owner: str, among: Sequence[str]) -> Iterator[Operation]:
    """Yield the calls that bring a principal such a record: reads of one record first."""
    records = _records(contract, owner, among)
    for paths in (*(one.reads for one in records), *(one.lists for one in records)):
        for path in paths:
            call = operation_of(contract, path)
            if _may_call(contract, owner, call):
                yield call


def _may_call(contract: Contract, principal: str, call: Operation) -> bool:
    return satisfies(contract, frozenset(contract.principals[principal].scopes), call.scopes)
