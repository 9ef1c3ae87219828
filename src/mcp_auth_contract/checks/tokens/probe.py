"""Calling an operation with one credential, in every way that the revision offers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from mcp_auth_contract.answers import Answer, Attempt, Refusal, Refused, read
from mcp_auth_contract.checks.challenges.presentation import Presentation, present
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.minting import shown
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.scopes.probe import is_hidden
from mcp_auth_contract.checks.tokens.observation import CallObserved, Heard
from mcp_auth_contract.model import Revision
from mcp_auth_contract.tokens import Minted
from mcp_auth_contract.wire import (
    Call,
    Handshake,
    Message,
    Request,
    encode,
    operation_call,
    read_headers,
    request,
)
from mcp_auth_contract.wire.mcp import ACCEPT, initialize, notification
from mcp_auth_contract.wire.session import handshake_of

_LISTENING_S = 0.3


_AS_UNKNOWN = frozenset({Refusal.TOOL_ERROR, Refusal.RPC_ERROR, Refusal.MALFORMED, Refusal.NOT_SERVED})


_ONE_WAY = frozenset({"two_headers", "foreign_origin", "bogus_version"})
"""Carriers whose question is about one request, whatever the session."""


async def ask_call(question: Question, context: Context) -> CallObserved:
    """Call the question's operation with its token, presented by its carrier.

    A stateful revision is tried in two ways: a whole handshake with this credential, and inside a live session of the
    same principal, for a server may look at the token in one place and not in the other. A call with the unbroken
    token is made once, inside the live session.
    """
    operation, revision = question.operation, question.revision
    if operation is None or revision is None:
        raise ValueError("a call needs an operation and a revision")
    call = operation_call(operation.kind, operation.name, operation.arguments)
    if context.minter is None:  # an anonymous look knows no tool to call
        call = Call(operation.name, {})
    minted = _minted(question, context)
    attempts: list[Attempt] = []
    offered = ""
    for label, presentation in _presentations(question, context, minted):
        offered = offered or presentation.offered
        attempts += await _ways(question, context, revision, call, presentation, label)
        attempts += await _again(question, context, revision, call, presentation)
    token = shown(minted) if minted is not None else None
    heard = await _heard(context, minted)
    hidden = not _is_control(question) and _hideable(question, attempts) and await is_hidden(question, context)
    return CallObserved(operation.name, tuple(attempts), token, offered, heard, hidden)


def _hideable(question: Question, attempts: Sequence[Attempt]) -> bool:
    """Whether a weak token was refused as if the operation did not exist."""
    refusals = {one.reading.how for one in attempts if isinstance(one.reading, Refused)}
    return question.token == "good" and question.scopes is not None and bool(refusals & _AS_UNKNOWN)  # noqa: S105


async def _heard(context: Context, minted: Minted | None) -> Heard | None:
    """Listen for whoever fetches the URL that the token names; a server may do so behind its answer."""
    if minted is None or minted.listening is None or context.issuer is None:
        return None
    await asyncio.sleep(_LISTENING_S)
    return Heard(tuple(context.issuer.heard(minted.listening)), context.issuer.fetches() > 0)


def _minted(question: Question, context: Context) -> Minted | None:
    if context.minter is None or question.principal is None or question.token == "none":  # noqa: S105
        return None
    return context.minter.mint(question.principal, question.token, question.variant, question.scopes)


def _presentations(question: Question, context: Context, minted: Minted | None) -> Sequence[tuple[str, Presentation]]:
    forged, good, subject = "", "", ""
    if context.minter is not None and question.principal is not None:
        forged = context.minter.forged(question.principal).token
        good = context.minter.mint(question.principal, "good").token
        subject = context.minter.contract.principals[question.principal].subject
    return present(question.carrier, minted.token if minted else None, forged=forged, good=good, subject=subject)


def _is_control(question: Question) -> bool:
    """Whether the call must succeed: the unbroken token, as usual, with every scope that is needed."""
    needed = frozenset(question.operation.scopes) if question.operation else frozenset()
    enough = question.scopes is None or needed <= question.scopes
    return question.token == "good" and question.carrier == "bearer" and enough  # noqa: S105


async def _ways(
    question: Question, context: Context, revision: Revision, call: Call, presentation: Presentation, label: str
) -> list[Attempt]:
    sender = _Sender(context, revision, call, presentation)
    if revision.stateless:
        return [await sender.once(None, label)]
    live = await context.live(revision, question.principal)
    if live is not None and live.session is None:
        return [await sender.once(None, label or "without a session")]
    one_way = question.carrier in _ONE_WAY or _is_control(question)
    if live is not None and one_way:
        attempt = await sender.once(live, label or "inside a live session")
        if attempt.answer.status == HTTPStatus.NOT_FOUND and _is_control(question):
            attempt = await sender.once(await context.reopen(revision, question.principal), attempt.way)
        return [attempt]
    attempts = [await sender.handshake(label or "with a handshake of its own")]
    if live is not None:
        attempts.append(await sender.once(live, label or "inside a live session"))
    return attempts


async def _again(
    question: Question, context: Context, revision: Revision, call: Call, presentation: Presentation
) -> list[Attempt]:
    """Repeat the call on fresh connections: several workers may stand behind one address."""
    if question.tries < 2:
        return []
    sender = _Sender(context, revision, call, presentation, fresh=True)
    live = await context.live(revision, question.principal)
    again = range(2, question.tries + 1)
    return [await sender.once(live, f"on a new connection, try {number} of {question.tries}") for number in again]


@dataclass(frozen=True, slots=True)
class _Sender:
    """Sends one call with one presentation."""

    context: Context
    revision: Revision
    call: Call
    presentation: Presentation
    fresh: bool = False

    async def once(self, live: Handshake | None, way: str) -> Attempt:
        revision = live.revision if live else self.revision
        session = live.session if live else None
        message = request(revision, self.call, next(self.context.conversation.ids), session=session)
        sent = replace(_request(self.context, message, self.presentation), fresh=self.fresh)
        answer = await self.context.conversation.door.send(sent)
        return Attempt(way, "call", answer, read(answer))

    async def handshake(self, way: str) -> Attempt:
        message = initialize(self.revision, next(self.context.conversation.ids))
        received = await self.context.conversation.door.receive(_request(self.context, message, self.presentation))
        handshake = handshake_of(received, self.revision)
        if not handshake.open:
            return Attempt(way, "initialize", handshake.answer, handshake.reading)
        initialized = notification(handshake.revision, Call("notifications/initialized", {}), session=handshake.session)
        await send_presented(self.context, initialized, self.presentation)
        attempt = await self.once(handshake, way)
        if handshake.session is not None:
            headers = read_headers(handshake.revision, handshake.session, accept=ACCEPT)
            closing = Request("DELETE", self.context.endpoint, (*self.presentation.headers, *headers), note="closing")
            await self.context.conversation.door.send(closing)
        return attempt


async def send_presented(context: Context, message: Message, presentation: Presentation) -> Answer:
    """Send a message with a presentation's edits applied."""
    return await context.conversation.door.send(_request(context, message, presentation))


def _request(context: Context, message: Message, presentation: Presentation) -> Request:
    replaced = {name.lower() for name, _ in presentation.replaced}
    kept = tuple(pair for pair in message.headers if pair[0].lower() not in replaced)
    url = context.endpoint
    if presentation.query:
        url = f"{url}{'&' if '?' in url else '?'}{presentation.query}"
    return Request(
        "POST",
        url,
        (*presentation.headers, *presentation.replaced, *kept),
        encode(presentation.body(message.value)),
        expects_id=message.id,
    )


def effective(observed: CallObserved) -> Attempt | None:
    """Return the attempt that had an effect, else the last one."""
    return observed.accepted or (observed.attempts[-1] if observed.attempts else None)
