"""What is seen of sessions: who used one and what came of it, the ids, and what is marked as cacheable."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from mcp_auth_contract.observations.observed import Attempt
from mcp_auth_contract.observations.reading import Accepted

__all__ = ["CacheMark", "CacheScopeObserved", "SessionIdsObserved", "SessionObserved", "SessionStep"]


@dataclass(frozen=True, slots=True)
class SessionStep:
    """One request around a session. `name` is the part it plays, `words` say what was sent.

    The parts: `owner` uses the session as they may, and `after` once more at the end; `witness` is the owner's own
    event stream. A `stranger` has no valid token, an `intruder` a valid one of somebody else, who makes the call
    `apart` from the session too; `own` is what such a person hears in a session of their own, or what the owner gets
    with a weaker token, which is `allowed` the call itself or not. `good` must work; `ended`, `gone`, `unknown` and
    `missing` are about the id.
    """

    name: str
    words: str
    attempt: Attempt

    @property
    def accepted(self) -> bool:
        """Whether the request had an effect."""
        return isinstance(self.attempt.reading, Accepted)


@dataclass(frozen=True, slots=True)
class SessionObserved:
    """A scene around one session, in the order of its steps. `absent` is why there was nothing to see."""

    scene: str
    steps: tuple[SessionStep, ...] = ()
    absent: str | None = None

    def named(self, *names: str) -> Iterator[SessionStep]:
        """Yield the steps of these parts, in order."""
        return (step for step in self.steps if step.name in names)


@dataclass(frozen=True, slots=True)
class SessionIdsObserved:
    """The ids of several sessions, opened one after another. They are as good as secrets, so they are not shown.

    `handshakes` are the answers that handed them out; one without an id adds none.
    """

    handshakes: tuple[Attempt, ...]
    ids: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CacheMark:
    """One cacheable request of one principal, asked twice: what came, and what it says about caches."""

    method: str
    principal: str
    first: Attempt
    second: Attempt


@dataclass(frozen=True, slots=True)
class CacheScopeObserved:
    """The cacheable results of several principals (MCP 2026-07-28, caching)."""

    marks: tuple[CacheMark, ...]
