"""Asking what a plan asks, and making the report of it."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from mcp_auth_contract import __version__
from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.checks.scopes.observation import SurfaceObserved
from mcp_auth_contract.clock import Clock, stopwatch
from mcp_auth_contract.execution.cases import Run
from mcp_auth_contract.execution.environment import environment
from mcp_auth_contract.execution.first_contact import NO_TOKEN_AT_ALL
from mcp_auth_contract.execution.hosts_look import look_for_hosts
from mcp_auth_contract.execution.lacking import reported_once
from mcp_auth_contract.execution.options import Options
from mcp_auth_contract.execution.sharding import sharded
from mcp_auth_contract.execution.shown_tokens import shown_tokens
from mcp_auth_contract.gate import decide
from mcp_auth_contract.hosts.verdicts import HostVerdict
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Case, Plan
from mcp_auth_contract.reports.model import ControlSeen, Coverage, Report, ServerSeen
from mcp_auth_contract.reports.reproduce import reproduction
from mcp_auth_contract.waivers import in_scope, stale_waivers, waive
from mcp_auth_contract.wire import HttpClient, Redactor, seconds_of

EVERY_REVISION = tuple(sorted(Revision, reverse=True))
"""The newest first."""


_FAREWELL_S = 0.5
"""How long a run that ends before its time takes to end its sessions."""


class Started(Protocol):
    """A run under way; `started` is a reading of the stopwatch."""

    @property
    def options(self) -> Options: ...
    @property
    def redactor(self) -> Redactor: ...
    @property
    def http(self) -> HttpClient: ...
    @property
    def started(self) -> float: ...

    @property
    def lasting(self) -> bool:
        """Whether the server is there after the run, at the same URL."""
        ...

    @property
    def minting(self) -> bool:
        """Whether `mint` has the keys of the run."""
        ...

    def hurry(self) -> None:
        """Leave a server that the kit started little time to end."""
        ...

    def facts(self, revisions: tuple[Revision, ...], case: Case) -> Facts:
        """Return what the judge of a case may know."""
        ...


async def carry_out(
    started: Started,
    plan: Plan,
    context: Context,
    seen: ServerSeen,
    begun: str,
    notes: tuple[str, ...],
    finding: str = "",
    source: str | None = None,
    uncalled: Sequence[str] = (),
) -> Report:
    """Carry a plan out and return the report of it.

    `finding` is what the first contact with the server has shown; `uncalled` are tools that may not be called.
    """
    options, http = started.options, started.http
    variable = None if options.genuine is None else options.genuine.variable
    holders = {} if context.issued is None else context.issued.holders
    waivers = in_scope(options.waivers, plan, options.selection)
    shard = None
    if options.shard is not None:
        plan, shard = sharded(plan, options.shard)
    today = datetime.fromtimestamp(options.clock(), UTC).date()
    options.progress.begin(len(plan.cases))
    run = Run(
        ask=lambda question: PROBES[question.probe].ask(question, context),
        facts=lambda case: started.facts(plan.revisions, case),
        fault=lambda fault: started.redactor.redact(f"{type(fault).__name__}: {fault}"),
        reproduce=lambda observation: (
            reproduction(observation, http.evidence, options.name, holders, variable, minting=started.minting)
            if started.lasting
            else None
        ),
        jobs=options.jobs,
        settled=options.progress.settled,
        unanswered=lambda: http.unanswered,
        try_again=lambda: _control_call(plan, context),
    )

    def paced(rate: float) -> None:
        """Say what the rest will take, by what the cases so far have taken."""
        done = len(run.outcomes)
        each = len(http.evidence.exchanges()) / done if done else 1.0
        options.progress.paced(rate, (len(plan.cases) - done) * each / rate)

    http.pace.told = paced
    interrupted = False
    left = None if options.deadline is None else options.deadline - (stopwatch() - started.started)
    try:
        await run.over(plan.cases, seconds=left, limit=f"the time limit of {options.deadline or 0:g} s was reached")
    except asyncio.CancelledError:
        interrupted = True
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        run.close(plan.cases, "the run was interrupted")
    if http.pace.learned is not None:
        notes = (*notes, f"the server limits the rate; it was asked {http.pace.learned:.3g} times a second in the end")
    if options.selection.core:
        notes = (*notes, f"the core checks alone were asked, in {plan.revisions[0]} (--quick)")
    if run.stopped is not None:
        notes = (*notes, run.stopped)
    hosts: tuple[HostVerdict, ...] = ()
    if options.hosts and not interrupted and run.stopped is None:
        sent = [control.accepted for control in run.controls.values()]
        hosts = await look_for_hosts(context, run.observed, any(sent) if sent else None)
    if interrupted or run.stopped is not None:
        started.hurry()
    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
        async with asyncio.timeout(_FAREWELL_S if interrupted or run.stopped is not None else None):
            await context.close()
    results = waive(reported_once([run.outcomes[case] for case in plan.cases]), waivers, today)
    stale = stale_waivers(waivers, results, today, whole=shard is None)

    def first(control: ControlSeen) -> tuple[int, bool]:
        """The control call of the main revision comes first, the others in the order of the plan."""
        named = context.control is not None and control.operation == context.control.name
        return plan.revisions.index(control.revision), not named

    finding = finding or run.lost()
    unasked = finding.startswith(NO_TOKEN_AT_ALL)
    controls = tuple(sorted(run.controls.values(), key=first))
    exchanges = {exchange.id: exchange.as_dict() for exchange in http.evidence.exchanges()}
    made = {} if context.issued is None else context.issued.made
    return Report(
        kit_version=__version__,
        contract=options.name,
        server=replace(seen, url=started.redactor.redact(seen.url)),
        started=begun,
        duration_s=stopwatch() - started.started,
        results=results,
        gate=decide(
            results,
            controls,
            fail_on=options.fail_on,
            interrupted=interrupted,
            stale=stale,
            unprotected=NO_TOKEN_AT_ALL if unasked else None,
        ),
        controls=controls,
        exchanges=exchanges,
        interrupted=interrupted,
        finding=finding,
        notes=notes,
        options=(*options.repeat, *(() if options.genuine is None else options.genuine.options)),
        waivers=waivers,
        shard=shard,
        coverage=_coverage(run.observed(SurfaceObserved), frozenset(uncalled)),
        environment=environment(),
        tokens=shown_tokens(made, results, exchanges, started.redactor, genuine=options.genuine is not None),
        all_evidence=options.all_evidence,
        hosts=hosts,
        source=None if source is None else started.redactor.redact(source),
    )


async def _control_call(plan: Plan, context: Context) -> None:
    """Make the control call of the plan, once; without a contract, ask for the endpoint."""
    base = next((case.base for case in plan.cases if case.base is not None), None)
    if base is None:
        await context.conversation.http.fetch(context.endpoint, note="is the server still there?")
    else:
        await PROBES[base.question.probe].ask(base.question, context)


def _coverage(observed: SurfaceObserved | None, uncalled: frozenset[str]) -> tuple[Coverage, ...]:
    """Return how much of what the server lists is in the contract; nothing where a list did not end."""
    if observed is None or not all(kind.complete for kind in observed.kinds):
        return ()
    return tuple(
        Coverage(
            kind.kind,
            len(kind.listed),
            len(kind.listed) - len(kind.undeclared),
            kind.undeclared,
            tuple(name for name in kind.listed if kind.kind == "tools" and name in uncalled),
        )
        for kind in observed.kinds
    )


def skew_of(answers: Sequence[Answer], clock: Clock) -> float:
    """Return how far the server's clock is ahead of the kit's, in seconds, from its Date header (RFC 9110 §6.6.1)."""
    for answer in reversed(answers):
        date = seconds_of(answer.header("date") or "")
        if date is not None:
            return date + 0.5 - clock()
    return 0.0
