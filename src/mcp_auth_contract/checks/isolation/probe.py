"""Two principals on the way to one record: what each of them gets, one after the other."""

import secrets

from mcp_auth_contract.answers import Accepted, describe, read
from mcp_auth_contract.checks.client import PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.observation import (
    Asked,
    Canary,
    CursorObserved,
    PageTokenUse,
    RecordObserved,
    StrangersObserved,
)
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import AccessQuestion
from mcp_auth_contract.contract import Contract, Operation, Record, Ways, nearest, strangers
from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.model import OperationKind
from mcp_auth_contract.wire.conversation import Received


def owner_and_other(question: AccessQuestion, context: Context) -> tuple[PrincipalSession, PrincipalSession]:
    """Return the session of the owner, and that of the principal who asks with the question's scopes."""
    other = PrincipalSession(context, question.revision, question.principal, question.scopes)
    return PrincipalSession(context, question.revision, question.owner), other


def step(name: str, caller: PrincipalSession, *received: Received, unread: str = "") -> Asked:
    """Return a step of a scene as it was answered, page by page; `unread` is why a list was not read to its end."""
    return Asked(name, caller.principal or "", tuple(one.answer for one in received), unread)


async def asked(caller: PrincipalSession, operation: Operation, name: str, *, until: Canary | None = None) -> Asked:
    """Make a call; a list with declared page tokens is read to its end, or until a canary has been seen."""
    note = f"isolation, {name}: {caller.principal}"
    pages = [await caller.say(call_of(operation), note=note)]
    cursor = next((one for one in caller.context.contract.cursors if one.tool == operation.name), None)
    if cursor is None or operation.kind is not OperationKind.TOOL:
        return step(name, caller, *pages)
    limits = caller.context.conversation.paging.begin(operation.name)
    while isinstance(read(pages[-1].answer), Accepted):
        token = page_token(pages[-1], cursor.result)
        if token is None or (until is not None and step(name, caller, *pages).shows(until) is not None):
            return step(name, caller, *pages)
        if isinstance(token, str | int) and not isinstance(token, bool):
            stop = limits.stop(token)
        else:
            stop = f"page {len(pages)} has a page token that is neither text nor number"
        if stop is not None:
            return step(name, caller, *pages, unread=stop)
        following = operation.calling({**operation.arguments, cursor.argument: token})
        pages.append(await caller.say(call_of(following), note=note))
    # The first page may be refused, which is an answer; a later one that is not given hides the rest of the list.
    unread = f"page {len(pages)}: {describe(pages[-1].answer)}" if len(pages) > 1 else ""
    return step(name, caller, *pages, unread=unread)


def page_token(received: Received, pointer: str) -> object | None:
    """Return what leads to the next page, as it was received; None where there is nothing."""
    found = pointed_at((received.raw_reply or {}).get("result"), pointer)
    return None if found == "" or found is False else found


def new_key() -> str:
    """Return an idempotency key that no call has had."""
    return f"kit-{secrets.token_hex(8)}"


def pointed(received: Received, pointer: str) -> str | None:
    """Return the text at a JSON Pointer (RFC 6901) into the result, as it was received; None where there is none."""
    found = pointed_at((received.raw_reply or {}).get("result"), pointer)
    return found if isinstance(found, str) and found else None


def record_of(contract: Contract, name: str) -> Record:
    """Return the record with a name."""
    return next(record for record in contract.records if record.name == name)


def canary_of(contract: Contract, name: str) -> Canary:
    """Return the canary of the record with a name."""
    return Canary(name, record_of(contract, name).canary)


def forbidden(contract: Contract, principal: str) -> tuple[Canary, ...]:
    """Return the canaries that a principal may never receive."""
    return tuple(Canary(one.name, one.canary) for one in contract.records if not one.may_read(principal))


@probe(
    "What do the owner of a record and another principal get on the way to it?",
    forms={
        Ways.READS.value: "another principal, who is no reader, reads one record",
        Ways.LISTS.value: "another principal, who is no reader, lists, searches or exports",
        Ways.READERS.value: "a declared reader who is not the owner reads one record",
    },
)
async def ask_record(question: AccessQuestion, context: Context) -> RecordObserved:
    """Let the owner, another principal, the owner and the other one again take one way to a record.

    In this order each of them asks before and after the other: a cache that forgets who asks shows itself whoever
    filled it.
    """
    operation, contract = question.operation, context.contract
    owner, other = owner_and_other(question, context)
    canary = canary_of(contract, question.record)
    calls = (
        await asked(owner, operation, "control", until=canary),
        await asked(other, operation, "foreign"),
        await asked(owner, operation, "control again", until=canary),
        await asked(other, operation, "foreign again"),
    )
    foreign = forbidden(contract, question.owner)
    return RecordObserved(question.owner, question.principal, canary, calls, foreign)


@probe("What do users get whom the contract does not name?", ways=Ways.STRANGERS)
async def ask_strangers(question: AccessQuestion, context: Context) -> StrangersObserved:
    """Let users who resemble the owner in one thing take one way to the owner's record, between two of the owner's."""
    operation, contract = question.operation, context.contract
    owner = PrincipalSession(context, question.revision, question.owner)
    canary, record = canary_of(contract, question.record), record_of(contract, question.record)
    first = await asked(owner, operation, "control", until=canary)
    found = []
    for name in strangers(contract, question.owner):
        stranger = PrincipalSession(context, question.revision, name)
        found.append(await asked(stranger, operation, "stranger"))
    home = contract.principals[question.owner].tenant
    barred = any(one.tenant == home and not record.may_read(name) for name, one in contract.principals.items())
    own = (first, await asked(owner, operation, "control again", until=canary))
    spared = frozenset() if barred else frozenset({nearest(question.owner)})
    return StrangersObserved(question.owner, canary, tuple(found), own, spared)


@probe("Whom does a page token serve?", ways=Ways.CURSORS)
async def ask_cursor(question: AccessQuestion, context: Context) -> CursorObserved:
    """Let another principal use the page token that the owner was handed."""
    operation, contract = question.operation, context.contract
    owner, other = owner_and_other(question, context)
    cursor = next(one for one in contract.cursors if one.tool == operation.name)

    async def call(name: str, caller: PrincipalSession, called: Operation) -> Asked:
        return step(name, caller, await caller.say(call_of(called), note=f"isolation, {name}: {caller.principal}"))

    handing = await owner.say(call_of(operation), note=f"isolation, first page: {question.owner}")
    token, use = page_token(handing, cursor.result), None
    if token is not None:
        following = operation.calling({**operation.arguments, cursor.argument: token})
        use = PageTokenUse(
            other_first=await call("other first", other, operation),
            other=await call("other", other, following),
            second=await call("second", owner, following),
        )
    first, canaries = step("first", owner, handing), forbidden(contract, question.principal)
    return CursorObserved(question.owner, question.principal, canaries, first, use)
