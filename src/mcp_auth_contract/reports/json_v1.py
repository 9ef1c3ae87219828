"""The JSON report, version 1: the stable interface, with types of its own and a published JSON Schema."""

import datetime
import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Pass, outcome_name
from mcp_auth_contract.reports.plain import encodable
from mcp_auth_contract.runner.result import Report, Result
from mcp_auth_contract.runner.waiver import Waiver

__all__ = ["ReportV1", "render_json", "report_schema"]

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
    exit_code: int = Field(description="0 open, 1 a clause is broken, 3 not observable, 4 a fault in the kit.")
    reasons: list[str]
    binding: list[Literal["MUST", "SHOULD", "MAY"]] = Field(
        default=["MUST"], description="The levels whose broken and unseen clauses shut the gate."
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
    expected: str | None = None
    observed: str | None = None
    reason: str | None = None
    advice: str | None = None
    match result.outcome:
        case Fail(expected=expected, observed=observed):
            pass
        case Inconclusive(reason=reason) | NotApplicable(reason=reason) | Error(reason=reason):
            pass
        case Pass(advice=advice):
            pass
    check = result.check
    return {
        "check": check.id,
        "case": result.case,
        "title": check.title,
        "revision": result.revision.value if result.revision else None,
        "level": check.level.value,
        "impact": result.impact,
        "outcome": outcome_name(result.outcome),
        "expected": expected,
        "observed": observed,
        "reason": reason,
        "advice": advice,
        "citations": [
            {"key": key, "label": CITATIONS[key].label, "title": CITATIONS[key].title, "url": CITATIONS[key].url}
            for key in check.cites
        ],
        "remedy": check.remedy,
        "reproduce": result.reproduce,
        "evidence": list(result.evidence),
        "waived": _waived(result.waived) if result.waived is not None else None,
    }


def _waived(waiver: Waiver) -> dict[str, Any]:
    return {"reason": waiver.reason, "owner": waiver.owner, "expires": waiver.expires}


def _waiver(waiver: Waiver) -> dict[str, Any]:
    names = {"file": waiver.file, "number": waiver.number, "check": waiver.check, "case": waiver.case}
    return {**names, **_waived(waiver), "judged": waiver.judged}


def render_json(report: Report) -> str:
    """Render a report as JSON version 1, ending with a line break."""
    target = report.target
    value = ReportV1.model_validate(
        encodable(
            {
                "kit": {"version": report.kit_version},
                "contract": report.contract,
                "target": {
                    "url": target.url,
                    "resource": target.resource,
                    "revisions": [revision.value for revision in target.revisions],
                    "server": {"name": target.name, "version": target.version},
                },
                "started": report.started,
                "duration_s": round(report.duration_s, 3),
                "interrupted": report.interrupted,
                "notes": list(report.notes),
                "gate": {
                    "open": report.gate.open,
                    "exit_code": report.gate.exit_code,
                    "reasons": list(report.gate.reasons),
                    "binding": [level.value for level in report.gate.binding],
                    "stale": list(report.gate.stale),
                },
                "counts": report.counts,
                "controls": [
                    {
                        "operation": control.operation,
                        "principal": control.principal,
                        "revision": control.revision.value,
                        "held": control.held,
                        "observed": control.observed,
                    }
                    for control in report.controls
                ],
                "coverage": [
                    {
                        "kind": kind.kind,
                        "listed": kind.listed,
                        "covered": kind.covered,
                        "missing": list(kind.missing),
                    }
                    for kind in report.coverage
                ],
                "results": [_result(result) for result in report.results],
                "exchanges": _cited(report),
                "requests": report.sent,
                "options": list(report.options),
                "waivers": [_waiver(waiver) for waiver in report.waivers],
                "shard": None
                if report.shard is None
                else {"index": report.shard.index, "of": report.shard.of, "plan": report.shard.plan},
            }
        )
    )
    return json.dumps(value.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=True) + "\n"


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
