"""Handles, and the state of requests that ask for input: what somebody else, or another request, can do with them."""

import secrets
from collections.abc import Mapping
from typing import Any

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.handles.observation import HandleObserved, OwnStateObserved, RequestStateObserved
from mcp_auth_contract.checks.handles.tampering import alterations
from mcp_auth_contract.checks.isolation.observation import Asked
from mcp_auth_contract.checks.isolation.probe import Caller, callers, forbidden, member, one_call, pointed
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.contract import Contract, Input, Operation, handle_calls, tool_call
from mcp_auth_contract.wire import Call, operation_call
from mcp_auth_contract.wire.conversation import Received

_CLIENT: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
"""What the kit says that it can be asked: servers may ask nothing else (MCP 2026-07-28, MRTR)."""


_MORE_HANDLES = 2


async def ask_handle(question: Question, context: Context) -> HandleObserved:
    """Let somebody else use the handle that the owner was given; the owner uses one before, and that one after."""
    made, owner, other = callers(question, context)
    contract = owner.contract
    handle = next(one for one in contract.handles if handle_calls(contract, one)[0] == made)
    used = handle_calls(contract, handle)[1]
    calls: list[Asked] = []
    handles: list[str] = []

    async def make(name: str) -> str | None:
        received = await owner.once(made, f"isolation, handle: {owner.principal}")
        calls.append(one_call(name, owner, received))
        found = pointed(received, handle.result)
        if found is not None:
            handles.append(found)
        return found

    async def use(name: str, caller: Caller, text: str) -> None:
        note = f"isolation, handle, {name}: {caller.principal}"
        called = used.calling({**used.arguments, handle.argument: text})
        calls.append(one_call(name, caller, await caller.once(called, note)))

    first = await make("made")
    if first is not None:
        await use("control", owner, first)
        second = await make("made again")
        if second is not None:
            await use("other", other, second)
            await use("own", owner, second)
        for _ in range(_MORE_HANDLES):
            await make("made more")
    canaries = forbidden(contract, other.principal)
    unasked = "" if first is not None or not calls[0].accepted else f"no handle at {handle.result} of the result"
    return HandleObserved(
        made.name, owner.principal, other.principal, canaries, tuple(calls), unasked, handles=tuple(handles)
    )


class _Round:
    """The calls of one tool that asks for input, each kept as a step."""

    def __init__(self, contract: Contract, operation: Operation) -> None:
        self.input: Input = next(one for one in contract.inputs if one.tool == operation.name)
        self.operation = operation
        self.calls: list[Asked] = []

    async def first(self, name: str, caller: Caller, operation: Operation | None = None) -> str | None:
        """Make the call, and return the state that goes with what is asked for."""
        received = await self._say(name, caller, operation or self.operation, {})
        state = member(received, "requestState")
        asked = member(received, "resultType") == "input_required"
        return state if asked and isinstance(state, str) else None

    async def go_on(self, name: str, caller: Caller, state: str | None, operation: Operation | None = None) -> None:
        """Make the call again, with the answers and a state."""
        more: dict[str, Any] = {"inputResponses": dict(self.input.responses)}
        if state is not None:
            more["requestState"] = state
        await self._say(name, caller, operation or self.operation, more)

    async def _say(self, name: str, caller: Caller, operation: Operation, more: Mapping[str, Any]) -> Received:
        call = operation_call(operation.kind, operation.name, operation.arguments)
        note = f"isolation, requestState, {name}: {caller.principal}"
        received = await caller.say(Call(call.method, {**call.params, **more}), note, _CLIENT)
        self.calls.append(one_call(name, caller, received))
        return received

    def unasked(self) -> str:
        """Return why the first call brought no state, for one that was accepted."""
        first = self.calls[0]
        result = (first.answers[-1].reply or {}).get("result")
        kind = result.get("resultType") if isinstance(result, dict) else None
        if not first.accepted:
            return ""
        if kind == "input_required":
            return f"{self.operation.name} asks for input without a requestState"
        return f"{self.operation.name} did not ask for input"


async def ask_request_state(question: Question, context: Context) -> RequestStateObserved:
    """Let somebody else go on with the call that the owner began."""
    operation, owner, other = callers(question, context)
    rounds = _Round(owner.contract, operation)
    unasked = ""
    state = await rounds.first("first", owner)
    if state is None:
        unasked = rounds.unasked()
    else:
        own = await rounds.first("other first", other)
        if own is not None:
            await rounds.go_on("other own", other, own)
        await rounds.go_on("other", other, state)
        await rounds.go_on("own", owner, await rounds.first("first again", owner))
    canaries = forbidden(owner.contract, other.principal)
    return RequestStateObserved(
        operation.name, owner.principal, other.principal, canaries, tuple(rounds.calls), unasked
    )


async def ask_own_request_state(question: Question, context: Context) -> OwnStateObserved:
    """Let the owner go on with an altered state, and with the state of another call; each time with a new one."""
    operation, owner, _ = callers(question, context)
    contract = owner.contract
    rounds = _Round(contract, operation)
    names: list[str] = []
    unasked = ""
    state = await rounds.first("first", owner)
    if state is None:
        unasked = rounds.unasked()
    else:
        await rounds.go_on("control", owner, state)
        await rounds.first("another", owner)
        await rounds.go_on("garbage", owner, secrets.token_urlsafe(len(state) * 3 // 4 or 1))
        # The forms of the first state are those of all; each is altered from a state that nobody has used.
        for index, (name, _) in enumerate(alterations(state)):
            fresh = dict(enumerate(alterations(await rounds.first("another", owner) or "")))
            if index in fresh:
                names.append(name)
                await rounds.go_on(name, owner, fresh[index][1])
        if rounds.input.other is not None:
            second = tool_call(contract, operation.name, rounds.input.other)
            await rounds.go_on("second", owner, await rounds.first("another", owner, second), second)
            await rounds.go_on("replayed", owner, await rounds.first("another", owner), second)
        await rounds.go_on("control again", owner, await rounds.first("another", owner))
    return OwnStateObserved(
        operation.name,
        owner.principal,
        owner.principal,
        forbidden(contract, owner.principal),
        tuple(rounds.calls),
        unasked,
        alterations=tuple(names),
    )
