"""What is seen of sessions: who used one and what came of it, the ids, and their end."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from mcp_auth_contract.answers import Answer, Attempt
from mcp_auth_contract.checks.observing import Observation


@dataclass(frozen=True, slots=True)
class SessionEndObserved(Observation):
    """DELETE on a live session without a token, then a call inside it. None: the server has no sessions."""

    ended: Answer | None = None
    after: Attempt | None = None


@dataclass(frozen=True, slots=True)
class SessionStep:
    """One request around a session. `name` is the part it plays, the attempt's way says what was sent.

    The parts: `owner` uses the session as they may, and `after` once more at the end; `witness` is the owner's own
    event stream. A `stranger` has no valid token, an `intruder` a valid one of another user, who makes the call
    `apart` from the session too; `own` is what such a person hears in a session of their own, or what the owner gets
    with a weaker token, which is `allowed` the call itself or not. `good` must work; `ended`, `gone`, `unknown` and
    `missing` are about the id.
    """

    name: str
    attempt: Attempt

    @property
    def accepted(self) -> bool:
        """Whether the request had an effect."""
        return self.attempt.accepted


@dataclass(frozen=True, slots=True)
class SessionObserved(Observation):
    """A scene around one session, in the order of its steps. `absent` is why there was nothing to see."""

    steps: tuple[SessionStep, ...] = ()
    absent: str | None = None

    def named(self, *names: str) -> Iterator[SessionStep]:
        """Yield the steps of these parts, in order."""
        return (step for step in self.steps if step.name in names)


@dataclass(frozen=True, slots=True)
class NewsObserved(Observation):
    """What `listener` hears while the owner of a record writes, and what the owner hears.

    `uris` are resources of the record, which the listener has asked for. `absent` is why there was nothing to see.
    """

    owner: str = ""
    listener: str = ""
    record: str = ""
    uris: frozenset[str] = frozenset()
    canaries: frozenset[str] = field(default=frozenset(), repr=False)
    written: Attempt | None = None
    heard: Attempt | None = None
    witness: Attempt | None = None
    absent: str | None = None


@dataclass(frozen=True, slots=True)
class SessionIdsObserved(Observation):
    """The ids of several sessions, opened one after another. They are as good as secrets, so they are not shown.

    `handshakes` are the answers that handed them out; one without an id adds none.
    """

    handshakes: tuple[Attempt, ...]
    ids: tuple[str, ...] = field(repr=False)
