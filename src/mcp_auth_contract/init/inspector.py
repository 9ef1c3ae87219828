"""The inspection of a server that has no contract yet."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Accepted, describe, read
from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.contract import Contract, environment_secrets, read_contract
from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.execution.credentials import OwnIssuer
from mcp_auth_contract.execution.first_contact import demand_mcp
from mcp_auth_contract.execution.options import Given
from mcp_auth_contract.execution.plan_run import skew_of
from mcp_auth_contract.execution.servers import inside, started
from mcp_auth_contract.execution.variables import issuer_settings, resolved_for, resolved_without_issuer
from mcp_auth_contract.init.inspection import KIT, Inspection, ServerSettings
from mcp_auth_contract.init.operations import (
    Bearer,
    base_scopes,
    calling,
    discover,
    harmless_operations,
    joined,
    needed_scopes,
    open_methods,
    read_views,
    refusal_style,
    shape_of,
)
from mcp_auth_contract.init.render import provisional
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.wire import (
    Conversation,
    HttpClient,
    Listing,
    Redactor,
    detect_revisions,
    resolve_host,
    resolver_inside,
)
from mcp_auth_contract.wire.session import Detected

_SKEW = 2.0
_REFUSED = (401, 403)
_Token = Callable[[str, frozenset[str], float], str]
"""Returns a token about a resource, with these scopes, by a clock that is so many seconds ahead."""


async def inspect_server(
    settings: ServerSettings,
    source: Path,
    *,
    environ: Mapping[str, str],
    given: Given | None = None,
    clock: Clock = system_clock,
    time_limit: float = 10.0,
    ca_files: tuple[str, ...] = (),
) -> Inspection:
    """Inspect a server: its revisions, metadata and lists, and the challenges of tools that only read.

    `ca_files` are certificates to trust besides the system's. `source` is the file that the contract is to become:
    relative paths start at its folder. Requests go without a
    token first; then with the `given` one, or with one of the kit's own issuer where the server is started to trust it.
    No tool is called but those that say of themselves that they only read. Raises ContractError for what is wrong with
    the settings, Unreachable for a server that cannot be started, reached or understood.
    """
    trusts_the_kit = settings.tells("issuer.")
    if given is not None and trusts_the_kit:
        raise UsageError(
            f"--token-env {given.variable}: the server is told to trust the kit's issuer, which signs a token itself; "
            "leave --token-env out, or ${issuer.…} out of --env and --start"
        )
    contract = read_contract(provisional(settings), source)
    redactor = Redactor()
    for secret in environment_secrets(contract, environ):
        redactor.hide(secret)
    with EmbeddedIssuer(issuer_settings(contract, environ)) if trusts_the_kit else nullcontext() as issuer:
        if issuer is None:
            resolved = resolved_without_issuer(contract, environ)
        else:
            resolved = resolved_for(contract, issuer, environ)
        own = None if issuer is None else OwnIssuer(resolved, issuer, redactor)
        token = _token(own, given, redactor, clock)
        trusted = (
            *(() if own is None else own.ca_files),
            *((resolved.target.ca_file,) if resolved.target.ca_file else ()),
            *ca_files,
        )
        async with _client(resolved, redactor, trusted, time_limit) as client:
            conversation = Conversation(client, resolved.target.endpoint)
            return await _Inspector(settings, conversation, clock, given, token).inspection()


def _token(own: OwnIssuer | None, given: Given | None, redactor: Redactor, clock: Clock) -> _Token | None:
    if given is not None:
        redactor.register(given.token, "genuine")
        return lambda _resource, _scopes, _skew: given.token
    if own is None:
        return None
    return lambda resource, scopes, skew: (
        own.minter(resource, lambda: clock() + skew).mint("alice", "good", None, scopes).token
    )


@asynccontextmanager
async def _client(
    contract: Contract, redactor: Redactor, ca_files: tuple[str, ...], time_limit: float
) -> AsyncIterator[HttpClient]:
    endpoint, in_process = contract.target.endpoint, contract.target.app is not None
    reaching = inside(contract, redactor, None, freeze=False, wait=0) if in_process else started(contract, redactor, 0)
    async with (
        reaching as reached,
        HttpClient(
            endpoint,
            redactor=redactor,
            ca_files=ca_files,
            time_limit=time_limit,
            transport=reached.transport,
            resolve=resolver_inside(urlsplit(endpoint).hostname or "") if in_process else resolve_host,
        ) as client,
    ):
        yield client


@dataclass(frozen=True, slots=True)
class _Inspector:
    """One inspection of a server that is up."""

    settings: ServerSettings
    conversation: Conversation
    clock: Clock
    given: Given | None
    token: _Token | None

    async def inspection(self) -> Inspection:
        endpoint = self.conversation.endpoint
        detected = await detect_revisions(self.conversation)
        await demand_mcp(self.conversation.http, endpoint, detected.answers)
        seen = Inspection(self.settings, endpoint, detected.name, detected.version, detected.revisions)
        seen = await discover(self.conversation, seen)
        lists: dict[str, Listing] = {}
        if detected.revisions:
            async with calling(self.conversation, detected.revisions[0]) as anonymous:
                lists = await anonymous.lists()
                seen = replace(seen, views=await read_views(anonymous, lists))
                if seen.challenge is None:  # a refusal of tools/list by status stands for every call
                    challenge, worked = await refusal_style(anonymous, lists["tools"].entries)
                    seen = replace(seen, challenge=challenge, open_tools=worked)
        public = await open_methods(self.conversation, detected, lists)
        seen = replace(seen, public=public, lists=joined(lists, {}, detected.answers[-1]))
        if self.token is None:
            _demand_mcp(endpoint, detected)
            return seen
        if self.given is None:
            seen = replace(seen, token_from=KIT)
        else:
            seen = replace(seen, token_from=self.given.variable, shape=shape_of(self.given.token))
        return await self._with_token(self.token, seen, lists, detected)

    async def _with_token(
        self, token: _Token, seen: Inspection, open_lists: Mapping[str, Listing], anonymous: Detected
    ) -> Inspection:
        """Go on with the token, about the resource that the metadata names, else about the endpoint."""
        skew = skew_of(anonymous.answers, self.clock)
        skew = skew if abs(skew) > _SKEW else 0.0
        detected = anonymous
        for resource in dict.fromkeys((seen.resource or seen.endpoint, seen.endpoint)):

            def bearer(scopes: frozenset[str], resource: str = resource) -> Bearer:
                return (("Authorization", f"Bearer {token(resource, scopes, skew)}"),)

            every = bearer(frozenset(seen.scopes))
            detected = await detect_revisions(self.conversation, every)
            if not detected.revisions:
                continue
            # A resource whose tokens are refused is no audience, whatever the metadata says.
            known = seen if resource == seen.resource else replace(seen, resource=None)
            async with calling(self.conversation, detected.revisions[0], every) as caller:
                lists = await caller.lists()
                shown = replace(
                    known,
                    name=detected.name or seen.name,
                    version=detected.version or seen.version,
                    revisions=detected.revisions,
                    lists=joined(open_lists, lists, detected.answers[-1]),
                    views=await read_views(caller, lists),
                )
                if self.given is not None:  # one token has the scopes that it has
                    return shown
                base = await base_scopes(caller, shown.scopes, bearer)
                needed = await needed_scopes(caller, harmless_operations(shown), bearer)
                return replace(shown, base=base, needed=needed)
        _demand_mcp(seen.endpoint, anonymous, detected)
        return replace(seen, token_said=describe(detected.answers[-1]))


def _demand_mcp(endpoint: str, *detected: Detected) -> None:
    """Raise Unreachable where no answer is MCP's, nor a refusal by status."""
    if any(one.revisions for one in detected):
        return
    answers = [answer for one in detected for answer in one.answers]
    if not any(answer.status in _REFUSED or isinstance(read(answer), Accepted) for answer in answers):
        what = f"no MCP server answers here: {describe(answers[-1])}"
        raise Unreachable(f"{endpoint}: {what}; name the endpoint's whole URL, with its path")
