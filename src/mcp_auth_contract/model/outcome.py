"""The five outcomes of a case: a closed union, no third state hidden in a None."""

from dataclasses import dataclass, field
from typing import Self, assert_never

from mcp_auth_contract.model.words import Impact


@dataclass(frozen=True, slots=True)
class Pass:
    """The check passed. `advice` is a remark that no specification turns into a failure."""

    advice: str | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """The check failed.

    `expected` and `observed` complete the sentence "expected …, observed …". `impact` replaces the check's own
    impact where the fault seen is a milder one: a bad token refused with the wrong status is no bypass. `evidence` are
    the ids of the exchanges that decided, where the observation is of a whole run.
    """

    expected: str
    observed: str
    impact: Impact | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """The clause could not be observed although it applies; a MUST that ends so shuts the gate.

    `reported_by` is the check that fails where it is the server that lacks what had to be observed, such as a document.
    """

    reason: str
    reported_by: str | None = field(default=None, compare=False)

    @classmethod
    def lacking(cls, what: str, check: str) -> Self:
        """Return what is said where something is not there to be observed, which one check reports for all others."""
        return cls(f"{what}; {check} reports it", check)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The clause does not apply to this server or contract."""

    reason: str


@dataclass(frozen=True, slots=True)
class Error:
    """A kit error. Only the runner makes one."""

    reason: str


Verdict = Pass | Fail | Inconclusive | NotApplicable
"""What a judge may answer."""

Outcome = Verdict | Error
"""What a case may end with."""


def outcome_name(outcome: Outcome) -> str:
    """Return the outcome's name in reports: pass, fail, inconclusive, not_applicable or error."""
    match outcome:
        case Pass():
            return "pass"
        case Fail():
            return "fail"
        case Inconclusive():
            return "inconclusive"
        case NotApplicable():
            return "not_applicable"
        case Error():
            return "error"
        case _:
            assert_never(outcome)
