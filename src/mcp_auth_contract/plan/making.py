"""Plans of whole runs: with a contract, and of a server that nothing is known of."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mcp_auth_contract.catalogue import Axis, Check, Need
from mcp_auth_contract.checks.probing import Probe
from mcp_auth_contract.checks.questions import (
    NO_TOKEN,
    CallQuestion,
    FormQuestion,
    MethodQuestion,
    OperationQuestion,
    ProviderQuestion,
    Question,
)
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.contract import Contract, Operation
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.plan.case import Case, Plan
from mcp_auth_contract.plan.expansion import Expansion, runs_on
from mcp_auth_contract.plan.selection import Selection
from mcp_auth_contract.tokens.defects import DEFECTS

_ANONYMOUS = Operation(kind=OperationKind.TOOL, name="tools/list")


def make_plan(
    checks: Sequence[Check],
    contract: Contract,
    revisions: Sequence[Revision],
    *,
    selection: Selection | None = None,
    every_revision: bool = False,
    variants: Callable[[str], Sequence[str]] | None = None,
) -> Plan:
    """Expand the checks over a contract.

    The whole catalogue runs on the first of the revisions; on each other one what the revision changes, plus the core
    checks, so that no era is a side door (`every_revision`: everything on each). `variants` names the variants of a
    defect that make a difference for this contract, ("",) for a defect of a single form; default: all there are.
    """
    named = variants or (lambda defect: DEFECTS[defect].variants or ("",))
    cases = [
        case
        for check in checks
        if not PROBES[check.probe].provider
        for case in Expansion(check, contract, tuple(revisions), every_revision, named).cases()
    ]
    return _selected(cases, tuple(revisions), selection)


def make_anonymous_plan(
    checks: Sequence[Check], revisions: Sequence[Revision], *, selection: Selection | None = None
) -> Plan:
    """Plan what can be asked of any server without a contract and without a token."""
    cases = [case for check in checks for case in _anonymous(check, tuple(revisions))]
    return _selected(cases, tuple(revisions), selection)


def make_provider_plan(
    checks: Sequence[Check], revisions: Sequence[Revision], *, selection: Selection | None = None
) -> Plan:
    """Plan what is asked of a real authorization server: its metadata, and what it does with clients."""
    cases = [case for check in checks for case in _of_provider(check, tuple(revisions))]
    return _selected(cases, tuple(revisions), selection)


def joined(provider: Plan, server: Plan, selection: Selection | None = None) -> Plan:
    """Return the cases of both plans that the selection admits; what both have is asked of the provider."""
    known = {case.check.id for case in provider.cases}
    cases = [*provider.cases, *(case for case in server.cases if case.check.id not in known)]
    return _selected(cases, server.revisions, selection)


def _of_provider(check: Check, revisions: tuple[Revision, ...]) -> Iterator[Case]:
    probe = PROBES[check.probe]
    if not any(check.applies_to(revision) for revision in revisions):
        return
    if probe.name == "authorization_servers":
        yield Case(check.id, check, None, Question(probe=probe.name))
    if not probe.provider:
        return
    for form in check.forms or ("",):
        name = f"{check.id}[{form}]" if len(check.forms) > 1 else check.id
        yield Case(name, check, None, ProviderQuestion(probe=probe.name, form=form))


def _selected(cases: list[Case], revisions: tuple[Revision, ...], selection: Selection | None) -> Plan:
    chosen = selection or Selection()
    chosen.demand_known(cases)
    admitted: list[Case] = []
    left_out: list[Case] = []
    for case in cases:
        wanted = chosen.admits(case) and (not chosen.core or case.revision in (None, revisions[0]))
        (admitted if wanted else left_out).append(case)
    return Plan(tuple(admitted), revisions, tuple(left_out))


def _anonymous(check: Check, revisions: tuple[Revision, ...]) -> Iterator[Case]:
    """The cases of one check that need neither contract nor token."""
    if Need.TOOL_CHALLENGE in check.needs:  # nothing says whether the server challenges in results
        return
    probe = PROBES[check.probe]
    tokenless = not check.tokens or NO_TOKEN in check.tokens
    if Need.CONTROL in check.needs or not tokenless or check.presentations or not probe.anonymous:
        return
    if check.over in (Axis.OPERATIONS, Axis.MISSING_SCOPES, Axis.RECORDS, Axis.VIEWS):
        return
    if not any(check.applies_to(revision) for revision in revisions):
        return
    if check.over is Axis.ONCE:
        yield Case(check.id, check, None, Question(probe=check.probe))
        return
    for revision in revisions:
        if not runs_on(check, revision, revisions, every_revision=False):
            continue
        for form in check.forms or ("",):
            if form and not probe.exists(form, _ANONYMOUS, revision):
                continue
            question = _tokenless(probe, form, revision)
            yield Case(f"{check.id}[{form}]" if form else check.id, check, revision, question)


def _tokenless(probe: Probe, form: str, revision: Revision) -> OperationQuestion:
    """Return the question of a probe that can be asked without a contract."""
    common: dict[str, Any] = {"probe": probe.name, "revision": revision, "operation": _ANONYMOUS}
    if probe.question is CallQuestion:
        return CallQuestion(**common)
    if probe.question is MethodQuestion:
        return MethodQuestion(**common, form=form)
    return FormQuestion(**common, form=form) if form else OperationQuestion(**common)
