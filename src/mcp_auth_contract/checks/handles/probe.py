"""Handles, and the state of requests that ask for input: what another principal, or another request, does with them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_auth_contract.checks.client import PrincipalSession, call_of
from mcp_auth_contract.checks.context import ANSWERABLE, Context
from mcp_auth_contract.checks.handles.observation import (
    HandleObserved,
    OwnStateObserved,
    RequestStateObserved,
    result_in,
)
from mcp_auth_contract.checks.handles.tampering import alterations
from mcp_auth_contract.checks.isolation.observation import Asked, Canary
from mcp_auth_contract.checks.isolation.probe import forbidden, new_key, owner_and_other, pointed, step
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import AccessQuestion
from mcp_auth_contract.contract import Contract, Input, Operation, Ways, handle_calls, handle_use, keyed, tool_call
from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.wire import Call
from mcp_auth_contract.wire.conversation import Received

_MORE_HANDLES = 2


def _about(question: AccessQuestion, contract: Contract) -> tuple[str, str, tuple[Canary, ...]]:
    """Return whose steps these are, and what the principal may never receive."""
    return question.owner, question.principal, forbidden(contract, question.principal)


@probe("Whom does a handle serve?", ways=Ways.HANDLES)
async def ask_handle(question: AccessQuestion, context: Context) -> HandleObserved:
    """Let another principal use the handle that the owner was given; the owner uses one before, and that one after."""
    contract, made = context.contract, question.operation
    owner, other = owner_and_other(question, context)
    handle = next(one for one in contract.handles if handle_calls(contract, one)[0] == made)
    calls: list[Asked] = []
    handles: list[str] = []

    async def make(name: str) -> str | None:
        received = await owner.say(call_of(made), note=f"isolation, handle: {question.owner}")
        calls.append(step(name, owner, received))
        found = pointed(received, handle.result)
        if found is not None:
            handles.append(found)
        return found

    async def use(name: str, caller: PrincipalSession, text: str) -> None:
        called = keyed(contract, handle_use(contract, handle, text), new_key())
        received = await caller.say(call_of(called), note=f"isolation, handle, {name}: {caller.principal}")
        calls.append(step(name, caller, received))

    first = await make("made")
    if first is not None:
        await use("control", owner, first)
        second = await make("made again")
        if second is not None:
            await use("other", other, second)
            await use("own", owner, second)
        for _ in range(_MORE_HANDLES):
            await make("made more")
    unasked = "" if first is not None or not calls[0].accepted else f"no handle at {handle.result} of the result"
    return HandleObserved(*_about(question, contract), tuple(calls), unasked, handles=tuple(handles))


@dataclass(slots=True)
class _Rounds:
    """The calls of one tool that asks for input, each kept as a step.

    Each call has an idempotency key of its own, where the tool takes one, and goes on with that key.
    """

    contract: Contract
    operation: Operation
    calls: list[Asked] = field(default_factory=list)
    _begun: dict[str | None, tuple[Operation, Operation]] = field(default_factory=dict)
    _last: tuple[Operation, Operation] | None = None

    @property
    def input(self) -> Input:
        """What the tool asks for."""
        return next(one for one in self.contract.inputs if one.tool == self.operation.name)

    @property
    def unasked(self) -> str:
        """Why the first call brought no state; empty for one that was not accepted."""
        if not self.calls[0].accepted:
            return ""
        asks = result_in(self.calls[0]).get("resultType") == "input_required"
        said = "asks for input without a requestState" if asks else "did not ask for input"
        return f"{self.operation.name} {said}"

    async def first(self, name: str, caller: PrincipalSession, operation: Operation | None = None) -> str | None:
        """Make the call, and return the state that goes with what is asked for."""
        meant = operation or self.operation
        self._last = (meant, keyed(self.contract, meant, new_key()))
        reply = (await self._say(name, caller, self._last[1], {})).raw_reply
        state = pointed_at(reply, "/result/requestState")
        if pointed_at(reply, "/result/resultType") != "input_required" or not isinstance(state, str):
            return None
        self._begun[state] = self._last
        return state

    async def go_on(
        self, name: str, caller: PrincipalSession, state: str | None, operation: Operation | None = None
    ) -> None:
        """Make the call again, with the answers and a state."""
        more = {"inputResponses": dict(self.input.responses), **({} if state is None else {"requestState": state})}
        meant = operation or self.operation
        begun, called = self._begun.get(state, self._last) or (None, meant)
        await self._say(name, caller, called if begun == meant else keyed(self.contract, meant, new_key()), more)

    async def _say(
        self, name: str, caller: PrincipalSession, operation: Operation, more: Mapping[str, Any]
    ) -> Received:
        call = call_of(operation)
        note = f"isolation, requestState, {name}: {caller.principal}"
        received = await caller.say(Call(call.method, {**call.params, **more}), note=note, capabilities=ANSWERABLE)
        self.calls.append(step(name, caller, received))
        return received


@probe("Who may go on with a call that asked for input?", ways=Ways.STATES)
async def ask_request_state(question: AccessQuestion, context: Context) -> RequestStateObserved:
    """Let another principal go on with the call that the owner began."""
    owner, other = owner_and_other(question, context)
    rounds = _Rounds(context.contract, question.operation)
    state = await rounds.first("first", owner)
    if state is not None:
        own = await rounds.first("other first", other)
        if own is not None:
            await rounds.go_on("other own", other, own)
        await rounds.go_on("other", other, state)
        await rounds.go_on("own", owner, await rounds.first("first again", owner))
    unasked = rounds.unasked if state is None else ""
    return RequestStateObserved(*_about(question, context.contract), tuple(rounds.calls), unasked)


@probe("What may happen to a state on its way?", ways=Ways.OWN_STATES)
async def ask_own_request_state(question: AccessQuestion, context: Context) -> OwnStateObserved:
    """Let the owner go on with an altered state, and with the state of another call; each time with a new one."""
    contract, operation = context.contract, question.operation
    owner, _ = owner_and_other(question, context)
    rounds = _Rounds(contract, operation)
    names: list[str] = []
    state = await rounds.first("first", owner)
    if state is not None:
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
    about = _about(replace(question, principal=question.owner), contract)
    unasked = rounds.unasked if state is None else ""
    return OwnStateObserved(*about, tuple(rounds.calls), unasked, alterations=tuple(names))
