"""What came of calls of one operation with one token."""

from dataclasses import dataclass

from mcp_auth_contract.answers import Attempt, JsonObject
from mcp_auth_contract.checks.observing import Observation


@dataclass(frozen=True, slots=True)
class TokenShown:
    """A token as a report may show it: its label, its decoded parts, and what was changed. Never the token."""

    label: str
    header: JsonObject
    claims: JsonObject
    change: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What the kit's listening post heard of a URL that a token named: `METHOD /path` of each request.

    `audible` says that the server has fetched something from the same address before, so that silence means something.
    """

    requests: tuple[str, ...]
    audible: bool


@dataclass(frozen=True, slots=True)
class CallObserved(Observation):
    """An operation tried with one credential. A stateful revision is tried in several ways, so that none is left open.

    `heard` is None for a token that names no URL. `hidden` says that the server lists the operation to a token with its
    scopes, and not to this one.
    """

    operation: str
    attempts: tuple[Attempt, ...]
    token: TokenShown | None = None
    offered: str = ""
    heard: Heard | None = None
    hidden: bool = False

    @property
    def accepted(self) -> Attempt | None:
        """The first attempt that had an effect, or None."""
        return next((one for one in self.attempts if one.accepted), None)
