"""What one caller sees of a server nobody has described: its lists, its open methods, the challenges of its tools."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp_auth_contract.answers import Accepted, Answer, JsonObject, Refusal, Refused, describe, read
from mcp_auth_contract.checks.client import LISTS
from mcp_auth_contract.checks.scopes.observation import challenge_scopes
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.drafting import Listed, Needed, Seen, draft_of
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.wire import Call, Conversation, Detected, HeaderPair, Listing, list_all, operation_call

__all__ = [
    "Surveyor",
    "base_scopes",
    "harmless",
    "joined",
    "needed_scopes",
    "open_methods",
    "refusal_style",
    "surveying",
]

_NOT_FOUND = -32601
_MOST_CALLS = 3
_MOST_OPERATIONS = 50
_MOST_ROUNDS = 4
_MOST_TRIED = 10
_DENIED = (Refused(Refusal.UNAUTHORIZED), Refused(Refusal.FORBIDDEN), Refused(Refusal.TOOL_CHALLENGE))


@dataclass(frozen=True, slots=True)
class Surveyor:
    """Sends requests with one credential in one revision, inside a session where the revision has them."""

    conversation: Conversation
    revision: Revision
    credentials: tuple[HeaderPair, ...]
    session: str | None = None

    async def call(self, method: str, params: JsonObject, credentials: Sequence[HeaderPair] | None = None) -> Answer:
        """Send one request, with other credentials if they are given."""
        sent = self.credentials if credentials is None else credentials
        return await self.conversation.call(self.revision, Call(method, params), sent, session=self.session)

    async def lists(self) -> dict[str, Listing]:
        """Return every list of the server by kind."""
        return {
            kind: await list_all(
                self.conversation, self.revision, method, member, self.credentials, session=self.session
            )
            for kind, (method, member, _) in LISTS.items()
        }


@asynccontextmanager
async def surveying(
    conversation: Conversation, revision: Revision, credentials: tuple[HeaderPair, ...] = ()
) -> AsyncIterator[Surveyor]:
    """Open a session if the revision has them, and end it afterwards."""
    if revision.stateless:
        yield Surveyor(conversation, revision, credentials)
        return
    handshake = await conversation.open_session(revision, credentials, note="which operations")
    yield Surveyor(conversation, handshake.revision, credentials, handshake.session)
    await conversation.close_session(handshake, credentials)


async def open_methods(conversation: Conversation, detected: Detected, lists: Mapping[str, Listing]) -> tuple[str, ...]:
    """Return the methods that are answered without a token, in the words of `policy.public`."""
    discover, initialize = detected.answers
    answered = {"server/discover": discover, "initialize": initialize}
    answered |= {LISTS[kind][0]: listing.answers[0] for kind, listing in lists.items()}
    stateful = next((one for one in detected.revisions if not one.stateless), None)
    if stateful is not None:
        async with surveying(conversation, stateful) as surveyor:
            answered["ping"] = await surveyor.call("ping", {})
    return tuple(method for method, answer in sorted(answered.items()) if isinstance(read(answer), Accepted))


def joined(anonymous: Mapping[str, Listing], told: Mapping[str, Listing], refusal: Answer) -> dict[str, Listed]:
    """Return the lists of both ways as one: what a token shows first, then what only callers without one see.

    `refusal` is the answer that kept a caller from asking for any list.
    """
    found = {}
    for kind, (_, _, member) in LISTS.items():
        ways = [listings[kind] for listings in (told, anonymous) if kind in listings]
        entries: list[JsonObject] = []
        for listing in ways:
            known = [entry.get(member) for entry in entries]
            entries += [entry for entry in listing.entries if entry.get(member) not in known]
        last = ways[0].answers[-1] if ways else refusal
        found[kind] = Listed(
            tuple(entries),
            open=kind in anonymous and isinstance(read(anonymous[kind].answers[0]), Accepted),
            complete=any(map(_ended, ways)),
            said=describe(last),
        )
    return found


def _ended(listing: Listing) -> bool:
    """Whether a list was read to its end, or the server does not know the method and so has nothing of the kind."""
    error = (listing.answers[-1].reply or {}).get("error")
    return listing.complete or (isinstance(error, dict) and error.get("code") == _NOT_FOUND)


def _only_reads(entry: JsonObject) -> bool:
    """Whether a tool says of itself that it only reads."""
    hints = entry.get("annotations")
    return isinstance(hints, Mapping) and hints.get("readOnlyHint") is True


def harmless(seen: Seen) -> Iterator[Operation]:
    """Yield calls that change nothing: of tools that say so, of resources and prompts, which MCP lets only read."""
    only_read = {entry.get("name") for entry in seen.lists["tools"].entries if _only_reads(entry)}
    draft = draft_of(seen)
    for tool in draft.tools:
        if tool.name in only_read and not tool.arguments.missing:
            yield Operation(OperationKind.TOOL, tool.name, call_arguments=json.dumps(tool.arguments.values))
    for resource in draft.resources:
        yield Operation(OperationKind.RESOURCE, expand(resource.uri, resource.arguments))
    for prompt in draft.prompts:
        yield Operation(OperationKind.PROMPT, prompt.name, call_arguments=json.dumps(prompt.arguments))


async def refusal_style(anonymous: Surveyor, entries: Iterable[JsonObject]) -> tuple[str | None, frozenset[str]]:
    """Call tools that only read and need no argument without a token, until one is refused.

    Returns how it was refused, in the words of `policy.challenge`, and the tools that worked.
    """
    worked = []
    names = (entry.get("name") for entry in entries if _only_reads(entry) and not _requires_arguments(entry))
    plain = [name for name in names if isinstance(name, str) and name]
    for name in plain[:_MOST_CALLS]:
        reading = read(await anonymous.call("tools/call", {"name": name, "arguments": {}}))
        if isinstance(reading, Accepted):
            worked.append(name)
        elif reading in _DENIED:
            return "tool" if reading == Refused(Refusal.TOOL_CHALLENGE) else "http", frozenset(worked)
    return None, frozenset(worked)


def _requires_arguments(entry: JsonObject) -> bool:
    schema = entry.get("inputSchema")
    return isinstance(schema, Mapping) and bool(schema.get("required"))


async def base_scopes(
    surveyor: Surveyor, offered: Sequence[str], bearer: Callable[[frozenset[str]], tuple[HeaderPair, ...]]
) -> tuple[str, ...]:
    """Return the scopes without which not even the tools are listed: those of the challenge, else one that helps."""

    async def listed(scopes: Iterable[str]) -> Answer:
        return await surveyor.call("tools/list", {}, bearer(frozenset(scopes)))

    refusal = await listed(())
    if read(refusal) not in _DENIED:
        return ()
    named = tuple(sorted(challenge_scopes(refusal) or ()))
    for scopes in (named, *((scope,) for scope in offered[:_MOST_TRIED])):
        if scopes and isinstance(read(await listed(scopes)), Accepted):
            return scopes
    return ()


async def needed_scopes(
    surveyor: Surveyor,
    operations: Iterable[Operation],
    bearer: Callable[[frozenset[str]], tuple[HeaderPair, ...]],
) -> dict[tuple[OperationKind, str], Needed]:
    """Call operations with a token without scopes, then with those that the challenges name, until the call runs.

    An operation whose challenges name none is left out, and so is what follows the first fifty.
    """
    found = {}
    for operation in list(operations)[:_MOST_OPERATIONS]:
        needed = await _needed(surveyor, operation, bearer)
        if needed is not None:
            found[operation.kind, operation.name] = needed
    return found


async def _needed(
    surveyor: Surveyor, operation: Operation, bearer: Callable[[frozenset[str]], tuple[HeaderPair, ...]]
) -> Needed | None:
    call = operation_call(operation.kind, operation.name, operation.arguments)
    held: frozenset[str] = frozenset()
    for _ in range(_MOST_ROUNDS):
        answer = await surveyor.call(call.method, call.params, bearer(held))
        reading = read(answer)
        if isinstance(reading, Accepted):
            return Needed(tuple(sorted(held)), all=True)
        wider = held | (challenge_scopes(answer) or frozenset())
        if reading not in _DENIED or wider == held:
            break
        held = wider
    return Needed(tuple(sorted(held)), all=False) if held else None
