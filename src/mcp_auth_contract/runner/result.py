"""What a run brought: results, the gate's decision, and the one frozen report that every format is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.model import (
    Error,
    Fail,
    Inconclusive,
    Level,
    NotApplicable,
    Outcome,
    Pass,
    Revision,
    outcome_name,
)
from mcp_auth_contract.runner.sharding import ShardSeen
from mcp_auth_contract.runner.waiver import Waiver

__all__ = ["ControlSeen", "Coverage", "Gate", "Report", "Result", "TargetSeen"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one case.

    `evidence` are ids of exchanges in the report; `reproduce` is a command line that repeats the decisive request, its
    token replaced by a call of `mint`; empty where there is nothing to repeat. `waived` is the waiver that covers a
    failure; the outcome stays what it is.
    """

    case: str
    check: Check
    revision: Revision | None
    outcome: Outcome
    evidence: tuple[str, ...] = ()
    reproduce: str | None = None
    waived: Waiver | None = None

    @property
    def impact(self) -> str:
        """The impact of the failure seen, which may be milder than the check's own."""
        if isinstance(self.outcome, Fail) and self.outcome.impact is not None:
            return self.outcome.impact.value
        return self.check.impact.value

    @property
    def sentence(self) -> str:
        """The result in one line, as in `token-expired-refused[get_invoice]: expected 401 …, observed 200 …`."""
        match self.outcome:
            case Fail(expected=expected, observed=observed):
                said = f"expected {expected}, observed {observed}"
            case Inconclusive(reason=reason) | NotApplicable(reason=reason) | Error(reason=reason):
                said = reason
            case Pass(advice=advice):
                said = advice or "holds"
        return f"{self.case}: {said}"


@dataclass(frozen=True, slots=True)
class ControlSeen:
    """One control call: the operation that must be accepted, and how it was answered."""

    operation: str
    principal: str
    revision: Revision
    held: bool
    observed: str


@dataclass(frozen=True, slots=True)
class TargetSeen:
    """The server under test, as far as it showed itself."""

    url: str
    resource: str
    revisions: tuple[Revision, ...]
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """One kind of primitive that the server lists: how many, how many of them are in the contract, and the others.

    `kind` is tools, resources, templates or prompts.
    """

    kind: str
    listed: int
    covered: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """The decision: open, or shut with a reason per line. `binding` are the levels whose failures shut it.

    `stale` are those of the reasons that are about a waiver, which no case shows.
    """

    open: bool
    exit_code: int
    reasons: tuple[str, ...] = ()
    binding: tuple[Level, ...] = (Level.MUST,)
    stale: tuple[str, ...] = ()

    def binds(self, result: Result) -> bool:
        """Whether a failure of this result shuts the gate."""
        return result.check.level in self.binding and result.waived is None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report format may tell. `exchanges` are redacted, by id; `interrupted` names what cut the run.

    `options` are what a command line that repeats the run has to say besides the contract. `waivers` are all that the
    run was given; `shard` is the part of the plan that it ran, None for the whole. `requests` is how many were made
    where `exchanges` holds but those that a result cites. `coverage` is empty where the server's lists were not looked
    at.
    """

    kit_version: str
    contract: str
    target: TargetSeen
    started: str
    duration_s: float
    results: tuple[Result, ...]
    gate: Gate
    controls: tuple[ControlSeen, ...] = ()
    exchanges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    shard: ShardSeen | None = None
    requests: int | None = None

    @property
    def sent(self) -> int:
        """How many requests were made."""
        return len(self.exchanges) if self.requests is None else self.requests

    @property
    def counts(self) -> dict[str, int]:
        """How many cases ended with each of the five outcomes."""
        names = ("pass", "fail", "inconclusive", "not_applicable", "error")
        counted = dict.fromkeys(names, 0)
        for result in self.results:
            counted[outcome_name(result.outcome)] += 1
        return counted
