"""The one client of the probes: calls and lists of one principal, with any token in any presentation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from typing import Any, TypeAlias

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Answer, Attempt, Reading, read
from mcp_auth_contract.checks.context import ANSWERABLE, Context
from mcp_auth_contract.checks.presentation import Presentation, bearer
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.model import Revision
from mcp_auth_contract.tokens import Minted
from mcp_auth_contract.wire import (
    ACCEPT,
    SHOWS_VIEWS,
    Call,
    Handshake,
    Listing,
    ListKind,
    Message,
    Request,
    encode,
    list_all,
    notification,
    operation_call,
    read_headers,
    request,
)
from mcp_auth_contract.wire.conversation import Received
from mcp_auth_contract.wire.mcp import initialize
from mcp_auth_contract.wire.messages import is_response_to
from mcp_auth_contract.wire.session import handshake_of


class _Own(Enum):
    TOKEN = "own"  # noqa: S105  the name of a choice, no token


OWN = _Own.TOKEN
"""The principal's own unbroken token, with the scopes of the session."""

Credential: TypeAlias = _Own | Minted | Presentation | None
"""What a request shows: the own token, another one, either presented in another way, or nothing."""


def call_of(operation: Operation) -> Call:
    """Return the JSON-RPC call of an operation."""
    return operation_call(operation.kind, operation.name, operation.arguments)


@dataclass(frozen=True, slots=True)
class PrincipalSession:
    """What one principal sends in one revision, inside the live session where the revision has sessions.

    `principal` is None for an anonymous look at a server. `scopes` are those of the own token, None for all that the
    contract grants. `opened` is a session of its own in the place of the live one that all probes share. `apps` says
    that the client shows Views (MCP Apps): at each handshake of its own, and in each request of the stateless era.
    """

    context: Context
    revision: Revision
    principal: str | None
    scopes: frozenset[str] | None = None
    opened: Handshake | None = None
    apps: bool = False

    @property
    def token(self) -> Minted:
        """The own token."""
        return self.context.minter.mint(self.principal or "", "good", scopes=self.scopes)

    async def session(self) -> Handshake | None:
        """Return the session that requests go into; None in the stateless era, and where there is none."""
        return self.opened or await self.context.live(self.revision, self.principal)

    async def _place(self) -> tuple[Revision, str | None]:
        live = await self.session()
        return (live.revision, live.session) if live else (self.revision, None)

    async def message(
        self, call: Call, *, identifier: int | None = None, capabilities: Mapping[str, Any] | None = None
    ) -> Message:
        """Write a call as the era demands, with the header fields that the tool's schema asks for.

        `capabilities` are said in the stateless era alone, besides those that a tool needs which asks for input.
        """
        revision, session = await self._place()
        number = next(self.context.conversation.ids) if identifier is None else identifier
        tool = str(call.params.get("name")) if call.method == "tools/call" and self.context.issued else None
        schema = None if tool is None else await self.context.schema(revision, tool)
        asks = tool is not None and any(one.tool == tool for one in self.context.contract.inputs)
        able = {**(ANSWERABLE if asks else {}), **(SHOWS_VIEWS if self.apps else {}), **(capabilities or {})}
        return request(revision, call, number, session=session, schema=schema, capabilities=able)

    async def calling(self, operation: Operation, *, identifier: int | None = None) -> Message:
        """Write the call of an operation; an anonymous look at a server knows no tool, and names a method instead."""
        call = Call(operation.name, {}) if self.context.issued is None else call_of(operation)
        return await self.message(call, identifier=identifier)

    async def send(
        self,
        message: Message,
        *,
        token: Credential = OWN,
        note: str = "",
        fresh: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  the time limit of the request, which ends in an answer
        body: bytes | None = None,
        reply: bool = True,
    ) -> Received:
        """POST a message, and keep what was really answered.

        `body` takes the place of the message's own octets; `fresh` asks for a new connection; without `reply` no
        response is waited for.
        """
        shown = self._shown(token)
        replaced = {name.lower() for name, _ in shown.replaced}
        kept = (pair for pair in message.headers if pair[0].lower() not in replaced)
        sent = Request(
            "POST",
            shown.url(self.context.endpoint),
            (*shown.headers, *shown.replaced, *kept),
            encode(shown.body(message.value)) if body is None else body,
            expects_id=message.id if reply else None,
            fresh=fresh,
            timeout=timeout,
            note=note,
        )
        return await self.context.conversation.http.receive(sent)

    async def say(
        self,
        call: Call,
        *,
        token: Credential = OWN,
        note: str = "",
        fresh: bool = False,
        capabilities: Mapping[str, Any] | None = None,
    ) -> Received:
        """Send one request, and again with the answers where the tool asks for what the contract has answers for.

        A session that the server has forgotten is opened anew for it. With `capabilities` the call is the caller's own,
        and nothing is answered.
        """
        message = await self.message(call, capabilities=capabilities)
        received = await self.send(message, token=token, note=note, fresh=fresh)
        if capabilities is None and (more := self._asked_for(call, received)) is not None:
            received = await self.send(await self.message(more), token=token, note=note, fresh=fresh)
        live = await self.session()
        if live is None or live.session is None or received.answer.status != HTTPStatus.NOT_FOUND:
            return received
        # The session was forgotten, or is bound to the token that opened it: neither says anything about the call.
        again = await self.open(token=token, note=note)
        if again.opened is None or not again.opened.open:
            return received
        message = await again.message(call, capabilities=capabilities)
        received = await again.send(message, token=token, note=note, fresh=fresh)
        await again.end(token=token)
        return received

    async def call(
        self,
        operation: Operation,
        way: str = "",
        *,
        token: Credential = OWN,
        note: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  the time limit of the request, which ends in an answer
        identifier: int | None = None,
    ) -> Attempt:
        """Make one call of an operation; `way` says in a report what is special about it."""
        message = await self.calling(operation, identifier=identifier)
        noted = way if note is None else note
        received = await self.send(message, token=token, note=noted, fresh=fresh, timeout=timeout)
        if self.context.issued is not None and (more := self._asked_for(call_of(operation), received)) is not None:
            received = await self.send(await self.message(more), token=token, note=noted, fresh=fresh, timeout=timeout)
        return Attempt(way, "call", received.answer, read(received.answer))

    async def attempt(
        self, message: Message, way: str, *, token: Credential = OWN, body: bytes | None = None, reply: bool = True
    ) -> Attempt:
        """Send a message that was written for the purpose; without `reply`, a response in a stream ends it, too."""
        answer = (await self.send(message, token=token, note=way, body=body, reply=reply)).answer
        if not reply and message.id is not None:
            said = next((one for one in answer.messages if is_response_to(one, message.id)), None)
            answer, reply = replace(answer, reply=said), said is not None
        return Attempt(way, "call", answer, read(answer, expects_reply=reply))

    async def shake_hands(self, *, token: Credential = OWN, note: str = "") -> Handshake:
        """Shake hands with a token: `initialize`, and `notifications/initialized` if that is accepted."""
        able = {**self.context.capabilities, **(SHOWS_VIEWS if self.apps else {})}
        opening = initialize(self.revision, next(self.context.conversation.ids), able)
        received = await self.send(opening, token=token, note=note)
        handshake = handshake_of(received, self.revision)
        if handshake.open:
            done = notification(handshake.revision, Call("notifications/initialized", {}), session=handshake.session)
            await self.send(done, token=token, note=note)
        return handshake

    async def open(self, *, token: Credential = OWN, note: str = "") -> "PrincipalSession":
        """Shake hands with a token and return a view of the session that came of it; `opened` tells how it went."""
        return replace(self, opened=await self.shake_hands(token=token, note=note))

    async def end(self, *, token: Credential = OWN) -> None:
        """End the session that `open` opened, where the server keeps one."""
        if self.opened is not None and self.opened.session is not None:
            await self.bodiless("DELETE", accept=ACCEPT, token=token, note="closing the session")

    async def bodiless(
        self,
        verb: str,
        *,
        accept: str,
        token: Credential = OWN,
        headers: tuple[tuple[str, str], ...] = (),
        note: str = "",
    ) -> Received:
        """Send a request without a body: GET for the event stream, DELETE, HEAD."""
        own = read_headers(*await self._place(), accept=accept)
        shown = self._shown(token)
        sent = Request(verb, shown.url(self.context.endpoint), (*shown.headers, *own, *headers), note=note)
        return await self.context.conversation.http.receive(sent)

    async def list(self, kind: ListKind, *, fresh: bool = False, note: str = "") -> Listing:
        """Return a whole list, page by page."""
        revision, session = await self._place()
        own, conversation = self._shown(OWN).headers, self.context.conversation
        able = SHOWS_VIEWS if self.apps else None
        return await list_all(
            conversation, revision, kind, own, session=session, fresh=fresh, note=note, capabilities=able
        )

    def _asked_for(self, call: Call, received: Received) -> Call | None:
        """Return the call with what its tool asked for (MCP 2026-07-28, multi round-trip requests), if it asked."""
        reply = received.raw_reply
        if pointed_at(reply, "/result/resultType") != "input_required" or self.context.issued is None:
            return None
        asking = next((one for one in self.context.contract.inputs if one.tool == call.params.get("name")), None)
        if asking is None:
            return None
        state = pointed_at(reply, "/result/requestState")
        more = {} if state is None else {"requestState": state}
        return Call(call.method, {**call.params, "inputResponses": dict(asking.responses), **more})

    def _shown(self, token: Credential) -> Presentation:
        if isinstance(token, _Own):
            nobody = self.principal is None or self.context.issued is None
            token = None if nobody else self.token
        return bearer(token.token) if isinstance(token, Minted) else token or Presentation()


def read_bodiless(answer: Answer) -> Reading:
    """Read the answer to a request without a body; to GET, a page for people at the same address is no answer."""
    reading = read(answer, expects_reply=False)
    page = answer.method == "GET" and isinstance(reading, Accepted) and not answer.stream
    return Ambiguous(AmbiguityReason.UNREADABLE) if page else reading
