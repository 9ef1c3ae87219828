"""Judges: pure predicates over one kind of observation, registered where they are defined."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any, TypeVar

from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.model import Verdict

O = TypeVar("O", bound=Observation)  # noqa: E741  the observation a judge decides on


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
