"""The JSON report, version 1: the stable interface, with types of its own and a published JSON Schema."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Pass, outcome_name
from mcp_auth_contract.reports.causes import causes_of
from mcp_auth_contract.reports.model import About, Report, Result
from mcp_auth_contract.reports.plain import encodable

_JOINT = ",\n"
_LINES = frozenset({"checks", "citations", "causes", "results", "exchanges", "controls", "tokens"})

OutcomeName = Literal["pass", "fail", "inconclusive", "not_applicable", "error"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_serialization_defaults_required=True)


class KitV1(_Part):
    """The kit that wrote the report."""

    version: str
    environment: dict[str, str] = Field(
        default={}, description="What the run was made with: interpreter, platform, packages, by name."
    )


class ServerV1(_Part):
    """What the server calls itself; null where it did not say."""

    name: str | None
    version: str | None


class TargetV1(_Part):
    """The server under test."""

    url: str
    resource: str
    revisions: list[str] = Field(description="MCP revisions the run covers, the main one first.")
    server: ServerV1


class GateV1(_Part):
    """The decision and its reasons."""

    open: bool
    exit_code: int = Field(description="0 open, 1 a check failed, 3 not observable, 4 a kit error.")
    reasons: list[str]
    binding: list[Literal["MUST", "SHOULD", "MAY"]] = Field(
        default=["MUST"], description="The levels whose failed and inconclusive cases shut the gate."
    )
    stale: list[str] = Field(
        default=[],
        description="The reasons that no case shows: waivers which are no longer true; of a release also live records "
        "and a regression.",
    )


class CountsV1(_Part):
    """Number of cases per outcome."""

    passed: int = Field(alias="pass")
    fail: int
    inconclusive: int
    not_applicable: int
    error: int


class CitationV1(_Part):
    """The sentence of a specification that a check enforces."""

    key: str
    label: str = Field(description="The reference as prose, such as RFC 9728 §3.3.")
    title: str = Field(description="The heading of the section.")
    url: str


class WaivedV1(_Part):
    """The waiver that covers a failure."""

    reason: str
    owner: str
    expires: datetime.date = Field(description="The last day on which it counts.")


class WaiverV1(WaivedV1):
    """One entry of the waivers file of the run. Exactly one of check and case is a string."""

    file: str
    number: int = Field(description="Its place in the file, from 1.")
    check: str | None
    case: str | None
    judged: bool = Field(description="False where the selection left out some of what it is about.")


class ShardV1(_Part):
    """The part of a plan that the run was about."""

    index: int = Field(description="From 1.")
    of: int
    plan: str = Field(description="Digest of the whole plan, equal in all its parts.")


class AboutV1(_Part):
    """What of the contract a case is about; a member is left out where it is about none of that kind."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_serialization_defaults_required=False)

    kind: str = Field(default="", description="tool, resource or prompt.")
    operation: str = Field(default="", description="The name of the tool or prompt, the URI of the resource.")
    principal: str = Field(default="", description="Who makes the call.")
    owner: str = Field(default="", description="Whose data the call reaches for.")
    record: str = ""
    scope: str = Field(default="", description="The scope that the token lacks.")


class ResultV1(_Part):
    """One case."""

    check: str
    case: str
    title: str
    revision: str | None = Field(description="MCP revision, null for cases about the whole server.")
    level: Literal["MUST", "SHOULD", "MAY"]
    impact: str
    outcome: OutcomeName
    expected: str | None
    observed: str | None
    reason: str | None = Field(description="Why it is inconclusive, not applicable or an error.")
    advice: str | None = Field(description="A remark on a passing case.")
    citations: list[CitationV1] = Field(description="Empty where the case passed or did not apply; checks has them.")
    remedy: str = Field(description="Empty where the case passed or did not apply; checks has it.")
    reproduce: str | None
    evidence: list[str] = Field(
        description="Ids of exchanges; empty where the case passed, unless all evidence was asked for."
    )
    waived: WaivedV1 | None = Field(default=None, description="The waiver that covers a failure.")
    about: AboutV1 | None = Field(default=None, description="Null where it is about none of it.")
    reported_by: str | None = Field(
        default=None, description="The check that reports what an inconclusive case could not observe."
    )


class CheckV1(_Part):
    """What the results of one check have in common."""

    impact: str = Field(description="What a failure costs at the worst.")
    remedy: str
    citations: list[str] = Field(description="Keys of citations.")
    requirements: list[str] = Field(default=[], description="Ids of the requirements that the check enforces.")


class CauseV1(_Part):
    """Failures that one decision of the server would repair."""

    id: str
    headline: str
    decision: str = Field(description="What the server has to decide.")
    level: Literal["MUST", "SHOULD", "MAY"] = Field(description="The strictest of its checks.")
    impact: str = Field(description="The worst that was seen.")
    binding: bool = Field(description="Whether these failures shut the gate.")
    cases: int
    checks: list[str]
    example: str = Field(description="The plainest case.")
    results: list[int] = Field(description="The places of its cases in results, from 0.")


class ControlV1(_Part):
    """A call that had to be accepted for refusals to count."""

    operation: str
    principal: str
    revision: str
    held: bool
    observed: str


class CoverageV1(_Part):
    """How much of what the server lists the contract names."""

    kind: Literal["tools", "resources", "templates", "prompts"]
    listed: int
    covered: int
    missing: list[str] = Field(description="What the server lists and the contract does not name.")
    uncalled: list[str] = Field(default=[], description="What the contract names and the run may not call.")


class TokenMemberV1(_Part):
    """One member of a token."""

    part: Literal["header", "claim"]
    name: str
    value: str = Field(description="JSON text.")
    changed: bool = Field(description="The good token has another value, or none.")


class TokenV1(_Part):
    """A token that the kit made, decoded; neither the token nor its signature."""

    principal: str
    change: str = Field(description="What is wrong with it; empty for a good one.")
    members: list[TokenMemberV1]


class HostReasonV1(_Part):
    """A fact that decides over a host."""

    effect: Literal["will connect", "degraded", "will not", "cannot tell"]
    says: str = Field(description="What such a host does.")
    seen: str
    url: str | None = Field(description="Where that was read.")
    checked: datetime.date | None = Field(description="When it was read.")


class HostV1(_Part):
    """What becomes of a connection from one MCP host."""

    id: str
    name: str
    verdict: Literal["will connect", "degraded", "will not", "cannot tell"]
    reasons: list[HostReasonV1]
    unseen: str = Field(description="What no server shows about it.")


class LiveRecordV1(_Part):
    """What a person saw of the server in a real host."""

    host: str
    version: str
    date: datetime.date
    who: str
    expires: datetime.date = Field(description="The last day on which it counts.")
    steps: list[tuple[str, str]] = Field(description="Each step with its outcome: passed, failed or not applicable.")
    note: str


class ReportV1(_Part):
    """A whole run. Fields are added, never renamed or removed, within version 1."""

    version: Literal[1] = 1
    kit: KitV1
    contract: str
    target: TargetV1
    started: str = Field(description="RFC 3339, UTC.")
    duration_s: float
    interrupted: bool
    finding: str = Field(default="", description="What a reader should know before anything else; empty for nothing.")
    notes: list[str] = Field(description="What a reader should know about the run, such as a clock that is off.")
    gate: GateV1
    counts: CountsV1
    controls: list[ControlV1]
    coverage: list[CoverageV1] = Field(
        default=[], description="The server's surface by kind; empty where its lists were not looked at."
    )
    checks: dict[str, CheckV1] = Field(default={}, description="The checks of the results by id.")
    citations: dict[str, CitationV1] = Field(default={}, description="What the checks enforce, by key.")
    causes: list[CauseV1] = Field(
        default=[], description="The failures that are not waived, by what they come down to; the worst first."
    )
    results: list[ResultV1]
    exchanges: dict[str, dict[str, Any]] = Field(description="Redacted HTTP exchanges by id.")
    requests: int | None = Field(default=None, description="How many were made, cited or not.")
    options: list[str] = Field(default=[], description="Words of a command line that repeats the run.")
    waivers: list[WaiverV1] = Field(default=[], description="All waivers that the run was given.")
    shard: ShardV1 | None = Field(default=None, description="Null for a run of the whole plan.")
    source: str | None = Field(
        default=None, description="The contract's text without comments and secrets; its lines are those of the file."
    )
    tokens: dict[str, TokenV1] = Field(
        default={}, description="The tokens sent where something did not pass, by their label in the exchanges."
    )
    hosts: list[HostV1] = Field(default=[], description="Verdicts over MCP hosts, where they were asked for.")
    claimed: list[str] = Field(default=[], description="The hosts that a release claims.")
    live: list[LiveRecordV1] = Field(default=[], description="The live records that a release was given.")


def _quiet(result: Result) -> bool:
    """Whether there is nothing to prove or to repair, so that the report is short about it."""
    return isinstance(result.outcome, Pass | NotApplicable)


def _common(check: Check) -> dict[str, Any]:
    return {
        "impact": check.impact,
        "remedy": check.remedy,
        "citations": check.cites,
        "requirements": check.requirements,
    }


def _citation(key: str) -> dict[str, Any]:
    return {**asdict(CITATIONS[key]), "label": CITATIONS[key].label}


def _result(result: Result, *, all_evidence: bool) -> dict[str, Any]:
    check, outcome, quiet = result.check, result.outcome, _quiet(result)
    failed = outcome if isinstance(outcome, Fail) else None
    return {
        "check": check.id,
        "case": result.case,
        "title": check.title,
        "revision": result.revision,
        "level": check.level,
        "impact": result.impact,
        "outcome": outcome_name(outcome),
        "expected": failed and failed.expected,
        "observed": failed and failed.observed,
        "reason": outcome.reason if isinstance(outcome, Inconclusive | NotApplicable | Error) else None,
        "advice": outcome.advice if isinstance(outcome, Pass) else None,
        "citations": [] if quiet else [_citation(key) for key in check.cites],
        "remedy": "" if quiet else check.remedy,
        "reproduce": result.reproduce,
        "evidence": result.evidence if all_evidence or not quiet else (),
        "waived": result.waived and asdict(result.waived),
        "about": asdict(result.about) if result.about != About() else None,
        "reported_by": outcome.reported_by if isinstance(outcome, Inconclusive) else None,
    }


def render_json(report: Report) -> str:
    """Render a report as JSON version 1, ending with a line break."""
    server = report.server
    checks = [result.check for result in report.results]
    value = {
        "kit": {"version": report.kit_version, "environment": report.environment},
        "contract": report.contract,
        "target": {
            "url": server.url,
            "resource": server.resource,
            "revisions": server.revisions,
            "server": {"name": server.name, "version": server.version},
        },
        "started": report.started,
        "duration_s": round(report.duration_s, 3),
        "interrupted": report.interrupted,
        "finding": report.finding,
        "notes": report.notes,
        "gate": asdict(report.gate),
        "counts": report.counts,
        "controls": [{**asdict(control), "held": control.accepted} for control in report.controls],
        "coverage": [asdict(kind) for kind in report.coverage],
        "checks": {check.id: _common(check) for check in checks},
        "citations": {key: _citation(key) for check in checks for key in check.cites},
        "causes": _causes(report),
        "results": [_result(result, all_evidence=report.all_evidence) for result in report.results],
        "exchanges": _cited(report),
        "requests": report.sent,
        "options": report.options,
        "waivers": [asdict(waiver) for waiver in report.waivers],
        "shard": report.shard and asdict(report.shard),
        "source": report.source,
        "hosts": [asdict(one) for one in report.hosts],
        "claimed": report.claimed,
        "live": [asdict(record) for record in report.live],
        "tokens": {label: asdict(token) for label, token in report.tokens.items()},
    }
    checked = ReportV1.model_validate(encodable(value))
    told = checked.model_dump(mode="json", by_alias=True)
    for result in told["results"]:
        result["about"] = result["about"] and {name: value for name, value in result["about"].items() if value}
    return _written(told)


def _written(told: Mapping[str, Any]) -> str:
    """Return JSON with each result, exchange and check on a line of its own, which is short and can be compared."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))

    members: list[str] = []
    for name, value in told.items():
        if name in _LINES and isinstance(value, list) and value:
            members.append(f"{line(name)}:[\n{_JOINT.join(map(line, value))}\n]")
        elif name in _LINES and isinstance(value, dict) and value:
            rows = (f"{line(key)}:{line(one)}" for key, one in value.items())
            members.append(f"{line(name)}:{{\n{_JOINT.join(rows)}\n}}")
        else:
            members.append(f"{line(name)}:{line(value)}")
    return f"{{{_JOINT.join(members)}}}\n"


def _causes(report: Report) -> list[dict[str, Any]]:
    places = {id(result): number for number, result in enumerate(report.results)}
    return [
        {
            "id": cause.id,
            "headline": cause.headline,
            "decision": cause.decision,
            "level": cause.level,
            "impact": cause.impact,
            "binding": cause.binding,
            "cases": len(cause.results),
            "checks": cause.checks,
            "example": cause.example.case,
            "results": [places[id(result)] for result in cause.results],
        }
        for cause in causes_of(report.results, report.gate)
    ]


def _cited(report: Report) -> dict[str, Mapping[str, Any]]:
    """The exchanges that some result names: the report proves what is not as it should be, it is no traffic log."""
    loud = (result for result in report.results if report.all_evidence or not _quiet(result))
    wanted = {exchange for result in loud for exchange in result.evidence}
    return {key: value for key, value in report.exchanges.items() if key in wanted}


def report_schema() -> str:
    """Return the JSON Schema of version 1, as published in docs/report-v1.schema.json.

    It admits members that it does not know, for version 1 may still gain some.
    """
    schema = ReportV1.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "mcp-auth-contract report, version 1"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
