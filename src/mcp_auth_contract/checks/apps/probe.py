"""Asking about Views as a client that shows them, as one that does not, and with credentials that do not suffice."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.apps.documents import content_of
from mcp_auth_contract.checks.apps.observation import (
    BARE,
    PLAIN,
    SHOWING,
    AppTool,
    AppToolsObserved,
    Content,
    Listed,
    Reader,
    ToolAnswer,
    ViewObserved,
    ViewReadersObserved,
    pointers_of,
    ui_of,
)
from mcp_auth_contract.checks.client import PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.sightings import sighted
from mcp_auth_contract.checks.presentation import Presentation, bearer
from mcp_auth_contract.checks.principals import other_users
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import OperationQuestion
from mcp_auth_contract.contract import Contract, Operation, implying, operations, principal_for
from mcp_auth_contract.model import Effect, OperationKind, Revision
from mcp_auth_contract.tokens import CannotSign, Minted
from mcp_auth_contract.wire import LISTS, Call, Listing
from mcp_auth_contract.wire.conversation import Received

_MARKS = {
    "ui": {"visibility": ["app"]},
    "io.modelcontextprotocol/ui": {"caller": "app"},
    "openai/widgetAccessible": True,
}
"""What a caller may write into a request to look like a View; no specification gives it a meaning."""

_SHORTEST_NAME = 3
_MOST_UNDECLARED = 10


@asynccontextmanager
async def showing(context: Context, revision: Revision, principal: str) -> AsyncIterator[PrincipalSession]:
    """Give what a principal sends whose client shows Views: in a session of its own where the revision has sessions."""
    session = PrincipalSession(context, revision, principal, apps=True)
    if revision.stateless:
        yield session
        return
    opened = await session.open(note="as a client that shows Views")
    yield opened
    await opened.end()


@probe("What does a View consist of, and what does its tool answer?")
async def ask_view(question: OperationQuestion, context: Context) -> ViewObserved:
    """Look for the tool and its View in the lists, read the View, and call the tool in several ways."""
    operation, principal = question.operation, question.principal or ""
    async with showing(context, question.revision, principal) as asker:
        listed = _entry(await asker.list(LISTS["tools"]), "name", operation.name)
        observed = await _with_resource(ViewObserved(operation.name, listed), asker)
        called = [await _called(asker, operation, SHOWING)]
        plain = PrincipalSession(context, question.revision, principal)
        called.append(await _called(plain, operation, PLAIN))
        if operation.effect is not Effect.WRITE and operation.arguments:
            called.append(await _called(asker, operation.calling({}), BARE))
    observed = replace(observed, called=tuple(called))
    if called[1].attempt.accepted:
        return observed
    return replace(observed, plain=_entry(await plain.list(LISTS["tools"]), "name", operation.name))


async def _with_resource(observed: ViewObserved, asker: PrincipalSession) -> ViewObserved:
    uri = next((one for one in observed.pointers.values() if isinstance(one, str)), "")
    if not uri:
        return observed
    resource = _entry(await asker.list(LISTS["resources"]), "uri", uri)
    received = await asker.say(_read(uri), note="the View")
    attempt = Attempt("resources/read", "call", received.answer, read(received.answer))
    redactor = asker.context.conversation.http.redactor
    content = content_of(received, uri, redactor) if attempt.accepted else Content()
    leaked = _leaked(received, asker.context)
    return replace(observed, uri=uri, resource=resource, read=attempt, content=content, leaked=leaked)


def _read(uri: str) -> Call:
    return Call("resources/read", {"uri": uri})


def _entry(listing: Listing, key: str, name: str) -> Listed:
    found = next((one for one in listing.entries if one.get(key) == name), None)
    return Listed(found, listing.unread)


async def _called(asker: PrincipalSession, operation: Operation, way: str) -> ToolAnswer:
    received = await asker.say(call_of(operation), note=way)
    attempt = Attempt(way, "call", received.answer, read(received.answer))
    return ToolAnswer(operation.name, way, attempt, _leaked(received, asker.context))


def _leaked(received: Received, context: Context) -> tuple[str, ...]:
    """Return the labels of tokens, and of secrets that the contract names, in what came back."""
    named = context.secrets.labels_in(received.raw_text) if context.secrets is not None else frozenset()
    return tuple(sorted({*received.leaked, *named}))


@probe("Who may read a View, and is it the same for all?")
async def ask_view_readers(question: OperationQuestion, context: Context) -> ViewReadersObserved:
    """Read the View as the tool's caller, as other users, and without a token."""
    contract, principal = context.contract, question.principal or ""
    async with showing(context, question.revision, principal) as asker:
        listed = _entry(await asker.list(LISTS["tools"]), "name", question.operation.name)
    observed = ViewReadersObserved(question.operation.name, "", unread=listed.unread)
    uri = next((one for one in pointers_of(listed.entry).values() if isinstance(one, str)), "")
    if not uri:
        return observed
    others = [name for same in (True, False) for name in list(other_users(contract, principal, same_tenant=same))[:1]]
    names = [principal, *others] if context.issuer is not None else [principal]
    own = {name: frozenset(_names(contract, name)) for name in names}
    every = frozenset[str]().union(*own.values())
    readers: list[Reader] = []
    for name in names:
        async with showing(context, question.revision, name) as asker:
            received = await asker.say(_read(uri), note=f"the View, as {name}")
        readers.append(_reader(context, received, name, uri, every))
    by_nobody = await _by_nobody(context, question.revision, principal, uri)
    readers += [_reader(context, received, "", uri, every) for received in by_nobody]
    return replace(observed, uri=uri, readers=tuple(readers), own=tuple(own.items()))


def _reader(context: Context, received: Received, name: str, uri: str, names: Iterable[str]) -> Reader:
    attempt = Attempt(f"as {name}" if name else "without a token", "call", received.answer, read(received.answer))
    if not attempt.accepted:
        return Reader(name, attempt)
    document = content_of(received, uri, context.conversation.http.redactor).document or ""
    canaries = []
    for record in context.contract.records:
        place = sighted(record.canary, received.answer) or ("the document" if record.canary in document else None)
        if place is not None:
            canaries.append((record.name, place, bool(name) and record.may_read(name)))
    found = frozenset(one for one in names if _stands_in(one, document))
    return Reader(name, attempt, document, tuple(canaries), found)


async def _by_nobody(context: Context, revision: Revision, principal: str, uri: str) -> list[Received]:
    """Read without a token: from the beginning, and within a session of somebody who has one."""
    note, nobody = "the View, as nobody", PrincipalSession(context, revision, None, apps=True)
    if revision.stateless:
        return [await nobody.say(_read(uri), token=None, note=note)]
    read_so: list[Received] = []
    opened = await nobody.open(token=None, note=note)
    if opened.opened is not None and opened.opened.open:
        read_so.append(await opened.say(_read(uri), token=None, note=note))
        await opened.end(token=None)
    async with showing(context, revision, principal) as asker:
        read_so.append(await asker.send(await asker.message(_read(uri)), token=None, note=note))
    return read_so


def _names(contract: Contract, principal: str) -> Iterator[str]:
    """Yield the texts that stand for a user: subject, tenant, and what only they may read."""
    known = contract.principals[principal]
    for text in (known.subject, known.tenant or ""):
        if len(text) >= _SHORTEST_NAME:
            yield text
    for record in contract.records:
        if record.owner == principal:
            yield record.canary


def _stands_in(name: str, document: str) -> bool:
    """Whether a name stands in a document as a word of its own."""
    at = document.find(name)
    while at >= 0:
        end = at + len(name)
        if not document[at - 1 : at].isalnum() and not document[end : end + 1].isalnum():
            return True
        at = document.find(name, at + 1)
    return False


@probe("Do the tools of Views ask for a token like any tool, whoever seems to call?")
async def ask_app_tools(question: OperationQuestion, context: Context) -> AppToolsObserved:
    """Call the tools of Views without a token, with a stranger's and with too few scopes; each time as a View, and not.

    Besides those of the contract, the listed ones that are for Views alone and only read, without arguments.
    """
    async with showing(context, question.revision, question.principal or "") as asker:
        listing = await asker.list(LISTS["tools"])
    tools = [
        await _tried(context, question.revision, operation, only=only, declared=declared)
        for operation, only, declared in _of_views(context.contract, listing)
    ]
    visible = tuple((str(one.get("name")), ui_of(one).get("visibility")) for one in listing.entries)
    return AppToolsObserved(tuple(tools), visible, listing.unread)


def _of_views(contract: Contract, listing: Listing) -> Iterator[tuple[Operation, bool, bool]]:
    """Yield the tools to try: with whether they are for Views alone, and whether the contract declares them."""
    alone = {one.get("name") for one in listing.entries if ui_of(one).get("visibility") == ["app"]}
    alone |= {tool.name for tool in contract.tools if tool.visibility == ("app",)}
    shown = {view.tool: view.arguments for view in contract.views}
    declared = [one for one in operations(contract) if one.kind is OperationKind.TOOL]
    for operation in declared:
        writes = operation.effect is Effect.WRITE and not contract.policy.writes
        if operation.public or writes or operation.name not in alone | shown.keys():
            continue
        arguments = shown.get(operation.name)
        yield operation if arguments is None else operation.calling(arguments), operation.name in alone, True
    known = {one.name for one in declared}
    undeclared = [
        str(one.get("name"))
        for one in listing.entries
        if one.get("name") in alone - known and _only_reads(one.get("annotations"))
    ]
    for name in undeclared[:_MOST_UNDECLARED]:
        yield Operation(OperationKind.TOOL, name), True, False


def _only_reads(annotations: object) -> bool:
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True


async def _tried(context: Context, revision: Revision, operation: Operation, *, only: bool, declared: bool) -> AppTool:
    principal = principal_for(context.contract, operation)
    plain = PrincipalSession(context, revision, principal)
    without: list[Attempt] = []
    with_apps: list[Attempt] = []
    async with showing(context, revision, principal) as asker:
        good = await _called(asker, operation, SHOWING)
        for words, token in _bad(context, principal, operation):
            without += await _ways(plain, operation, token, words)
            with_apps += await _ways(asker, operation, token, f"{words}, {SHOWING}")
            with_apps.append(await plain.call(operation, f"{words}, marked as a View's", token=_marked(token)))
    return AppTool(operation.name, only, declared, tuple(without), tuple(with_apps), good)


def _bad(context: Context, principal: str, operation: Operation) -> Iterator[tuple[str, Minted | None]]:
    """Yield the credentials that do not suffice, in words."""
    yield "without a token", None
    yield "with a stranger's token", context.minter.forged(principal)
    if operation.scopes:
        contract = context.contract
        every = frozenset(scope for each in operations(contract) for scope in each.scopes)
        enough = frozenset(one for needed in operation.scopes for one in implying(contract, needed))
        try:
            weak = context.minter.mint(principal, "good", scopes=every - enough)
        except CannotSign:  # a genuine token has the scopes that it has
            return
        yield "without its scopes", weak


async def _ways(asker: PrincipalSession, operation: Operation, token: Minted | None, words: str) -> list[Attempt]:
    """Call inside the session, and in the stateful era also with a handshake of the credential's own."""
    attempts = [await asker.call(operation, words, token=token)]
    if asker.revision.stateless:
        return attempts
    alone = await asker.open(token=token, note=words)
    if alone.opened is not None and alone.opened.open:
        attempts.append(await alone.call(operation, f"{words}, in a session of its own", token=token))
        await alone.end(token=token)
    elif alone.opened is not None:
        attempts.append(Attempt(words, "initialize", alone.opened.answer, alone.opened.reading))
    return attempts


def _marked(token: Minted | None) -> Presentation:
    shown = Presentation() if token is None else bearer(token.token)
    return replace(shown, member=("params", "_meta"), value=_MARKS)
