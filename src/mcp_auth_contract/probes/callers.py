"""Calls of one principal with tokens of chosen scopes."""

from dataclasses import dataclass, replace

from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Revision
from mcp_auth_contract.observations import Attempt, read
from mcp_auth_contract.probes.bench import Bench
from mcp_auth_contract.probes.question import Question
from mcp_auth_contract.wire import (
    Call,
    HeaderPair,
    Listing,
    Message,
    Request,
    encode,
    list_all,
    operation_call,
    request,
)
from mcp_auth_contract.wire.messages import is_response_to

__all__ = ["LISTS", "Caller", "asked_of", "call_of", "caller_of"]

LISTS = {
    "tools": ("tools/list", "tools", "name"),
    "resources": ("resources/list", "resources", "uri"),
    "templates": ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    "prompts": ("prompts/list", "prompts", "name"),
}
"""By kind: the method that lists it, the member of the result, and the member that names an entry."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends messages of one principal with tokens of chosen scopes, inside the live session where there is one."""

    bench: Bench
    revision: Revision
    principal: str
    session: str | None

    def bearer(self, scopes: frozenset[str] | None) -> HeaderPair:
        if self.bench.minter is None:
            raise ValueError("scopes need a token")
        return ("Authorization", f"Bearer {self.bench.minter.mint(self.principal, 'good', None, scopes).token}")

    def message(self, call: Call) -> Message:
        return request(self.revision, call, next(self.bench.conversation.ids), session=self.session)

    async def send(
        self,
        message: Message,
        scopes: frozenset[str] | None,
        way: str,
        *,
        body: bytes | None = None,
        reply: bool = True,
    ) -> Attempt:
        sent = Request(
            "POST",
            self.bench.endpoint,
            (self.bearer(scopes), *message.headers),
            encode(message.value) if body is None else body,
            expects_id=message.id if reply else None,
            note=way,
        )
        answer = await self.bench.conversation.door.send(sent)
        if not reply and message.id is not None:
            # The stream of a subscription goes on; a response in it ends the matter all the same.
            said = next((one for one in answer.messages if is_response_to(one, message.id)), None)
            answer, reply = replace(answer, reply=said), said is not None
        return Attempt(way, "call", answer, read(answer, expects_reply=reply))

    async def call(self, operation: Operation, scopes: frozenset[str] | None, way: str) -> Attempt:
        return await self.send(self.message(call_of(operation)), scopes, way)

    async def list(self, kind: str, scopes: frozenset[str] | None) -> Listing:
        method, member, _ = LISTS[kind]
        return await list_all(
            self.bench.conversation, self.revision, method, member, (self.bearer(scopes),), session=self.session
        )


async def caller_of(bench: Bench, revision: Revision | None, principal: str | None) -> Caller:
    if revision is None or principal is None:
        raise ValueError("a question about scopes needs a revision and a principal")
    live = await bench.live(revision, principal)
    return Caller(bench, live.revision if live else revision, principal, live.session if live else None)


def call_of(operation: Operation) -> Call:
    return operation_call(operation.kind, operation.name, operation.arguments)


def asked_of(question: Question) -> tuple[Operation, frozenset[str]]:
    if question.operation is None or question.scopes is None:
        raise ValueError("a weak token needs an operation that it is too weak for")
    return question.operation, question.scopes
