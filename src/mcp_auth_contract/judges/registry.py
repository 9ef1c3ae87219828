"""The register of judges: each is a pure predicate over one kind of observation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.model import Verdict
from mcp_auth_contract.observations import Observation

__all__ = ["Judge", "collect"]

O = TypeVar("O", bound=Observation)  # noqa: E741  the observation a judge decides on


@dataclass(frozen=True, slots=True)
class Judge:
    """A named predicate: `decide(observation, facts)` gives a verdict and does nothing else."""

    name: str
    observes: type[object]
    decide: Callable[[Any, Facts], Verdict]


def collect(observes: type[O], *predicates: Callable[[O, Facts], Verdict]) -> dict[str, Judge]:
    """Register predicates over one kind of observation under their own names."""
    return {each.__name__: Judge(each.__name__, observes, each) for each in predicates}
