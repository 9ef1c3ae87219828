"""A run against a real authorization server: read its metadata, sign in, and carry the plan out."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Answer, describe
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.contract import Contract, Provider, control_operation, environment_secrets, resolve_provider
from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.execution.contract_run import facts_of
from mcp_auth_contract.execution.credentials import given_token
from mcp_auth_contract.execution.first_contact import demand_answers
from mcp_auth_contract.execution.options import Given, Options
from mcp_auth_contract.execution.plan_run import carry_out
from mcp_auth_contract.execution.servers import REACH_LIMIT, started
from mcp_auth_contract.execution.variables import resolved_without_issuer
from mcp_auth_contract.model import Revision
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import authorization_server_urls, is_loopback_url
from mcp_auth_contract.plan import Case, Plan, joined, make_plan, make_provider_plan
from mcp_auth_contract.provider.client import AuthorizationServerClient
from mcp_auth_contract.provider.secrets import learner
from mcp_auth_contract.provider.tenant import Tenant
from mcp_auth_contract.reports.model import Report, ServerSeen
from mcp_auth_contract.server import wait_for_port
from mcp_auth_contract.wire import Conversation, HttpClient, Redactor, detect_revisions
from mcp_auth_contract.wire.request import KitFault

_ASSUMED = (Revision.R2026_07_28, Revision.R2025_11_25)


@dataclass(slots=True)
class _Clients:
    """One HTTP client for each of the provider's hosts; all write into one record."""

    main: HttpClient
    provider: Provider
    ca_files: tuple[str, ...] = ()
    hosts: set[tuple[str, str]] = field(default_factory=set)
    _more: dict[tuple[str, str], HttpClient] = field(default_factory=dict)

    async def opened(self, url: str) -> HttpClient:
        """Return the client of a URL's origin; raises KitFault for a host that is none of the provider's."""
        origin = urlsplit(url)[:2]
        if origin == urlsplit(self.provider.issuer)[:2]:
            return self.main
        if origin not in self.hosts:
            raise KitFault(f"a request was about to go to {origin[1]}, which is none of the provider's hosts")
        if origin not in self._more:
            client = http_client(url, self.provider, self.main, self.ca_files)
            self._more[origin] = await client.__aenter__()
        return self._more[origin]

    async def close(self) -> None:
        """Close all but the main one."""
        for client in self._more.values():
            await client.__aexit__(None, None, None)


def http_client(
    url: str, provider: Provider, like: HttpClient | None, ca_files: tuple[str, ...], redactor: Redactor | None = None
) -> HttpClient:
    known = like.redactor if like is not None else redactor or Redactor()
    return HttpClient(
        url,
        redactor=known,
        evidence=None if like is None else like.evidence,
        ca_files=ca_files,
        max_rate=provider.max_rate,
        time_limit=10.0 if like is None else like.time_limit,
        learn=learner(known),
    )


@dataclass(slots=True)
class _ProviderRun:
    """A run against an authorization server that listens."""

    contract: Contract
    options: Options
    redactor: Redactor
    http: HttpClient
    provider: Provider
    started: float = field(default_factory=stopwatch)

    @property
    def lasting(self) -> bool:
        """The provider is there after the run; a server that the kit started is not."""
        return not (self.options.server and (self.contract.target.start or self.contract.target.app))

    @property
    def minting(self) -> bool:
        """No token can be minted again: the provider issues them."""
        return False

    def hurry(self) -> None:
        """Nothing to do: the kit has not started the server."""

    def facts(self, revisions: tuple[Revision, ...], case: Case) -> Facts:
        if case.question is not None and not _of_provider(case.question.probe) and self.options.server:
            return facts_of(self.contract, revisions, case)
        return Facts(
            endpoint=self.provider.issuer,
            resource=self.provider.resource or self.provider.issuer,
            revisions=revisions,
            revision=case.revision,
            loopback=is_loopback_url(self.provider.issuer),
        )


def _of_provider(probe: str) -> bool:
    return PROBES[probe].provider or probe == "authorization_servers"


async def run_provider(contract: Contract, options: Options) -> Report:
    """Run the checks of a real authorization server, and return the report.

    Raises ContractError for what is wrong in the contract, UsageError for a server that nobody said may be tested,
    and Unreachable where it cannot be reached.
    """
    provider = provider_of(contract, options)
    redactor = Redactor()
    for secret in environment_secrets(contract, options.environ):
        redactor.hide(secret)
    issuer = provider.issuer
    selection = None if options.server else options.selection
    plan = make_provider_plan(options.checks, contract.target.revisions or _ASSUMED, selection=selection)
    begun = datetime.fromtimestamp(options.clock(), UTC).isoformat(timespec="seconds")
    if not await wait_for_port(issuer, REACH_LIMIT):
        parts = urlsplit(issuer)
        place = f"{parts.hostname}:{parts.port or parts.scheme}"
        raise Unreachable(f"the provider cannot be reached: nothing accepts connections at {place}")
    ca_files = _ca_files(contract)
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(http_client(issuer, provider, None, ca_files, redactor))
        metadata, answers = await _metadata(http, issuer)
        demand_answers(issuer, answers)
        clients = _Clients(http, provider, ca_files)
        clients.hosts = {urlsplit(one)[:2] for one in metadata.values() if isinstance(one, str) and "://" in one}
        tenant = Tenant(AuthorizationServerClient(provider, metadata, redactor, clients.opened))
        stack.push_async_callback(clients.close)
        stack.push_async_callback(tenant.close)
        notes = _notes(provider, metadata, answers)
        server = None
        if options.server:
            server = await _server(stack, contract, options, tenant, http)
        if server is None:
            run = _ProviderRun(contract, options, redactor, http, provider)
            context = Context(
                Conversation(http, issuer),
                provider.resource or issuer,
                plan.revisions,
                provider=tenant,
                clock=options.clock,
            )
        else:
            run = _ProviderRun(server.contract, options, redactor, server.context.conversation.http, provider)
            context = server.context
            notes += server.notes
            plan = joined(plan, server.plan, options.selection)
        seen = ServerSeen(issuer, provider.resource or issuer, () if server is None else plan.revisions)
        return await carry_out(run, plan, context, seen, begun, tuple(notes))


@dataclass(frozen=True, slots=True)
class _Server:
    """The server of a provider run: its contract, what is asked with a token of the provider, and by whom."""

    contract: Contract
    context: Context
    plan: Plan
    notes: tuple[str, ...]


async def _server(
    stack: contextlib.AsyncExitStack, contract: Contract, options: Options, tenant: Tenant, http: HttpClient
) -> _Server:
    """Get a token of the provider, and reach the server with it.

    Raises Unreachable where there is no token or no server, UsageError for a contract that needs the kit's issuer.
    """
    resolved = resolved_without_issuer(contract, options.environ)
    flow = await tenant.sound()
    if flow.issued is None or not flow.issued.token:
        raise Unreachable(f"no token for the server: {tenant.http.redactor.redact(flow.why_no_token)}")
    redactor = tenant.http.redactor
    given = given_token(resolved, Given("the provider", flow.issued.token), options.clock, redactor)
    resolved = given.made.contract
    target = resolved.target
    await stack.enter_async_context(started(resolved, redactor, options.wait))
    resource = target.resource or target.endpoint
    to_server = await stack.enter_async_context(
        HttpClient(
            target.endpoint,
            redactor=redactor,
            evidence=http.evidence,
            headers=tuple(target.headers.items()),
            ca_files=_ca_files(contract),
            max_rate=target.max_rate,
            time_limit=options.time_limit,
        )
    )
    conversation = Conversation(to_server, target.endpoint)
    bearer = (("Authorization", f"Bearer {flow.issued.token}"),)
    detected = await detect_revisions(conversation, bearer)
    demand_answers(target.endpoint, detected.answers)
    revisions = tuple(target.revisions or detected.revisions or _ASSUMED)
    minter = given.minter(resource, options.clock)
    context = Context(
        conversation,
        resource,
        revisions,
        minter,
        control=control_operation(resolved),
        provider=tenant,
        clock=options.clock,
    )
    plan, notes = given.limited(make_plan(options.checks, resolved, revisions))
    return _Server(resolved, context, plan, tuple(one.replace("from $the", "of the") for one in notes))


def provider_of(contract: Contract, options: Options) -> Provider:
    """Return the contract's provider, if it may be tested."""
    target = contract.target
    named = target.resource or ("" if target.app is not None and target.url is None else target.endpoint)
    provider = resolve_provider(contract, "" if "${" in named else named, options.environ)
    if not provider.authorized and not is_loopback_url(provider.issuer):
        raise UsageError(
            "provider.authorized: the authorization server is not on this machine; write authorized = true if you may "
            "test it"
        )
    return provider


async def _metadata(http: HttpClient, issuer: str) -> tuple[Mapping[str, Any], tuple[Answer, ...]]:
    """Return the first metadata document that a client finds, and the answers on the way."""
    urls = authorization_server_urls(issuer)
    answers: list[Answer] = []
    for url in dict.fromkeys((urls.oauth, urls.oidc_inserted, urls.oidc_appended)):
        answer = await http.fetch(url, note="where are the endpoints?")
        answers.append(answer)
        if answer.status == 200:
            value = read_json_object(answer.text).value
            if value is not None:
                return value, tuple(answers)
    return {}, tuple(answers)


def _notes(provider: Provider, metadata: Mapping[str, Any], answers: tuple[Answer, ...]) -> list[str]:
    notes = []
    if not metadata:
        notes.append(f"no metadata was found ({describe(answers[-1])}), so no endpoint is known")
    if provider.login is None:
        notes.append("the contract has no [provider.login]: what needs a signed-in user is inconclusive")
    if not provider.writes:
        notes.append("provider.writes is false: no client was registered")
    return notes


def _ca_files(contract: Contract) -> tuple[str, ...]:
    if contract.target.ca_file is None or "${" in contract.target.ca_file:
        return ()
    file = contract.folder / contract.target.ca_file
    return (str(file),) if file.is_file() else ()
