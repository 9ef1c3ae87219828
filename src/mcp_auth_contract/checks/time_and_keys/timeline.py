"""The tools of a timeline: calls one after another, while keys and clocks move between them."""

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.issuer_control import IssuerControl
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.questions import FormQuestion
from mcp_auth_contract.checks.time_and_keys.observation import Step, TimelineObserved
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.contract import Policy
from mcp_auth_contract.tokens import Minted, Role, SigningKey, TokenSpec
from mcp_auth_contract.tokens.spec import fresh_id


class Cut(Exception):
    """The timeline cannot go on; the message says why."""


@dataclass(slots=True)
class Timeline:
    """One timeline under way. Times are seconds; waiting is real or not, as the context says."""

    question: FormQuestion
    context: Context
    issuer: IssuerControl
    principal: str
    steps: list[Step] = field(default_factory=list)
    waited: float = 0.0
    cold: bool = False
    touched: bool = False
    asked: int = 0
    """How often the issuer was asked for its keys since it was made to fail."""
    failed_at: int | None = None
    _begun: int = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self.issuer.fetches()

    @property
    def minter(self) -> Minter:
        """What mints the tokens."""
        return self.context.minter

    @property
    def change(self) -> IssuerControl:
        """The issuer, to be changed: it is put back in the end."""
        self.touched = True
        return self.issuer

    @property
    def policy(self) -> Policy:
        """What the contract declares about time."""
        return self.context.contract.policy

    @property
    def refresh(self) -> float:
        """After that time a newly published key must work, and a server asks again for one it did not find."""
        return self.policy.jwks_refresh + 1

    @property
    def cache(self) -> float:
        """After that time the server has forgotten what it fetched."""
        return max(self.policy.jwks_cache, self.policy.jwks_refresh) + 1

    @property
    def key(self) -> SigningKey:
        """The key that signs the good tokens."""
        return self.minter.key

    def need(self, seconds: float) -> None:
        """End the timeline before it has changed anything, unless that much time may pass."""
        if not self.context.time.affords(seconds):
            raise Cut("time has to pass for it: run with --wait SECONDS, or in process with target.app")

    async def passes(self, seconds: float) -> None:
        """Let time pass."""
        if not await self.context.time.pass_time(seconds):
            raise Cut(f"the time that --wait allows was used up; another {seconds:.0f} s were needed")
        self.waited += seconds

    async def refreshed(self) -> None:
        """Let a server come to ask again for a key it did not find, where the time for it is granted."""
        if self.context.time.affords(self.refresh):
            await self.passes(self.refresh)

    async def chill(self) -> None:
        """Let the server's caches expire, where the time for it is granted."""
        if self.context.time.affords(self.cache + self.refresh):
            await self.passes(self.cache)
            self.cold = True

    def fail(self, how: str) -> None:
        """Make the issuer answer for its keys as the named failure does."""
        self.failed_at = self.issuer.fetches()
        self.change.behave(how)

    def new_key(self, kid: str | None = None) -> SigningKey:
        """Return a key that the issuer has not published yet, under a fresh key id or the one given."""
        made = self.minter.keys(Role.LOOKALIKE, self.key.alg)
        return SigningKey(made.alg, kid or f"new-{fresh_id()[:12]}", made.private)

    def stranger(self, kid: str | None = None) -> SigningKey:
        """Return a key that nobody ever published, under its own key id or the one given."""
        made = self.minter.keys(Role.STRANGER, self.key.alg)
        return made if kid is None else SigningKey(made.alg, kid, made.private)

    def token(
        self,
        *,
        key: SigningKey | None = None,
        change: Callable[[TokenSpec], TokenSpec] | None = None,
        claims: Mapping[str, object] | None = None,
    ) -> Minted:
        """Mint a token: unbroken, by another key, changed before it is signed, or with other claims."""
        return self.minter.fresh(self.principal, key=key, claims=claims, change=change)

    def altered(self, minted: Minted, text: str) -> Minted:
        """Send another text in the place of a token."""
        self.minter.redactor.register(text, "token-altered")
        return replace(minted, token=text)

    async def call(
        self, name: str, minted: Minted, words: str, *, limit: float | None = None, since: float | None = None
    ) -> Step:
        """Make the call with a token, inside the live session where there is one, and note the step.

        `since` is a reading of the stopwatch to measure from, `limit` the seconds to wait for an answer.
        """
        begun = stopwatch() if since is None else since
        attempt = await PrincipalSession(self.context, self.question.revision, self.principal).call(
            self.question.operation,
            f"{words}, {self.waited:.0f} s later" if self.waited else words,
            token=minted,
            note=f"timeline {self.question.form}: {name}",
            timeout=limit,
        )
        step = Step(name, words, attempt, self.issuer.fetches() - self._begun, stopwatch() - begun)
        self.steps.append(step)
        if self.failed_at is not None:
            self.asked = self.issuer.fetches() - self.failed_at
        return step


Script: TypeAlias = Callable[[Timeline], Awaitable[None]]


async def play(question: FormQuestion, context: Context, script: Script) -> TimelineObserved:
    """Play one timeline. The issuer is put back in any case, and the server gets time to notice where there is any."""
    issuer = context.issuer
    if context.issued is None or issuer is None or question.principal is None:
        return TimelineObserved((), "the kit does not serve the issuer")
    timeline = Timeline(question, context, issuer, question.principal)
    anonymous, introspections = issuer.anonymous(), issuer.introspections()
    cut: str | None = None
    try:
        await script(timeline)
    except Cut as reason:
        cut = str(reason)
    finally:
        if timeline.touched:
            issuer.restore()
    if timeline.touched:
        # Where time costs nothing, a server that is slow to recover gets twice as long before it is judged again.
        recovery = timeline.cache * (2 if context.time.affords(math.inf) else 1)
        if context.time.affords(recovery):
            await context.time.pass_time(recovery)
    return TimelineObserved(
        tuple(timeline.steps),
        cut,
        cold=timeline.cold,
        failing=timeline.failed_at is not None,
        asked_while_failing=timeline.asked,
        anonymous=issuer.anonymous() - anonymous,
        introspections=issuer.introspections() - introspections,
    )
