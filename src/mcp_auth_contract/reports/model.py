"""What a run brought: results, the gate's decision, and the one frozen report that every format is made from."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.hosts.verdicts import HostVerdict
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


@dataclass(frozen=True, slots=True)
class Waiver:
    """One entry of a waivers file: somebody answers, up to a date, for a failure that is known.

    Exactly one of `check` and `case` is set, both are exact ids. `number` counts the entries of `file` from 1,
    `expires` is the last day on which it counts. `judged` is false where the run did not select all that the waiver is
    about, so that nobody can say whether it is still needed.
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


@dataclass(frozen=True, slots=True)
class About:
    """What of the contract a case is about; empty where it is about none of that kind.

    `kind` is tool, resource or prompt, `operation` its name or URI. `principal` makes the call, `owner` is whose data
    it reaches for, by the name of the `record` or without one. `scope` is the one that the token lacks.
    """

    kind: str = ""
    operation: str = ""
    principal: str = ""
    owner: str = ""
    record: str = ""
    scope: str = ""


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
    about: About = About()

    @property
    def impact(self) -> str:
        """The impact of the failure seen, which may be milder than the check's own."""
        if isinstance(self.outcome, Fail) and self.outcome.impact is not None:
            return self.outcome.impact.value
        return self.check.impact.value

    @property
    def said(self) -> str:
        """What is to say about it: for a failure what was expected and observed, else its reason or remark."""
        match self.outcome:
            case Fail(expected=expected, observed=observed):
                return f"expected {expected}, observed {observed}"
            case Inconclusive(reason=reason) | NotApplicable(reason=reason) | Error(reason=reason):
                return reason
            case Pass(advice=advice):
                return advice or "passed"

    @property
    def sentence(self) -> str:
        """The result in one line, as in `token-expired-refused[get_invoice]: expected 401 …, observed 200 …`."""
        return f"{self.case}: {self.said}"


@dataclass(frozen=True, slots=True)
class ControlSeen:
    """One control call: the operation that must be accepted, and how it was answered."""

    operation: str
    principal: str
    revision: Revision
    accepted: bool
    observed: str


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """The server under test, as far as it showed itself."""

    url: str
    resource: str
    revisions: tuple[Revision, ...]
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """One kind of primitive that the server lists: how many, how many of them are in the contract, and the others.

    `kind` is tools, resources, templates or prompts. `uncalled` are those in the contract that the run may not call.
    """

    kind: str
    listed: int
    covered: int
    missing: tuple[str, ...] = ()
    uncalled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShardSeen:
    """The part of a plan that a report is about. `plan` is the digest of the whole plan, equal in all its parts."""

    index: int
    of: int
    plan: str


@dataclass(frozen=True, slots=True)
class TokenMember:
    """One member of a token: of its header or its claims, as JSON text. `changed`: the good token has another one."""

    part: str
    name: str
    value: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class TokenSeen:
    """A token that the kit made, decoded: whom it speaks for, what is wrong with it in words, and its members."""

    principal: str
    change: str
    members: tuple[TokenMember, ...]


@dataclass(frozen=True, slots=True)
class LiveRecord:
    """What a person saw of the server in a real host: each step with its outcome, and how long that counts."""

    host: str
    version: str
    date: datetime.date
    who: str
    expires: datetime.date
    steps: tuple[tuple[str, str], ...]
    note: str = ""

    @property
    def failed(self) -> tuple[str, ...]:
        """The steps that failed."""
        return tuple(step for step, outcome in self.steps if outcome == "failed")


@dataclass(frozen=True, slots=True)
class Gate:
    """The decision: open, or shut with a reason per line. `binding` are the levels whose failures shut it.

    `stale` are those of the reasons that no case shows: about a waiver, a live record, or the last release.
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

    `finding` is what a reader should know before anything else: that the server asks for no token, or why it refuses
    the good one. `options` are what a command line that repeats the run has to say besides the contract. `waivers` are
    all that the run was given; `shard` is the part of the plan that it ran, None for the whole. `requests` is how many
    were made where `exchanges` holds but those that a result cites. `coverage` is empty where the server's lists were
    not looked at. `environment` tells what the run was made with, by name. `source` is the text of the contract without
    comments and secrets, None where there is no file. `tokens` are those that the kit sent where something did not
    pass, by the label that stands for each in the exchanges. `all_evidence` keeps the exchanges of what passed in the
    JSON report too. `hosts` are verdicts over MCP hosts, where they were asked for; `claimed` are those that a
    release claims, `live` the records of them.
    """

    kit_version: str
    contract: str
    server: ServerSeen
    started: str
    duration_s: float
    results: tuple[Result, ...]
    gate: Gate
    controls: tuple[ControlSeen, ...] = ()
    exchanges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    interrupted: bool = False
    finding: str = ""
    notes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    shard: ShardSeen | None = None
    requests: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    tokens: Mapping[str, TokenSeen] = field(default_factory=dict)
    all_evidence: bool = False
    hosts: tuple[HostVerdict, ...] = ()
    claimed: tuple[str, ...] = ()
    live: tuple[LiveRecord, ...] = ()

    @property
    def sent(self) -> int:
        """How many requests were made."""
        return len(self.exchanges) if self.requests is None else self.requests

    @property
    def counts(self) -> dict[str, int]:
        """How many cases ended with each of the five outcomes, by the names of JSON."""
        counted = dict.fromkeys(("pass", "fail", "inconclusive", "not_applicable", "error"), 0)
        for result in self.results:
            counted[outcome_name(result.outcome)] += 1
        return counted
