"""The tools of a scene around one session: who sends what, with which token."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.client import OWN, Credential, PrincipalSession, read_bodiless
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.principals import other_users
from mcp_auth_contract.checks.questions import FormQuestion
from mcp_auth_contract.checks.sessions.observation import SessionStep
from mcp_auth_contract.contract import Operation, namesake_of, operations, satisfies
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.tokens import Minted, Role

_LONGER_S = 5
_OPENING_S = 0.1
"""A stream is open some time before something is to arrive on it."""

_EVENT_ID = re.compile(r"^id:[ ]?(\S.*?)\r?$", re.MULTILINE)


class Cut(Exception):
    """There is nothing to see; the message says why."""


@dataclass(slots=True)
class Scene:
    """One scene under way. Sessions that it opens are closed at its end."""

    question: FormQuestion
    context: Context
    steps: list[SessionStep] = field(default_factory=list)
    _opened: list[tuple[PrincipalSession, Credential]] = field(default_factory=list)

    @property
    def principal(self) -> str:
        """The owner of the session."""
        return self.question.principal or ""

    @property
    def minter(self) -> Minter:
        return self.context.minter

    def need_issuer(self) -> None:
        """End the scene where only one token is at hand."""
        if self.context.issuer is None:
            raise Cut("needs the kit's own issuer")

    def later(self) -> Minted:
        """Return another token of the owner, which lives a little longer."""
        self.need_issuer()
        expiry = int(self.minter.clock() + self.minter.profile.lifetime) + _LONGER_S
        return self.minter.fresh(self.principal, claims={"exp": expiry})

    def weak(self, scopes: frozenset[str] = frozenset()) -> Minted:
        """Return a token of the owner with no more than these scopes."""
        self.need_issuer()
        if not self.question.operation.scopes:
            raise Cut("the control operation needs no scope")
        return self.minter.mint(self.principal, "good", scopes=scopes)

    def beyond(self) -> Operation | None:
        """Return what needs more scopes than the control operation, if the owner may do it: a read before a write."""
        contract = self.context.contract
        granted = frozenset(contract.principals[self.principal].scopes)
        little = frozenset(self.question.operation.scopes)
        found = [
            one
            for one in operations(contract)
            if satisfies(contract, granted, one.scopes) and not satisfies(contract, little, one.scopes)
        ]
        allowed = (one for one in found if one.effect is not Effect.WRITE or contract.policy.writes)
        return next(iter(sorted(allowed, key=lambda one: one.effect is Effect.WRITE)), None)

    def bad(self) -> Sequence[tuple[str, Minted]]:
        """Return tokens that are good for nothing, with words; a forged one is never sent twice."""
        minter = self.minter
        if self.context.issuer is None or minter.profile.opaque:
            return [("a forged token", minter.forged(self.principal))]
        forged = minter.fresh(self.principal, key=minter.keys(Role.STRANGER, minter.key.alg))
        return [("a forged token", forged), ("an expired token", minter.mint(self.principal, "expired"))]

    def another(self, *, same_tenant: bool = True) -> str:
        """Return another user, of the same tenant or of another one, preferably one who may make the call."""
        self.need_issuer()
        contract, needed = self.context.contract, self.question.operation.scopes
        others = list(other_users(contract, self.principal, same_tenant=same_tenant))
        if not others:
            raise Cut(f"the contract has no other user of {'the same' if same_tenant else 'another'} tenant")
        able = (one for one in others if satisfies(contract, frozenset(contract.principals[one].scopes), needed))
        return next(able, others[0])

    def namesake(self) -> str:
        """Return the name of a user who has the owner's name, and another tenant."""
        self.need_issuer()
        name = namesake_of(self.context.contract, self.principal)
        if name is None:
            raise Cut("the contract has no tenants")
        return name

    def good(self, principal: str) -> Minted:
        """Return the unbroken token of a principal."""
        return self.minter.mint(principal, "good")

    async def open(self, revision: Revision | None = None, token: Credential = OWN) -> PrincipalSession:
        """Open a session of the owner; ends the scene where the server keeps none."""
        live = await self._open(self.principal, revision or self.question.revision, token)
        if (refused := live.opened) is not None and not refused.open:
            self._add("owner", Attempt("a handshake", "call", refused.answer, refused.reading))
            raise Cut("")
        return live

    async def open_other(self, other: str) -> PrincipalSession | None:
        """Open a session of another user; None where they are not let in."""
        theirs = await self._open(other, self.question.revision, OWN)
        return theirs if theirs.opened is not None and theirs.opened.open else None

    async def _open(self, principal: str, revision: Revision, token: Credential) -> PrincipalSession:
        own = PrincipalSession(self.context, revision, principal)
        live = await own.open(token=token, note=self._note("open"))
        if live.opened is not None and live.opened.open:
            if live.opened.session is None:
                raise Cut("the server keeps no sessions")
            self._opened.append((live, token))
        return live

    async def post(
        self, name: str, way: str, live: PrincipalSession, token: Credential = OWN, operation: Operation | None = None
    ) -> None:
        """Make the call inside a session."""
        called, note = operation or self.question.operation, self._note(f"{name}: {way}")
        self._add(name, await live.call(called, way, token=token, note=note))

    async def stateless(self, name: str, way: str, ident: str | None, token: Credential = OWN) -> None:
        """Make the call in the stateless era, with a session header that has no meaning there, or without one."""
        own = PrincipalSession(self.context, self.question.revision, self.principal)
        message = await own.calling(self.question.operation)
        if ident is not None:
            message = replace(message, headers=(*message.headers, ("Mcp-Session-Id", ident)))
        answer = (await own.send(message, token=token, note=self._note(f"{name}: {way}"))).answer
        self._add(name, Attempt(way, "call", answer, read(answer)))

    async def bodiless(
        self, verb: str, name: str, way: str, live: PrincipalSession, token: Credential = OWN, last: str | None = None
    ) -> None:
        """Send a request without a body: GET for the event stream, after its event `last`, or DELETE.

        A stream is listened to for a second, or until something came.
        """
        accept = "text/event-stream" if verb == "GET" else "*/*"
        headers, note = (() if last is None else (("Last-Event-ID", last),)), self._note(f"{name}: {way}")
        answer = (await live.bodiless(verb, accept=accept, token=token, headers=headers, note=note)).answer
        self._add(name, Attempt(way, "call", answer, read_bodiless(answer)))

    async def owner(self, live: PrincipalSession, name: str = "owner") -> None:
        """Let the owner make the call in their session."""
        await self.post(name, "the owner's call in the session", live)

    async def used(self) -> PrincipalSession:
        """Open a session of the owner, who makes the call in it."""
        live = await self.open()
        await self.owner(live)
        return live

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[PrincipalSession]:
        """A session in which the owner makes the call before whatever happens, and once more after it."""
        live = await self.used()
        yield live
        await self.owner(live, "after")

    async def heard(self, live: PrincipalSession, *listening: Awaitable[None]) -> None:
        """Let the owner make the call while streams are open."""
        tasks = [asyncio.ensure_future(one) for one in listening]
        await asyncio.sleep(_OPENING_S)
        await self.owner(live)
        await asyncio.gather(*tasks)

    async def event_id(self, live: PrincipalSession) -> str | None:
        """Listen to the owner's stream during a call, and return the id of the first event there was, if any."""
        await self.heard(live, self.bodiless("GET", "witness", "the owner's own event stream", live))
        return self.first_event()

    def first_event(self) -> str | None:
        """Return the id of the first event that the owner got, if any has one."""
        answers = (step.attempt.answer for step in self.steps if step.name in ("owner", "witness"))
        found = (_EVENT_ID.search(answer.text) for answer in answers if answer.stream)
        return next((one.group(1) for one in found if one is not None), None)

    async def close(self) -> None:
        """End the sessions that are still open."""
        for live, token in self._opened:
            await live.end(token=token)

    def _add(self, name: str, attempt: Attempt) -> None:
        self.steps.append(SessionStep(name, attempt))

    def _note(self, words: str) -> str:
        return f"session {self.question.form}, {words}"
