"""A plan for a run that cannot ask everything."""

from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.contract import Contract, control_operation, principal_for
from mcp_auth_contract.plan import Base, Case, Plan
from mcp_auth_contract.checks.questions import Question

__all__ = ["Askable", "as_askable"]

Askable = Callable[[Question], Question | str]
"""Returns a question as it can be asked, or the reason why it cannot."""


def as_askable(plan: Plan, contract: Contract, askable: Askable) -> Plan:
    """Return a plan whose cases ask what can be asked; the others are not applicable, for the reason given.

    A control with other scopes, or of another principal, gives way to the contract's control call. A twin that cannot
    be asked is left out: the control stands for it.
    """
    return replace(plan, cases=tuple(_asked(case, contract, askable) for case in plan.cases))


def _asked(case: Case, contract: Contract, askable: Askable) -> Case:
    if case.question is None or case.settled:
        return case
    question = askable(case.question)
    if isinstance(question, str):
        return replace(case, settled=question)
    gate = None if case.gate is None else askable(case.gate)
    if isinstance(gate, str):
        return replace(case, settled=gate)
    twin = None if case.twin is None else askable(case.twin)
    base = case.base
    if base is not None:
        control = _control(base, contract, askable)
        if isinstance(control, str):
            return replace(case, settled=control)
        base = Base(control)
    return replace(case, question=question, gate=gate, base=base, twin=None if isinstance(twin, str) else twin)


def _control(base: Base, contract: Contract, askable: Askable) -> Question | str:
    own = askable(replace(base.question, scopes=None))
    if not isinstance(own, str):
        return own
    operation = control_operation(contract)
    principal = principal_for(contract, operation)
    return askable(replace(base.question, operation=operation, principal=principal, scopes=None))
