"""Looking back on a whole run: every exchange, what the server wrote, and what its tools sent on."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from mcp_auth_contract.contract import Operation, implying, operations, principal_for
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.observations import (
    Answer,
    Credential,
    Exchanged,
    ExchangesObserved,
    JsonObject,
    Secret,
    UpstreamObserved,
    Written,
)
from mcp_auth_contract.probes.bench import Bench
from mcp_auth_contract.probes.calls import ask_call
from mcp_auth_contract.probes.minting import Holder, Minter
from mcp_auth_contract.probes.outputs import NOT_KEPT
from mcp_auth_contract.probes.question import Question
from mcp_auth_contract.tokens import CannotSign
from mcp_auth_contract.wire import Call, Exchange, HeaderPair, Request, operation_call, read_headers, request
from mcp_auth_contract.wire.mcp import ACCEPT
from mcp_auth_contract.wire.messages import events_in, messages_in, split_events

__all__ = ["ask_exchanges", "ask_upstream"]

_UNKNOWN = "probe/unknown"
_LISTS = ("tools/list", "resources/list", "prompts/list")
_FLUSH_S = 0.1
"""How long a line that the server has written may be on its way to the kit."""


async def ask_exchanges(_question: Question, bench: Bench) -> ExchangesObserved:
    """Send what the other questions may have left out, then read everything that was exchanged and written."""
    minter, control = bench.minter, bench.control
    if minter is None or control is None:
        raise ValueError("looking back needs a contract")
    principal = principal_for(minter.contract, control)
    await _Round(bench, minter, bench.revisions[0], control, principal).send()
    await asyncio.sleep(_FLUSH_S)
    # Logs may be long: the loop stays free while they are searched.
    return ExchangesObserved(_exchanges(bench, minter), await asyncio.to_thread(_written, bench))


class _Round:
    """A few requests of each kind, so that the run has them whatever was selected. None carries a session."""

    def __init__(self, bench: Bench, minter: Minter, revision: Revision, control: Operation, principal: str) -> None:
        self._bench, self._minter, self._revision = bench, minter, revision
        self._control, self._principal = control, principal
        self._call = operation_call(control.kind, control.name, control.arguments)

    async def send(self) -> None:
        forged = _bearer(self._minter.forged(self._principal).token)
        for credentials in ((), forged):
            for call in (self._call, Call(_UNKNOWN, {})):
                await self._post(call, credentials)
            for verb, accept in (("GET", "text/event-stream"), ("DELETE", ACCEPT), ("PUT", ACCEPT)):
                headers = (*credentials, *read_headers(self._revision, None, accept=accept))
                await self._bench.conversation.door.send(Request(verb, self._bench.endpoint, headers))
        for scopes in self._weak():
            try:
                weak = self._minter.mint(self._principal, "good", scopes=scopes)
            except CannotSign:  # a genuine token has the scopes that it has
                break
            await self._post(self._call, _bearer(weak.token))
        for method in _LISTS:
            await self._post(Call(method, {}), self._bench.bearer(self._principal))

    def _weak(self) -> Iterable[frozenset[str]]:
        """No scope at all, and every scope but the control's."""
        if not self._control.scopes:
            return
        contract = self._minter.contract
        enough = frozenset(one for needed in self._control.scopes for one in implying(contract, needed))
        yield frozenset()
        yield frozenset(scope for each in operations(contract) for scope in each.scopes) - enough

    async def _post(self, call: Call, credentials: tuple[HeaderPair, ...]) -> None:
        live = await self._bench.live(self._revision, self._principal)
        revision = live.revision if live else self._revision
        session = live.session if live else None
        message = request(revision, call, next(self._bench.conversation.ids), session=session)
        await self._bench.conversation.send(message, credentials)


def _bearer(token: str) -> tuple[HeaderPair, ...]:
    return (("Authorization", f"Bearer {token}"),)


def _exchanges(bench: Bench, minter: Minter) -> tuple[Exchanged, ...]:
    origin, path = _place(bench.endpoint)
    secrets = [
        (record.canary, Secret(record.name, frozenset(filter(record.may_read, minter.contract.principals))))
        for record in minter.contract.records
    ]
    return tuple(
        _exchanged(one, minter.holders, secrets, at_endpoint=_place(one.url)[1] == path)
        for one in bench.conversation.door.evidence.exchanges()
        if one.status is not None and _place(one.url)[0] == origin
    )


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path or "/"


def _exchanged(
    one: Exchange, holders: Mapping[str, Holder], secrets: list[tuple[str, Secret]], *, at_endpoint: bool
) -> Exchanged:
    texts = (one.response_body, *(value for _, value in one.response_headers))
    found = tuple(secret for canary, secret in secrets if any(canary in text for text in texts))
    answer = Answer(one.id, one.method, one.url, one.status, headers=one.response_headers, text=one.response_body)
    if found or answer.status in (401, 403):
        answer = replace(answer, messages=_messages(answer))
    sent = {name.lower(): value for name, value in one.request_headers}
    session = answer.header("mcp-session-id")
    credential, sender = _sender(one, holders)
    return Exchanged(
        answer,
        one.method,
        _rpc(one.request_body),
        at_endpoint,
        credential,
        sender,
        origin=bool(sent.keys() & {"origin", "x-forwarded-host"}),
        session=session is not None and session != sent.get("mcp-session-id"),
        leaked=one.leaked,
        secrets=found,
    )


def _messages(answer: Answer) -> tuple[JsonObject, ...]:
    if answer.media_type != "text/event-stream":
        return messages_in(answer.text)
    complete, _ = split_events(answer.text)
    return tuple(message for event in events_in(complete) for message in messages_in(event))


def _rpc(body: str) -> str:
    """Return the method of a body that is one JSON-RPC request or notification, else nothing."""
    try:
        value = json.loads(body) if body.startswith("{") else None
    except (ValueError, RecursionError):
        return ""
    method = value.get("method") if isinstance(value, dict) else None
    return method if isinstance(method, str) else ""


def _sender(one: Exchange, holders: Mapping[str, Holder]) -> tuple[Credential, str | None]:
    lines = [value for name, value in one.request_headers if name.lower() == "authorization"]
    if not any(line.strip() for line in lines):
        return Credential.NONE, None
    scheme, _, label = lines[0].partition(" ")
    holder = holders.get(label.strip()) if len(lines) == 1 else None
    if holder is None:
        return Credential.OTHER, None
    if holder.forged and scheme.lower() == "bearer":
        return Credential.FORGED, holder.principal
    if not holder.sound or scheme.lower() != "bearer":
        return Credential.OTHER, holder.principal
    return Credential.GOOD if holder.whole else Credential.WEAK, holder.principal


def _written(bench: Bench) -> tuple[Written, ...]:
    """Search the server's output, but for tokens that the kit put into a URL or a message, which servers log."""
    redactor = bench.conversation.door.redactor
    exchanges = bench.conversation.door.evidence.exchanges()
    exposed = redactor.labels_named(text for one in exchanges for text in (one.url, one.request_body))
    found = []
    for place, text in bench.outputs.written():
        labels, readable = frozenset[str](), text is not None
        for piece in text or ():
            labels |= redactor.labels_in(piece) - exposed
            readable = not piece.endswith(NOT_KEPT)
        found.append(Written(place, tuple(sorted(labels)), readable))
    return tuple(found)


async def ask_upstream(_question: Question, bench: Bench) -> UpstreamObserved:
    """Call each tool that uses the upstream with the good token, and read what has reached the upstream."""
    minter = bench.minter
    if minter is None or bench.outputs.passed is None:
        return UpstreamObserved(())
    contract, calls = minter.contract, []
    names = {tool.name for tool in contract.tools if tool.upstream}
    for operation in operations(contract):
        writes = operation.effect is Effect.WRITE and not contract.policy.writes
        if operation.kind != "tool" or operation.name not in names or writes:
            continue
        asked = Question(
            "call",
            revision=bench.revisions[0],
            operation=operation,
            principal=principal_for(contract, operation),
            token="good",  # noqa: S106  the name of the unbroken token
        )
        try:
            observed = await ask_call(asked, bench)
        except CannotSign:  # the genuine token is somebody else's
            continue
        calls += [(operation.name, attempt) for attempt in observed.attempts]
    return UpstreamObserved(tuple(calls), tuple(bench.outputs.passed()))
