"""Which scopes a token grants, which an operation needs, and whether they suffice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_auth_contract.model import OperationKind
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InsufficientScope
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.tools import EXPORT, READ, TOOLS, VIEW_TOOLS, WRITE

SCOPES_SUPPORTED = (READ, WRITE, EXPORT)
BASIC_SCOPE = READ
ADMIN = "invoices:admin"


@dataclass(frozen=True, slots=True)
class Operation:
    """A primitive that somebody wants to use: a tool, a resource or a prompt, by name or URI.

    `by` is the method that asks for it.
    """

    kind: OperationKind
    name: str
    by: str


def granted_scopes(claims: Mapping[str, Any], settings: LabSettings) -> frozenset[str]:
    """Read the scope claim: tokens separated by spaces (RFC 6749 §3.3), or a list of tokens."""
    value = claims.get(settings.claims.scope)
    if isinstance(value, str):
        return frozenset(value.split(" ")) - {""}
    if isinstance(value, list):
        return frozenset(one for one in value if isinstance(one, str) and one)
    return frozenset()


def required_scopes(operation: Operation) -> frozenset[str]:
    """Return all the scopes that the operation needs; none for a tool that does not exist."""
    if operation.kind is OperationKind.TOOL:
        tool = TOOLS.get(operation.name) or VIEW_TOOLS.get(operation.name)
        return tool.scopes if tool else frozenset()
    return frozenset({READ})


def all_held(granted: frozenset[str], needed: frozenset[str]) -> bool:
    """Every needed scope is granted, compared as a whole and by case (RFC 6749 §3.3)."""
    return needed <= granted


def insufficient(_operations: Sequence[Operation], needed: frozenset[str], held: frozenset[str]) -> Exception:
    """A weak token is refused with a 403."""
    return InsufficientScope(needed, held)


@dataclass(frozen=True, slots=True)
class Scopes:
    """Steps: what a token grants, what an operation needs, and whether the one covers the other.

    `implied` adds the scopes that granted ones contain, `refuse` makes the refusal of a weak token (the operations, the
    scopes needed and held), `batched` picks the elements of a batch that are looked at.
    """

    granted: Callable[[Mapping[str, Any], LabSettings], frozenset[str]] = granted_scopes
    required: Callable[[Operation], frozenset[str]] = required_scopes
    covers: Callable[[frozenset[str], frozenset[str]], bool] = all_held
    # The scope of administrators holds all others; no other scope contains one.
    implied: Callable[[frozenset[str]], frozenset[str]] = lambda granted: (
        granted | set(SCOPES_SUPPORTED) if ADMIN in granted else granted
    )
    refuse: Callable[[Sequence[Operation], frozenset[str], frozenset[str]], Exception] = insufficient
    batched: Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]] = lambda messages: messages


def operations_of(method: str, params: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Return the primitives that a request uses; completion and subscriptions use them too."""
    match method:
        case "tools/call":
            return _named(OperationKind.TOOL, params.get("name"), method)
        case "resources/read":
            return _named(OperationKind.RESOURCE, params.get("uri"), method)
        case "prompts/get":
            return _named(OperationKind.PROMPT, params.get("name"), method)
        case "completion/complete":
            reference = rpc.members_of(params.get("ref"))
            if reference.get("type") == "ref/prompt":
                return _named(OperationKind.PROMPT, reference.get("name"), method)
            return _named(OperationKind.RESOURCE, reference.get("uri"), method)
        case "subscriptions/listen":
            uris = rpc.members_of(params.get("notifications")).get("resourceSubscriptions")
            listed = uris if isinstance(uris, list) else []
            return tuple(one for uri in listed for one in _named(OperationKind.RESOURCE, uri, method))
        case _:
            return ()


def _named(kind: OperationKind, name: object, by: str) -> tuple[Operation, ...]:
    return (Operation(kind, name, by),) if isinstance(name, str) else ()


def needed_by(steps: Scopes, operations: Sequence[Operation]) -> frozenset[str]:
    """Return the scopes that some operations need together."""
    return frozenset[str]().union(*map(steps.required, operations))


def authorize(steps: Scopes, principal: Principal, method: str, params: Mapping[str, Any]) -> None:
    """Refuse a request whose primitives need more than the token grants. Raises what `refuse` makes."""
    operations = operations_of(method, params)
    if not operations:
        return
    needed = needed_by(steps, operations)
    held = steps.implied(principal.scopes)
    if not all(steps.covers(held, steps.required(one)) for one in operations):
        raise steps.refuse(operations, needed, principal.scopes)
