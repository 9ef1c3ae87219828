"""Faults of the scope matrix: rights that something implies, ways past the check, challenges that lead nowhere."""

import itertools
import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_auth_contract.model import OperationKind
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.challenges import Denial, respond, scope_insufficient
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profiles import shown_if_allowed
from mcp_auth_contract_lab.protocol import as_written, meta_of
from mcp_auth_contract_lab.refusal import RpcRefused
from mcp_auth_contract_lab.scopes import ADMIN, Operation, all_held, insufficient, required_scopes
from mcp_auth_contract_lab.tools import READ, WRITE, Tool

if TYPE_CHECKING:
    from mcp_auth_contract_lab.behaviour import Behaviour

__all__ = ["FAULTS"]

_Asked = tuple[str, Mapping[str, Any]]


def _scopes(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, scopes=replace(behaviour.scopes, **steps))


def _protocol(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, protocol=replace(behaviour.protocol, **steps))


def _free(free: Callable[[Operation], bool]) -> Change:
    """Ask no scope of some operations."""

    def required(operation: Operation) -> frozenset[str]:
        return frozenset() if free(operation) else required_scopes(operation)

    return _scopes(required=required)


def _any_of(granted: frozenset[str], needed: frozenset[str]) -> bool:
    return bool(granted & needed) or not needed


def _write_implies_read(granted: frozenset[str], needed: frozenset[str]) -> bool:
    return all_held(granted | ({READ} if WRITE in granted else set()), needed)


def _write_is_all(granted: frozenset[str], needed: frozenset[str]) -> bool:
    return WRITE in granted or all_held(granted, needed)


def _only_in_the_list(behaviour: "Behaviour") -> "Behaviour":
    hidden = replace(behaviour, listing=replace(behaviour.listing, shown=shown_if_allowed))
    return _free(lambda one: one.kind is OperationKind.TOOL and READ not in required_scopes(one))(hidden)


def _always_read(operation: Operation) -> frozenset[str]:
    return required_scopes(operation) | {READ} if operation.name == "list_currencies" else required_scopes(operation)


def _template_only(operation: Operation) -> bool:
    return operation.kind is OperationKind.RESOURCE and operation.by == "resources/read" and operation.name != _LISTED


_LISTED = "invoice://INV-1"
"""The resource that a table of scopes names; others come from the template."""


def _first_only(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return messages[:1]


def _more_than_one(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return messages if len(messages) > 1 else ()


def _unmirrored(_incoming: Incoming, _message: Mapping[str, Any]) -> None:
    """Nobody compares the headers with the body."""


def _by_name_header(incoming: Incoming, message: Mapping[str, Any]) -> _Asked:
    method, params = as_written(incoming, message)
    name = incoming.header("mcp-name") or ""
    if name.startswith("=?base64?"):
        name = b64decode(name[9:-2]).decode()
    key = "uri" if method == "resources/read" else "name"
    return (method, {**params, key: name}) if key in params and name else (method, params)


def _by_method_header(incoming: Incoming, message: Mapping[str, Any]) -> _Asked:
    method, params = as_written(incoming, message)
    return incoming.header("mcp-method") or method, params


def _by_meta(incoming: Incoming, message: Mapping[str, Any]) -> _Asked:
    method, params = as_written(incoming, message)
    return method, {**params, **{key: value for key, value in meta_of(message).items() if key in ("name", "uri")}}


def _by_first_name(incoming: Incoming, message: Mapping[str, Any]) -> _Asked:
    """Read the body with a parser that keeps the first of two members."""

    def first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(reversed(pairs))

    read = json.loads(incoming.read, object_pairs_hook=first)
    return (message["method"], rpc.params_of(read)) if isinstance(read, dict) else as_written(incoming, message)


def _by_arguments(incoming: Incoming, message: Mapping[str, Any]) -> _Asked:
    method, params = as_written(incoming, message)
    arguments = params.get("arguments")
    claimed = isinstance(arguments, dict) and "scopes" in arguments
    return ("ping", {}) if claimed else (method, params)


def _first_scope_only(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
    lacking = sorted(needed - held) or sorted(needed)
    return scope_insufficient(pointer, frozenset(lacking[:1]), held)


def _changing(behaviour: "Behaviour") -> "Behaviour":
    turn = itertools.count()

    def each_time(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
        return scope_insufficient(pointer, needed | {f"invoices:turn{next(turn)}"}, held)

    return replace(behaviour, challenges=replace(behaviour.challenges, insufficient=each_time))


def _admin_wanted(behaviour: "Behaviour") -> "Behaviour":
    def broader(pointer: str | None, _needed: frozenset[str], held: frozenset[str]) -> Denial:
        return scope_insufficient(pointer, frozenset({ADMIN}), held)

    challenged = replace(behaviour, challenges=replace(behaviour.challenges, insufficient=broader))
    return _scopes(implied=frozenset)(challenged)


def _two_challenges(denial: Denial) -> tuple[str, ...]:
    named = (denial.get("scope") or "").split(" ")
    said = [pair for pair in denial.parameters if pair[0] != "scope"]
    return tuple(
        "Bearer " + ", ".join(f'{name}="{value}"' for name, value in (*said, ("scope", scope))) for scope in named
    )


def _split_challenges(behaviour: "Behaviour") -> "Behaviour":
    write = behaviour.challenges.write

    def split(denial: Denial) -> Any:
        return respond(denial, _two_challenges(denial)) if denial.status == 403 else write(denial)

    return replace(behaviour, challenges=replace(behaviour.challenges, write=split))


_UNDECLARED = Tool("debug_dump", "Show everything", frozenset(), lambda *_: {}, {})


def _withdrawn(behaviour: "Behaviour") -> "Behaviour":
    """Take a tool away: nobody is shown it, and whoever calls it is told that it does not exist."""
    nowhere = "invoices:nobody"

    def required(operation: Operation) -> frozenset[str]:
        return frozenset({nowhere}) if operation.name == "export_invoices" else required_scopes(operation)

    def refuse(operations: Sequence[Operation], needed: frozenset[str], held: frozenset[str]) -> Exception:
        if nowhere in needed:
            return RpcRefused(rpc.INVALID_PARAMS, "no such tool")
        return insufficient(operations, needed, held)

    listing = replace(behaviour.listing, shown=lambda _principal, tool: tool.name != "export_invoices")
    return _scopes(required=required, refuse=refuse)(replace(behaviour, listing=listing))


_ENFORCED = ("scope-missing-denied", "scope-none-denied")

FAULTS = (
    Fault("scope-only-in-list", "A tool is hidden from weak tokens, and runs for whoever knows its name.",
          _only_in_the_list),
    Fault("scope-any-of", "One of the scopes of an operation is enough.",
          _scopes(covers=_any_of)),
    Fault("scope-write-implies-read", "Who may write may read, which the contract does not say.",
          _scopes(covers=_write_implies_read)),
    Fault("scope-write-is-all", "Who may write may do everything.",
          _scopes(covers=_write_is_all)),
    Fault("scope-batch-of-one-unchecked", "A batch of one element is not looked into.",
          _scopes(batched=_more_than_one)),
    Fault("scope-batch-tail-unchecked", "The first element of a batch is checked, and no other.",
          _scopes(batched=_first_only)),
    Fault("scope-ignored-for-completion", "Completion asks for no scope.",
          _free(lambda operation: operation.by == "completion/complete")),
    Fault("scope-ignored-for-subscriptions", "Subscriptions ask for no scope.",
          _free(lambda operation: operation.by == "subscriptions/listen")),
    Fault("scope-ignored-for-templates", "A resource that a template makes asks for no scope.",
          _free(_template_only)),
    Fault("scope-by-name-header", "The scopes are those of the tool that Mcp-Name names.",
          _protocol(mirrored=_unmirrored, asked=_by_name_header)),
    Fault("scope-by-method-header", "The scopes are those of the method that Mcp-Method names.",
          _protocol(mirrored=_unmirrored, asked=_by_method_header)),
    Fault("scope-by-meta-name", "The scopes are those of a name in _meta.",
          _protocol(asked=_by_meta)),
    Fault("scope-by-first-name", "Of two names the first is checked, and the last runs.",
          _protocol(asked=_by_first_name)),
    Fault("scope-by-argument", "A call whose arguments name its scopes is believed.",
          _protocol(asked=_by_arguments)),
    Fault("scope-method-case-ignored", "A method runs in any case, and is checked in one.",
          _protocol(spelt=str.lower)),
    Fault("scope-challenge-first-only", "The challenge names the first missing scope, and the next one then.",
          lambda b: replace(b, challenges=replace(b.challenges, insufficient=_first_scope_only))),
    Fault("scope-challenge-split", "Each scope comes in a challenge of its own.",
          _split_challenges),
    Fault("scope-challenge-changes", "Each challenge names another scope besides.",
          _changing),
    Fault("scope-challenge-leads-nowhere", "The challenge asks for a broader scope, which the server does not honour.",
          _admin_wanted),
    Fault("scope-hierarchy-ignored", "The scope of administrators implies nothing.",
          _scopes(implied=frozenset)),
    Fault("scope-free-tool-guarded", "A tool without scopes asks for one.",
          _scopes(required=_always_read)),
    Fault("scope-undeclared-tool", "There is a tool that the contract does not name.",
          lambda b: replace(b, listing=replace(b.listing, besides=(_UNDECLARED,)))),
    Fault("scope-declared-tool-gone", "A tool of the contract is not there.",
          _withdrawn),
)  # fmt: skip
