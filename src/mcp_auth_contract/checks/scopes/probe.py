"""Questions about scopes: challenges that are followed, and the server's surface."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from mcp_auth_contract.checks.apps.observation import pointers_of
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import CallQuestion, ScopeQuestion, SurfaceQuestion
from mcp_auth_contract.checks.scopes.observation import (
    Round,
    RoundsObserved,
    Surface,
    SurfaceObserved,
    challenge_scopes,
)
from mcp_auth_contract.contract import Contract, Operation, operations, principal_for
from mcp_auth_contract.contract.templates import matches
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.wire import LISTS, Listing

_ASKED = 3
_MOST_ROUNDS = 4
_NOT_FOUND = -32601
_LIST_OF = {OperationKind.TOOL: "tools", OperationKind.RESOURCE: "resources", OperationKind.PROMPT: "prompts"}


@probe("What does a refusal ask for, each time, and does that suffice?")
async def ask_rounds(question: ScopeQuestion, context: Context) -> RoundsObserved:
    """Ask for a challenge three times, then get what it names, and what the next one names, until the call runs."""
    operation, scopes = question.operation, question.scopes
    caller = PrincipalSession(context, question.revision, question.principal, scopes)
    asked = [await caller.call(operation, f"asked {number} of {_ASKED}") for number in range(1, _ASKED + 1)]
    rounds: list[Round] = []
    last = asked[-1]
    while len(rounds) < _MOST_ROUNDS and not last.accepted:
        wider = scopes | (challenge_scopes(last.answer) or frozenset())
        if wider == scopes:
            break
        scopes = wider
        last = await replace(caller, scopes=scopes).call(operation, f"with the scopes of {len(rounds) + 1} challenges")
        rounds.append(Round(scopes, last))
    return RoundsObserved(operation.name, question.scopes, tuple(asked), tuple(rounds))


@probe("What does the server list, and is it what the contract declares?")
async def ask_surface(question: SurfaceQuestion, context: Context) -> SurfaceObserved:
    """List everything with a token of every scope, and call what the contract declares and no list shows."""
    contract, revision = context.contract, question.revision
    caller = PrincipalSession(context, revision, question.principal, question.scopes)
    listings = {name: await caller.list(kind) for name, kind in LISTS.items()}
    listed = {name: _names(listing, LISTS[name].key) for name, listing in listings.items()}
    undeclared, unlisted = _compared(contract, listed, _views(contract, listings["tools"]))
    surfaces = []
    for name, listing in listings.items():
        called = []
        for operation in unlisted[name]:
            if operation.effect is not Effect.WRITE:
                owner = PrincipalSession(context, revision, principal_for(contract, operation))
                called.append((operation.name, await owner.call(operation, "declared, and not listed")))
        complete = listing.complete or _absent(listing)
        surfaces.append(
            Surface(name, listed[name], undeclared[name], tuple(called), listing.answers, complete, listing.unread)
        )
    return SurfaceObserved(tuple(surfaces))


def _names(listing: Listing, member: str) -> tuple[str, ...]:
    names = (entry.get(member) for entry in listing.entries)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def _absent(listing: Listing) -> bool:
    """Whether the server does not know the method: it has nothing of that kind."""
    if len(listing.answers) > 1:
        return False
    error = (listing.answers[-1].reply or {}).get("error")
    return isinstance(error, dict) and error.get("code") == _NOT_FOUND


def _views(contract: Contract, listing: Listing) -> frozenset[str]:
    """Return the resources that the contract declares by the tools that show them."""
    shown = {view.tool for view in contract.views}
    leading = [entry for entry in listing.entries if entry.get("name") in shown]
    return frozenset(str(uri) for entry in leading for uri in pointers_of(entry).values())


def _compared(
    contract: Contract, listed: dict[str, tuple[str, ...]], views: frozenset[str] = frozenset()
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[Operation, ...]]]:
    """Return by kind what only the server lists, and what only the contract declares.

    A resource counts as declared if a declared template makes it, or a listed template of which the contract
    declares an instance, or as one of the `views`; it counts as listed if a listed template makes it.
    """
    uris = [resource.uri for resource in contract.resources]
    templates = [one for one in listed["templates"] if one in uris or _makes(one, uris)]
    declared: dict[str, Callable[[str], bool]] = {
        "tools": lambda name: any(tool.name == name for tool in contract.tools),
        "resources": lambda uri: uri in uris or uri in views or any(matches(one, uri) for one in (*uris, *templates)),
        "templates": lambda template: template in templates,
        "prompts": lambda name: any(prompt.name == name for prompt in contract.prompts),
    }
    undeclared = {kind: tuple(name for name in names if not declared[kind](name)) for kind, names in listed.items()}
    unlisted = {
        name: tuple(
            one
            for one in operations(contract)
            if _LIST_OF[one.kind] == name and one.name not in names
            if not any(matches(made, one.name) for made in listed["templates"])
        )
        for name, names in listed.items()
    }
    return undeclared, unlisted


def _makes(template: str, uris: Iterable[str]) -> bool:
    return any(matches(template, uri) for uri in uris)


async def is_hidden(question: CallQuestion, context: Context) -> bool:
    """Tell whether an operation is listed to a token of its scopes, and not to the question's weak one."""
    operation, scopes = question.operation, question.scopes or frozenset()
    kind = _LIST_OF[operation.kind]

    async def shows(granted: frozenset[str]) -> bool | None:
        caller = PrincipalSession(context, question.revision, question.principal, granted)
        key = (question.revision, question.principal or "", kind, granted)
        if key not in context.listed:
            listing = await caller.list(LISTS[kind])
            context.listed[key] = frozenset(_names(listing, LISTS[kind].key)) if listing.complete else None
        names = context.listed[key]
        return None if names is None else operation.name in names

    return await shows(scopes) is False and await shows(scopes | set(operation.scopes)) is True
