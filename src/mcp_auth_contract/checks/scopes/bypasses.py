"""Ways of writing a message that might take a weak token past the scopes of an operation."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_auth_contract.answers import Accepted, Attempt, JsonObject, Refusal, Refused
from mcp_auth_contract.checks.client import Caller, asked_of, call_of, caller_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.scopes.bypass_words import BYPASSES, DECOYS
from mcp_auth_contract.checks.scopes.observation import BypassObserved
from mcp_auth_contract.contract import Contract, Operation, operations, satisfies
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.wire import Call, Message, encode

_NOBODY = "no-such-thing"


_KEYS = {OperationKind.RESOURCE: "uri"}


async def ask_bypass(question: Question, context: Context) -> BypassObserved:
    """Send a call in an unusual way with a token that is too weak for it, after one that is not."""
    operation, weak = asked_of(question)
    if context.minter is None:
        raise ValueError("a way past a check needs a contract")
    caller = await caller_of(context, question.revision, question.principal)
    decoy = _decoy(context.minter.contract, operation, weak)
    strong = weak | set(operation.scopes)
    word = question.word
    odd = _Odd(caller, operation, decoy, context.minter.contract)
    if word not in DECOYS:
        control = await odd.send(word, strong)
        attempt = await odd.send(word, weak) if isinstance(control.reading, Accepted) else None
        plain = await _plainly(caller, operation, weak, attempt)
        return BypassObserved(word, operation.name, control, attempt, plain=plain)
    control = await caller.call(operation, strong, "the plain call, with the scopes")
    if not isinstance(control.reading, Accepted):
        return BypassObserved(word, operation.name, control)
    attempt = await odd.send(word, weak)
    permitted = await odd.plain(word, weak) if isinstance(attempt.reading, Accepted) else None
    named = "tools/list" if word == "header_method" else decoy.name if decoy else _NOBODY
    plain = await _plainly(caller, operation, weak, attempt)
    return BypassObserved(word, operation.name, control, attempt, named, permitted, plain)


async def _plainly(
    caller: Caller, operation: Operation, weak: frozenset[str], attempt: Attempt | None
) -> Attempt | None:
    """Make the plain call where the unusual one had an effect: where both have, nothing was got past."""
    if attempt is None or not isinstance(attempt.reading, Accepted):
        return None
    return await caller.call(operation, weak, "the plain call, without the scopes")


def _decoy(contract: Contract, operation: Operation, weak: frozenset[str]) -> Operation | None:
    """Return an operation of the same kind that the weak token may call, one with scopes first."""
    others = [
        one
        for one in operations(contract)
        if one.kind is operation.kind and one.name != operation.name and one.effect is not Effect.WRITE
        if satisfies(contract, weak, one.scopes)
    ]
    return next((one for one in others if one.scopes), next(iter(others), None))


def _honoured(messages: Sequence[JsonObject], uri: str) -> bool:
    """Whether a subscription is acknowledged for a URI: a server may acknowledge one without some of its parts."""
    for one in messages:
        params = one.get("params")
        kept = params.get("notifications") if isinstance(params, dict) else None
        if isinstance(kept, dict):
            uris = kept.get("resourceSubscriptions")
            return isinstance(uris, list) and uri in uris
    return True


@dataclass(frozen=True, slots=True)
class _Odd:
    """Writes one call in every unusual way."""

    caller: Caller
    operation: Operation
    decoy: Operation | None
    contract: Contract

    @property
    def key(self) -> str:
        return _KEYS.get(self.operation.kind, "name")

    @property
    def permitted(self) -> str:
        return self.decoy.name if self.decoy else _NOBODY

    async def plain(self, word: str, scopes: frozenset[str]) -> Attempt | None:
        """Call the permitted thing alone, with the arguments of the message."""
        if word == "header_method":
            return await self.caller.send(self.caller.message(Call("tools/list", {})), scopes, "tools/list alone")
        if self.decoy is None:
            return None
        alone = replace(self.operation, name=self.decoy.name)
        return await self.caller.call(alone, scopes, f"{self.decoy.name} alone")

    async def send(self, word: str, scopes: frozenset[str]) -> Attempt:
        way = BYPASSES[word]
        plain = self.caller.message(call_of(self.operation))
        match word:
            case "batch_of_one":
                return await self.caller.send(plain, scopes, way, body=encode([plain.value]))
            case "batch_tail":
                first = self.caller.message(call_of(self.decoy) if self.decoy else Call("ping", {}))
                return await self.caller.send(plain, scopes, way, body=encode([first.value, plain.value]))
            case "completion":
                return await self.caller.send(self.caller.message(self._completion()), scopes, way)
            case "subscription":
                return await self._subscription(scopes, way)
            case "method_other_case":
                call = call_of(self.operation)
                return await self.caller.send(self._headed(plain, method=call.method.upper()), scopes, way)
            case "name_other_case":
                named = replace(self.operation, name=self.operation.name.swapcase())
                return await self.caller.call(named, scopes, way)
            case "scope_argument":
                return await self._with_scope_arguments(plain, scopes, way)
            case "meta_name":
                params = plain.value["params"]
                meta = {**params.get("_meta", {}), self.key: self.permitted}
                value = {**plain.value, "params": {**params, "_meta": meta}}
                return await self.caller.send(replace(plain, value=value), scopes, way)
            case "duplicate_name_first" | "duplicate_name_last":
                body = self._doubled(plain, last=word == "duplicate_name_last")
                return await self.caller.send(plain, scopes, way, body=body)
            case "header_name":
                headers = tuple(
                    (name, self.permitted if name == "Mcp-Name" else value) for name, value in plain.headers
                )
                return await self.caller.send(replace(plain, headers=headers), scopes, way)
            case "header_method":
                headers = tuple(
                    (name, "tools/list" if name == "Mcp-Method" else value)
                    for name, value in plain.headers
                    if name != "Mcp-Name"
                )
                return await self.caller.send(replace(plain, headers=headers), scopes, way)
            case _:
                raise ValueError(f"no such way: {word}")

    def _completion(self) -> Call:
        operation = self.operation
        argument = next(iter(operation.arguments), "any")
        if operation.kind is OperationKind.PROMPT:
            reference = {"type": "ref/prompt", "name": operation.name}
        else:
            resource = self.contract.resource_for(operation.name)
            argument = next(iter(resource.arguments), "any") if resource else "any"
            reference = {"type": "ref/resource", "uri": resource.uri if resource else operation.name}
        return Call("completion/complete", {"ref": reference, "argument": {"name": argument, "value": ""}})

    async def _subscription(self, scopes: frozenset[str], way: str) -> Attempt:
        uri = self.operation.name
        if not self.caller.revision.stateless:
            return await self.caller.send(self.caller.message(Call("resources/subscribe", {"uri": uri})), scopes, way)
        call = Call("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
        attempt = await self.caller.send(self.caller.message(call), scopes, way, reply=False)
        unheard = isinstance(attempt.reading, Accepted) and not _honoured(attempt.answer.messages, uri)
        return replace(attempt, reading=Refused(Refusal.OTHER)) if unheard else attempt

    def _headed(self, plain: Message, *, method: str) -> Message:
        headers = tuple((name, method if name == "Mcp-Method" else value) for name, value in plain.headers)
        return replace(plain, headers=headers, value={**plain.value, "method": method})

    async def _with_scope_arguments(self, plain: Message, scopes: frozenset[str], way: str) -> Attempt:
        params = plain.value["params"]
        needed: Sequence[str] = self.operation.scopes
        extra = {"scope": " ".join(needed), "scopes": list(needed)}
        arguments = {**params.get("arguments", {}), **extra}
        value = {**plain.value, "params": {**params, "arguments": arguments}}
        return await self.caller.send(replace(plain, value=value), scopes, way)

    def _doubled(self, plain: Message, *, last: bool) -> bytes:
        """Write `params` with a second member of the name; no JSON library writes such an object."""
        params = json.dumps(plain.value["params"], separators=(",", ":"))
        second = f"{json.dumps(self.key)}:{json.dumps(self.permitted)}"
        doubled = f"{params[:-1]},{second}}}" if last else f"{{{second},{params[1:]}"
        rest = encode({name: value for name, value in plain.value.items() if name != "params"}).decode()
        return f'{rest[:-1]},"params":{doubled}}}'.encode()
