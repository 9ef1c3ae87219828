"""A question to the server as a value: equal questions are asked once, and one answer serves every judge."""

from dataclasses import dataclass

from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Revision

__all__ = ["Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """What a probe is to ask.

    `token` is "good", "none" or the name of a defect, `variant` one of the defect's variants; `scopes` are those the
    token carries, None for all of the principal's. `word` is the door or method for the probes that take one.
    `operation` and `principal` are empty for questions about the server as a whole. `tries` is how often the call is
    made; each one after the first on a connection of its own, so that another worker may answer. `owner` and `record`
    are whose what `principal` asks for, in questions about isolation.
    """

    probe: str
    revision: Revision | None = None
    operation: Operation | None = None
    principal: str | None = None
    token: str = "none"  # noqa: S105  the absence of a token
    variant: str | None = None
    scopes: frozenset[str] | None = None
    carrier: str = "bearer"
    word: str = ""
    tries: int = 1
    owner: str | None = None
    record: str = ""
