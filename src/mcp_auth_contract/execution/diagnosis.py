"""Why a good token is refused: found by changing one thing after another until it is accepted."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from mcp_auth_contract.answers import Accepted, Answer, Attempt, Refusal, Refused, describe
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.issuer_control import IssuerControl
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.execution.first_contact import resource_metadata
from mcp_auth_contract.model import Revision
from mcp_auth_contract.oauth.challenge import scopes_of
from mcp_auth_contract.tokens import Algorithm, Role, SigningKey, TokenSpec
from mcp_auth_contract.tokens.keys import fresh_key
from mcp_auth_contract.tokens.spec import ScopeFormat

_NOTE = "why is the good token refused?"
_LONGEST = 200
_SECONDS = 15.0
"""How long other forms of token are tried: on a slow server not all of them."""


@dataclass(frozen=True, slots=True)
class _Change:
    """One thing that is different in a token, of some `kind`. `said` completes "accepted once", then `repair`."""

    kind: str
    said: str
    repair: str
    change: Callable[[TokenSpec], TokenSpec] = field(compare=False)


async def diagnosis(context: Context, revision: Revision, operation: Operation, principal: str) -> str:
    """Return in one sentence why an operation is refused that a good token must be able to call; empty if it is not.

    Keys are changed last, and published again as they were.
    """
    refused_call = _RefusedCall(context, revision, operation, principal)
    first = await refused_call.attempt(())
    silent = first.answer.limits_rate or context.conversation.http.unanswered
    if isinstance(first.reading, Accepted) or silent:
        return ""
    refused = f"the good token is refused ({describe(first.answer)})"
    if wanted := _wanted_scopes(first.answer, refused_call.spec()):
        return f'{refused}: the server wants the scope "{wanted}"; grant it to {principal}, or name it in the contract'
    issuer = context.issuer
    if issuer is None:
        return f"{refused}{_own_words(first.answer)}"
    found = await refused_call.accepted_form(issuer)
    return f"{refused}, {found}" if found else f"{refused}{refused_call.unknown(first, issuer)}"


@dataclass(slots=True)
class _RefusedCall:
    """The call that is refused, and how often it was tried in another form."""

    context: Context
    revision: Revision
    operation: Operation
    principal: str
    tried: int = 0
    begun: float = field(default_factory=stopwatch)
    ended: str = ""
    """Why nothing more is tried; empty while that is not so."""

    def spec(self) -> TokenSpec:
        return self.context.minter.spec(self.principal)

    async def attempt(self, changes: Sequence[_Change], key: SigningKey | None = None) -> Attempt:
        """Call with a token of its own, changed; in a stateful revision after a handshake with it."""

        def changed(spec: TokenSpec) -> TokenSpec:
            for one in changes:
                spec = one.change(spec)
            return spec

        self.tried += 1
        if self.context.issuer is None:
            token = self.context.minter.mint(self.principal, "good")
        else:
            token = self.context.minter.fresh(self.principal, key=key, change=changed)
        session = PrincipalSession(self.context, self.revision, self.principal)
        if not self.revision.stateless:
            session = await session.open(token=token, note=_NOTE)
            opened = session.opened
            if opened is not None and not opened.open:
                return Attempt(_NOTE, "initialize", opened.answer, opened.reading)
        attempt = await session.call(self.operation, token=token, note=_NOTE)
        await session.end(token=token)
        return attempt

    async def works(self, changes: Sequence[_Change], key: SigningKey | None = None) -> bool:
        if self.ended or stopwatch() - self.begun > _SECONDS:
            return False
        attempt = await self.attempt(changes, key)
        if attempt.answer.limits_rate:
            self.ended = "the server limits the rate: wait, or write target.max_rate"
        elif self.context.conversation.http.unanswered:
            self.ended = "the server no longer answers"
        return isinstance(attempt.reading, Accepted)

    async def accepted_form(self, issuer: IssuerControl) -> str | None:
        """Say with which change the call is accepted; None where none helps."""
        changes = [one async for one in self._changes()]
        alone = [(one,) for one in changes]
        pairs = [(one, other) for one, other in combinations(changes, 2) if one.kind != other.kind]
        for tried in alone:
            if await self.works(tried):
                return _told(tried)
        if not self.spec().profile.opaque and (found := await self._with_simple_keys(issuer, alone)):
            return found
        for pair in pairs:
            if await self.works(pair):
                return _told(pair)
        return None

    async def _with_simple_keys(self, issuer: IssuerControl, alone: Sequence[tuple[_Change, ...]]) -> str | None:
        """Publish one key, the known one and then a new one, for servers fetch again only what they do not know."""
        own = self.context.minter.key
        others = "a key of another kind in the set stops this server"
        try:
            for key in (own, fresh_key(own.alg, f"{own.kid}-alone")):
                issuer.replace(key)
                if await self.works((), key):
                    return f"and accepted once the key set held nothing but one key for {own.alg}: {others}"
            for tried in alone:
                if await self.works(tried, key):
                    told = " and ".join(one.said for one in tried)
                    return f"and accepted once the key set held nothing but one key for {own.alg}, and {told}: {others}"
        finally:
            issuer.restore()
        return None

    def unknown(self, first: Attempt, issuer: IssuerControl) -> str:
        """Say what is known where no change helped."""
        if self.ended:
            return f", and after {self.tried} calls {self.ended}"
        opaque = self.spec().profile.opaque
        asked = issuer.introspections() if opaque else issuer.fetches()
        name = self.context.minter.profile.issuer
        words = _own_words(first.answer)
        if not asked:
            what, setting = (
                ("asked for introspection", "INTROSPECTION_URI") if opaque else ("fetched the key set", "JWKS_URI")
            )
            return f": it never {what}, so its ISSUER or {setting} is not that of this run, {name}{words}"
        if isinstance(first.reading, Refused) and first.reading.how in (Refusal.RPC_ERROR, Refusal.TOOL_ERROR):
            whom = self.principal
            return f": the call itself is refused; look at its arguments, and at the rights of {whom}{words}"
        times = "once" if asked == 1 else f"{asked} times"
        how = "introspected tokens" if opaque else "fetched the key set"
        return f": it {how} {times}, and none of {self.tried - 1} other forms of token and keys was accepted{words}"

    async def _changes(self) -> AsyncIterator[_Change]:
        spec = self.spec()
        profile = spec.profile
        if not profile.opaque:
            for typ in ("JWT", None, "at+jwt"):
                if typ != spec.header.get("typ"):
                    yield _typ(typ)
        for audience in await self._audiences():
            yield _Change(
                "aud",
                f'its aud was "{audience}"',
                f'write target.resource = "{audience}", or configure the audience',
                _setting("aud", audience),
            )
        yield _Change(
            "iss",
            "its iss ended with a slash",
            "the server compares with an issuer that ends with a slash, which this one does not",
            _setting("iss", f"{profile.issuer}/"),
        )
        for one in (*_scopes(spec), *_members(spec)):
            yield one
        for name in sorted(self.context.contract.issuer.algorithms):
            algorithm = Algorithm(name)
            if not profile.opaque and algorithm is not spec.key.alg:
                yield _signed(self.context.minter.keys(Role.ISSUER, algorithm))

    async def _audiences(self) -> Sequence[str]:
        """Return other spellings of the audience: with and without slash, as the metadata says, the origin."""
        known = self.spec().claims.get("aud")
        resource = self.context.resource
        metadata = await resource_metadata(self.context.conversation.http, self.context.endpoint) or {}
        published = metadata.get("resource")
        origin = "/".join(resource.split("/", 3)[:3])
        spelled = [
            published,
            resource.rstrip("/"),
            f"{resource.rstrip('/')}/",
            self.context.endpoint,
            origin,
            f"{origin}/",
        ]
        strings = dict.fromkeys(one for one in spelled if isinstance(one, str))
        return [one for one in strings if one and one != known]


def _setting(claim: str, value: object) -> Callable[[TokenSpec], TokenSpec]:
    return lambda good: good.with_claim(claim, value)


def _typ(typ: str | None) -> _Change:
    if typ is None:
        said, repair = "it had no typ", "the server stumbles over the typ that its issuer writes"
        return _Change("typ", said, repair, lambda good: good.without_header("typ"))
    return _Change("typ", f'its typ was "{typ}"', f'write claims.typ = "{typ}"', lambda good: good.with_header(typ=typ))


def _scopes(spec: TokenSpec) -> Iterator[_Change]:
    """Other places and forms of the scopes."""
    profile = spec.profile
    held = spec.claims.get(profile.scope_claim)
    listed = held.split() if isinstance(held, str) else held
    if not isinstance(listed, list) or not listed:
        return
    for claim, form in (("scp", "list"), ("scp", "string"), ("scope", "list"), ("scope", "string")):
        if (claim, form) == (profile.scope_claim, str(profile.scope_format)):
            continue
        value: object = listed if form == ScopeFormat.LIST else " ".join(map(str, listed))

        def moved(good: TokenSpec, claim: str = claim, value: object = value) -> TokenSpec:
            return good.without_claim(profile.scope_claim).with_claim(claim, value)

        shown = "a list" if form == ScopeFormat.LIST else "a string"
        repair = f'write claims.scope = "{claim}" and claims.scope_format = "{form}"'
        yield _Change("scope", f"its scopes were {shown} in {claim}", repair, moved)


def _members(spec: TokenSpec) -> Iterator[_Change]:
    """Claims that a server may stumble over, or miss."""
    profile = spec.profile
    tenant, client = profile.tenant_claim, spec.claims.get(profile.client_claim)
    if tenant is not None and tenant in spec.claims:
        repair = "this server takes no tenant, or another; leave out claims.tenant, or name its claim"
        yield _Change("tenant", f"it had no {tenant}", repair, lambda good: good.without_claim(tenant))
    for claim in ("azp", "client_id"):
        if claim not in spec.claims:
            yield _Change(
                "client",
                f"it had {claim}",
                f'write claims.client = "{claim}"',
                _setting(claim, client),
            )


def _signed(key: SigningKey) -> _Change:
    def signed(good: TokenSpec) -> TokenSpec:
        return TokenSpec(
            profile=good.profile,
            now=good.now,
            header={**good.header, "alg": str(key.alg), "kid": key.kid},
            claims=good.claims,
            key=key,
        )

    return _Change("alg", f"it was signed with {key.alg}", f"write {key.alg} first in issuer.algorithms", signed)


def _told(changes: Sequence[_Change]) -> str:
    said = " and ".join(one.said for one in changes)
    return f"and accepted once {said}: {'; '.join(one.repair for one in changes)}"


def _wanted_scopes(answer: Answer, spec: TokenSpec) -> str:
    """Return the scopes that a challenge asks for and that the token does not have."""
    challenges = answer.challenges
    if challenges.of_bearer("error") != "insufficient_scope":
        return ""
    held = spec.claims.get(spec.profile.scope_claim, "")
    granted = set(held.split() if isinstance(held, str) else held if isinstance(held, list) else [])
    return " ".join(sorted(scopes_of(challenges.of_bearer("scope") or "") - granted))


def _own_words(answer: Answer) -> str:
    """Return what the server itself says of its refusal, to stand behind a sentence; empty where it says nothing."""
    said = answer.challenges.of_bearer("error_description") or _message(answer)
    said = " ".join(said.split())
    shown = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    return f'; it says "{shown}"' if shown else ""


def _message(answer: Answer) -> str:
    reply: Mapping[str, Any] = answer.reply or {}
    error = reply.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    content = answer.result.get("content")
    if isinstance(content, list):
        return " ".join(str(one.get("text", "")) for one in content if isinstance(one, dict))
    try:
        body = json.loads(answer.text)
    except ValueError:
        return ""
    known = body if isinstance(body, dict) else {}
    found = (known.get(name) for name in ("error_description", "detail", "message"))
    return next((one for one in found if isinstance(one, str)), "")
