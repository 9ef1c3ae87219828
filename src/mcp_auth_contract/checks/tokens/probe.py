"""Calling an operation with one credential, in every way that the revision offers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus

from mcp_auth_contract.answers import Attempt, Refusal, Refused, read
from mcp_auth_contract.checks.client import PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.minting import shown
from mcp_auth_contract.checks.presentation import Presentation, Presented, present
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import GOOD, NO_TOKEN, CallQuestion, MethodQuestion
from mcp_auth_contract.checks.scopes.probe import is_hidden
from mcp_auth_contract.checks.tokens.observation import CallObserved, Heard
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Revision
from mcp_auth_contract.tokens import Minted
from mcp_auth_contract.wire import Call

_LISTENING_S = 0.3

_AS_UNKNOWN = frozenset({Refusal.TOOL_ERROR, Refusal.RPC_ERROR, Refusal.MALFORMED, Refusal.NOT_SERVED})

_ONE_REQUEST = frozenset({"two_headers", "foreign_origin", "bogus_version"})
"""Presentations whose question is about one request, whatever the session."""


@probe("What happens to an operation with this token, presented this way?", anonymous=True)
async def ask_call(question: CallQuestion, context: Context) -> CallObserved:
    """Call the question's operation with its token in its presentation.

    A stateful revision is tried in two ways: a whole handshake with this credential, and inside a live session of the
    same principal, for a server may look at the token in one place and not in the other. A call with the unbroken
    token is made once, inside the live session.
    """
    operation = question.operation
    # An anonymous look knows no tool to call.
    call = Call(operation.name, {}) if context.issued is None else call_of(operation)
    minted = minted_for(question, context)
    sender = _Sender(question, PrincipalSession(context, question.revision, question.principal), call)
    attempts: list[Attempt] = []
    offered = ""
    for label, presentation in forms_of(question.presentation, question, context, minted):
        offered = offered or presentation.offered
        attempts += await sender.ways(presentation, label)
        attempts += await sender.again(presentation)
    token = shown(minted) if minted is not None else None
    heard = await _heard(context, minted)
    hidden = not question.is_control and _hideable(question, attempts) and await is_hidden(question, context)
    return CallObserved(operation.name, tuple(attempts), token, offered, heard, hidden)


def _hideable(question: CallQuestion, attempts: Sequence[Attempt]) -> bool:
    """Whether a weak token was refused as if the operation did not exist."""
    refusals = {one.reading.how for one in attempts if isinstance(one.reading, Refused)}
    return question.token == GOOD and question.scopes is not None and bool(refusals & _AS_UNKNOWN)


async def _heard(context: Context, minted: Minted | None) -> Heard | None:
    """Listen for whoever fetches the URL that the token names; a server may do so behind its answer."""
    if minted is None or minted.listening is None or context.issuer is None:
        return None
    await asyncio.sleep(_LISTENING_S)
    return Heard(tuple(context.issuer.heard(minted.listening)), context.issuer.fetches() > 0)


def minted_for(question: CallQuestion | MethodQuestion, context: Context) -> Minted | None:
    """Return the token that a question wants to be sent; None where it is to be asked without one."""
    if context.issued is None or question.principal is None or question.token == NO_TOKEN:
        return None
    scopes = question.scopes if isinstance(question, CallQuestion) else None
    return context.issued.mint(question.principal, question.token, question.variant, scopes)


def forms_of(
    presentation: str, question: CallQuestion | MethodQuestion, context: Context, minted: Minted | None
) -> Sequence[tuple[str, Presentation]]:
    """Return the forms in which a token is presented, with what else may stand beside it."""
    given = Presented(minted.token if minted else None)
    if context.issued is not None and question.principal is not None:
        minter, principal = context.issued, question.principal
        given = replace(
            given,
            forged=minter.forged(principal).token,
            good=minter.mint(principal, GOOD).token,
            subject=minter.contract.principals[principal].subject,
        )
    return present(presentation, given)


class _Sender:
    """Sends one call of a question, in each way that its revision has."""

    def __init__(self, question: CallQuestion, session: PrincipalSession, call: Call) -> None:
        self._question, self._session, self._call = question, session, call

    async def ways(self, presentation: Presentation, label: str) -> list[Attempt]:
        """Send it in the stateless era as it is, else in a handshake of its own and inside the live session."""
        question, session = self._question, self._session
        if question.revision.stateless:
            return [await self._once(session, presentation, label)]
        live = await session.session()
        if live is not None and live.session is None:
            return [await self._once(session, presentation, label or "without a session")]
        inside = label or "inside a live session"
        if live is not None and (question.presentation in _ONE_REQUEST or question.is_control):
            attempt = await self._once(session, presentation, inside)
            if attempt.answer.status == HTTPStatus.NOT_FOUND and question.is_control:
                await session.context.reopen(session.revision, session.principal)
                attempt = await self._once(session, presentation, inside)
            return [attempt]
        attempts = [await self._handshake(presentation, label or "with a handshake of its own")]
        if live is not None:
            attempts.append(await self._once(session, presentation, inside))
        return attempts

    async def again(self, presentation: Presentation) -> list[Attempt]:
        """Repeat the call on fresh connections: several workers may stand behind one address."""
        tries = self._question.tries
        return [
            await self._once(self._session, presentation, f"on a new connection, try {number} of {tries}", fresh=True)
            for number in range(2, tries + 1)
        ]

    async def _once(
        self, session: PrincipalSession, presentation: Presentation, way: str, *, fresh: bool = False
    ) -> Attempt:
        message = await session.message(self._call)
        answer = (await session.send(message, token=presentation, fresh=fresh)).answer
        return Attempt(way, "call", answer, read(answer))

    async def _handshake(self, presentation: Presentation, way: str) -> Attempt:
        handshake = await self._session.shake_hands(token=presentation)
        if not handshake.open:
            return Attempt(way, "initialize", handshake.answer, handshake.reading)
        opened = replace(self._session, opened=handshake)
        attempt = await self._once(opened, presentation, way)
        await opened.end(token=presentation)
        return attempt


async def ask_without_token(
    context: Context, revision: Revision, operation: Operation, principal: str | None
) -> CallObserved:
    """Call an operation without a token, in each way that the revision has for this principal."""
    asked = CallQuestion(probe="call", revision=revision, operation=operation, principal=principal)
    return await ask_call(asked, context)
