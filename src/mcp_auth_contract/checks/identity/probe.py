"""Other roads to another principal's records: names in a request, callers at the same time, tokens that look alike."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from mcp_auth_contract.checks.client import OWN, Credential, PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.identity.observation import CallerCall, IdentityObserved
from mcp_auth_contract.checks.identity.overrides import OVERRIDES
from mcp_auth_contract.checks.presentation import bearer
from mcp_auth_contract.checks.principals import NO_TWO_OWNERS, Part, meeting, pair, victims
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import FormQuestion
from mcp_auth_contract.model import OperationKind
from mcp_auth_contract.tokens import Minted, TokenSpec
from mcp_auth_contract.tokens.spec import fresh_id

ROUNDS = 10
"""How often all callers call at the same time: half of the rounds on kept connections, half on new ones."""

_TURNS = 4
"""How often two callers take turns before they call at the same time."""

_COMMON = ("iat", "nbf", "exp", "jti")
"""Claims that say nothing about the user; tokens that look alike share them."""


@dataclass(slots=True)
class _Scene:
    """One scene under way."""

    question: FormQuestion
    context: Context
    calls: list[CallerCall] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The principal who goes first."""
        return self.question.principal or ""

    async def alone(self, *parts: Part) -> None:
        """Make the plain call of each part, once, while this scene does nothing else."""
        for part in parts:
            made = ("alone", part.principal, _named(part))
            if all((one.name, one.caller, one.operation) != made for one in self.calls):
                self.calls.append(await self.call("alone", part, "its own token and nothing else"))

    async def call(
        self,
        name: str,
        part: Part,
        words: str,
        *,
        token: Credential = OWN,
        identifier: int | None = None,
        fresh: bool = False,
    ) -> CallerCall:
        """Make a call of a part, as `PrincipalSession.call` does."""
        caller = PrincipalSession(self.context, self.question.revision, part.principal)
        note = f"{self.question.form}: {part.principal}"
        attempt = await caller.call(part.operation, words, token=token, note=note, identifier=identifier, fresh=fresh)
        return CallerCall(name, part.principal, _named(part), words, attempt, part.own, part.foreign)


def _named(part: Part) -> str:
    return f"{part.operation.name} {part.operation.call_arguments}"


async def _overrides(scene: _Scene) -> str | None:
    """Call with the own token and another principal's name in one place of the request."""
    contract, place = scene.context.contract, scene.question.form
    pairs = victims(contract, scene.first)
    if not pairs:
        return NO_TWO_OWNERS
    if place == "argument_override":
        pairs = tuple(both for both in pairs if both[0].operation.kind is OperationKind.TOOL)
        if not pairs:
            return "no record is read through a tool, and other primitives take no free arguments"
    for mine, theirs in pairs:
        await scene.alone(mine, theirs)
        victim = contract.principals[theirs.principal]
        for override in OVERRIDES[place](victim.subject, victim.tenant):
            own = bearer(scene.context.minter.mint(mine.principal, "good").token)
            token = replace(override, headers=(*own.headers, *override.headers))
            words = f"{override.offered} naming {theirs.principal}"
            scene.calls.append(await scene.call("override", mine, words, token=token))
    return None


async def _together(scene: _Scene) -> str | None:
    """Let all callers call at the same time with the same JSON-RPC id, in several rounds."""
    met = meeting(scene.context.contract, scene.first)
    if len(met) < 2:
        return NO_TWO_OWNERS
    for number in range(max(len(parts) for parts in met)):
        for parts in met:
            scene.calls.append(await scene.call("in turn", parts[number % len(parts)], "in turn with the others"))
    for number in range(ROUNDS):
        fresh = number >= ROUNDS // 2
        where = "on new connections" if fresh else "on kept connections"
        words = f"at the same time with the same JSON-RPC id, round {number + 1} of {ROUNDS}, {where}"
        identifier = next(scene.context.conversation.ids)
        chosen = (parts[number % len(parts)] for parts in met)
        calls = (scene.call("together", part, words, identifier=identifier, fresh=fresh) for part in chosen)
        scene.calls += await asyncio.gather(*calls)
    return None


async def _same_id(scene: _Scene) -> str | None:
    """Give the tokens of two users the same `jti`."""
    claims, minter = {"jti": fresh_id()}, scene.context.minter
    return await _alike(scene, "with the same jti", lambda name: minter.fresh(name, claims=claims))


async def _similar(scene: _Scene) -> str | None:
    """Give two users tokens that are equal in everything but the user, which stands at their end."""
    minter = scene.context.minter
    base = minter.spec(scene.first)

    def alike(spec: TokenSpec) -> TokenSpec:
        last = {spec.profile.subject_claim, spec.profile.tenant_claim}
        common = {name: base.claims[name] for name in _COMMON if name in base.claims}
        claims = {**spec.claims, **common}
        ordered = {name: claims[name] for name in sorted(claims, key=lambda name: (name in last, name not in common))}
        return replace(spec, claims=ordered)

    return await _alike(scene, "equal but for the user", lambda name: minter.fresh(name, change=alike))


async def _alike(scene: _Scene, words: str, mint: Callable[[str], Minted]) -> str | None:
    """Let two users take turns with tokens that look alike, then call at the same time."""
    both = pair(scene.context.contract, scene.first)
    if both is None:
        return NO_TWO_OWNERS
    # One call that is the same for both tells them apart; else each also makes the other's, which must bring nothing.
    same = both[0][0].operation == both[1][0].operation
    chosen = [parts[:1] if same else parts for parts in both]
    for parts in chosen:
        await scene.alone(*parts)
    tokens = {parts[0].principal: mint(parts[0].principal) for parts in both}
    for number in range(_TURNS):
        for parts in chosen:
            part = parts[number % len(parts)]
            said = f"with a token of {part.principal}, {words}, turn {number + 1} of {_TURNS}"
            scene.calls.append(await scene.call("together", part, said, token=tokens[part.principal]))
    said = f"with tokens {words}, at the same time"
    calls = (scene.call("together", parts[0], said, token=tokens[parts[0].principal]) for parts in chosen)
    scene.calls += await asyncio.gather(*calls)
    return None


_SCENES: Mapping[str, tuple[str, Callable[[_Scene], Awaitable[str | None]]]] = {
    "argument_override": ("another principal's name in tool arguments", _overrides),
    "header_override": ("another principal's name in header fields and cookies", _overrides),
    "query_override": ("another principal's name in the query of the URL", _overrides),
    "meta_override": ("another principal's name in _meta", _overrides),
    "client_info_override": ("another principal's name as that of the client", _overrides),
    "callers_together": ("several principals at the same time, with equal JSON-RPC ids", _together),
    "tokens_of_one_id": ("tokens of two principals with the same jti", _same_id),
    "tokens_alike": ("tokens of two principals, equal but for the subject", _similar),
}
"""What each scene is, and how it is played; it returns what the contract lacks for it."""


@probe(
    "Whose records come back when another principal is named, or calls at the same time?",
    forms=_SCENES,
)
async def ask_identity(question: FormQuestion, context: Context) -> IdentityObserved:
    """Play a scene: calls of users who own records, whose canaries tell them apart."""
    scene = _Scene(question, context)
    _, play = _SCENES[question.form]
    missing = await play(scene)
    return IdentityObserved(tuple(scene.calls), missing)
