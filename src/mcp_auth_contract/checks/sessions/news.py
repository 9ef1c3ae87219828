"""What a server sends by itself: the owner of a record writes, and somebody else listens."""

import asyncio
from collections.abc import Iterator

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.client import PrincipalSession, read_bodiless
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.probe import new_key
from mcp_auth_contract.checks.principals import foreign_to
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import OperationQuestion
from mcp_auth_contract.checks.sessions.observation import NewsObserved
from mcp_auth_contract.contract import Contract, keyed, operation_of
from mcp_auth_contract.contract.models import Record
from mcp_auth_contract.model import OperationKind
from mcp_auth_contract.wire import Call

_OPENING_S = 0.1
"""A stream is open some time before something is to arrive on it."""

_LISTENING_S = 1.0


@probe("Who hears of what the owner of a record does?")
async def ask_news(question: OperationQuestion, context: Context) -> NewsObserved:
    """Let the owner of a record, and somebody who may not read it, listen while the owner writes."""
    contract = context.contract
    if context.issuer is None:
        return NewsObserved(absent="needs the kit's own issuer")
    if not contract.policy.writes:
        return NewsObserved(absent="the contract allows no writes (policy.writes = false)")
    found = next(_pairs(contract), None)
    if found is None:
        return NewsObserved(absent="no record of the contract has writes and somebody who may not read it")
    record, stranger = found
    own = {path.resource for one in contract.records if one.may_read(stranger) for path in one.reads}
    ways = (path for path in record.reads if path.kind is OperationKind.RESOURCE and path.resource not in own)
    uris = [operation_of(contract, path).name for path in ways]
    owner = PrincipalSession(context, question.revision, record.owner)
    other = PrincipalSession(context, question.revision, stranger)
    if not question.revision.stateless:
        owner, other = await owner.open(), await other.open()
    listening = [asyncio.ensure_future(_listen(one, uris)) for one in (other, owner)]
    await asyncio.sleep(_OPENING_S)
    writing = keyed(contract, operation_of(contract, record.writes[0]), new_key())
    written = await owner.call(writing, f"a write of {record.owner}")
    heard, witness = await asyncio.gather(*listening)
    for one in (owner, other):
        await one.end()
    canaries = foreign_to(contract, stranger)
    return NewsObserved(record.owner, stranger, record.name, frozenset(uris), canaries, written, heard, witness)


def _pairs(contract: Contract) -> Iterator[tuple[Record, str]]:
    """Yield a record that its owner may write, and a user who may not read it; best one without the same URI."""
    for record in contract.records:
        if record.writes:
            strangers = [name for name in contract.principals if not record.may_read(name)]
            ways = {path.resource for path in record.reads if path.resource}
            own = {one.owner for one in contract.records if ways & {path.resource for path in one.reads}}
            yield from ((record, name) for name in sorted(strangers, key=lambda name: name in own))


async def _listen(caller: PrincipalSession, uris: list[str]) -> Attempt:
    """Subscribe to resources and listen: on the session's stream, or on that of the subscription."""
    way = f"the stream of {caller.principal}"
    if caller.revision.stateless:
        wanted: dict[str, object] = {"toolsListChanged": True, "resourcesListChanged": True}
        call = Call("subscriptions/listen", {"notifications": {**wanted, "resourceSubscriptions": uris}})
        # The response ends the subscription, so that the stream is listened to for its whole time.
        answer = (await caller.send(await caller.message(call), note=way, timeout=_LISTENING_S)).answer
        return Attempt(way, "call", answer, read(answer, expects_reply=False))
    for uri in uris:
        await caller.say(Call("resources/subscribe", {"uri": uri}), note=way)
    answer = (await caller.bodiless("GET", accept="text/event-stream", note=way)).answer
    return Attempt(way, "call", answer, read_bodiless(answer))
