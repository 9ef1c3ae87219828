"""Several results as one word: the worst of them."""

from collections.abc import Iterable
from enum import Enum

from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Pass
from mcp_auth_contract.reports.model import Result


class Verdict(Enum):
    """What is to say about something that several cases look at; the worst comes first."""

    ERROR = "kit error"
    BROKEN = "broken"
    WAIVED = "waived"
    UNSEEN = "not observed"
    HELD = "held"
    NOT_APPLICABLE = "not applicable"
    NOT_RUN = "not run"


_ORDER = {verdict: place for place, verdict in enumerate(Verdict)}


def verdict_of(result: Result) -> Verdict:
    """Return the word for one result."""
    match result.outcome:
        case Error():
            return Verdict.ERROR
        case Fail():
            return Verdict.BROKEN if result.waived is None else Verdict.WAIVED
        case Inconclusive():
            return Verdict.UNSEEN
        case Pass():
            return Verdict.HELD
        case NotApplicable():
            return Verdict.NOT_APPLICABLE


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several words; nothing was run where there is none."""
    return min(verdicts, key=_ORDER.__getitem__, default=Verdict.NOT_RUN)
