"""A run of a contract: start the issuer and the server, look at it, and carry the plan out."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.facts import AppsFacts, Facts
from mcp_auth_contract.checks.outputs import Outputs
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.clock import TimeControl, stopwatch
from mcp_auth_contract.contract import (
    Contract,
    control_operation,
    environment_secrets,
    implying,
    operations,
    principal_for,
    private_canaries,
    server_secrets,
)
from mcp_auth_contract.contract.load import PYPROJECT
from mcp_auth_contract.contract.source import published_source
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution.credentials import Credentials, OwnIssuer, given_token
from mcp_auth_contract.execution.diagnosis import diagnosis
from mcp_auth_contract.execution.first_contact import NO_TOKEN_AT_ALL, demand_mcp, runs_without_token
from mcp_auth_contract.execution.options import Options
from mcp_auth_contract.execution.plan_run import EVERY_REVISION, carry_out, skew_of
from mcp_auth_contract.execution.servers import inside, started
from mcp_auth_contract.execution.variables import issuer_settings, resolved_for, resolved_without_issuer
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.oauth.metadata import is_loopback_url
from mcp_auth_contract.plan import Case, Plan, make_plan
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.reports.model import Report, ServerSeen
from mcp_auth_contract.server import Upstream
from mcp_auth_contract.tokens import holds_published_key
from mcp_auth_contract.wire import (
    AsgiApp,
    Conversation,
    Evidence,
    HttpClient,
    Redactor,
    detect_revisions,
    resolve_host,
    resolver_inside,
)

_SKEW = 2.0


async def run_contract(
    contract: Contract,
    options: Options,
    issuer: EmbeddedIssuer | None = None,
    *,
    app: AsgiApp | None = None,
    freeze: bool = True,
    upstream: Upstream | None = None,
) -> Report:
    """Run a contract and return the report. `issuer` is one that is served already; by default the run serves its own.

    `app` is an ASGI application to run in this process, in place of what the contract says about the server. In this
    process probes can move the clock, unless `freeze` is false. `upstream` is the service behind the tools where it is
    served already; by default the run serves its own if the contract has a tool that calls it.

    Raises ContractError for what is wrong in it, Unreachable when the server cannot be started or reached. A
    cancelled run (Ctrl-C) returns what it had settled, the rest inconclusive.
    """
    redactor = Redactor()
    for secret, name in server_secrets(contract, options.environ).items():
        redactor.hide_of_server(secret, name)
    for secret in environment_secrets(contract, options.environ):
        redactor.hide(secret)
    with (
        _upstream(contract, upstream, redactor) as behind,
        _credentials(contract, options, issuer, redactor, behind, in_process=app is not None) as (
            resolved,
            credentials,
        ),
    ):
        target = resolved.target
        if not options.selection.names_only(options.checks):
            # A pattern that matches nothing is told before a server is started for it.
            make_plan(options.checks, resolved, target.revisions or EVERY_REVISION, selection=options.selection)
        in_process = target.app is not None or app is not None
        reaching = (
            inside(resolved, redactor, app, freeze=freeze, wait=options.wait)
            if in_process
            else started(resolved, redactor, options.wait)
        )
        async with reaching as reached:
            http = HttpClient(
                target.endpoint,
                redactor=redactor,
                evidence=Evidence(),
                headers=tuple(target.headers.items()),
                ca_files=[*_trusted(resolved, credentials), *options.ca_files],
                max_rate=target.max_rate,
                time_limit=options.time_limit,
                transport=reached.transport,
                resolve=resolver_inside(urlsplit(target.endpoint).hostname or "") if in_process else resolve_host,
            )
            async with http:
                outputs = Outputs(reached.written, None if behind is None else lambda: behind.passed)
                run = _ContractRun(resolved, options, credentials, redactor, http, reached.time, outputs, reached.hurry)
                return await run.report()


@contextlib.contextmanager
def _upstream(contract: Contract, given: Upstream | None, redactor: Redactor) -> Iterator[Upstream | None]:
    """Serve the upstream that the contract's tools call, if there is such a tool."""
    if given is not None:
        given.redactor = redactor
        yield given
    elif any(tool.upstream for tool in contract.tools):
        with Upstream(redactor) as served:
            yield served
    else:
        yield None


@contextlib.contextmanager
def _credentials(
    contract: Contract,
    options: Options,
    issuer: EmbeddedIssuer | None,
    redactor: Redactor,
    upstream: Upstream | None,
    *,
    in_process: bool,
) -> Iterator[tuple[Contract, Credentials]]:
    """Serve the contract's issuer, or make do with a genuine token; yield the resolved contract too."""
    more = {} if upstream is None else {"upstream.url": upstream.url}
    if options.genuine is not None:
        resolved = resolved_without_issuer(contract, options.environ, more)
        given = given_token(resolved, options.genuine, options.clock, redactor)
        yield given.made.contract, given
        return
    served = (
        contextlib.nullcontext(issuer)
        if issuer is not None
        else EmbeddedIssuer(issuer_settings(contract, options.environ))
    )
    with served as serving:
        resolved = resolved_for(contract, serving, options.environ, more)
        inside = in_process or resolved.target.app is not None
        if serving.settings.keys != "fresh" and not inside and not is_loopback_url(resolved.target.endpoint):
            _refuse_published_keys(serving)
        yield resolved, OwnIssuer(resolved, serving, redactor)


def _trusted(contract: Contract, credentials: Credentials) -> list[str]:
    """Return the certificates to trust besides the system's: the contract's, and the issuer's throw-away authority."""
    files = list(credentials.ca_files)
    if contract.target.ca_file is not None:
        file = contract.folder / contract.target.ca_file
        if not file.is_file():
            raise UsageError(f"{contract.label}: target.ca_file: no such file ({contract.target.ca_file})")
        files.append(str(file))
    return files


def _refuse_published_keys(issuer: EmbeddedIssuer) -> None:
    if isinstance(issuer.settings.keys, Path) and holds_published_key(issuer.settings.keys):
        raise UsageError('issuer.keys: the published keys are for loopback servers only; write keys = "fresh"')


@dataclass(slots=True)
class _ContractRun:
    """A run of a resolved contract against a server that listens."""

    contract: Contract
    options: Options
    credentials: Credentials
    redactor: Redactor
    http: HttpClient
    time: TimeControl
    outputs: Outputs
    hurry: Callable[[], None]
    started: float = field(default_factory=stopwatch)

    @property
    def lasting(self) -> bool:
        """Whether nobody ends the server with the run."""
        return not self.http.inside and not self.contract.target.start

    @property
    def minting(self) -> bool:
        """Whether the keys are in files."""
        return self.contract.issuer.keys != "fresh"

    async def report(self) -> Report:
        target, options = self.contract.target, self.options
        endpoint = target.endpoint
        resource = target.resource or endpoint
        begun = datetime.fromtimestamp(options.clock(), UTC).isoformat(timespec="seconds")
        conversation = Conversation(self.http, endpoint)
        control = control_operation(self.contract)
        clock = options.clock
        minter = self.credentials.minter(resource, clock)
        principal = principal_for(self.contract, control)
        bearer = (("Authorization", f"Bearer {minter.mint(principal, 'good').token}"),)
        detected = await detect_revisions(conversation, bearer)
        await demand_mcp(self.http, endpoint, detected.answers)
        notes = []
        skew = skew_of(detected.answers, options.clock)
        if abs(skew) > _SKEW:
            minter = self.credentials.minter(resource, lambda: clock() + skew)
            notes.append(
                f"the server's clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}; tokens follow it"
            )
        revisions = target.revisions or detected.revisions
        if not revisions:
            revisions = (Revision.R2026_07_28, Revision.R2025_11_25)
            notes.append("the server showed no revision it speaks; assumed 2026-07-28 and 2025-11-25")
        context = Context(
            conversation,
            resource,
            tuple(revisions),
            minter,
            self.credentials.own_issuers,
            control,
            issuer=self.credentials.issuer_control,
            time=self.time,
            outputs=self.outputs,
            clock=clock,
            secrets=_secrets(self.contract),
        )
        plan = make_plan(
            options.checks,
            self.contract,
            revisions,
            selection=options.selection,
            every_revision=options.every_revision,
            variants=self.credentials.variants(minter, principal),
        )
        plan, remarks = self.credentials.limited(plan)
        notes += remarks
        seen = ServerSeen(endpoint, resource, tuple(revisions), detected.name, detected.version)
        uncalled = _uncalled(self.contract)
        if uncalled:
            notes.append(_not_called(self.contract, uncalled))
        finding = await self._first_contact(plan, context)
        source = _source(self.contract)
        return await carry_out(self, plan, context, seen, begun, tuple(notes), finding, source, uncalled)

    async def _first_contact(self, plan: Plan, context: Context) -> str:
        """Say what has to be known before any case is: the server asks for no token, or refuses the good one.

        A plan whose cases rest on no control call needs neither.
        """
        bases = [case.base.question for case in plan.cases if case.base is not None]
        first = next((one for one in bases if one.operation == context.control), bases[0] if bases else None)
        if first is None or first.principal is None:
            return ""
        observed = await PROBES[first.probe].ask(first, context)
        if not isinstance(observed, CallObserved) or observed.accepted is None:
            return await diagnosis(context, first.revision, first.operation, first.principal)
        return NO_TOKEN_AT_ALL if await runs_without_token(context, plan.revisions[0]) else ""

    def facts(self, revisions: tuple[Revision, ...], case: Case) -> Facts:
        return facts_of(self.contract, revisions, case)


def _secrets(contract: Contract) -> Redactor | None:
    """Return what finds the secrets that the contract keeps from Views; None where it names none."""
    if contract.apps is None or not contract.apps.secrets:
        return None
    found = Redactor()
    for number, secret in enumerate(contract.apps.secrets, 1):
        found.register(secret, f"apps.secrets[{number}]")
    return found


def facts_of(contract: Contract, revisions: tuple[Revision, ...], case: Case) -> Facts:
    """Return the ground truth of a resolved contract for one case."""
    policy, target = contract.policy, contract.target
    every = frozenset(scope for operation in operations(contract) for scope in operation.scopes)
    return Facts(
        endpoint=target.endpoint,
        resource=target.resource or target.endpoint,
        revisions=revisions,
        revision=case.revision,
        challenge=policy.challenge,
        public=frozenset(policy.public),
        needed=case.needed if case.revision is not None else every,
        missing=case.missing,
        loopback=is_loopback_url(target.endpoint),
        canaries=_canaries(contract, case),
        apps=_apps(contract, case),
        wider={scope: implying(contract, scope) for scope in every | ({case.missing or ""} - {""})},
    )


def _apps(contract: Contract, case: Case) -> AppsFacts | None:
    """Return what a contract says of Views; None where it names none."""
    if not contract.views:
        return None
    csp = None if contract.apps is None or contract.apps.csp is None else contract.apps.csp
    permissions = None if contract.apps is None else contract.apps.permissions
    tool = "" if case.operation is None else case.operation.name
    return AppsFacts(
        csp=None
        if csp is None
        else {
            "connectDomains": frozenset(csp.connect),
            "resourceDomains": frozenset(csp.resource),
            "frameDomains": frozenset(csp.frame),
            "baseUriDomains": frozenset(csp.base_uri),
        },
        permissions=None if permissions is None else frozenset(permissions),
        visibility={one.name: frozenset(one.visibility) for one in contract.tools if one.visibility is not None},
        private=next((view.private for view in contract.views if view.tool == tool), ()),
    )


def _uncalled(contract: Contract) -> list[str]:
    """The tools that write, where nobody has allowed to call them."""
    writing = (tool.name for tool in contract.tools if tool.effect is Effect.WRITE)
    return [] if contract.policy.writes else list(writing)


def _not_called(contract: Contract, names: Sequence[str]) -> str:
    told = "policy.writes = false" if contract.writes_decided else "policy.writes is not set"
    were = "was" if len(names) == 1 else "were"
    write = "writes" if len(names) == 1 else "write"
    head = f"{len(names)} of {many(len(contract.tools), 'tool')} {were} not called"
    return f"{head}: {', '.join(names)} {write}, and {told}"


def _source(contract: Contract) -> str | None:
    if contract.source is None or contract.source.name == PYPROJECT:  # which holds much that is none of our business
        return None
    try:
        return published_source(contract.source.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return None


def _canaries(contract: Contract, case: Case) -> frozenset[str]:
    if case.operation is None or case.principal is None:
        return frozenset()
    return private_canaries(contract, case.operation, case.principal)
