"""One whole run: start the issuer and the server, look at it, run the plan, and make the report."""

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

from mcp_auth_contract import __version__
from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.contract import (
    Contract,
    Operation,
    control_operation,
    environment_secrets,
    operations,
    principal_for,
    resolve,
    resolve_issuer,
)
from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.gate import decide
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.issuer.control import IssuerName
from mcp_auth_contract.judges import Facts
from mcp_auth_contract.model import Level, OperationKind, Outcome, Revision
from mcp_auth_contract.oauth.metadata import is_loopback_url
from mcp_auth_contract.observations import Answer, describe
from mcp_auth_contract.plan import Case, Plan, Selection, make_anonymous_plan, make_plan
from mcp_auth_contract.probes import Bench, Minter, ask, profile_of
from mcp_auth_contract.runner import ControlSeen, Report, Run, TargetSeen, reproduction
from mcp_auth_contract.target import StartedProcess, free_port, wait_for_port
from mcp_auth_contract.tokens import Minted
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract.wire import Conversation, Evidence, HttpDoor, Redactor, detect_revisions

__all__ = [
    "Options",
    "Progress",
    "issuer_settings",
    "issuer_values",
    "mint_offline",
    "probe_url",
    "resolved_for",
    "run_contract",
]

_READY_LIMIT = 60.0
_REACH_LIMIT = 3.0
_SKEW = 2.0
_EVERY = tuple(sorted(Revision, reverse=True))


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run tells how far it is: `begin` with the number of cases, `settled` after each."""

    begin: Callable[[int], None] = lambda _total: None
    settled: Callable[[Case, Outcome], None] = lambda _case, _outcome: None


@dataclass(frozen=True, slots=True)
class Options:
    """How to run. `environ` stands for the process environment, `name` for the contract in reports."""

    checks: Sequence[Check]
    selection: Selection = field(default_factory=Selection)
    every_revision: bool = False
    jobs: int = 8
    fail_on: Level = Level.MUST
    name: str = "mcp-auth-contract.toml"
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    clock: Clock = system_clock
    time_limit: float = 10.0
    progress: Progress = field(default_factory=Progress)


def issuer_settings(contract: Contract, environ: Mapping[str, str]) -> IssuerSettings:
    """Return the embedded issuer that a contract asks for, variables of the environment replaced."""
    issuer = resolve_issuer(contract, {"python": sys.executable}, environ)
    return IssuerSettings(
        port=issuer.port,
        bind=issuer.bind,
        public_url=issuer.public_url,
        tls=issuer.tls,
        algorithms=tuple(Algorithm(name) for name in issuer.algorithms),
        keys="fresh" if issuer.keys == "fresh" else contract.folder / issuer.keys,
    )


def issuer_values(issuer: EmbeddedIssuer) -> dict[str, str]:
    """Return the values of the variables that the running issuer gives."""
    return {
        "python": sys.executable,
        "issuer.url": issuer.url,
        "issuer.jwks_uri": issuer.jwks_uri,
        "issuer.introspection_uri": issuer.introspection_uri,
        "issuer.ca_file": str(issuer.ca_file or ""),
    }


def resolved_for(contract: Contract, issuer: EmbeddedIssuer, environ: Mapping[str, str]) -> Contract:
    """Return the contract with its variables replaced: a free port picked, URL and resource known."""
    return _resolved(contract, issuer_values(issuer), environ)


def _resolved(contract: Contract, given: Mapping[str, str], environ: Mapping[str, str]) -> Contract:
    values = dict(given)
    target = contract.target
    if target.wants_free_port:
        values["target.port"] = str(free_port())
    elif target.url is not None:
        found = re.match(r"https?://[^/?#]*:(\d+)(?=[/?#]|$)", target.url)
        values["target.port"] = found[1] if found else ""
    url = target.endpoint
    url = re.sub(r"(https?://[^/?#]*):0+(?=[/?#]|$)", rf"\1:{values.get('target.port', '0')}", url)
    url = url.replace("${target.port}", values.get("target.port", ""))
    values["target.url"] = url
    resource = target.resource or url
    for name in ("target.port", "target.url"):
        resource = resource.replace(f"${{{name}}}", values.get(name, ""))
    values["target.resource"] = resource
    if "${" in url + resource:  # variables from elsewhere: resolve the target first, then use what it says
        first = resolve(contract, {**values, "target.resource": ""}, environ)
        values["target.url"] = first.target.endpoint
        values["target.resource"] = first.target.resource or first.target.endpoint
    return resolve(contract, values, environ)


async def run_contract(contract: Contract, options: Options, issuer: EmbeddedIssuer | None = None) -> Report:
    """Run a contract and return the report. `issuer` is one that is served already; by default the run serves its own.

    Raises ContractError for what is wrong in it, Unreachable when the server cannot be started or reached. A
    cancelled run (Ctrl-C) returns what it had settled, the rest inconclusive.
    """
    _demand_supported(contract)
    redactor = Redactor()
    for secret in environment_secrets(contract, options.environ):
        redactor.hide(secret)
    served = (
        contextlib.nullcontext(issuer)
        if issuer is not None
        else EmbeddedIssuer(issuer_settings(contract, options.environ))
    )
    with served as issuer:
        resolved = resolved_for(contract, issuer, options.environ)
        target = resolved.target
        # A pattern that matches nothing is told before a server is started for it.
        make_plan(options.checks, resolved, target.revisions or _EVERY, selection=options.selection)
        if issuer.settings.keys != "fresh" and not is_loopback_url(target.endpoint):
            _refuse_published_keys(issuer)
        async with _started(resolved, redactor):
            door = HttpDoor(
                target.endpoint,
                redactor=redactor,
                evidence=Evidence(),
                headers=tuple(target.headers.items()),
                ca_files=_trusted(resolved, issuer),
                max_rate=target.max_rate,
                time_limit=options.time_limit,
            )
            async with door:
                return await _ContractRun(resolved, options, issuer, redactor, door).report()


def mint_offline(
    contract: Contract,
    principal: str,
    *,
    defect: str | None,
    variant: str | None,
    scopes: frozenset[str] | None,
    environ: Mapping[str, str],
    clock: Clock,
) -> tuple[Minted, str | None]:
    """Mint a token without a run, for a server that trusts the contract's issuer as it is served elsewhere.

    Returns the token and a warning where no server can trust it, because keys or port change with every process.
    """
    settings = issuer_settings(contract, environ)
    warning = None
    if settings.keys == "fresh":
        warning = (
            'issuer.keys is "fresh": no server knows the key of this token; set issuer.keys to a folder and use `serve`'
        )
    elif not settings.port and settings.public_url is None:
        warning = "issuer.port is 0: no server trusts this issuer URL; fix issuer.port and use `serve`"
    scheme = "https" if settings.tls else "http"
    url = (settings.public_url or f"{scheme}://{settings.bind}:{settings.port}").rstrip("/")
    issuer = EmbeddedIssuer(settings)
    issuer.load_keys()
    values = {
        "python": sys.executable,
        "issuer.url": url,
        "issuer.jwks_uri": f"{url}/jwks",
        "issuer.introspection_uri": f"{url}/introspect",
        "issuer.ca_file": "",
    }
    resolved = _resolved(contract, values, environ)
    resource = resolved.target.resource or resolved.target.endpoint
    minter = Minter(
        resolved, profile_of(resolved, url, resource), issuer.signing_key(), issuer.key_of, clock, Redactor()
    )
    return minter.mint(principal, defect or "good", variant, scopes), warning


def _trusted(contract: Contract, issuer: EmbeddedIssuer) -> list[str]:
    """Return the certificates to trust besides the system's: the contract's, and the issuer's throw-away authority."""
    files = [] if issuer.ca_file is None else [str(issuer.ca_file)]
    if contract.target.ca_file is not None:
        file = contract.folder / contract.target.ca_file
        if not file.is_file():
            raise UsageError(f"{contract.label}: target.ca_file: no such file ({contract.target.ca_file})")
        files.append(str(file))
    return files


def _demand_supported(contract: Contract) -> None:
    if contract.target.app is not None:
        raise UsageError(
            f"{contract.label}: target.app: in-process servers are not run yet; serve it and give target.url"
        )
    if contract.issuer.tokens != "jwt":
        raise UsageError(f'{contract.label}: issuer.tokens: "opaque" is not run yet; write "jwt"')


def _refuse_published_keys(issuer: EmbeddedIssuer) -> None:
    from mcp_auth_contract.datafiles import data_folder

    keys = issuer.settings.keys
    if isinstance(keys, Path) and keys.resolve() == data_folder("keys").resolve():
        raise UsageError('issuer.keys: the published keys are for loopback servers only; write keys = "fresh"')


@asynccontextmanager
async def _started(contract: Contract, redactor: Redactor) -> AsyncIterator[None]:
    """Start the server if the contract says how, else see that something listens."""
    target = contract.target
    if target.start is None:
        if not await wait_for_port(target.endpoint, _REACH_LIMIT):
            parts = urlsplit(target.endpoint)
            raise Unreachable(
                f"target.url: nothing accepts connections at {parts.hostname}:{parts.port or parts.scheme}; "
                "start the server, or let target.start do it"
            )
        yield
        return

    if await wait_for_port(target.endpoint, 0.2):
        parts = urlsplit(target.endpoint)
        raise UsageError(
            f"target.url: something listens at {parts.hostname}:{parts.port or parts.scheme} already; "
            "stop it, remove target.start, or write port 0 for a free one"
        )

    async def ready(time_limit: float) -> bool:
        url = target.ready or target.endpoint
        return await wait_for_port(url, time_limit) and (
            target.ready is None or await _answers(target.ready, time_limit)
        )

    async with StartedProcess(
        target.start,
        folder=contract.folder,
        env=target.env,
        ready=ready,
        redact=redactor.redact,
        time_limit=_READY_LIMIT,
    ):
        yield


async def _answers(url: str, time_limit: float) -> bool:
    """Ask a health URL until it answers with success."""
    async with HttpDoor(url, redactor=Redactor(), time_limit=2.0) as door:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(time_limit):
                while True:
                    answer = await door.fetch(url, accept="*/*")
                    if answer.status is not None and 200 <= answer.status < 300:
                        return True
                    await asyncio.sleep(0.1)
    return False


@dataclass(slots=True)
class _ContractRun:
    """A run of a resolved contract against a server that listens."""

    contract: Contract
    options: Options
    issuer: EmbeddedIssuer
    redactor: Redactor
    door: HttpDoor
    started: float = field(default_factory=time.monotonic)

    async def report(self) -> Report:
        target, options = self.contract.target, self.options
        endpoint = target.endpoint
        resource = target.resource or endpoint
        begun = datetime.fromtimestamp(options.clock(), UTC).isoformat(timespec="seconds")
        conversation = Conversation(self.door, endpoint)
        control = control_operation(self.contract)
        minter = self._minter(resource, 0.0)
        principal = principal_for(self.contract, control)
        bearer = (("Authorization", f"Bearer {minter.mint(principal, 'good').token}"),)
        detected = await detect_revisions(conversation, bearer)
        _demand_answers(endpoint, detected.answers)
        notes = []
        skew = _skew(detected.answers, options.clock)
        if abs(skew) > _SKEW:
            minter = self._minter(resource, skew)
            notes.append(
                f"the server's clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}; tokens follow it"
            )
        revisions = target.revisions or detected.revisions
        if not revisions:
            revisions = (Revision.R2026_07_28, Revision.R2025_11_25)
            notes.append("the server showed no revision it speaks; assumed 2026-07-28 and 2025-11-25")
        bench = Bench(
            conversation,
            resource,
            tuple(revisions),
            minter,
            frozenset(self.issuer.url_of(name) for name in IssuerName),
            control,
        )
        plan = make_plan(
            options.checks,
            self.contract,
            revisions,
            selection=options.selection,
            every_revision=options.every_revision,
            variants=lambda defect: minter.variants(defect, principal),
        )
        seen = TargetSeen(endpoint, resource, tuple(revisions), detected.name, detected.version)
        return await _carry_out(self, plan, bench, seen, begun, tuple(notes))

    def _minter(self, resource: str, skew: float) -> Minter:
        clock = self.options.clock
        return Minter(
            self.contract,
            profile_of(self.contract, self.issuer.url, resource),
            self.issuer.signing_key(),
            self.issuer.key_of,
            lambda: clock() + skew,
            self.redactor,
        )

    def facts(self, revisions: tuple[Revision, ...], case: Case) -> Facts:
        policy, target = self.contract.policy, self.contract.target
        every = frozenset(scope for operation in operations(self.contract) for scope in operation.scopes)
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
        )


@dataclass(slots=True)
class _AnonymousRun:
    """A look at a URL without contract and token."""

    options: Options
    redactor: Redactor
    door: HttpDoor
    url: str
    started: float = field(default_factory=time.monotonic)

    def facts(self, revisions: tuple[Revision, ...], case: Case) -> Facts:
        return Facts(
            endpoint=self.url,
            resource=self.url,
            revisions=revisions,
            revision=case.revision,
            loopback=is_loopback_url(self.url),
            has_contract=False,
        )


async def probe_url(url: str, options: Options) -> Report:
    """Look at a server without a contract and without a token, and return the report."""
    redactor = Redactor()
    begun = datetime.fromtimestamp(options.clock(), UTC).isoformat(timespec="seconds")
    make_anonymous_plan(options.checks, _EVERY, selection=options.selection)
    if not await wait_for_port(url, _REACH_LIMIT):
        parts = urlsplit(url)
        raise Unreachable(f"nothing accepts connections at {parts.hostname}:{parts.port or parts.scheme}")
    async with HttpDoor(url, redactor=redactor, time_limit=options.time_limit) as door:
        conversation = Conversation(door, url)
        detected = await detect_revisions(conversation)
        _demand_answers(url, detected.answers)
        notes = ["without a contract and a token only the anonymous part can be seen"]
        revisions = detected.revisions
        if not revisions:
            revisions = _EVERY
            notes.append("the server does not show which revisions it speaks without a token; all are assumed")
        run = _AnonymousRun(options, redactor, door, url)
        bench = Bench(conversation, url, revisions, control=Operation(OperationKind.TOOL, "tools/list"))
        plan = make_anonymous_plan(options.checks, revisions, selection=options.selection)
        seen = TargetSeen(url, url, revisions if detected.revisions else (), detected.name, detected.version)
        return await _carry_out(run, plan, bench, seen, begun, tuple(notes))


async def _carry_out(
    context: _ContractRun | _AnonymousRun,
    plan: Plan,
    bench: Bench,
    seen: TargetSeen,
    begun: str,
    notes: tuple[str, ...],
) -> Report:
    options, door = context.options, context.door
    options.progress.begin(len(plan.cases))
    run = Run(
        ask=lambda question: ask(question, bench),
        facts=lambda case: context.facts(plan.revisions, case),
        fault=lambda fault: context.redactor.redact(f"{type(fault).__name__}: {fault}"),
        reproduce=lambda case, observation: reproduction(case, observation, door.evidence, options.name),
        jobs=options.jobs,
        settled=options.progress.settled,
    )
    interrupted = False
    try:
        await run.over(plan.cases)
    except asyncio.CancelledError:
        interrupted = True
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        run.close(plan.cases, "the run was interrupted")
    with contextlib.suppress(asyncio.CancelledError):
        await bench.close()
    results = tuple(run.outcomes[case] for case in plan.cases)

    def first(control: ControlSeen) -> tuple[int, bool]:
        """The control call of the main revision comes first, the others in the order of the plan."""
        named = bench.control is not None and control.operation == bench.control.name
        return plan.revisions.index(control.revision), not named

    return Report(
        kit_version=__version__,
        contract=options.name,
        target=replace(seen, url=context.redactor.redact(seen.url)),
        started=begun,
        duration_s=time.monotonic() - context.started,
        results=results,
        gate=decide(results, fail_on=options.fail_on, interrupted=interrupted),
        controls=tuple(sorted(run.controls.values(), key=first)),
        exchanges={exchange.id: exchange.as_dict() for exchange in door.evidence.exchanges()},
        interrupted=interrupted,
        notes=notes,
    )


def _demand_answers(url: str, answers: Sequence[Answer]) -> None:
    """Raise Unreachable when not one request got an HTTP answer: a run would only wait for each case in turn."""
    if all(answer.status is None for answer in answers):
        raise Unreachable(f"{url}: something listens, but no request gets an HTTP answer: {describe(answers[0])}")


def _skew(answers: Sequence[Answer], clock: Clock) -> float:
    """Return how far the server's clock is ahead of the kit's, in seconds, from its Date header (RFC 9110 §6.6.1)."""
    for answer in reversed(answers):
        date = answer.header("date")
        if date is None:
            continue
        with contextlib.suppress(ValueError, TypeError):
            return parsedate_to_datetime(date).timestamp() + 0.5 - clock()
    return 0.0
