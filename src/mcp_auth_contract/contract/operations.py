"""What can be called on the server: tools, resources and prompts as one kind of thing."""

import json
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_auth_contract.contract.models import Contract, Guarded
from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.model import Effect, OperationKind


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of a primitive. `scopes` are all needed; `public` operations need no token at all.

    `call_arguments` is the JSON text of the arguments, so that operations are values and equal calls are equal.
    """

    kind: OperationKind
    name: str
    scopes: tuple[str, ...] = ()
    call_arguments: str = field(default="{}", repr=False)
    effect: Effect = Effect.READ
    control: bool = False
    public: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call."""
        value: dict[str, Any] = json.loads(self.call_arguments)
        return value

    def calling(self, arguments: Mapping[str, Any]) -> "Operation":
        """Return the same operation, called with other arguments."""
        return replace(self, call_arguments=_text(arguments), control=False)


def _text(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class _Path:
    """A way to a record, with its arguments as `Operation.call_arguments` spells them; None: those declared."""

    owner: str
    readers: frozenset[str]
    canary: str
    writes: bool
    arguments: str | None

    def leads_to(self, operation: Operation) -> bool:
        return self.arguments is None or self.arguments == operation.call_arguments


@dataclass(slots=True)
class _Derived:
    """What is worked out once for a contract: a plan asks for it in each of its thousands of cases."""

    operations: tuple[Operation, ...]
    paths: Mapping[tuple[OperationKind, str], tuple[_Path, ...]]
    control: Operation | None = None
    principals: dict[Operation, str] = field(default_factory=dict)
    implying: dict[str, frozenset[str]] = field(default_factory=dict)

    def paths_of(self, operation: Operation) -> Iterator[_Path]:
        return (path for path in self.paths.get((operation.kind, operation.name), ()) if path.leads_to(operation))


_DERIVED: dict[int, tuple["weakref.ref[Contract]", _Derived]] = {}
"""By identity, for a contract is a frozen value without a hash; an entry goes with its contract."""


def _derived(contract: Contract) -> _Derived:
    key = id(contract)
    known = _DERIVED.get(key)
    if known is not None and known[0]() is contract:
        return known[1]
    paths: dict[tuple[OperationKind, str], list[_Path]] = {}
    for record, kind, path in contract.paths():
        arguments = None if path.arguments is None else _text(path.arguments)
        made = _Path(record.owner, frozenset(record.readers), record.canary, kind == "writes", arguments)
        paths.setdefault((path.kind, path.name), []).append(made)
    derived = _Derived(_declared(contract), {name: tuple(ways) for name, ways in paths.items()})
    _DERIVED[key] = (weakref.ref(contract, lambda _gone: _DERIVED.pop(key, None)), derived)
    return derived


def operations(contract: Contract) -> tuple[Operation, ...]:
    """Return every operation that the contract declares: tools, resources, prompts, in its order."""
    return _derived(contract).operations


def _declared(contract: Contract) -> tuple[Operation, ...]:
    def made(kind: OperationKind, name: str, guarded: Guarded, arguments: Mapping[str, Any]) -> Operation:
        return Operation(kind, name, guarded.required_scopes, _text(arguments), public=guarded.public)

    tools = (
        replace(made(OperationKind.TOOL, one.name, one, one.arguments), effect=one.effect, control=one.control)
        for one in contract.tools
    )
    resources = (made(OperationKind.RESOURCE, expand(one.uri, one.arguments), one, {}) for one in contract.resources)
    prompts = (made(OperationKind.PROMPT, one.name, one, one.arguments) for one in contract.prompts)
    return (*tools, *resources, *prompts)


def control_operation(contract: Contract) -> Operation:
    """Return the control call, which shows whether a token is accepted.

    It is the tool with `control = true`, else the first read that needs scopes, else the first read that needs a
    token, else the first operation that does.
    """
    derived = _derived(contract)
    if derived.control is None:
        guarded = [operation for operation in derived.operations if not operation.public]
        reads = [operation for operation in guarded if operation.effect is not Effect.WRITE]
        declared = [operation for operation in derived.operations if operation.control]
        scoped = [operation for operation in reads if operation.scopes]
        derived.control = next(choice[0] for choice in (declared, scoped, reads, guarded) if choice)
    return derived.control


def implying(contract: Contract, scope: str) -> frozenset[str]:
    """Return a scope and all scopes that contain it by `policy.implies`, over several steps."""
    known, found = _derived(contract).implying, {scope}
    while scope not in known:
        wider = {wide for wide, narrow in contract.policy.implies.items() if found & set(narrow)}
        if wider <= found:
            known[scope] = frozenset(found)
        found |= wider
    return known[scope]


def satisfies(contract: Contract, granted: frozenset[str], needed: tuple[str, ...]) -> bool:
    """Tell whether the granted scopes, and what they imply, hold all the needed ones."""
    return all(granted & implying(contract, scope) for scope in needed)


def principal_for(contract: Contract, operation: Operation) -> str:
    """Return the principal whose call of an operation must succeed.

    It is the owner of a record that this call reads, if their scopes allow it; else the first principal whose scopes
    do; else the first of all.
    """
    derived = _derived(contract)
    if operation not in derived.principals:
        names = [path.owner for path in derived.paths_of(operation) if not path.writes]
        if operation.effect is Effect.WRITE:
            ways = derived.paths.get((operation.kind, operation.name), ())
            names += [path.owner for path in ways if path.writes]
        names += contract.principals
        scopes = {name: frozenset(contract.principals[name].scopes) for name in names}
        able = (name for name in names if satisfies(contract, scopes[name], operation.scopes))
        derived.principals[operation] = next(able, next(iter(contract.principals)))
    return derived.principals[operation]


def private_canaries(contract: Contract, operation: Operation, principal: str) -> frozenset[str]:
    """Return the canaries that a call brings to this principal and to nobody else."""
    return frozenset(
        path.canary
        for path in _derived(contract).paths_of(operation)
        if not path.writes and path.owner == principal and path.readers <= {principal}
    )
