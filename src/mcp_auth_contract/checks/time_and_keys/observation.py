"""What a timeline brings home: calls in the order in which they were made, while keys and clocks moved."""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Attempt
from mcp_auth_contract.checks.observing import Observation


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a timeline. `token` says in words what was sent, `fetches` how often the issuer's keys were fetched.

    `fetches` counts from the beginning of the timeline; `took` is in seconds of real time.
    """

    name: str
    token: str
    attempt: Attempt
    fetches: int
    took: float = 0.0

    @property
    def accepted(self) -> bool:
        """Whether the call had an effect."""
        return self.attempt.accepted


@dataclass(frozen=True, slots=True)
class TimelineObserved(Observation):
    """The steps of one timeline. `cut` says why it ended before its last step.

    `failing` says that the issuer was made to fail, `asked_while_failing` how often it was then asked for its keys.
    `cold` says that the server's caches had expired before that. `introspections` is how often the issuer was asked
    about tokens, `anonymous` how often without a client's credentials.
    """

    steps: tuple[Step, ...]
    cut: str | None = None
    cold: bool = False
    failing: bool = False
    asked_while_failing: int = 0
    introspections: int = 0
    anonymous: int = 0

    def named(self, name: str) -> Iterator[Step]:
        """Yield the steps of a name, in order."""
        return (step for step in self.steps if step.name == name)

    @property
    def fetches(self) -> int:
        """How often the issuer's keys were fetched up to the last step."""
        return self.steps[-1].fetches if self.steps else 0


@dataclass(frozen=True, slots=True)
class LeewayProbe:
    """A call with a token whose time claim lies `beyond` seconds on the wrong side of the server's clock."""

    beyond: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class LeewayObserved(Observation):
    """The search for the leeway that the server really grants at one claim, in seconds.

    `tolerance` is how exactly the server's clock is known.
    """

    claim: str
    declared: float
    tolerance: float
    probes: tuple[LeewayProbe, ...]

    @property
    def granted(self) -> int | None:
        """The greatest offset that was accepted; None where not even a token in time was."""
        taken = [probe.beyond for probe in self.probes if probe.attempt.accepted]
        return max(taken) if taken else None
