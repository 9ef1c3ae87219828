"""One way in which something was tried, and what came of it."""

from dataclasses import dataclass

from mcp_auth_contract.answers.answer import Answer
from mcp_auth_contract.answers.reading import Accepted, Reading

__all__ = ["Attempt"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way in which a call was tried: which step gave the answer, and how it reads."""

    way: str
    step: str
    answer: Answer
    reading: Reading

    @property
    def accepted(self) -> bool:
        """Whether it had an effect."""
        return isinstance(self.reading, Accepted)
