"""A look at a server whose contract nobody has written yet."""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Accepted, describe, read
from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.contract import Contract, environment_secrets, read_contract
from mcp_auth_contract.drafting import KIT, Place, Seen, provisional
from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.execute.carrying import demand_answers, skew_of
from mcp_auth_contract.execute.credentials import OwnIssuer
from mcp_auth_contract.execute.discovering import discover
from mcp_auth_contract.execute.options import Given
from mcp_auth_contract.execute.resolving import issuer_settings, resolved_for, resolved_without_issuer
from mcp_auth_contract.execute.surveying import (
    base_scopes,
    harmless,
    joined,
    needed_scopes,
    open_methods,
    refusal_style,
    surveying,
)
from mcp_auth_contract.execute.targets import inside, started
from mcp_auth_contract.execute.token_shape import shape_of
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.wire import (
    Conversation,
    Detected,
    HeaderPair,
    HttpDoor,
    Listing,
    Redactor,
    detect_revisions,
    resolve_host,
    resolver_inside,
)

__all__ = ["look"]

_SKEW = 2.0
_REFUSED = (401, 403)
_Token = Callable[[str, frozenset[str], float], str]
"""Returns a token about a resource, with these scopes, by a clock that is so many seconds ahead."""


async def look(
    place: Place,
    source: Path,
    *,
    environ: Mapping[str, str],
    given: Given | None = None,
    clock: Clock = system_clock,
    time_limit: float = 10.0,
) -> Seen:
    """Look at a server: its revisions, metadata and lists, and the challenges of tools that only read.

    `source` is the file that the contract is to become: relative paths start at its folder. Requests go without a
    token first; then with the `given` one, or with one of the kit's own issuer where the place tells the server of it.
    No tool is called but those that say of themselves that they only read. Raises ContractError for what is wrong with
    the place, Unreachable for a server that cannot be started, reached or understood.
    """
    if given is not None and place.trusts_the_kit:
        raise UsageError(
            f"--token-env {given.variable}: the server is told to trust the kit's issuer, which signs a token itself; "
            "leave --token-env out, or ${issuer.…} out of --env and --start"
        )
    contract = read_contract(provisional(place), source)
    redactor = Redactor()
    for secret in environment_secrets(contract, environ):
        redactor.hide(secret)
    with _issuer(contract, place, environ) as serving:
        if serving is None:
            resolved = resolved_without_issuer(contract, environ)
        else:
            resolved = resolved_for(contract, serving, environ)
        token = _token(resolved, serving, given, redactor, clock)
        async with _door(resolved, serving, redactor, time_limit) as door:
            return await _Look(place, door, resolved.target.endpoint, clock, given, token).seen()


def _issuer(
    contract: Contract, place: Place, environ: Mapping[str, str]
) -> AbstractContextManager[EmbeddedIssuer | None]:
    if not place.trusts_the_kit:
        return contextlib.nullcontext()
    return EmbeddedIssuer(issuer_settings(contract, environ))


def _token(
    contract: Contract, serving: EmbeddedIssuer | None, given: Given | None, redactor: Redactor, clock: Clock
) -> _Token | None:
    if given is not None:
        redactor.register(given.token, "genuine")
        return lambda _resource, _scopes, _skew: given.token
    if serving is None:
        return None
    own = OwnIssuer(contract, serving, redactor)

    def mint(resource: str, scopes: frozenset[str], skew: float) -> str:
        return own.minter(resource, lambda: clock() + skew).mint("alice", "good", None, scopes).token

    return mint


@asynccontextmanager
async def _door(
    contract: Contract, serving: EmbeddedIssuer | None, redactor: Redactor, time_limit: float
) -> AsyncIterator[HttpDoor]:
    target = contract.target
    in_process = target.app is not None
    reaching = inside(contract, redactor, None, freeze=False, wait=0) if in_process else started(contract, redactor, 0)
    ca_file = None if serving is None else serving.ca_file
    async with (
        reaching as reached,
        HttpDoor(
            target.endpoint,
            redactor=redactor,
            ca_files=() if ca_file is None else (str(ca_file),),
            time_limit=time_limit,
            transport=reached.transport,
            resolve=resolver_inside(urlsplit(target.endpoint).hostname or "") if in_process else resolve_host,
        ) as door,
    ):
        yield door


@dataclass(frozen=True, slots=True)
class _Look:
    """One look through an open door."""

    place: Place
    door: HttpDoor
    endpoint: str
    clock: Clock
    given: Given | None
    token: _Token | None

    async def seen(self) -> Seen:
        conversation = Conversation(self.door, self.endpoint)
        detected = await detect_revisions(conversation)
        demand_answers(self.endpoint, detected.answers)
        metadata = await discover(conversation, detected.revisions)
        lists: dict[str, Listing] = {}
        # A refusal of tools/list by status stands for every call.
        challenge, worked = "http" if metadata.refused else None, frozenset[str]()
        if detected.revisions:
            async with surveying(conversation, detected.revisions[0]) as surveyor:
                lists = await surveyor.lists()
                if challenge is None:
                    challenge, worked = await refusal_style(surveyor, lists["tools"].entries)
        public = await open_methods(conversation, detected, lists)
        seen = Seen(
            self.place,
            self.endpoint,
            detected.name,
            detected.version,
            detected.revisions,
            metadata.resource,
            metadata.issuers,
            metadata.scopes,
            metadata.scopes_from,
            public,
            joined(lists, {}, detected.answers[-1]),
            challenge,
            worked,
            token_from=self._token_from,
            shape=None if self.given is None else shape_of(self.given.token),
        )
        if self.token is None:
            _demand_mcp(self.endpoint, detected)
            return seen
        return await self._with_token(conversation, seen, lists, detected)

    @property
    def _token_from(self) -> str:
        if self.given is not None:
            return self.given.variable
        return "" if self.token is None else KIT

    async def _with_token(
        self, conversation: Conversation, seen: Seen, open_lists: Mapping[str, Listing], anonymous: Detected
    ) -> Seen:
        """Look once more with the token, about the resource that the metadata names, else about the endpoint."""
        skew = skew_of(anonymous.answers, self.clock)
        skew = skew if abs(skew) > _SKEW else 0.0
        detected = anonymous
        for resource in dict.fromkeys((seen.resource or self.endpoint, self.endpoint)):

            def bearer(scopes: frozenset[str], resource: str = resource) -> tuple[HeaderPair, ...]:
                token = "" if self.token is None else self.token(resource, scopes, skew)
                return (("Authorization", f"Bearer {token}"),)

            every = bearer(frozenset(seen.scopes))
            detected = await detect_revisions(conversation, every)
            if detected.revisions:
                # A resource whose tokens are refused is no audience, whatever the metadata says.
                known = seen if resource == seen.resource else replace(seen, resource=None)
                return await self._accepted(conversation, known, open_lists, detected, bearer)
        _demand_mcp(self.endpoint, anonymous, detected)
        return replace(seen, token_said=describe(detected.answers[-1]))

    async def _accepted(
        self,
        conversation: Conversation,
        seen: Seen,
        open_lists: Mapping[str, Listing],
        detected: Detected,
        bearer: Callable[[frozenset[str]], tuple[HeaderPair, ...]],
    ) -> Seen:
        every = bearer(frozenset(seen.scopes))
        async with surveying(conversation, detected.revisions[0], every) as surveyor:
            told = replace(
                seen,
                name=detected.name or seen.name,
                version=detected.version or seen.version,
                revisions=detected.revisions,
                lists=joined(open_lists, await surveyor.lists(), detected.answers[-1]),
            )
            if self.given is not None:  # one token has the scopes that it has
                return told
            base = await base_scopes(surveyor, told.scopes, bearer)
            return replace(told, base=base, needed=await needed_scopes(surveyor, harmless(told), bearer))


def _demand_mcp(endpoint: str, *detected: Detected) -> None:
    """Raise Unreachable where nothing looks like MCP, not even like a refusal of it."""
    if any(one.revisions for one in detected):
        return
    answers = [answer for one in detected for answer in one.answers]
    if not any(answer.status in _REFUSED or isinstance(read(answer), Accepted) for answer in answers):
        raise Unreachable(
            f"{endpoint}: no MCP server answers here: {describe(answers[-1])}; "
            "name the endpoint's whole URL, with its path"
        )
