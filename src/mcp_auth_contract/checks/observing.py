"""What every probe brings back: one frozen value per question, without an opinion."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from mcp_auth_contract.answers import Answer

__all__ = ["Observation"]


class Observation(ABC):
    """What one question brought back; the subjects' `observation` modules define the kinds."""

    __slots__ = ()

    @property
    @abstractmethod
    def answers(self) -> Iterator[Answer]:
        """Every answer that the observation rests on, the decisive ones first."""
