"""Other roads to somebody else's records: names in a request, callers at the same time, tokens that look alike."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import quote

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.identity.observation import CallerCall, IdentityObserved
from mcp_auth_contract.checks.identity.overrides import OVERRIDES, Override, victims
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.principals import NO_TWO_OWNERS, Part, meeting, pair
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.tokens import Minted, TokenSpec
from mcp_auth_contract.tokens.spec import fresh_id
from mcp_auth_contract.wire import Message, Request, encode, operation_call, request

ROUNDS = 10
"""How often all callers call at the same time: half of the rounds on kept connections, half on new ones."""


_TURNS = 4
"""How often two callers take turns before they call at the same time."""


_COMMON = ("iat", "nbf", "exp", "jti")
"""Claims that say nothing about the user; tokens that look alike share them."""


@dataclass(slots=True)
class _Stage:
    """One scene under way."""

    question: Question
    context: Context
    minter: Minter
    revision: Revision
    calls: list[CallerCall] = field(default_factory=list)

    @property
    def caller(self) -> str:
        """The principal who goes first."""
        return self.question.principal or ""

    async def alone(self, part: Part) -> None:
        """Make the plain call of a part, once, while this scene does nothing else."""
        if not any(
            (one.name, one.caller, one.operation) == ("alone", part.principal, _named(part)) for one in self.calls
        ):
            self.calls.append(await self.call("alone", part, "its own token and nothing else"))

    async def call(
        self,
        name: str,
        part: Part,
        words: str,
        *,
        token: Minted | None = None,
        identifier: int | None = None,
        fresh: bool = False,
        override: Override | None = None,
    ) -> CallerCall:
        """Make a call of a part: with another token, another JSON-RPC id, on a new connection, or with an override."""
        operation, context = part.operation, self.context
        live = await context.live(self.revision, part.principal)
        call = operation_call(operation.kind, operation.name, operation.arguments)
        message = request(
            live.revision if live else self.revision,
            call,
            next(context.conversation.ids) if identifier is None else identifier,
            session=live.session if live else None,
        )
        minted = token or self.minter.mint(part.principal, "good")
        sent = _request(context.endpoint, message, minted, override, fresh=fresh)
        answer = await context.conversation.door.send(replace(sent, note=f"{self.question.word}: {part.principal}"))
        attempt = Attempt(words, "call", answer, read(answer))
        return CallerCall(name, part.principal, _named(part), words, attempt, part.own, part.foreign)


def _named(part: Part) -> str:
    return f"{part.operation.name} {part.operation.call_arguments}"


def _request(endpoint: str, message: Message, minted: Minted, override: Override | None, *, fresh: bool) -> Request:
    bearer = ("Authorization", f"Bearer {minted.token}")
    extra = override or Override("")
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in extra.query)
    url = f"{endpoint}{'&' if '?' in endpoint else '?'}{query}" if query else endpoint
    headers = (bearer, *extra.headers, *message.headers)
    return Request("POST", url, headers, encode(extra.applied(message.value)), expects_id=message.id, fresh=fresh)


async def ask_identity(question: Question, context: Context) -> IdentityObserved:
    """Play the scene of the question's word: calls of users who own records, whose canaries tell them apart."""
    if context.minter is None or question.revision is None or question.principal is None:
        raise ValueError("a scene needs a contract, a revision and a principal")
    stage = _Stage(question, context, context.minter, question.revision)
    _, scene = IDENTITY_SCENES[question.word]
    missing = await scene(stage)
    return IdentityObserved(question.word, tuple(stage.calls), missing)


async def _overrides(stage: _Stage) -> str | None:
    """Call with the own token and another principal's name in one place of the request."""
    contract, place = stage.minter.contract, stage.question.word
    cast = victims(contract, stage.caller)
    if not cast:
        return NO_TWO_OWNERS
    if place == "argument_override":
        cast = tuple((mine, theirs) for mine, theirs in cast if mine.operation.kind is OperationKind.TOOL)
        if not cast:
            return "no record is read through a tool, and other primitives take no free arguments"
    for mine, theirs in cast:
        await stage.alone(mine)
        await stage.alone(theirs)
        victim = contract.principals[theirs.principal]
        for override in OVERRIDES[place](victim.subject, victim.tenant):
            words = f"{override.words} naming {theirs.principal}"
            stage.calls.append(await stage.call("override", mine, words, override=override))
    return None


async def _together(stage: _Stage) -> str | None:
    """Let all callers call at the same time with the same JSON-RPC id, in several rounds."""
    cast = meeting(stage.minter.contract, stage.caller)
    if len(cast) < 2:
        return NO_TWO_OWNERS
    for number in range(max(len(parts) for parts in cast)):
        for parts in cast:
            said = "in turn with the others"
            stage.calls.append(await stage.call("in turn", parts[number % len(parts)], said))
    for number in range(ROUNDS):
        fresh = number >= ROUNDS // 2
        where = "on new connections" if fresh else "on kept connections"
        words = f"at the same time with the same JSON-RPC id, round {number + 1} of {ROUNDS}, {where}"
        identifier = next(stage.context.conversation.ids)
        chosen = (parts[number % len(parts)] for parts in cast)
        calls = (stage.call("together", part, words, identifier=identifier, fresh=fresh) for part in chosen)
        stage.calls += await asyncio.gather(*calls)
    return None


async def _same_id(stage: _Stage) -> str | None:
    """Give the tokens of two users the same `jti`."""
    identifier = fresh_id()
    return await _alike(stage, "with the same jti", lambda name: stage.minter.fresh(name, claims={"jti": identifier}))


async def _similar(stage: _Stage) -> str | None:
    """Give two users tokens that are equal in everything but the user, which stands at their end."""
    base = stage.minter.spec(stage.caller)

    def alike(spec: TokenSpec) -> TokenSpec:
        profile = spec.profile
        last = {profile.subject_claim, profile.tenant_claim}
        common = {name: base.claims[name] for name in _COMMON if name in base.claims}
        claims = {**spec.claims, **common}
        ordered = {name: claims[name] for name in sorted(claims, key=lambda name: (name in last, name not in common))}
        return replace(spec, claims=ordered)

    words = "equal but for the user"
    return await _alike(stage, words, lambda name: stage.minter.fresh(name, change=alike))


async def _alike(stage: _Stage, words: str, mint: Callable[[str], Minted]) -> str | None:
    """Let two users take turns with tokens that look alike, then call at the same time."""
    both = pair(stage.minter.contract, stage.caller)
    if both is None:
        return NO_TWO_OWNERS
    # One call that is the same for both tells them apart; else each also makes the other's, which must bring nothing.
    same = both[0][0].operation == both[1][0].operation
    chosen = [parts[:1] if same else parts for parts in both]
    for parts in chosen:
        for part in parts:
            await stage.alone(part)
    tokens = {parts[0].principal: mint(parts[0].principal) for parts in both}
    for number in range(_TURNS):
        for parts in chosen:
            part = parts[number % len(parts)]
            said = f"with a token of {part.principal}, {words}, turn {number + 1} of {_TURNS}"
            stage.calls.append(await stage.call("together", part, said, token=tokens[part.principal]))
    said = f"with tokens {words}, at the same time"
    calls = (stage.call("together", parts[0], said, token=tokens[parts[0].principal]) for parts in chosen)
    stage.calls += await asyncio.gather(*calls)
    return None


IDENTITY_SCENES: Mapping[str, tuple[str, Callable[[_Stage], Awaitable[str | None]]]] = MappingProxyType(
    {
        "argument_override": ("another principal's name in tool arguments", _overrides),
        "header_override": ("another principal's name in header fields and cookies", _overrides),
        "query_override": ("another principal's name in the query of the URL", _overrides),
        "meta_override": ("another principal's name in _meta", _overrides),
        "client_info_override": ("another principal's name as that of the client", _overrides),
        "callers_together": ("several principals at the same time, with equal JSON-RPC ids", _together),
        "tokens_of_one_id": ("tokens of two principals with the same jti", _same_id),
        "tokens_alike": ("tokens of two principals, equal but for the subject", _similar),
    }
)


"""The scenes: what each is, and how it is played."""
