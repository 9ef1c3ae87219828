"""The tools of a scene around one session: who sends what, with which token."""

import asyncio
import re
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Answer, Attempt, Reading, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.sessions.observation import SessionStep
from mcp_auth_contract.contract import Operation, operations, satisfies
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.tokens import Minted, Role
from mcp_auth_contract.wire import Handshake, HeaderPair, Request, operation_call, read_headers, request

_LONGER_S = 5


_SETTLING_S = 0.1
"""A stream is open some time before something is to arrive on it."""


_STREAM = "text/event-stream"


_EVENT_ID = re.compile(r"^id:[ ]?(\S.*?)\r?$", re.MULTILINE)


_NO_SESSIONS = "the server keeps no sessions"


class Cut(Exception):
    """There is nothing to see; the message says why."""


@dataclass(slots=True)
class Scene:
    """One scene under way. Sessions that it opens are closed at its end."""

    question: Question
    context: Context
    minter: Minter
    revision: Revision
    operation: Operation
    principal: str
    steps: list[SessionStep] = field(default_factory=list)
    _opened: list[tuple[Handshake, Minted]] = field(default_factory=list)

    def cut(self, why: str) -> NoReturn:
        """End the scene: there is nothing to see."""
        raise Cut(why)

    def good(self, principal: str | None = None) -> Minted:
        """Return the unbroken token of a principal."""
        return self.minter.mint(principal or self.principal, "good")

    def later(self) -> Minted:
        """Return another token of the principal, which lives a little longer."""
        self.need_issuer()
        expiry = int(self.minter.clock() + self.minter.profile.lifetime) + _LONGER_S
        return self.minter.fresh(self.principal, claims={"exp": expiry})

    def weak(self, scopes: frozenset[str] = frozenset()) -> Minted:
        """Return a token of the principal with no more than these scopes."""
        self.need_issuer()
        if not self.operation.scopes:
            self.cut("the control operation needs no scope")
        return self.minter.mint(self.principal, "good", scopes=scopes)

    def beyond(self) -> Operation | None:
        """Return a read that needs more scopes than the control operation, if the principal may make one."""
        granted = frozenset(self.minter.contract.principals[self.principal].scopes)
        little = frozenset(self.operation.scopes)
        for one in operations(self.minter.contract):
            able = satisfies(self.minter.contract, granted, one.scopes)
            if able and one.effect is not Effect.WRITE and not satisfies(self.minter.contract, little, one.scopes):
                return one
        return None

    def need_issuer(self) -> None:
        """End the scene where only one token is at hand."""
        if self.context.issuer is None:
            self.cut("needs the kit's own issuer")

    def bad(self) -> Sequence[tuple[str, Minted]]:
        """Return tokens that are good for nothing, with words; a forged one is never sent twice."""
        minter = self.minter
        if self.context.issuer is None or minter.profile.opaque:
            return [("a forged token", minter.forged(self.principal))]
        forged = minter.fresh(self.principal, key=minter.keys(Role.STRANGER, minter.key.alg))
        return [("a forged token", forged), ("an expired token", minter.mint(self.principal, "expired"))]

    def somebody(self, *, same_tenant: bool) -> str:
        """Return another user, of the same tenant or of another one, preferably one who may make the call."""
        self.need_issuer()
        every = self.minter.contract.principals
        here = every[self.principal]
        others = [
            name
            for name, one in every.items()
            if one.subject != here.subject and (one.tenant == here.tenant) is same_tenant
        ]
        able = [
            name
            for name in others
            if satisfies(self.minter.contract, frozenset(every[name].scopes), self.operation.scopes)
        ]
        if not others:
            self.cut(f"the contract has no other user of {'the same' if same_tenant else 'another'} tenant")
        return (able or others)[0]

    async def open(self, revision: Revision | None = None, opener: Minted | None = None) -> Handshake:
        """Open the principal's session; ends the scene where the server keeps none."""
        token = opener or self.good()
        handshake = await self._handshake(token, revision or self.revision)
        if not handshake.open:
            self._add("owner", "a handshake", handshake.answer, handshake.reading)
            self.cut("")
        return handshake

    async def open_other(self, other: str) -> Handshake | None:
        """Open a session of another user; None where they are not let in."""
        handshake = await self._handshake(self.good(other), self.revision)
        return handshake if handshake.open else None

    async def _handshake(self, opener: Minted, revision: Revision) -> Handshake:
        handshake = await self.context.conversation.open_session(revision, _bearer(opener), note=self._note("open"))
        if handshake.open and handshake.session is None:
            self.cut(_NO_SESSIONS)
        if handshake.open:
            self._opened.append((handshake, opener))
        return handshake

    async def post(
        self,
        name: str,
        words: str,
        live: Handshake,
        minted: Minted | None,
        session: str | None = None,
        operation: Operation | None = None,
    ) -> SessionStep:
        """Make the call inside a session, or with another session id."""
        wanted = operation or self.operation
        call = operation_call(wanted.kind, wanted.name, wanted.arguments)
        message = request(
            live.revision,
            call,
            next(self.context.conversation.ids),
            session=live.session if session is None else session,
        )
        headers = tuple(pair for pair in message.headers if pair != ("Mcp-Session-Id", ""))
        return await self._send(
            name, words, Request("POST", self.context.endpoint, headers, message.body, expects_id=message.id), minted
        )

    async def stateless(self, name: str, words: str, ident: str | None, minted: Minted | None) -> SessionStep:
        """Make the call in the stateless era, with a session header that has no meaning there, or without one."""
        call = operation_call(self.operation.kind, self.operation.name, self.operation.arguments)
        message = request(self.revision, call, next(self.context.conversation.ids))
        header = () if ident is None else (("Mcp-Session-Id", ident),)
        sent = Request("POST", self.context.endpoint, (*message.headers, *header), message.body, expects_id=message.id)
        return await self._send(name, words, sent, minted)

    async def get(
        self, name: str, words: str, live: Handshake, minted: Minted | None, last: str | None = None
    ) -> SessionStep:
        """Open the session's event stream, or resume it after an event; listen for a second or until something came."""
        headers = read_headers(live.revision, live.session, accept=_STREAM)
        if last is not None:
            headers += (("Last-Event-ID", last),)
        return await self._send(name, words, Request("GET", self.context.endpoint, headers), minted)

    async def delete(self, name: str, words: str, live: Handshake, minted: Minted | None) -> SessionStep:
        """Ask for the end of the session."""
        headers = read_headers(live.revision, live.session, accept="*/*")
        return await self._send(name, words, Request("DELETE", self.context.endpoint, headers), minted)

    async def owner(self, live: Handshake, name: str = "owner") -> None:
        """Let the owner make the call in their session."""
        await self.post(name, "the owner's call in the session", live, self.good())

    async def heard(self, live: Handshake, *listening: Awaitable[SessionStep]) -> None:
        """Let the owner make the call while streams are open."""
        tasks = [asyncio.ensure_future(one) for one in listening]
        await asyncio.sleep(_SETTLING_S)
        await self.owner(live)
        await asyncio.gather(*tasks)

    async def event_id(self, live: Handshake) -> str | None:
        """Listen to the owner's stream during a call, and return the id of the first event there was, if any."""
        await self.heard(live, self.get("witness", "the owner's own event stream", live, self.good()))
        return self.first_event()

    def first_event(self) -> str | None:
        """Return the id of the first event that the owner got, if any has one."""
        answers = (step.attempt.answer for step in self.steps if step.name in ("owner", "witness"))
        found = (_EVENT_ID.search(answer.text) for answer in answers if answer.stream)
        return next((one.group(1) for one in found if one is not None), None)

    async def close(self) -> None:
        """End the sessions that are still open."""
        for handshake, opener in self._opened:
            await self.context.conversation.close_session(handshake, _bearer(opener))

    async def _send(self, name: str, words: str, sent: Request, minted: Minted | None) -> SessionStep:
        headers = (*(() if minted is None else _bearer(minted)), *sent.headers)
        answer = await self.context.conversation.door.send(
            Request(
                sent.method,
                sent.url,
                headers,
                sent.body,
                expects_id=sent.expects_id,
                note=self._note(f"{name}: {words}"),
            )
        )
        reading = read(answer, expects_reply=sent.method == "POST")
        if sent.method == "GET" and isinstance(reading, Accepted) and not answer.stream:
            reading = Ambiguous(AmbiguityReason.UNREADABLE)
        return self._add(name, words, answer, reading)

    def _add(self, name: str, words: str, answer: Answer, reading: Reading) -> SessionStep:
        step = SessionStep(name, words, Attempt(words, "call", answer, reading))
        self.steps.append(step)
        return step

    def _note(self, words: str) -> str:
        return f"session {self.question.word}, {words}"


def _bearer(minted: Minted) -> tuple[HeaderPair, ...]:
    return (("Authorization", f"Bearer {minted.token}"),)
