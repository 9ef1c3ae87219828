"""The JSON report, version 1: the stable interface, with types of its own and a published JSON Schema."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Pass, outcome_name
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import encodable

OutcomeName = Literal["pass", "fail", "inconclusive", "not_applicable", "error"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_serialization_defaults_required=True)


class KitV1(_Part):
    """The kit that wrote the report."""

    version: str


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
    stale: list[str] = Field(default=[], description="The reasons that are about waivers which are no longer true.")


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
    citations: list[CitationV1]
    remedy: str
    reproduce: str | None
    evidence: list[str] = Field(description="Ids of exchanges.")
    waived: WaivedV1 | None = Field(default=None, description="The waiver that covers a failure.")
    reported_by: str | None = Field(
        default=None, description="The check that reports what an inconclusive case could not observe."
    )


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
    results: list[ResultV1]
    exchanges: dict[str, dict[str, Any]] = Field(description="Redacted HTTP exchanges by id.")
    requests: int | None = Field(default=None, description="How many were made, cited or not.")
    options: list[str] = Field(default=[], description="Words of a command line that repeats the run.")
    waivers: list[WaiverV1] = Field(default=[], description="All waivers that the run was given.")
    shard: ShardV1 | None = Field(default=None, description="Null for a run of the whole plan.")


def _result(result: Result) -> dict[str, Any]:
    check, outcome = result.check, result.outcome
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
        "citations": [{**asdict(one), "label": one.label} for one in map(CITATIONS.__getitem__, check.cites)],
        "remedy": check.remedy,
        "reproduce": result.reproduce,
        "evidence": result.evidence,
        "waived": result.waived and asdict(result.waived),
        "reported_by": outcome.reported_by if isinstance(outcome, Inconclusive) else None,
    }


def render_json(report: Report) -> str:
    """Render a report as JSON version 1, ending with a line break."""
    server = report.server
    value = {
        "kit": {"version": report.kit_version},
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
        "results": [_result(result) for result in report.results],
        "exchanges": _cited(report),
        "requests": report.sent,
        "options": report.options,
        "waivers": [asdict(waiver) for waiver in report.waivers],
        "shard": report.shard and asdict(report.shard),
    }
    checked = ReportV1.model_validate(encodable(value))
    return json.dumps(checked.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=True) + "\n"


def _cited(report: Report) -> dict[str, Mapping[str, Any]]:
    """The exchanges that some result names: the report proves its results, it is no traffic log."""
    wanted = {exchange for result in report.results for exchange in result.evidence}
    return {key: value for key, value in report.exchanges.items() if key in wanted}


def report_schema() -> str:
    """Return the JSON Schema of version 1, as published in docs/report-v1.schema.json.

    It admits members that it does not know, for version 1 may still gain some.
    """
    schema = ReportV1.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "mcp-auth-contract report, version 1"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
