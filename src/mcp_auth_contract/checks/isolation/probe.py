"""Two principals on the way to one record: what each of them gets, one after the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from mcp_auth_contract.answers import Accepted, Answer, Reading, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.observation import Asked, Canary, CursorObserved, RecordObserved
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.contract import Contract, Operation, Record
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.wire import Call, Handshake, HeaderPair, Listing, list_all, operation_call, request
from mcp_auth_contract.wire.conversation import Received

_MOST_PAGES = 20


@dataclass(frozen=True, slots=True)
class Caller:
    """One principal with one token, in the principal's live session where the revision has sessions."""

    context: Context
    minter: Minter
    revision: Revision
    principal: str
    scopes: frozenset[str] | None = None

    @property
    def contract(self) -> Contract:
        """The contract of the run."""
        return self.minter.contract

    def _bearer(self) -> tuple[HeaderPair, ...]:
        token = self.minter.mint(self.principal, "good", scopes=self.scopes).token
        return (("Authorization", f"Bearer {token}"),)

    async def once(self, operation: Operation, note: str) -> Received:
        """Make one call of an operation, and keep what it really said."""
        return await self.say(operation_call(operation.kind, operation.name, operation.arguments), note)

    async def say(self, call: Call, note: str, capabilities: Mapping[str, Any] | None = None) -> Received:
        """Send one request, and keep what was really answered; `capabilities` are said in the stateless era alone."""
        live = await self.context.live(self.revision, self.principal)
        received = await self._send(call, live, note, capabilities)
        if live is None or live.session is None or received.answer.status != HTTPStatus.NOT_FOUND:
            return received
        # The session was forgotten, or is bound to the token that opened it: neither says anything about the record.
        opened = await self.context.conversation.open_session(self.revision, self._bearer(), note=note)
        if not opened.open:
            return received
        received = await self._send(call, opened, note, capabilities)
        await self.context.conversation.close_session(opened, self._bearer())
        return received

    async def announced(self) -> Mapping[str, Any]:
        """Return the server's capabilities: those of the live session, or of `server/discover` in the stateless era."""
        live = await self.context.live(self.revision, self.principal)
        if not self.revision.stateless:
            return {} if live is None or live.revision is not self.revision else live.capabilities
        found = await self.say(Call("server/discover", {}), f"isolation, capabilities: {self.principal}")
        capabilities = member(found, "capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    async def listed_tools(self) -> Listing:
        """Return the tools that the principal is shown."""
        live = await self.context.live(self.revision, self.principal)
        session = live.session if live else None
        conversation = self.context.conversation
        return await list_all(conversation, self.revision, "tools/list", "tools", self._bearer(), session=session)

    async def _send(
        self, call: Call, live: Handshake | None, note: str, capabilities: Mapping[str, Any] | None
    ) -> Received:
        spoken = live.revision if live else self.revision
        session = live.session if live else None
        identifier = next(self.context.conversation.ids)
        message = request(spoken, call, identifier, session=session, capabilities=capabilities)
        return await self.context.conversation.receive(message, self._bearer(), note=note)

    async def call(self, operation: Operation, name: str, *, until: Canary | None = None) -> Asked:
        """Make a call; a list with declared page tokens is read to its end, or until a canary has been seen."""
        note = f"isolation, {name}: {self.principal}"
        received = await self.once(operation, note)
        answers, reading = [received.answer], read(received.answer)
        cursor = next((one for one in self.contract.cursors if one.tool == operation.name), None)
        if cursor is None or operation.kind is not OperationKind.TOOL:
            return Asked(name, self.principal, tuple(answers), reading)
        seen: set[str] = set()
        while len(answers) < _MOST_PAGES and isinstance(reading, Accepted):
            token = pointed(received, cursor.result)
            if token is None or token in seen:
                break
            asked = Asked(name, self.principal, tuple(answers), reading)
            if until is not None and asked.shows(until) is not None:
                break
            seen.add(token)
            received = await self.once(operation.calling({**operation.arguments, cursor.argument: token}), note)
            answers.append(received.answer)
            reading = read(received.answer)
        return Asked(name, self.principal, tuple(answers), reading)


def member(received: Received, name: str) -> Any:
    """Return a member of the result as it was received; None where there is none."""
    result = (received.raw_reply or {}).get("result")
    return result.get(name) if isinstance(result, dict) else None


def pointed(received: Received, pointer: str) -> str | None:
    """Return the text at a JSON Pointer (RFC 6901) into the result, as it was received; None where there is none."""
    value: Any = (received.raw_reply or {}).get("result")
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value if isinstance(value, str) and value else None


def callers(question: Question, context: Context) -> tuple[Operation, Caller, Caller]:
    """Return the operation of a question, the owner, and the principal who asks with the question's scopes."""
    operation, revision, owner, principal = question.operation, question.revision, question.owner, question.principal
    if operation is None or revision is None or owner is None or principal is None or context.minter is None:
        raise ValueError("a question about isolation needs an operation, a revision and two principals")
    asking = Caller(context, context.minter, revision, principal, question.scopes)
    return operation, Caller(context, context.minter, revision, owner), asking


def answers_in(calls: Iterable[Asked]) -> Iterator[Answer]:
    """Yield every answer to the calls."""
    return (answer for call in calls for answer in call.answers)


def record_of(contract: Contract, name: str) -> Record:
    """Return the record with a name."""
    return next(record for record in contract.records if record.name == name)


def canary_of(contract: Contract, name: str) -> Canary:
    """Return the canary of the record with a name."""
    return Canary(name, record_of(contract, name).canary)


def forbidden(contract: Contract, principal: str) -> tuple[Canary, ...]:
    """Return the canaries that a principal may never receive."""
    return tuple(Canary(one.name, one.canary) for one in contract.records if not one.may_read(principal))


async def ask_record(question: Question, context: Context) -> RecordObserved:
    """Let the owner, somebody else, the owner and somebody else again take one way to a record.

    In this order each of them asks before and after the other: a cache that forgets who asks shows itself whoever
    filled it.
    """
    operation, owner, other = callers(question, context)
    canary = canary_of(owner.contract, question.record)
    calls = (
        await owner.call(operation, "control", until=canary),
        await other.call(operation, "foreign"),
        await owner.call(operation, "control again", until=canary),
        await other.call(operation, "foreign again"),
    )
    foreign = forbidden(owner.contract, owner.principal)
    return RecordObserved(operation.name, owner.principal, other.principal, canary, calls, foreign)


async def ask_cursor(question: Question, context: Context) -> CursorObserved:
    """Let somebody else use the page token that the owner was handed."""
    operation, owner, other = callers(question, context)
    cursor = next(one for one in owner.contract.cursors if one.tool == operation.name)
    canaries = forbidden(owner.contract, other.principal)
    first = await owner.once(operation, f"isolation, first page: {owner.principal}")
    calls = [one_call("first", owner, first)]
    token = pointed(first, cursor.result)
    if token is not None:
        following = operation.calling({**operation.arguments, cursor.argument: token})
        steps: Sequence[tuple[str, Caller, Operation]] = (
            ("other_first", other, operation),
            ("other", other, following),
            ("second", owner, following),
        )
        for name, caller, called in steps:
            note = f"isolation, {name.replace('_', ' ')}: {caller.principal}"
            calls.append(one_call(name, caller, await caller.once(called, note)))
    handed = token is not None
    return CursorObserved(operation.name, owner.principal, other.principal, canaries, tuple(calls), handed)


def one_call(name: str, caller: Caller, received: Received) -> Asked:
    """Return a step of a sequence that is one call."""
    reading: Reading = read(received.answer)
    return Asked(name, caller.principal, (received.answer,), reading)
