"""What carries over from one request to the next, in another principal's hands: handles, tasks, states of requests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.isolation.observation import Asked, Canary
from mcp_auth_contract.checks.observing import Observation, answers_in


@dataclass(frozen=True, slots=True)
class Steps(Observation):
    """A sequence of calls. `unasked` is why there is nothing to observe; empty where there is."""

    owner: str
    principal: str
    canaries: tuple[Canary, ...]
    calls: tuple[Asked, ...]
    unasked: str = ""

    def step(self, name: str) -> Asked | None:
        """Return a step, None where it did not come to it."""
        return next((call for call in self.calls if call.name == name), None)

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in(sorted(self.calls, key=lambda call: not call.name.startswith(("foreign", "other"))))


@dataclass(frozen=True, slots=True)
class HandleObserved(Steps):
    """A handle of `owner` in the hands of `principal`. Steps in order:

    `made` the owner makes a handle, `control` the owner uses it, `made again` the owner makes another one, `other`
    another principal uses that one, `own` the owner uses it. `handles` are all that were made, in order. `canaries`
    are those that the principal may never receive.
    """

    handles: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class TaskObserved(Steps):
    """Two tasks in which `owner` reads a record, in the hands of `principal`. Steps in order:

    `made first` the owner starts a task, `foreign cancel` another principal cancels it, `state` the owner looks at it,
    `own cancel` the owner cancels it. `made` the owner starts another one, `foreign get` and `foreign result` the other
    one asks for it, `own` the owner gets its result, `foreign get after` and `foreign result after` the other one asks
    again, `foreign list` and `own list` list the tasks. What a server does not announce is left out, and the extension
    of 2026-07-28 (not `core`) has no method for results and none for lists. `listing` are the steps whose list holds
    the second task.
    """

    listing: frozenset[str] = frozenset()
    core: bool = True


@dataclass(frozen=True, slots=True)
class RequestStateObserved(Steps):
    """The `requestState` of `owner` in the hands of `principal`. Steps in order:

    `first` the owner is asked for input, `other first` and `other own` another principal is asked and goes on with its
    own state, `other` goes on with the owner's, `first again` and `own` the owner goes on with another one.
    """


@dataclass(frozen=True, slots=True)
class OwnStateObserved(Steps):
    """A `requestState` that its owner alters, or sends with another request. Steps in order:

    `first` the owner is asked for input, `control` goes on, `garbage` goes on with a state that nobody made; one step
    for each of `alterations`, by their names; `second` the owner goes on with the other call by its own state,
    `replayed` by the state of the first; `control again` as before. The middle two are left out where the contract
    names no other call.
    """

    alterations: tuple[str, ...] = ()

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in(sorted(self.calls, key=lambda call: call.name not in (*self.alterations, "replayed")))


def result_in(asked: Asked) -> Mapping[str, Any]:
    """Return the last result of a call, empty where there is none."""
    return asked.answers[-1].result


def completed(asked: Asked) -> bool:
    """Whether a call went through: it was accepted, and does not ask for (more) input."""
    return asked.accepted and result_in(asked).get("resultType", "complete") == "complete"


def task_status(asked: Asked) -> str | None:
    """Return the status that an answer tells of a task."""
    status = result_in(asked).get("status")
    return status if isinstance(status, str) else None
