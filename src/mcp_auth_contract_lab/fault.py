"""What a fault is: one named change to a sound server, registered where it is defined."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mcp_auth_contract_lab.profile import Profile

if TYPE_CHECKING:
    from mcp_auth_contract_lab.behaviour import Behaviour

Change: TypeAlias = "Callable[[Behaviour], Behaviour]"
"""Replaces steps of a behaviour."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a protected server, with one sentence about what such a server got wrong.

    `within` is the legal profile in which alone it shows; the lab takes it on with the fault.
    """

    name: str
    summary: str
    change: Change
    within: Profile | None = None


class Faults(dict[str, Fault]):
    """The faults of one subject by name, all within one legal profile if there is one."""

    def __init__(self, within: Profile | None = None) -> None:
        super().__init__()
        self._within = within

    def rows(self, *rows: tuple[str, str, Change], within: Profile | None = None) -> None:
        """Add faults that are data: name, sentence, change."""
        for name, summary, change in rows:
            if name in self:
                raise ValueError(f"two faults are called {name}")
            self[name] = Fault(name, summary, change, within or self._within)

    def by(self, make: Callable[[Any], Change]) -> Callable[[_Function], _Function]:
        """Make a fault of the decorated function: its name, its docstring, and the change that `make` returns."""

        def register(function: _Function) -> _Function:
            self.rows((function.__name__.replace("_", "-"), function.__doc__ or "", make(function)))
            return function

        return register

    def step(self, part: str, step: str) -> Callable[[_Function], _Function]:
        """Make a fault of the decorated function, which stands for one step of a part of the behaviour."""
        return self.by(lambda function: changing(part, **{step: function}))


def changing(part: str, **steps: Any) -> Change:
    """Return the change that replaces steps of one part of the behaviour."""
    return lambda behaviour: replace(behaviour, **{part: replace(getattr(behaviour, part), **steps)})


def adapting(part: str, step: str, make: Callable[[Any], Any]) -> Change:
    """Return the change that replaces one step by what is made of it."""
    return lambda behaviour: changing(part, **{step: make(getattr(getattr(behaviour, part), step))})(behaviour)


def with_memory(make: Callable[[Any], Change]) -> Callable[[Callable[..., Any]], Change]:
    """Hand the function that makes the change a memory, which each server has of its own."""
    return lambda function: lambda behaviour: make(partial(function, {}))(behaviour)


def all_of(*changes: Change) -> Change:
    """Return the change that makes these one after the other."""

    def change(behaviour: "Behaviour") -> "Behaviour":
        for one in changes:
            behaviour = one(behaviour)
        return behaviour

    return change
