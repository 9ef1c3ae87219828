"""What can be called on the server: tools, resources and prompts as one kind of thing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.contract.models import Contract, RecordPath
from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.model import Effect, OperationKind

__all__ = [
    "Operation",
    "control_operation",
    "implying",
    "operations",
    "principal_for",
    "private_canaries",
    "satisfies",
]


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


def _text(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"))


def operations(contract: Contract) -> tuple[Operation, ...]:
    """Return every operation that the contract declares: tools, resources, prompts, in its order."""
    tools = [
        Operation(
            OperationKind.TOOL,
            tool.name,
            tool.required_scopes,
            _text(tool.arguments),
            tool.effect,
            tool.control,
            tool.public,
        )
        for tool in contract.tools
    ]
    resources = [
        Operation(
            OperationKind.RESOURCE,
            expand(resource.uri, resource.arguments),
            resource.required_scopes,
            public=resource.public,
        )
        for resource in contract.resources
    ]
    prompts = [
        Operation(
            OperationKind.PROMPT,
            prompt.name,
            prompt.required_scopes,
            _text(prompt.arguments),
            public=prompt.public,
        )
        for prompt in contract.prompts
    ]
    return (*tools, *resources, *prompts)


def control_operation(contract: Contract) -> Operation:
    """Return the call that tells acceptance from refusal.

    It is the tool with `control = true`, else the first read that needs scopes, else the first read that needs a
    token, else the first operation that does.
    """
    every = operations(contract)
    guarded = [operation for operation in every if not operation.public]
    reads = [operation for operation in guarded if operation.effect is not Effect.WRITE]
    choices = (
        [operation for operation in every if operation.control],
        [operation for operation in reads if operation.scopes],
        reads,
        guarded,
    )
    return next(choice[0] for choice in choices if choice)


def implying(contract: Contract, scope: str) -> frozenset[str]:
    """Return a scope and all scopes that contain it by `policy.implies`, over several steps."""
    found = {scope}
    while True:
        wider = {wide for wide, narrow in contract.policy.implies.items() if found & set(narrow)}
        if wider <= found:
            return frozenset(found)
        found |= wider


def satisfies(contract: Contract, granted: frozenset[str], needed: tuple[str, ...]) -> bool:
    """Tell whether the granted scopes, and what they imply, hold all the needed ones."""
    return all(granted & implying(contract, scope) for scope in needed)


def principal_for(contract: Contract, operation: Operation) -> str:
    """Return the principal whose call of an operation must succeed.

    It is the owner of a record that this call reads, if their scopes allow it; else the first principal whose scopes
    do; else the first of all.
    """
    owners = [
        record.owner
        for record, key, path in contract.paths()
        if key != "writes" and _leads_through(path, operation) and _same_call(path.arguments, operation)
    ]
    writers = [
        record.owner
        for record, key, path in contract.paths()
        if key == "writes" and _leads_through(path, operation) and operation.effect is Effect.WRITE
    ]
    for name in (*owners, *writers, *contract.principals):
        if satisfies(contract, frozenset(contract.principals[name].scopes), operation.scopes):
            return name
    return next(iter(contract.principals))


def private_canaries(contract: Contract, operation: Operation, principal: str) -> frozenset[str]:
    """Return the canaries that a call brings to this principal and to nobody else."""
    return frozenset(
        record.canary
        for record, key, path in contract.paths()
        if key != "writes" and _leads_through(path, operation) and _same_call(path.arguments, operation)
        if record.owner == principal and set(record.readers) <= {principal}
    )


def _leads_through(path: RecordPath, operation: Operation) -> bool:
    return (path.kind, path.name) == (operation.kind, operation.name)


def _same_call(arguments: Mapping[str, Any] | None, operation: Operation) -> bool:
    return arguments is None or _text(arguments) == operation.call_arguments
