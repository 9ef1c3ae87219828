"""Faults of the scope matrix: rights that something implies, ways past the check, challenges that lead nowhere."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.responses import Response

from mcp_auth_contract.model import OperationKind
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.challenges import Denial, bearer_challenge, respond, scope_insufficient, write_bearer
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing, with_memory
from mcp_auth_contract_lab.faults.scopes import free, scoping
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.methods import shown_if_allowed
from mcp_auth_contract_lab.protocol import as_written, decoded, meta_of
from mcp_auth_contract_lab.scopes import ADMIN, Operation, all_held, insufficient, required_scopes
from mcp_auth_contract_lab.tools import READ, WRITE, Tool

FAULTS = Faults()

_Asked = tuple[str, Mapping[str, Any]]
_Scopes = frozenset[str]

_LISTED = "invoice://INV-1"
"""The resource that a table of scopes names; others come from the template."""
_UNDECLARED = Tool("debug_dump", "Show everything", frozenset(), lambda *_: {}, {})
_challenging = partial(changing, "challenges")
_GONE, _NOWHERE = "export_invoices", "invoices:nobody"


def _asked(ask: Callable[[Incoming, str, Mapping[str, Any], Mapping[str, Any]], _Asked]) -> Change:
    """Authorize another method or other parameters than those that run."""

    def asked(incoming: Incoming, message: Mapping[str, Any]) -> _Asked:
        return ask(incoming, *as_written(incoming, message), meta_of(message))

    return changing("protocol", asked=asked)


def _asked_unmirrored(ask: Callable[[Incoming, str, Mapping[str, Any], Mapping[str, Any]], _Asked]) -> Change:
    return all_of(_asked(ask), changing("protocol", mirrored=lambda _incoming, _message: None))


@FAULTS.step("challenges", "write")
def scope_challenge_split(denial: Denial) -> Response:
    """Each scope comes in a challenge of its own."""
    if denial.status != 403:
        return write_bearer(denial)
    said = tuple(pair for pair in denial.parameters if pair[0] != "scope")
    named = (denial.get("scope") or "").split(" ")
    split = (replace(denial, parameters=(*said, ("scope", scope))) for scope in named)
    return respond(denial, tuple(bearer_challenge(one) for one in split))


@FAULTS.by(with_memory(lambda insufficient: _challenging(insufficient=insufficient)))
def scope_challenge_changes(turn: dict[str, int], pointer: str | None, needed: _Scopes, held: _Scopes) -> Denial:
    """Each challenge names another scope besides."""
    turn["next"] = turn.get("next", -1) + 1
    return scope_insufficient(pointer, needed | {f"invoices:turn{turn['next']}"}, held)


def _refuse(operations: Sequence[Operation], needed: _Scopes, held: _Scopes) -> Exception:
    gone = rpc.Refused(rpc.INVALID_PARAMS, "no such tool")
    return gone if _NOWHERE in needed else insufficient(operations, needed, held)


FAULTS.rows(
    ("scope-only-in-list", "A tool is hidden from weak tokens, and runs for whoever knows its name.",
     all_of(changing("listing", shown=shown_if_allowed),
            free(lambda one: one.kind is OperationKind.TOOL and READ not in required_scopes(one)))),
    ("scope-any-of", "One of the scopes of an operation is enough.",
     scoping(covers=lambda granted, needed: bool(granted & needed) or not needed)),
    ("scope-write-implies-read", "Who may write may read, which the contract does not say.",
     scoping(covers=lambda granted, needed: all_held(granted | ({READ} if WRITE in granted else set()), needed))),
    ("scope-write-is-all", "Who may write may do everything.",
     scoping(covers=lambda granted, needed: WRITE in granted or all_held(granted, needed))),
    ("scope-batch-of-one-unchecked", "A batch of one element is not looked into.",
     scoping(batched=lambda messages: messages if len(messages) > 1 else ())),
    ("scope-batch-tail-unchecked", "The first element of a batch is checked, and no other.",
     scoping(batched=lambda messages: messages[:1])),
    ("scope-ignored-for-completion", "Completion asks for no scope.",
     free(lambda operation: operation.by == "completion/complete")),
    ("scope-ignored-for-subscriptions", "Subscriptions ask for no scope.",
     free(lambda operation: operation.by == "subscriptions/listen")),
    ("scope-ignored-for-templates", "A resource that a template makes asks for no scope.",
     free(lambda one: (
         one.kind is OperationKind.RESOURCE and one.by == "resources/read" and one.name != _LISTED))),
    ("scope-method-case-ignored", "A method runs in any case, and is checked in one.",
     changing("protocol", spelt=str.lower)),
    ("scope-hierarchy-ignored", "The scope of administrators implies nothing.", scoping(implied=frozenset)),
    ("scope-undeclared-tool", "There is a tool that the contract does not name.",
     changing("listing", besides=(_UNDECLARED,))),
    ("scope-free-tool-guarded", "A tool without scopes asks for one.",
     scoping(required=lambda operation: (
         required_scopes(operation) | ({READ} if operation.name == "list_currencies" else set())))),
    ("scope-by-method-header", "The scopes are those of the method that Mcp-Method names.",
     _asked_unmirrored(lambda incoming, method, params, _meta: (incoming.header("mcp-method") or method, params))),
    ("scope-by-meta-name", "The scopes are those of a name in _meta.",
     _asked(lambda _incoming, method, params, meta: (
         method, {**params, **{key: value for key, value in meta.items() if key in ("name", "uri")}}))),
    ("scope-by-argument", "A call whose arguments name its scopes is believed.",
     _asked(lambda _incoming, method, params, _meta: (
         ("ping", {}) if "scopes" in rpc.members_of(params.get("arguments")) else (method, params)))),
    ("scope-challenge-first-only", "The challenge names the first missing scope, and the next one then.",
     _challenging(insufficient=lambda pointer, needed, held: (
         scope_insufficient(pointer, frozenset(sorted(needed - held or needed)[:1]), held)))),
    ("scope-challenge-leads-nowhere", "The challenge asks for a broader scope, which the server does not honour.",
     all_of(scoping(implied=frozenset), _challenging(insufficient=lambda pointer, _needed, held: (
         scope_insufficient(pointer, frozenset({ADMIN}), held))))),
    ("scope-declared-tool-gone", "A tool of the contract is not there.",
     all_of(changing("listing", shown=lambda _principal, tool: tool.name != _GONE),
            scoping(refuse=_refuse, required=lambda operation: (
                frozenset({_NOWHERE}) if operation.name == _GONE else required_scopes(operation))))),
)  # fmt: skip


@FAULTS.by(_asked)
def scope_by_first_name(incoming: Incoming, method: str, params: Mapping[str, Any], _meta: object) -> _Asked:
    """Of two names the first is checked, and the last runs."""
    read = json.loads(incoming.read, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    return method, rpc.params_of(read) if isinstance(read, dict) else params


@FAULTS.by(_asked)
def scope_by_folded_name(_incoming: Incoming, method: str, params: Mapping[str, Any], _meta: object) -> _Asked:
    """Members are looked up in any case where a call is checked, in one where it runs."""
    return method, {key.lower(): value for key, value in params.items()}


def _folded(message: object) -> Mapping[str, Any]:
    return {key.casefold(): value for key, value in message.items()} if isinstance(message, dict) else {}


@FAULTS.by(_asked)
def scope_by_folded_member(incoming: Incoming, method: str, params: Mapping[str, Any], _meta: object) -> _Asked:
    """Letters that fold to those of params or method are read as these where a call is checked."""
    read = _folded(json.loads(incoming.read or b"{}"))
    asked = read.get("method")
    return asked if isinstance(asked, str) else method, rpc.params_of(dict(read)) or params


@FAULTS.by(_asked_unmirrored)
def scope_by_name_header(incoming: Incoming, method: str, params: Mapping[str, Any], _meta: object) -> _Asked:
    """The scopes are those of the tool that Mcp-Name names."""
    name = decoded(incoming.header("mcp-name") or "")
    key = "uri" if method == "resources/read" else "name"
    return method, {**params, key: name} if key in params and name else params
