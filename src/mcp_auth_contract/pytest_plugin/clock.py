"""The clock of the whole process, in the hands of a test."""

from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.server import FrozenTime


class MovableClock:
    """Moves the time of everything in this process: test, issuer, and an application that runs here."""

    def __init__(self, frozen: FrozenTime) -> None:
        self._frozen = frozen

    def move(self, seconds: float) -> None:
        """Move the clock forwards. Raises ValueError for a move backwards."""
        self._frozen.move(seconds)

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return system_clock()
