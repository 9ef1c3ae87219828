"""What a server says of itself: its metadata, its lists, its open methods, the challenges of its tools; its tokens."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from mcp_auth_contract.answers import Accepted, Answer, JsonObject, Refusal, Refused, describe, read
from mcp_auth_contract.checks.apps.observation import ui_of
from mcp_auth_contract.checks.authorization_servers.probe import ask_authorization_servers
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.probe import ask_resource_metadata
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.scopes.observation import challenge_scopes
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.contract.server import Claims
from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.execution.plan_run import EVERY_REVISION
from mcp_auth_contract.init.draft import draft_contract, scopes_in
from mcp_auth_contract.init.inspection import MOST_SCOPES, Inspection, Listed, NeededScopes, TokenShape
from mcp_auth_contract.init.views import views_in
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.tokens import parse_genuine
from mcp_auth_contract.wire import LISTS, SHOWS_VIEWS, Call, Conversation, HeaderPair, Listing, list_all, operation_call
from mcp_auth_contract.wire.session import Detected

_MOST_ISSUERS = 5
_LONGEST_RESOURCE = 500
_ABOUT_SIGN_IN = frozenset({"address", "email", "offline_access", "openid", "phone", "profile"})
"""Scopes of an authorization server's own (OpenID Connect Core, sections 5.4 and 11), which guard no tool."""


async def discover(conversation: Conversation, seen: Inspection) -> Inspection:
    """Add what the metadata says, and that a call without a token is refused by status if one was.

    Scopes come from the metadata of the resource, its challenge, or its authorization servers.
    """
    listing = Operation(OperationKind.TOOL, "tools/list")
    context = Context(conversation, conversation.endpoint, seen.revisions or EVERY_REVISION, control=listing)
    observed = await ask_resource_metadata(Question(probe="resource_metadata"), context)
    value: JsonObject = observed.best.value or {} if observed.best is not None else {}
    resource, named = value.get("resource"), value.get("authorization_servers")
    issuers = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    scopes, scopes_from = scopes_in(value.get("scopes_supported")), "scopes_supported of its metadata names"
    if not scopes and observed.challenge is not None:
        scopes, scopes_from = tuple(sorted(challenge_scopes(observed.challenge) or ())), "its challenge names"
    if not scopes and issuers:
        # Those of the authorization servers, but for those that are about signing in.
        servers = (await ask_authorization_servers(Question(probe="authorization_servers"), context)).servers
        listed = [one.best.value.get("scopes_supported") for one in servers if one.best and one.best.value]
        every = (scope for offered in listed for scope in scopes_in(offered) if scope not in _ABOUT_SIGN_IN)
        scopes, scopes_from = scopes_in(tuple(every)), "its authorization server offers"
    return replace(
        seen,
        resource=resource if isinstance(resource, str) and _is_audience(resource) else None,
        issuers=tuple(issuers[:_MOST_ISSUERS]),
        scopes=scopes[:MOST_SCOPES],
        scopes_from=scopes_from if scopes else "",
        challenge=None if observed.challenge is None else "http",
    )


def _is_audience(resource: str) -> bool:
    """Whether a contract takes it for `target.resource` (RFC 8707 section 2)."""
    absolute = ":" in resource and resource.isascii() and resource.isprintable()
    return absolute and len(resource) <= _LONGEST_RESOURCE and not set(resource) & {" ", "#", "$"}


_SCOPES = ("scp", "scopes", "permissions")
_CLIENTS = ("azp", "cid", "appid")
_TENANTS = ("tid", "org_id", "tenant", "organization_id")
_LONGEST = 60


def shape_of(token: str) -> TokenShape:
    """Return the names of a token's claims, its `typ` and its `alg`; no other value of it leaves this function."""
    parts = parse_genuine(token)
    if parts is None:
        return TokenShape(opaque=True)
    usual, claims = Claims(), parts.claims
    scope = _other(usual.scope, _SCOPES, claims)
    typ = parts.header.get("typ")
    usable = isinstance(typ, str) and typ != usual.typ and 0 < len(typ) <= _LONGEST and typ.isprintable()
    return TokenShape(
        scope=scope,
        scope_list=isinstance(claims.get(scope or usual.scope), list),
        client=_other(usual.client, _CLIENTS, claims),
        tenant=_other(usual.tenant, _TENANTS, claims),
        typ=typ if usable and isinstance(typ, str) else None,
        algorithm=None if parts.algorithm is None else str(parts.algorithm),
    )


def _other(usual: str, known: Iterable[str], claims: Mapping[str, object]) -> str | None:
    """Return the first name that is there in place of the usual one."""
    return None if usual in claims else next((name for name in known if name in claims), None)


_NOT_FOUND = -32601
_MOST_CALLS = 3
_MOST_OPERATIONS = 50
_MOST_ROUNDS = 4
_MOST_TRIED = 10
_DENIED = (Refused(Refusal.UNAUTHORIZED), Refused(Refusal.FORBIDDEN), Refused(Refusal.TOOL_CHALLENGE))

Bearer: TypeAlias = tuple[HeaderPair, ...]
"""The header fields that carry a token; empty without one."""

_Minting: TypeAlias = Callable[[frozenset[str]], Bearer]


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends requests with one token or none in one revision, inside a session where the revision has them."""

    conversation: Conversation
    revision: Revision
    token: Bearer
    session: str | None = None

    async def call(self, method: str, params: JsonObject, token: Bearer | None = None) -> Answer:
        """Send one request, with another token if one is given."""
        sent = self.token if token is None else token
        return await self.conversation.call(self.revision, Call(method, params), sent, session=self.session)

    async def lists(self) -> dict[str, Listing]:
        """Return every list of the server by kind."""
        return {
            name: await list_all(
                self.conversation, self.revision, kind, self.token, session=self.session, capabilities=SHOWS_VIEWS
            )
            for name, kind in LISTS.items()
        }


@asynccontextmanager
async def calling(conversation: Conversation, revision: Revision, token: Bearer = ()) -> AsyncIterator[Caller]:
    """Open a session if the revision has them, and end it afterwards."""
    if revision.stateless:
        yield Caller(conversation, revision, token)
        return
    # A server may offer tools with Views to clients alone that show them.
    handshake = await conversation.open_session(revision, token, capabilities=SHOWS_VIEWS, note="which operations")
    yield Caller(conversation, handshake.revision, token, handshake.session)
    await conversation.close_session(handshake, token)


async def open_methods(conversation: Conversation, detected: Detected, lists: Mapping[str, Listing]) -> tuple[str, ...]:
    """Return the methods that are answered without a token, in the words of `policy.public`."""
    discover, initialize = detected.answers
    answered = {"server/discover": discover, "initialize": initialize}
    answered |= {LISTS[kind].method: listing.answers[0] for kind, listing in lists.items()}
    stateful = next((one for one in detected.revisions if not one.stateless), None)
    if stateful is not None:
        async with calling(conversation, stateful) as caller:
            answered["ping"] = await caller.call("ping", {})
    return tuple(method for method, answer in sorted(answered.items()) if isinstance(read(answer), Accepted))


def joined(anonymous: Mapping[str, Listing], with_token: Mapping[str, Listing], refusal: Answer) -> dict[str, Listed]:
    """Return the lists of both callers as one: what a token shows first, then what only callers without one see.

    `refusal` is the answer that kept a caller from asking for any list.
    """
    found = {}
    for kind, listed in LISTS.items():
        listings = [one[kind] for one in (with_token, anonymous) if kind in one]
        entries: list[JsonObject] = []
        for listing in listings:
            known = [entry.get(listed.key) for entry in entries]
            entries += [entry for entry in listing.entries if entry.get(listed.key) not in known]
        found[kind] = Listed(
            tuple(entries),
            open=kind in anonymous and isinstance(read(anonymous[kind].answers[0]), Accepted),
            complete=any(map(_ended, listings)),
            said=describe(listings[0].answers[-1] if listings else refusal),
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


def harmless_operations(seen: Inspection) -> Iterator[Operation]:
    """Yield calls that change nothing: of tools that say so, of resources and prompts, which MCP lets only read."""
    only_read = {entry.get("name") for entry in seen.lists["tools"].entries if _only_reads(entry)}
    draft = draft_contract(seen)
    tools = (tool for tool in draft.tools if tool.name in only_read and not tool.arguments.missing)
    for one in (*tools, *draft.resources, *draft.prompts):
        values = one.arguments.values
        if one.kind is OperationKind.RESOURCE:
            yield Operation(one.kind, expand(one.name, values))
        else:
            yield Operation(one.kind, one.name, call_arguments=json.dumps(values))


async def read_views(caller: Caller, lists: Mapping[str, Listing]) -> dict[str, JsonObject]:
    """Read the Views that tools lead to, and return the metadata of each: that of the contents, else of the list."""
    listed = {one.get("uri"): one for one in lists["resources"].entries}
    found: dict[str, JsonObject] = {}
    for uri in views_in(lists["tools"].entries):
        answer = await caller.call("resources/read", {"uri": uri})
        if not isinstance(read(answer), Accepted):
            continue
        contents = answer.result.get("contents")
        item = next((one for one in contents if isinstance(one, dict)), None) if isinstance(contents, list) else None
        found[uri] = ui_of(item) or ui_of(listed.get(uri))
    return found


async def refusal_style(anonymous: Caller, entries: Iterable[JsonObject]) -> tuple[str | None, frozenset[str]]:
    """Call tools that only read and need no argument without a token, until one is refused.

    Returns how it was refused, in the words of `policy.challenge`, and the tools that worked.
    """
    worked = []
    schemas = ((entry.get("name"), entry.get("inputSchema")) for entry in entries if _only_reads(entry))
    plain = (name for name, schema in schemas if not (isinstance(schema, Mapping) and schema.get("required")))
    for name in islice((name for name in plain if isinstance(name, str) and name), _MOST_CALLS):
        reading = read(await anonymous.call("tools/call", {"name": name, "arguments": {}}))
        if isinstance(reading, Accepted):
            worked.append(name)
        elif reading in _DENIED:
            return "tool" if reading == Refused(Refusal.TOOL_CHALLENGE) else "http", frozenset(worked)
    return None, frozenset(worked)


async def base_scopes(caller: Caller, offered: Sequence[str], bearer: _Minting) -> tuple[str, ...]:
    """Return the scopes without which not even the tools are listed: those of the challenge, else one that helps."""

    async def listed(scopes: Iterable[str]) -> Answer:
        return await caller.call("tools/list", {}, bearer(frozenset(scopes)))

    refusal = await listed(())
    if read(refusal) not in _DENIED:
        return ()
    named = tuple(sorted(challenge_scopes(refusal) or ()))
    for scopes in (named, *((scope,) for scope in offered[:_MOST_TRIED])):
        if scopes and isinstance(read(await listed(scopes)), Accepted):
            return scopes
    return ()


async def needed_scopes(
    caller: Caller, operations: Iterable[Operation], bearer: _Minting
) -> dict[tuple[OperationKind, str], NeededScopes]:
    """Call operations with a token without scopes, then with those that the challenges name, until the call runs.

    An operation whose challenges name none is left out, and so is what follows the first fifty.
    """
    asked = list(operations)[:_MOST_OPERATIONS]
    found = {(one.kind, one.name): await _needed(caller, one, bearer) for one in asked}
    return {operation: needed for operation, needed in found.items() if needed is not None}


async def _needed(caller: Caller, operation: Operation, bearer: _Minting) -> NeededScopes | None:
    call = operation_call(operation.kind, operation.name, operation.arguments)
    granted: frozenset[str] = frozenset()
    for _ in range(_MOST_ROUNDS):
        answer = await caller.call(call.method, call.params, bearer(granted))
        reading = read(answer)
        if isinstance(reading, Accepted):
            return NeededScopes(tuple(sorted(granted)), all=True)
        wider = granted | (challenge_scopes(answer) or frozenset())
        if reading not in _DENIED or wider == granted:
            break
        granted = wider
    return NeededScopes(tuple(sorted(granted)), all=False) if granted else None
