"""Ways of writing a message that might take a weak token past the scopes of an operation."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_auth_contract.answers import Attempt, JsonObject, Refusal, Refused
from mcp_auth_contract.checks.client import PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.presentation import bearer
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import BypassQuestion
from mcp_auth_contract.checks.scopes.observation import BypassObserved
from mcp_auth_contract.contract import Contract, Operation, operations, satisfies
from mcp_auth_contract.model import Effect, OperationKind, Revision
from mcp_auth_contract.wire import Call, Message, encode

_NOBODY = "no-such-thing"


@dataclass(frozen=True, slots=True)
class _Unusual:
    """Writes one call in every unusual way; `decoy` is the operation that a message may name besides."""

    session: PrincipalSession
    operation: Operation
    decoy: Operation | None
    way: str

    @property
    def key(self) -> str:
        return "uri" if self.operation.kind is OperationKind.RESOURCE else "name"

    @property
    def permitted(self) -> str:
        return self.decoy.name if self.decoy else _NOBODY

    async def said(self, call: Call) -> Attempt:
        return await self.session.attempt(await self.session.message(call), self.way)

    async def plain(self) -> Message:
        return await self.session.message(call_of(self.operation))

    async def batch_of_one(self) -> Attempt:
        plain = await self.plain()
        return await self.session.attempt(plain, self.way, body=encode([plain.value]))

    async def batch_tail(self) -> Attempt:
        plain = await self.plain()
        first = await self.session.message(call_of(self.decoy) if self.decoy else Call("ping", {}))
        return await self.session.attempt(plain, self.way, body=encode([first.value, plain.value]))

    async def completion(self) -> Attempt:
        operation = self.operation
        argument = next(iter(operation.arguments), "any")
        if operation.kind is OperationKind.PROMPT:
            reference = {"type": "ref/prompt", "name": operation.name}
        else:
            resource = self.session.context.contract.resource_for(operation.name)
            argument = next(iter(resource.arguments), "any") if resource else "any"
            reference = {"type": "ref/resource", "uri": resource.uri if resource else operation.name}
        params = {"ref": reference, "argument": {"name": argument, "value": ""}}
        return await self.said(Call("completion/complete", params))

    async def subscription(self) -> Attempt:
        uri = self.operation.name
        if not self.session.revision.stateless:
            return await self.said(Call("resources/subscribe", {"uri": uri}))
        listen = Call("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
        attempt = await self.session.attempt(await self.session.message(listen), self.way, reply=False)
        unheard = attempt.accepted and not _honoured(attempt.answer.messages, uri)
        return replace(attempt, reading=Refused(Refusal.OTHER)) if unheard else attempt

    async def method_other_case(self) -> Attempt:
        plain = await self.plain()
        method = str(plain.value["method"]).upper()
        headed = _headed(plain, "Mcp-Method", method)
        return await self.session.attempt(replace(headed, value={**plain.value, "method": method}), self.way)

    async def name_other_case(self) -> Attempt:
        return await self.session.call(replace(self.operation, name=self.operation.name.swapcase()), self.way)

    async def scope_argument(self) -> Attempt:
        needed = self.operation.scopes
        return await self._with("arguments", {"scope": " ".join(needed), "scopes": list(needed)})

    async def meta_name(self) -> Attempt:
        return await self._with("_meta", {self.key: self.permitted})

    async def _with(self, member: str, more: dict[str, object]) -> Attempt:
        token = bearer(self.session.token.token)
        token = replace(token, member=("params", member), value=more)
        return await self.session.attempt(await self.plain(), self.way, token=token)

    async def duplicate_first(self) -> Attempt:
        return await self._doubled("{{{second},{params}}}")

    async def duplicate_last(self) -> Attempt:
        return await self._doubled("{{{params},{second}}}")

    async def _doubled(self, template: str) -> Attempt:
        """Write `params` with a second member of the name; no JSON library writes such an object."""
        plain = await self.plain()
        params = json.dumps(plain.value["params"], separators=(",", ":"))[1:-1]
        second = f"{json.dumps(self.key)}:{json.dumps(self.permitted)}"
        rest = encode({name: value for name, value in plain.value.items() if name != "params"}).decode()
        body = f'{rest[:-1]},"params":{template.format(params=params, second=second)}}}'
        return await self.session.attempt(plain, self.way, body=body.encode())

    async def name_capital_behind(self) -> Attempt:
        return await self._renamed({self.key.capitalize(): self.permitted})

    async def name_capital_runs(self) -> Attempt:
        plain = _headed(await self.plain(), "Mcp-Name", self.permitted)
        swapped = {self.key: self.permitted, self.key.capitalize(): self.operation.name}
        return await self._sent(plain, {**_params(plain), **swapped})

    async def method_capital_behind(self) -> Attempt:
        plain = await self.plain()
        return await self.session.attempt(replace(plain, value={**plain.value, "Method": "tools/list"}), self.way)

    async def params_folded_behind(self) -> Attempt:
        plain = await self.plain()
        folded = {"param\N{LATIN SMALL LETTER LONG S}": {**_params(plain), self.key: self.permitted}}
        return await self.session.attempt(replace(plain, value={**plain.value, **folded}), self.way)

    async def _renamed(self, more: dict[str, object]) -> Attempt:
        plain = await self.plain()
        return await self._sent(plain, {**_params(plain), **more})

    async def _sent(self, plain: Message, params: dict[str, object]) -> Attempt:
        return await self.session.attempt(replace(plain, value={**plain.value, "params": params}), self.way)

    async def header_name(self) -> Attempt:
        return await self.session.attempt(_headed(await self.plain(), "Mcp-Name", self.permitted), self.way)

    async def header_method(self) -> Attempt:
        headed = _headed(await self.plain(), "Mcp-Method", "tools/list")
        headers = tuple(pair for pair in headed.headers if pair[0] != "Mcp-Name")
        return await self.session.attempt(replace(headed, headers=headers), self.way)


def _params(plain: Message) -> dict[str, object]:
    params = plain.value.get("params")
    return dict(params) if isinstance(params, dict) else {}


def _headed(plain: Message, field: str, value: str) -> Message:
    return replace(plain, headers=tuple((name, value if name == field else old) for name, old in plain.headers))


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
class _Way:
    """One way past a scope check: what it is, how it is sent, and for which operations and revisions it exists.

    `decoy` says that the message names something permitted besides, which a server may well run instead.
    """

    words: str
    send: Callable[[_Unusual], Awaitable[Attempt]]
    decoy: bool = False
    kinds: frozenset[OperationKind] = frozenset(OperationKind)
    revisions: frozenset[Revision] = frozenset(Revision)


_LISTS_TOOLS = frozenset({"header_method", "method_capital_behind"})
_STATELESS = frozenset(one for one in Revision if one.stateless)
_COMPLETED = frozenset({OperationKind.PROMPT, OperationKind.RESOURCE})
_SUBSCRIBED = frozenset({OperationKind.RESOURCE})

_WAYS: Mapping[str, _Way] = {
    # Batches ended with 2025-06-18; servers that still execute arrays are asked in every revision.
    "batch_of_one": _Way("the call as the only element of a JSON-RPC array", _Unusual.batch_of_one),
    "batch_tail": _Way("the call behind an allowed one in a JSON-RPC array", _Unusual.batch_tail),
    "completion": _Way(
        "completion/complete for an argument of the prompt or template", _Unusual.completion, kinds=_COMPLETED
    ),
    "subscription": _Way("a subscription to the resource", _Unusual.subscription, kinds=_SUBSCRIBED),
    "method_other_case": _Way("the method's name in upper case", _Unusual.method_other_case),
    "name_other_case": _Way("the name in the other case", _Unusual.name_other_case),
    "scope_argument": _Way("arguments that name the scopes", _Unusual.scope_argument),
    "meta_name": _Way("a permitted name in params._meta", _Unusual.meta_name, decoy=True),
    "duplicate_name_first": _Way(
        "a permitted name before the forbidden one, in one object", _Unusual.duplicate_first, decoy=True
    ),
    "duplicate_name_last": _Way(
        "a permitted name behind the forbidden one, in one object", _Unusual.duplicate_last, decoy=True
    ),
    "name_capital_behind": _Way(
        "a permitted Name behind the forbidden name, in one object", _Unusual.name_capital_behind, decoy=True
    ),
    "name_capital_runs": _Way(
        "the forbidden Name behind a permitted name, in one object", _Unusual.name_capital_runs, decoy=True
    ),
    "method_capital_behind": _Way(
        "Method: tools/list behind the method, in one object", _Unusual.method_capital_behind, decoy=True
    ),
    "params_folded_behind": _Way(
        "parameters with a permitted name behind the real ones, as params with a long s at its end",
        _Unusual.params_folded_behind,
        decoy=True,
    ),
    "header_name": _Way("a permitted name in Mcp-Name", _Unusual.header_name, decoy=True, revisions=_STATELESS),
    "header_method": _Way("tools/list in Mcp-Method", _Unusual.header_method, decoy=True, revisions=_STATELESS),
}


def _exists(form: str, operation: Operation, revision: Revision) -> bool:
    return operation.kind in _WAYS[form].kinds and revision in _WAYS[form].revisions


@probe(
    "Does another way of writing the message take a weak token past the scopes?",
    forms={form: way.words for form, way in _WAYS.items()},
    exists=_exists,
)
async def ask_bypass(question: BypassQuestion, context: Context) -> BypassObserved:
    """Send a call in an unusual way with a token that is too weak for it, after one that is not."""
    operation, form = question.operation, question.form
    weak = PrincipalSession(context, question.revision, question.principal, question.scopes)
    strong = replace(weak, scopes=question.scopes | set(operation.scopes))
    decoy, way = _decoy(context.contract, operation, question.scopes), _WAYS[form]
    if way.decoy:
        control = await strong.call(operation, "the plain call, with the scopes")
    else:
        control = await way.send(_Unusual(strong, operation, decoy, way.words))
    if not control.accepted:
        return BypassObserved(operation.name, control)
    attempt = await way.send(_Unusual(weak, operation, decoy, way.words))
    permitted = plain = None
    if attempt.accepted:
        permitted = await _permitted(weak, operation, decoy, form) if way.decoy else None
        # Where the plain call has an effect, too, nothing was got past.
        plain = await weak.call(operation, "the plain call, without the scopes")
    named = "tools/list" if form in _LISTS_TOOLS else decoy.name if decoy else _NOBODY
    return BypassObserved(operation.name, control, attempt, named if way.decoy else None, permitted, plain)


async def _permitted(
    weak: PrincipalSession, operation: Operation, decoy: Operation | None, form: str
) -> Attempt | None:
    """Call the permitted thing alone, with the arguments of the message."""
    if form in _LISTS_TOOLS:
        return await weak.attempt(await weak.message(Call("tools/list", {})), "tools/list alone")
    return None if decoy is None else await weak.call(replace(operation, name=decoy.name), f"{decoy.name} alone")


def _decoy(contract: Contract, operation: Operation, weak: frozenset[str]) -> Operation | None:
    """Return an operation of the same kind that the weak token may call, one with scopes first."""
    others = [
        one
        for one in operations(contract)
        if one.kind is operation.kind and one.name != operation.name and one.effect is not Effect.WRITE
        if satisfies(contract, weak, one.scopes)
    ]
    return next((one for one in others if one.scopes), next(iter(others), None))
