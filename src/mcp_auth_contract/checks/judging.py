"""Judges: pure predicates over one kind of observation, registered where they are defined."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import get_annotations
from typing import Any, TypeAlias, TypeVar

from mcp_auth_contract.answers import Answer, Attempt, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.model import Fail, Inconclusive, Pass, Verdict

O = TypeVar("O", bound=Observation)  # noqa: E741  the observation a judge decides on
P = TypeVar("P")
Q = TypeVar("Q")

Finding: TypeAlias = Verdict | str | None
"""What a predicate says: a verdict, what was observed in the place of what it expects, or nothing to complain of."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A named predicate: `decide(observation, facts)` gives a verdict and does nothing else."""

    name: str
    observes: type[Observation]
    decide: Callable[[Any, Facts], Verdict]


REGISTERED: dict[str, Judge] = {}
"""Every judge of the modules imported so far; `checks.registry` imports them all."""


def judge(decide: Callable[[O, Facts], Verdict]) -> Callable[[O, Facts], Verdict]:
    """Register a predicate under its own name, which the catalogue's files spell.

    The annotation of its first parameter says which observations it decides on.
    """
    name = decide.__name__
    if name in REGISTERED:
        raise ValueError(f"two judges are called {name}")
    observes = next(iter(get_annotations(decide).values()))
    REGISTERED[name] = Judge(name, observes, decide)
    return decide


def proves_nothing(answer: Answer) -> bool:
    """Whether an answer says nothing about the server: there was none, or a rate limit."""
    return answer.status is None or answer.limits_rate


def unanswered(*attempts: Attempt) -> Inconclusive | None:
    """Return the first attempt whose answer proves nothing, as a verdict."""
    for one in attempts:
        if proves_nothing(one.answer):
            said = describe(one.answer)
            return Inconclusive(f"{one.way}: {said}" if one.way else said)
    return None


def verdict_of(finding: Finding, expected: str) -> Verdict:
    """Return a finding as a verdict: words are a failure of what was expected, nothing is a pass."""
    if isinstance(finding, str):
        return Fail(expected, finding)
    return Pass() if finding is None else finding


def narrowing(
    part: Callable[[O, Facts], P | Verdict],
) -> Callable[[Callable[[P, Facts], Q]], Callable[[O, Facts], Q | Verdict]]:
    """Take less than `part` takes from an observation; its verdict, which says why there is nothing, stands."""

    def register(narrow: Callable[[P, Facts], Q]) -> Callable[[O, Facts], Q | Verdict]:
        @wraps(narrow, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        def narrowed(observed: O, facts: Facts) -> Q | Verdict:
            found = part(observed, facts)
            return found if isinstance(found, Verdict) else narrow(found, facts)

        narrowed.__annotations__ = get_annotations(part)
        return narrowed

    return register


def judge_on(
    part: Callable[[O, Facts], P | Verdict], expected: str = ""
) -> Callable[[Callable[[P, Facts], Finding]], Callable[[O, Facts], Verdict]]:
    """Register a predicate over what `part` takes from an observation, if it takes anything."""

    def register(decide: Callable[[P, Facts], Finding]) -> Callable[[O, Facts], Verdict]:
        @wraps(decide)
        def decided(found: P, facts: Facts) -> Verdict:
            return verdict_of(decide(found, facts), expected)

        return judge(narrowing(part)(decided))

    return register


def judge_each(
    part: Callable[[O, Facts], Sequence[P] | Verdict], expected: str = ""
) -> Callable[[Callable[[P, Facts], Finding]], Callable[[O, Facts], Verdict]]:
    """Register a predicate over each element of what `part` takes; its first finding decides."""

    def register(decide: Callable[[P, Facts], Finding]) -> Callable[[O, Facts], Verdict]:
        @wraps(decide)
        def first(elements: Sequence[P], facts: Facts) -> Finding:
            findings = (decide(one, facts) for one in elements)
            return next((one for one in findings if one is not None), None)

        return judge_on(part, expected)(first)

    return register
