"""Questions about scopes: challenges that are followed, and the server's surface."""

from collections.abc import Callable, Iterable

from mcp_auth_contract.answers import Accepted
from mcp_auth_contract.checks.client import LISTS, asked_of, caller_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
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
from mcp_auth_contract.wire import Listing

_ASKED = 3


_MOST_ROUNDS = 4


_NOT_FOUND = -32601


_LIST_OF = {OperationKind.TOOL: "tools", OperationKind.RESOURCE: "resources", OperationKind.PROMPT: "prompts"}


async def ask_rounds(question: Question, context: Context) -> RoundsObserved:
    """Ask for a challenge three times, then get what it names, and what the next one names, until the call runs."""
    operation, held = asked_of(question)
    caller = await caller_of(context, question.revision, question.principal)
    asked = [await caller.call(operation, held, f"asked {number} of {_ASKED}") for number in range(1, _ASKED + 1)]
    rounds: list[Round] = []
    scopes, last = held, asked[-1]
    while len(rounds) < _MOST_ROUNDS and not isinstance(last.reading, Accepted):
        wider = scopes | (challenge_scopes(last.answer) or frozenset())
        if wider == scopes:
            break
        scopes = wider
        last = await caller.call(operation, scopes, f"with the scopes of {len(rounds) + 1} challenges")
        rounds.append(Round(scopes, last))
    return RoundsObserved(operation.name, held, tuple(asked), tuple(rounds))


async def ask_surface(question: Question, context: Context) -> SurfaceObserved:
    """List everything with a token of every scope, and call what the contract declares and no list shows."""
    caller = await caller_of(context, question.revision, question.principal)
    if context.minter is None:
        raise ValueError("a surface is compared with a contract")
    contract = context.minter.contract
    listings = {kind: await caller.list(kind, question.scopes) for kind in LISTS}
    listed = {kind: _names(listing, LISTS[kind][2]) for kind, listing in listings.items()}
    undeclared, unlisted = _compared(contract, listed)
    surfaces = []
    for kind, listing in listings.items():
        called = []
        for operation in unlisted[kind]:
            owner = await caller_of(context, question.revision, principal_for(contract, operation))
            if operation.effect is not Effect.WRITE:
                called.append((operation.name, await owner.call(operation, None, "declared, and not listed")))
        complete = listing.complete or _absent(listing)
        surfaces.append(Surface(kind, listed[kind], undeclared[kind], tuple(called), listing.answers, complete))
    return SurfaceObserved(tuple(surfaces))


def _names(listing: Listing, member: str) -> tuple[str, ...]:
    names = (entry.get(member) for entry in listing.entries)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def _absent(listing: Listing) -> bool:
    """Whether the server does not know the method: it has nothing of that kind."""
    error = (listing.answers[-1].reply or {}).get("error")
    return isinstance(error, dict) and error.get("code") == _NOT_FOUND


def _compared(
    contract: Contract, listed: dict[str, tuple[str, ...]]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[Operation, ...]]]:
    """Return by kind what only the server lists, and what only the contract declares.

    A resource counts as declared if a declared template makes it, or a listed template of which the contract
    declares an instance; it counts as listed if a listed template makes it.
    """
    uris = [resource.uri for resource in contract.resources]
    templates = [one for one in listed["templates"] if one in uris or _makes(one, uris)]
    declared: dict[str, Callable[[str], bool]] = {
        "tools": lambda name: any(tool.name == name for tool in contract.tools),
        "resources": lambda uri: uri in uris or any(matches(one, uri) for one in (*uris, *templates)),
        "templates": lambda template: template in templates,
        "prompts": lambda name: any(prompt.name == name for prompt in contract.prompts),
    }
    undeclared = {kind: tuple(name for name in names if not declared[kind](name)) for kind, names in listed.items()}
    unlisted: dict[str, tuple[Operation, ...]] = {"templates": ()}
    for kind in (OperationKind.TOOL, OperationKind.RESOURCE, OperationKind.PROMPT):
        name = _LIST_OF[kind]
        of_kind = [operation for operation in operations(contract) if operation.kind is kind]
        unlisted[name] = tuple(
            one
            for one in of_kind
            if one.name not in listed[name] and not any(matches(made, one.name) for made in listed["templates"])
        )
    return undeclared, unlisted


def _makes(template: str, uris: Iterable[str]) -> bool:
    return any(matches(template, uri) for uri in uris)


async def is_hidden(question: Question, context: Context) -> bool:
    """Tell whether an operation is listed to a token of its scopes, and not to the question's weak one."""
    operation, scopes = asked_of(question)
    kind = _LIST_OF[operation.kind]
    caller = await caller_of(context, question.revision, question.principal)

    async def shows(granted: frozenset[str]) -> bool | None:
        key = (caller.revision, caller.principal, kind, granted)
        if key not in context.listed:
            listing = await caller.list(kind, granted)
            context.listed[key] = frozenset(_names(listing, LISTS[kind][2])) if listing.complete else None
        names = context.listed[key]
        return None if names is None else operation.name in names

    return await shows(scopes) is False and await shows(scopes | set(operation.scopes)) is True
