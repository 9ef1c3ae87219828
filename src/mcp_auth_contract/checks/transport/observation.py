"""What was seen of the ways into the endpoint without a token."""

from dataclasses import dataclass

from mcp_auth_contract.answers import Answer, Attempt, Reading
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.model import Revision


@dataclass(frozen=True, slots=True)
class EndpointObserved(Observation):
    """A request without a token in one form: another verb, spelling of the path, content type."""

    form: str
    answer: Answer
    reading: Reading
    also: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class MirrorObserved(Observation):
    """A call with a good token whose header fields say something else than its body; None: it has no such field.

    `older` is the revision that the header names in the place of the call's own.
    """

    attempt: Attempt | None = None
    older: Revision | None = None


@dataclass(frozen=True, slots=True)
class PreflightObserved(Observation):
    """A CORS preflight, and the challenge a browser would meet afterwards (Fetch standard)."""

    origin: str
    preflight: Answer
    challenged: Answer


@dataclass(frozen=True, slots=True)
class ParityObserved(Observation):
    """The same protected operation without a token, in each revision that the server speaks."""

    readings: tuple[tuple[Revision, Answer, Reading], ...]
