"""Which cases of a plan are asked together, alone, or last."""

from collections.abc import Iterable
from itertools import groupby

from mcp_auth_contract.checks.questions import CallQuestion, MethodQuestion, Question
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.model import Level
from mcp_auth_contract.plan import Base, Case
from mcp_auth_contract.tokens import DEFECTS

_BATCH = 24
"""How many questions one pair of controls brackets: few enough to narrow down, many enough to be cheap."""


def is_lesser(case: Case) -> bool:
    """Whether a case may be asked after those of level MUST and those of the core."""
    return case.check.level is not Level.MUST and not case.check.core


def is_alone(case: Case) -> bool:
    question = case.question
    if question is None:
        return False
    writes = case.base is not None and case.base.writes
    token = question.token if isinstance(question, CallQuestion | MethodQuestion) else ""
    disturbs = token in DEFECTS and DEFECTS[token].disturbs
    return not is_last(case) and (writes or disturbs or PROBES[question.probe].alone)


def is_last(case: Case) -> bool:
    return case.question is not None and PROBES[case.question.probe].last


def batches(cases: Iterable[Case], size: int = _BATCH) -> Iterable[tuple[Base, list[Case]]]:
    """Group cases by base, then into batches of `size` questions; cases with one question stay together."""
    by_base: dict[Base, dict[Question, list[Case]]] = {}
    for case in cases:
        if case.base is not None and case.question is not None:
            by_base.setdefault(case.base, {}).setdefault(case.question, []).append(case)
    for base, questions in by_base.items():
        numbered = enumerate(questions.values())
        for _, chunk in groupby(numbered, key=lambda item: item[0] // size):
            yield base, [case for _, group in chunk for case in group]
