"""Looking back on a whole run: every exchange, what the server wrote, and what its tools sent on."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Answer, Attempt, JsonObject
from mcp_auth_contract.checks.client import PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    Exchanged,
    ExchangesObserved,
    Secret,
    UpstreamObserved,
    Written,
)
from mcp_auth_contract.checks.minting import Holder, Minter
from mcp_auth_contract.checks.outputs import NOT_KEPT
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import GOOD, CallQuestion, Question
from mcp_auth_contract.checks.tokens.probe import ask_call
from mcp_auth_contract.contract import Contract, Operation, control_operation, implying, operations, principal_for
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.tokens import CannotSign
from mcp_auth_contract.wire import ACCEPT, LISTS, Call, Exchange
from mcp_auth_contract.wire.messages import events_in, messages_in, split_events

_UNKNOWN = "probe/unknown"
_FLUSH_S = 0.1
"""How long a line that the server has written may be on its way to the kit."""


@probe("What was exchanged and written in the whole run?", last=True)
async def ask_exchanges(_question: Question, context: Context) -> ExchangesObserved:
    """Send what the other questions may have left out, then read everything that was exchanged and written."""
    await _send_of_each_kind(context)
    await asyncio.sleep(_FLUSH_S)
    # Logs may be long: the loop stays free while they are searched.
    exchanges, written = _exchanges(context, context.minter), await asyncio.to_thread(_written, context)
    return ExchangesObserved(exchanges, written, tuple(sorted(context.conversation.http.redactor.of_server)))


async def _send_of_each_kind(context: Context) -> None:
    """Send a few requests of each kind, so that the run has them whatever was selected."""
    control, minter = control_operation(context.contract), context.minter
    principal = principal_for(context.contract, control)
    own = PrincipalSession(context, context.revisions[0], principal)
    without_session = replace(own, principal=None)
    for token in (None, minter.forged(principal)):
        for call in (call_of(control), Call(_UNKNOWN, {})):
            await own.send(await own.message(call), token=token)
        for verb, accept in (("GET", "text/event-stream"), ("DELETE", ACCEPT), ("PUT", ACCEPT)):
            await without_session.bodiless(verb, accept=accept, token=token)
    for scopes in _weak(context.contract, control):
        try:
            weak = minter.mint(principal, "good", scopes=scopes)
        except CannotSign:  # a genuine token has the scopes that it has
            break
        await own.send(await own.message(call_of(control)), token=weak)
    for call in (Call(_UNKNOWN, {}), Call("tools/call", {"name": _UNKNOWN, "arguments": {}})):
        await own.send(await own.message(call))
    for kind in ("tools", "resources", "prompts"):
        await own.send(await own.message(Call(LISTS[kind].method, {})))


def _weak(contract: Contract, control: Operation) -> Iterable[frozenset[str]]:
    """No scope at all, and every scope but the control's."""
    if control.scopes:
        enough = frozenset(one for needed in control.scopes for one in implying(contract, needed))
        yield frozenset()
        yield frozenset(scope for each in operations(contract) for scope in each.scopes) - enough


def _exchanges(context: Context, minter: Minter) -> tuple[Exchanged, ...]:
    origin, path = _place(context.endpoint)
    secrets = [
        (record.canary, Secret(record.name, frozenset(filter(record.may_read, minter.contract.principals))))
        for record in minter.contract.records
    ]
    exchanges = [
        one
        for one in context.conversation.http.evidence.exchanges()
        if one.status is not None and _place(one.url)[0] == origin
    ]
    given = tuple(sorted(context.conversation.http.redactor.of_server))
    opened: dict[str, str | None] = {}
    for one in exchanges:
        for name, value in one.response_headers:
            if name.lower() == "mcp-session-id":
                opened.setdefault(value, _sender(one, minter.holders)[1])
    return tuple(
        _exchanged(one, minter.holders, secrets, opened, given, at_endpoint=_place(one.url)[1] == path)
        for one in exchanges
    )


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path or "/"


def _exchanged(
    one: Exchange,
    holders: Mapping[str, Holder],
    secrets: list[tuple[str, Secret]],
    opened: Mapping[str, str | None],
    given: Iterable[str],
    *,
    at_endpoint: bool,
) -> Exchanged:
    texts = (one.response_body, *(value for _, value in one.response_headers))
    found = tuple(secret for canary, secret in secrets if any(canary in text for text in texts))
    answer = Answer(one.id, one.method, one.url, one.status, headers=one.response_headers, text=one.response_body)
    if found or answer.status in (401, 403):
        answer = replace(answer, messages=_messages(answer))
    sent = {name.lower(): value for name, value in one.request_headers}
    session, entered = answer.header("mcp-session-id"), sent.get("mcp-session-id", "")
    credential, sender = _sender(one, holders)
    return Exchanged(
        answer,
        one.method,
        _rpc(one.request_body),
        at_endpoint,
        credential,
        sender,
        origin=_elsewhere(one.url, sent),
        session=session is not None and session != entered,
        foreign=opened.get(entered, sender) != sender,
        leaked=one.leaked,
        environment=tuple(label for label in given if any(label in text for text in texts)),
        secrets=found,
    )


def _elsewhere(url: str, sent: Mapping[str, str]) -> bool:
    """Whether a request named an Origin, or another host than it went to."""
    here = urlsplit(url).netloc
    return bool(sent.keys() & {"origin", "x-forwarded-host", "forwarded"}) or sent.get("host", here) != here


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


def _sender(one: Exchange, holders: Mapping[str, Holder]) -> tuple[CredentialKind, str | None]:
    lines = [value for name, value in one.request_headers if name.lower() == "authorization"]
    if not any(line.strip() for line in lines):
        return CredentialKind.NONE, None
    scheme, _, label = lines[0].partition(" ")
    holder = holders.get(label.strip()) if len(lines) == 1 else None
    if holder is None:
        return CredentialKind.OTHER, None
    if holder.forged and scheme.lower() == "bearer":
        return CredentialKind.FORGED, holder.principal
    if not holder.sound or scheme.lower() != "bearer":
        return CredentialKind.OTHER, holder.principal
    return CredentialKind.GOOD if holder.whole else CredentialKind.WEAK, holder.principal


def _written(context: Context) -> tuple[Written, ...]:
    """Search the server's output, but for tokens that the kit put into a URL or a message, which servers log."""
    redactor = context.conversation.http.redactor
    exchanges = context.conversation.http.evidence.exchanges()
    exposed = redactor.labels_named(text for one in exchanges for text in (one.url, one.request_body))
    found = []
    for place, text in context.outputs.written():
        labels, readable = frozenset[str](), text is not None
        for piece in text or ():
            labels |= redactor.labels_in(piece) - exposed
            readable = not piece.endswith(NOT_KEPT)
        found.append(Written(place, tuple(sorted(labels)), readable))
    return tuple(found)


@probe("What reaches the service behind the tools?", last=True)
async def ask_upstream(_question: Question, context: Context) -> UpstreamObserved:
    """Call each tool that uses the upstream with the good token, and read what has reached the upstream."""
    if context.issued is None or context.outputs.passed is None:
        return UpstreamObserved(())
    contract = context.contract
    calls: list[Attempt] = []
    names = {tool.name for tool in contract.tools if tool.upstream}
    for operation in operations(contract):
        writes = operation.effect is Effect.WRITE and not contract.policy.writes
        if operation.kind is not OperationKind.TOOL or operation.name not in names or writes:
            continue
        principal = principal_for(contract, operation)
        asked = CallQuestion(
            probe="call", revision=context.revisions[0], operation=operation, principal=principal, token=GOOD
        )
        try:
            calls += (await ask_call(asked, context)).attempts
        except CannotSign:  # the genuine token is another principal's
            continue
    return UpstreamObserved(tuple(calls), tuple(context.outputs.passed()))
