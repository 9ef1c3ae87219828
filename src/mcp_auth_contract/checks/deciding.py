"""What many judges share: deciding on a part of an observation, and answers that decide nothing."""

from collections.abc import Callable
from functools import wraps
from inspect import get_annotations
from typing import TypeVar

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.model import Verdict

__all__ = ["judge_on", "open_and_silent", "proves_nothing"]

O = TypeVar("O", bound=Observation)  # noqa: E741  what the part is taken from
P = TypeVar("P")


def proves_nothing(answer: Answer) -> bool:
    """Whether an answer says nothing about the server: there was none, or a rate limit."""
    return answer.status is None or answer.status == 429


def open_and_silent(answer: Answer, facts: Facts) -> bool:
    """Whether a GET stream is open like the handshake that the contract opens, and no event of it carries anything.

    An event without data is only a place to resume at.
    """
    if "initialize" not in facts.public or answer.method != "GET" or not answer.stream or answer.status != 200:
        return False
    return not any(line.startswith("data:") and line[5:].strip() for line in answer.text.splitlines())


def judge_on(
    part: Callable[[O, Facts], P | Verdict],
) -> Callable[[Callable[[P, Facts], Verdict]], Callable[[O, Facts], Verdict]]:
    """Register a predicate over what `part` takes from an observation.

    A verdict of `part` is why there is nothing to decide on, and stands.
    """

    def register(decide: Callable[[P, Facts], Verdict]) -> Callable[[O, Facts], Verdict]:
        @wraps(decide, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        def on_observed(observed: O, facts: Facts) -> Verdict:
            found = part(observed, facts)
            return found if isinstance(found, Verdict) else decide(found, facts)

        on_observed.__annotations__ = get_annotations(part)
        return judge(on_observed)

    return register
