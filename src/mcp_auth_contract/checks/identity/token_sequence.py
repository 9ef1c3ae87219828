"""One connection, one session, several tokens; and lists asked for again: is anything remembered that must not be?"""

from dataclasses import dataclass, field, replace

from mcp_auth_contract.answers import Attempt
from mcp_auth_contract.checks.client import LISTS, PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.genuine import GenuineMinter
from mcp_auth_contract.checks.identity.observation import CallerCall, IdentityObserved, Listed, ListingsObserved
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.principals import foreign_to
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import FormQuestion
from mcp_auth_contract.contract import implying, operations, private_canaries
from mcp_auth_contract.tokens import CannotSign, Minted, Role

_WORDS = {
    "rich": "the good token",
    "poor": "a token with fewer scopes",
    "bad": "a token that a stranger signed",
    "none": "no token",
    "other": "another principal's token",
}

_LISTED = {kind.method: kind for name, kind in LISTS.items() if name != "templates"}


@dataclass(slots=True)
class _Sequence:
    """A series of calls of one operation in which only the token changes: every octet of the body is the same."""

    question: FormQuestion
    minter: Minter
    principal: str
    identifier: int
    calls: list[CallerCall] = field(default_factory=list)

    def tokens(self) -> dict[str, Minted | None]:
        """Return the tokens by their part; `poor` where the operation needs a scope, `other` where there is one."""
        found: dict[str, Minted | None] = {"rich": self.minter.mint(self.principal, "good")}
        contract, needed = self.minter.contract, self.question.operation.scopes
        if needed:
            every = {scope for each in operations(contract) for scope in each.scopes}
            found["poor"] = _minted(self.minter, self.principal, frozenset(every - implying(contract, needed[0])))
        found["bad"] = self._bad()
        found["none"] = None
        if self.stranger is not None:
            found["other"] = _minted(self.minter, self.stranger)
        return {part: minted for part, minted in found.items() if minted is not None or part == "none"}

    @property
    def own(self) -> frozenset[str]:
        """The canaries that the call brings to its principal alone."""
        return private_canaries(self.minter.contract, self.question.operation, self.principal)

    @property
    def stranger(self) -> str | None:
        """A principal who may not see what the call brings; None where that cannot be told."""
        contract = self.minter.contract
        return next((name for name in contract.principals if self.own and self.own <= foreign_to(contract, name)), None)

    def _bad(self) -> Minted:
        if self.minter.profile.opaque or isinstance(self.minter, GenuineMinter):
            return self.minter.forged(self.principal)
        return self.minter.fresh(self.principal, key=self.minter.keys(Role.STRANGER, self.minter.key.alg))

    async def call(self, part: str, minted: Minted | None, session: PrincipalSession, *, alone: bool = False) -> None:
        """Make the call with a token, behind others or alone, on a new connection."""
        # A call on a connection of its own is no repetition of another, so its id is its own as well.
        identifier = None if alone else self.identifier
        words = f"{_WORDS[part]} {'on a new connection' if alone else 'behind others'}"
        note = f"{self.question.form}: {words}"
        attempt = await session.call(
            self.question.operation, words, token=minted, note=note, fresh=alone, identifier=identifier
        )
        self.keep(part, attempt, alone=alone)

    def keep(self, part: str, attempt: Attempt, *, alone: bool) -> None:
        """Keep what came of a call."""
        caller = (self.stranger or "") if part == "other" else self.principal
        foreign = foreign_to(self.minter.contract, caller) if part == "other" else frozenset[str]()
        own = self.own if part == "rich" else frozenset[str]()
        name = f"{part} alone" if alone else part
        self.calls.append(CallerCall(name, caller, self.question.operation.name, attempt.way, attempt, own, foreign))

    async def alone_in_session(self, part: str, minted: Minted | None, session: PrincipalSession) -> None:
        """Make the call in a session that the token opened itself, if it can open one."""
        handshake = await session.shake_hands(token=minted, note=f"{self.question.form}: alone")
        if not handshake.open:
            attempt = Attempt(_WORDS[part], "initialize", handshake.answer, handshake.reading)
            self.keep(part, attempt, alone=True)
            return
        opened = replace(session, opened=handshake)
        await self.call(part, minted, opened, alone=True)
        await opened.end(token=minted)


def _minted(minter: Minter, principal: str, scopes: frozenset[str] | None = None) -> Minted | None:
    """Return a good token; None where there is only a genuine one, of another principal or with other scopes."""
    try:
        return minter.mint(principal, "good", None, scopes)
    except CannotSign:
        return None


@probe(
    "Is each token judged by itself behind a better one?",
    forms={
        "one_connection": "a good token, then weaker, forged and missing ones, on the same connection",
        "one_session": "a good token, then weaker, forged and missing ones, in the same session",
    },
    alone=True,
)
async def ask_token_sequence(question: FormQuestion, context: Context) -> IdentityObserved:
    """Call with each weaker token alone first, then with each of them behind the good one, then with that one again.

    Alone, so that a fault of the token check is not taken for one of memory. On one connection, as far as the server
    keeps it: nothing else runs meanwhile. In a session, each token that is tried alone gets a session of its own.
    """
    principal = question.principal or ""
    sequence = _Sequence(question, context.minter, principal, next(context.conversation.ids))
    tokens = sequence.tokens()
    shared = session = PrincipalSession(context, question.revision, principal)
    in_session = question.form == "one_session"
    if in_session:
        tokens.pop("other", None)  # who may use a session is another check's question
        shared = await session.open(token=tokens["rich"], note="a session for all tokens")
        if shared.opened is None or shared.opened.session is None:
            return IdentityObserved((), "the server hands out no session ids in this revision")
    weaker = [part for part in tokens if part != "rich"]
    for part in weaker:
        if in_session:
            await sequence.alone_in_session(part, tokens[part], session)
        else:
            await sequence.call(part, tokens[part], session, alone=True)
    for part in weaker:
        await sequence.call("rich", tokens["rich"], shared)
        await sequence.call(part, tokens[part], shared)
    await sequence.call("rich", tokens["rich"], shared)
    if in_session:
        await shared.end(token=tokens["rich"])
    return IdentityObserved(tuple(sequence.calls))


@probe(
    "Is a list the same on every connection and after other calls?",
    forms={method: f"the list of {kind.member}" for method, kind in _LISTED.items()},
    alone=True,
)
async def ask_listings(question: FormQuestion, context: Context) -> ListingsObserved:
    """Ask for a list with one token on several connections and after other calls; a difference is looked for twice."""
    minter, kind = context.minter, _LISTED[question.form]
    caller = PrincipalSession(context, question.revision, question.principal)
    others = (name for name in minter.contract.principals if name != question.principal)
    other = next((name for name in others if _minted(minter, name) is not None), None)
    note = "comparing lists"
    lists: list[Listed] = []

    async def ask(words: str, turn: int, *, fresh: bool = False) -> None:
        listing = await caller.list(kind, fresh=fresh, note=note)
        names = frozenset(str(entry.get(kind.key)) for entry in listing.entries) if listing.complete else None
        lists.append(Listed(words, turn, listing.answers, names))

    for turn in (1, 2):
        await ask("on a kept connection", turn)
        if lists[-1].names is None:
            break
        await ask("on a new connection", turn, fresh=True)
        if other is not None:
            await PrincipalSession(context, question.revision, other).list(kind, note=note)
        await caller.call(question.operation, note=note)
        await ask("after other calls", turn)
        await ask("after other calls, on a new connection", turn, fresh=True)
        if len({one.names for one in lists}) == 1:
            break
    return ListingsObserved(question.form, tuple(lists))
