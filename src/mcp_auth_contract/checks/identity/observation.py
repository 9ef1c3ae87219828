"""What calls of several users bring home: whose records came back to whom, and what lists say to one of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Answer, Attempt
from mcp_auth_contract.checks.isolation.sightings import sighted
from mcp_auth_contract.checks.observing import Observation, answers_in


@dataclass(frozen=True, slots=True)
class CallerCall:
    """One call of a user. `name` says which part it plays, `words` what was special about it.

    `own` are the canaries that this call brings to this user and to nobody else, `foreign` those that this user may
    never receive. The parts are `alone` and `in turn` (plain calls), `override`, `together` (at the same time, or with
    tokens that look alike), and `rich`, `poor`, `bad`, `none` and `other` in a sequence of tokens; `poor alone`
    and so on is the same token by itself.
    """

    name: str
    caller: str
    operation: str
    words: str
    attempt: Attempt
    own: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()

    @property
    def has_own(self) -> bool:
        """Whether the user's own record came back."""
        return _holds(self.attempt.answer, self.own)

    @property
    def has_foreign(self) -> bool:
        """Whether another user's record came back, anywhere in the answer."""
        return _holds(self.attempt.answer, self.foreign)


@dataclass(frozen=True, slots=True)
class IdentityObserved(Observation):
    """The calls of one scene in the order in which they were begun. `missing` says what the contract lacks for it."""

    calls: tuple[CallerCall, ...]
    missing: str | None = None

    def named(self, *names: str) -> Iterator[CallerCall]:
        """Yield the calls that play one of these parts, in order."""
        return (call for call in self.calls if call.name in names)

    @property
    def callers(self) -> tuple[str, ...]:
        """The users who called, each once."""
        return tuple(dict.fromkeys(call.caller for call in self.calls))

    @property
    def answers(self) -> Iterator[Answer]:
        telling = sorted(self.calls, key=lambda call: (not call.has_foreign, call.name == "alone"))
        return answers_in(telling)


@dataclass(frozen=True, slots=True)
class Listed:
    """One whole list. `names` is None where it was not given to its end; `turn` counts the repetitions from 1."""

    words: str
    turn: int
    answers: tuple[Answer, ...]
    names: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class ListingsObserved(Observation):
    """The same list asked for with the same token, on several connections and after other calls.

    The first list of each turn is the one that the others are compared with.
    """

    method: str
    lists: tuple[Listed, ...]

    def turn(self, number: int) -> tuple[Listed, ...]:
        """Return the lists of one turn, in order."""
        return tuple(one for one in self.lists if one.turn == number)


def _holds(answer: Answer, canaries: frozenset[str]) -> bool:
    return any(sighted(canary, answer) is not None for canary in canaries)
