"""A plan for a run that cannot ask everything."""

from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.checks.questions import CallQuestion, Question
from mcp_auth_contract.contract import Contract, control_operation, principal_for
from mcp_auth_contract.plan import Base, Case, Plan

Askable = Callable[[Question], Question | str]
"""Returns a question as it can be asked, or the reason why it cannot."""


def as_askable(plan: Plan, contract: Contract, askable: Askable) -> Plan:
    """Return a plan whose cases ask what can be asked; the others are not applicable, for the reason given.

    A control with other scopes, or of another principal, gives way to the contract's control call. A baseline that
    cannot be asked is left out: the control stands for it.
    """
    return replace(plan, cases=tuple(_asked(case, contract, askable) for case in plan.cases))


def _asked(case: Case, contract: Contract, askable: Askable) -> Case:
    if case.question is None or case.inapplicable:
        return case
    question = askable(case.question)
    if isinstance(question, str):
        return replace(case, inapplicable=question)
    tokenless = None if case.tokenless is None else _called(case.tokenless, askable)
    if isinstance(tokenless, str):
        return replace(case, inapplicable=tokenless)
    baseline = None if case.baseline is None else _called(case.baseline, askable)
    base = case.base
    if base is not None:
        control = _control(base, contract, askable)
        if isinstance(control, str):
            return replace(case, inapplicable=control)
        base = Base(control)
    baseline = None if isinstance(baseline, str) else baseline
    return replace(case, question=question, tokenless=tokenless, base=base, baseline=baseline)


def _called(question: CallQuestion, askable: Askable) -> CallQuestion | str:
    asked = askable(question)
    if isinstance(asked, str | CallQuestion):
        return asked
    raise TypeError("a call can be asked as another call only")


def _control(base: Base, contract: Contract, askable: Askable) -> CallQuestion | str:
    own = _called(replace(base.question, scopes=None), askable)
    if not isinstance(own, str):
        return own
    operation = control_operation(contract)
    principal = principal_for(contract, operation)
    return _called(replace(base.question, operation=operation, principal=principal, scopes=None), askable)
