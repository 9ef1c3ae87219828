"""One connection, one session, several tokens; and lists asked for again: is anything remembered that must not be?"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.genuine import GenuineMinter
from mcp_auth_contract.checks.identity.observation import CallerCall, IdentityObserved, Listed, ListingsObserved
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.principals import foreign_to
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.contract import Operation, implying, operations, private_canaries
from mcp_auth_contract.model import Revision
from mcp_auth_contract.tokens import CannotSign, Minted, Role
from mcp_auth_contract.wire import Call, Handshake, HeaderPair, Request, encode, operation_call, request

SUCCESSIONS: Mapping[str, str] = MappingProxyType(
    {
        "one_connection": "a good token, then weaker, forged and missing ones, on the same connection",
        "one_session": "a good token, then weaker, forged and missing ones, in the same session",
    }
)


LISTS: Mapping[str, str] = MappingProxyType(
    {
        "tools/list": "the list of tools",
        "resources/list": "the list of resources",
        "prompts/list": "the list of prompts",
    }
)


_MEMBERS = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "prompts/list": ("prompts", "name"),
}
"""Where a result holds the list, and what tells its entries apart."""


_MOST_PAGES = 50


_WORDS = {
    "rich": "the good token",
    "poor": "a token with fewer scopes",
    "bad": "a token that a stranger signed",
    "none": "no token",
    "other": "another principal's token",
}


@dataclass(slots=True)
class _Line:
    """A series of calls of one operation in which only the token changes: every octet of the body is the same."""

    question: Question
    context: Context
    minter: Minter
    revision: Revision
    principal: str
    operation: Operation
    identifier: int
    calls: list[CallerCall] = field(default_factory=list)

    def tokens(self) -> dict[str, Minted | None]:
        """Return the tokens by their part; `poor` where the operation needs a scope, `other` where there is one."""
        found: dict[str, Minted | None] = {"rich": self.minter.mint(self.principal, "good")}
        contract = self.minter.contract
        if self.operation.scopes:
            every = {scope for each in operations(contract) for scope in each.scopes}
            left = frozenset(every - implying(contract, self.operation.scopes[0]))
            found["poor"] = _minted(self.minter, self.principal, left)
        found["bad"] = self._bad()
        found["none"] = None
        other = self.stranger
        if other is not None:
            found["other"] = _minted(self.minter, other)
        return {part: minted for part, minted in found.items() if minted is not None or part == "none"}

    @property
    def own(self) -> frozenset[str]:
        """The canaries that the call brings to its principal alone."""
        return private_canaries(self.minter.contract, self.operation, self.principal)

    @property
    def stranger(self) -> str | None:
        """A principal who may not see what the call brings; None where that cannot be told."""
        contract = self.minter.contract
        return next((name for name in contract.principals if self.own and self.own <= foreign_to(contract, name)), None)

    def _bad(self) -> Minted:
        if self.minter.profile.opaque or isinstance(self.minter, GenuineMinter):
            return self.minter.forged(self.principal)
        return self.minter.fresh(self.principal, key=self.minter.keys(Role.STRANGER, self.minter.key.alg))

    async def call(self, part: str, name: str, minted: Minted | None, live: Handshake | None, *, fresh: bool) -> None:
        """Make the call with a token and keep what came of it under `name`."""
        call = operation_call(self.operation.kind, self.operation.name, self.operation.arguments)
        session = live.session if live else None
        # A call on a connection of its own is no repetition of another, so its id is its own as well.
        identifier = next(self.context.conversation.ids) if fresh else self.identifier
        message = request(live.revision if live else self.revision, call, identifier, session=session)
        headers = (*_bearer(minted), *message.headers)
        words = f"{_WORDS[part]} {'on a new connection' if fresh else 'behind others'}"
        note = f"{self.question.word}: {words}"
        sent = Request("POST", self.context.endpoint, headers, encode(message.value), expects_id=message.id, note=note)
        answer = await self.context.conversation.door.send(replace(sent, fresh=fresh))
        caller = (self.stranger or "") if part == "other" else self.principal
        foreign = foreign_to(self.minter.contract, caller) if part == "other" else frozenset[str]()
        own = self.own if part == "rich" else frozenset[str]()
        attempt = Attempt(words, "call", answer, read(answer))
        self.calls.append(CallerCall(name, caller, self.operation.name, words, attempt, own, foreign))


def _minted(minter: Minter, principal: str, scopes: frozenset[str] | None = None) -> Minted | None:
    """Return a good token, or None where there is only a genuine one, which is of somebody else or has other scopes."""
    try:
        return minter.mint(principal, "good", None, scopes)
    except CannotSign:
        return None


def _bearer(minted: Minted | None) -> tuple[HeaderPair, ...]:
    return () if minted is None else (("Authorization", f"Bearer {minted.token}"),)


async def ask_token_sequence(question: Question, context: Context) -> IdentityObserved:
    """Call with each weaker token alone first, then with each of them behind the good one, then with that one again.

    On one connection, as far as the server keeps it: nothing else runs meanwhile. In a session, each token that is
    tried alone gets a session of its own, if it can open one.
    """
    minter, revision, operation = context.minter, question.revision, question.operation
    if minter is None or revision is None or operation is None or question.principal is None:
        raise ValueError("a succession of tokens needs a contract, a revision, a principal and an operation")
    line = _Line(question, context, minter, revision, question.principal, operation, next(context.conversation.ids))
    tokens = line.tokens()
    in_session = question.word == "one_session"
    live: Handshake | None = None
    if in_session:
        tokens.pop("other", None)  # who may use a session is another check's question
        live = await context.conversation.open_session(
            revision, _bearer(tokens["rich"]), note="a session for all tokens"
        )
        if live.session is None:
            return IdentityObserved(question.word, (), "the server hands out no session ids in this revision")
    elif not revision.stateless:
        live = await context.live(revision, question.principal)
    weaker = [part for part in tokens if part != "rich"]
    for part in weaker:
        await _alone(line, part, tokens[part], live, in_session=in_session)
    for part in weaker:
        await line.call("rich", "rich", tokens["rich"], live, fresh=False)
        await line.call(part, part, tokens[part], live, fresh=False)
    await line.call("rich", "rich", tokens["rich"], live, fresh=False)
    if in_session and live is not None:
        await context.conversation.close_session(live, _bearer(tokens["rich"]))
    return IdentityObserved(question.word, tuple(line.calls))


async def _alone(line: _Line, part: str, minted: Minted | None, live: Handshake | None, *, in_session: bool) -> None:
    """See what becomes of a token by itself, so that a fault of the token check is not taken for one of memory."""
    if not in_session:
        await line.call(part, f"{part} alone", minted, live, fresh=True)
        return
    conversation = line.context.conversation
    own = await conversation.open_session(line.revision, _bearer(minted), note=f"{line.question.word}: alone")
    if not own.open:
        attempt = Attempt(_WORDS[part], "initialize", own.answer, own.reading)
        line.calls.append(CallerCall(f"{part} alone", line.principal, line.operation.name, attempt.way, attempt))
        return
    await line.call(part, f"{part} alone", minted, own, fresh=True)
    await conversation.close_session(own, _bearer(minted))


async def ask_listings(question: Question, context: Context) -> ListingsObserved:
    """Ask for a list with one token on several connections and after other calls; a difference is looked for twice."""
    minter, revision, principal = context.minter, question.revision, question.principal
    if minter is None or revision is None or principal is None:
        raise ValueError("comparing lists needs a contract, a revision and a principal")
    reader = _Reader(question, context, revision)
    bearer = context.bearer(principal)
    others = [name for name in minter.contract.principals if name != principal and _minted(minter, name) is not None]
    lists: list[Listed] = []
    for turn in (1, 2):
        lists.append(await reader.listed("on a kept connection", turn, bearer))
        if lists[-1].names is None:
            break
        lists.append(await reader.listed("on a new connection", turn, bearer, fresh=True))
        if others:
            await reader.listed("another principal's", turn, context.bearer(others[0]), who=others[0])
        if question.operation is not None:
            operation = question.operation
            call = operation_call(operation.kind, operation.name, operation.arguments)
            await reader.sent(call, bearer, fresh=False, who=principal)
        lists.append(await reader.listed("after other calls", turn, bearer))
        lists.append(await reader.listed("after other calls, on a new connection", turn, bearer, fresh=True))
        if len({one.names for one in lists}) == 1:
            break
    return ListingsObserved(question.word, tuple(lists))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads lists to their end."""

    question: Question
    context: Context
    revision: Revision

    async def sent(
        self, call: Call, bearer: tuple[HeaderPair, ...], *, fresh: bool, who: str
    ) -> tuple[Answer, dict[str, object]]:
        """Send one call; return its answer and the raw result, for cursors."""
        live = await self.context.live(self.revision, who)
        message = request(
            live.revision if live else self.revision,
            call,
            next(self.context.conversation.ids),
            session=live.session if live else None,
        )
        received = await self.context.conversation.receive(message, bearer, note="comparing lists", fresh=fresh)
        result = (received.raw_reply or {}).get("result")
        return received.answer, result if isinstance(result, dict) else {}

    async def listed(
        self, words: str, turn: int, bearer: tuple[HeaderPair, ...], *, fresh: bool = False, who: str | None = None
    ) -> Listed:
        """Return a whole list, page by page; names are None where the server did not give it to its end."""
        method = self.question.word
        member, key = _MEMBERS[method]
        answers: list[Answer] = []
        names: set[str] = set()
        cursors: set[str] = set()
        params: dict[str, object] = {}
        while True:
            call = Call(method, params)
            answer, result = await self.sent(call, bearer, fresh=fresh, who=who or self.question.principal or "")
            answers.append(answer)
            entries = result.get(member)
            if not isinstance(entries, list):
                return Listed(words, turn, tuple(answers), None)
            names |= {str(entry.get(key)) for entry in entries if isinstance(entry, dict)}
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str):
                return Listed(words, turn, tuple(answers), frozenset(names))
            if cursor in cursors or len(answers) >= _MOST_PAGES:
                return Listed(words, turn, tuple(answers), None)
            cursors.add(cursor)
            params = {"cursor": cursor}
