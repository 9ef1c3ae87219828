"""A waiver: somebody answers, up to a date, for a clause that is known to be broken."""

import datetime
from dataclasses import dataclass

__all__ = ["Waiver"]


@dataclass(frozen=True, slots=True)
class Waiver:
    """One entry of a waivers file: exactly one of `check` and `case` is set, both are exact ids.

    `number` counts the entries of `file` from 1, `expires` is the last day on which it counts. `judged` is false where
    the run did not select all that the waiver is about, so that nobody can say whether it is still needed.
    """

    file: str
    number: int
    check: str | None
    case: str | None
    reason: str
    owner: str
    expires: datetime.date
    judged: bool = True

    @property
    def about(self) -> str:
        """What it covers, as in `check token-expired-refused`."""
        return f"check {self.check}" if self.check is not None else f"case {self.case}"

    @property
    def entry(self) -> str:
        """Where it stands, as in `waivers.toml: waiver 2 (check token-expired-refused)`."""
        return f"{self.file}: waiver {self.number} ({self.about})"

    def matches(self, case: str, check: str) -> bool:
        """Whether it is about a case of a check, in whatever revision."""
        return case == self.case or check == self.check

    def expired(self, today: datetime.date) -> bool:
        """Whether its last day is over."""
        return today > self.expires
