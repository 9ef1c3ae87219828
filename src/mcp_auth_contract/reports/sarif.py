"""SARIF 2.1.0, for code scanning: what did not pass, on the line of the contract that declares what it is about.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.contract.source import declared_lines
from mcp_auth_contract.model import Impact, Level
from mcp_auth_contract.reports.groups import SHOWN, Part, part_of, sources
from mcp_auth_contract.reports.model import About, Report, Result
from mcp_auth_contract.reports.plain import encodable, printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

SEVERITIES: Mapping[Impact, str] = {
    Impact.AUTH_BYPASS: "9.8",
    Impact.AUDIENCE_CONFUSION: "9.1",
    Impact.PRIVILEGE_ESCALATION: "8.8",
    Impact.TENANT_LEAK: "8.6",
    Impact.SESSION_HIJACK: "8.1",
    Impact.SECRET_DISCLOSURE: "7.5",
    Impact.AVAILABILITY: "5.3",
    Impact.INTEROP: "3.1",
    Impact.HYGIENE: "2.0",
}
"""What code scanning sorts by (security-severity, as a CVSS score), by impact."""

_TOLD = frozenset({Part.FAILED, Part.RECOMMENDED, Part.WAIVED, Part.INCONCLUSIVE, Part.INCONCLUSIVE_RECOMMENDED})
_LONGEST = 4000
_PLACES = {"tool": "tools", "resource": "resources", "prompt": "prompts"}


def render_sarif(report: Report) -> str:
    """Render a report as SARIF 2.1.0, ending with a line break.

    A failure that shuts the gate is an error, a failed recommendation a warning, a waived failure a suppressed result;
    what was inconclusive is open. Kit errors, and reasons of the gate that no case shows, are notifications.
    """
    told = [result for result in report.results if part_of(result, report.gate) in _TOLD]
    checks = {result.check.id: result.check for result in told}
    places = {check: place for place, check in enumerate(checks)}
    lines = declared_lines(report.source or "")
    detailed: dict[str, int] = {}
    results = []
    for result in told:
        detailed[result.check.id] = detailed.get(result.check.id, 0) + 1
        shown = detailed[result.check.id] <= SHOWN
        results.append(_result(report, result, places[result.check.id], lines, with_exchange=shown))
    run = {
        "tool": {
            "driver": {
                "name": "mcp-auth-contract",
                "version": report.kit_version,
                "rules": [_rule(check) for check in checks.values()],
            }
        },
        "automationDetails": {"id": f"mcp-auth-contract/{report.contract}"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "properties": {
            "gate": {"open": report.gate.open, "reasons": list(report.gate.reasons)},
            "counts": report.counts,
            "target": report.server.url,
        },
        "results": results,
    }
    value = encodable({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


def _rule(check: Check) -> dict[str, Any]:
    url = next((CITATIONS[key].url for key in check.cites), None)
    links = "; ".join(f"[{CITATIONS[key].label}]({CITATIONS[key].url})" for key in check.cites)
    why, remedy = " ".join(check.why.split()), " ".join(check.remedy.split())
    return {
        "id": check.id,
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": why or check.title},
        "help": {
            "text": "\n".join(filter(None, (why, f"How to fix it: {remedy}", f"Source: {sources(check)}"))),
            "markdown": "\n\n".join(filter(None, (why, f"**How to fix it:** {remedy}", f"**Source:** {links}"))),
        },
        **({"helpUri": url} if url else {}),
        "defaultConfiguration": {"level": "error" if check.level is Level.MUST else "warning"},
        "properties": {
            "security-severity": SEVERITIES[check.impact],
            "precision": "very-high",
            "tags": ["security", "mcp", f"family/{check.family}", f"impact/{check.impact.value}", check.level.value],
        },
    }


def _result(
    report: Report, result: Result, place: int, lines: Mapping[tuple[str, str], int], *, with_exchange: bool
) -> dict[str, Any]:
    part = part_of(result, report.gate)
    failed = part in (Part.FAILED, Part.RECOMMENDED, Part.WAIVED)
    level = "error" if result.check.level is Level.MUST or part is Part.FAILED else "warning"
    revision = f" [MCP {result.revision}]" if result.revision else ""
    told: dict[str, Any] = {
        "ruleId": result.check.id,
        "ruleIndex": place,
        "kind": "fail" if failed else "open",
        "level": level if failed else "none",
        "message": {"text": printable(f"{result.sentence}{revision}", limit=_LONGEST)},
        "locations": [_location(report, result.about, lines)],
        "partialFingerprints": {"mcpAuthContract/v1": _fingerprint(result)},
        "properties": {"impact": result.impact, "evidence": list(result.evidence)},
    }
    if result.waived is not None:
        waiver = result.waived
        justification = f"{waiver.reason} ({waiver.owner}, until {waiver.expires})"
        told["suppressions"] = [{"kind": "external", "status": "accepted", "justification": printable(justification)}]
    exchange = next((report.exchanges[key] for key in result.evidence if key in report.exchanges), None)
    if failed and with_exchange and exchange is not None:
        told |= _web(exchange)
    return told


def _location(report: Report, about: About, lines: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if not report.contract.startswith("("):
        line = next((lines[key] for key in _keys(about) if key in lines), 1)
        uri = quote(printable(report.contract).replace("\\", "/"), safe="/:.~-_")
        base = {} if report.contract.startswith("/") or ":" in uri else {"uriBaseId": "%SRCROOT%"}
        place["physicalLocation"] = {
            "artifactLocation": {"uri": uri, **base},
            "region": {"startLine": line},
        }
    name = about.operation or report.server.url
    return {**place, "logicalLocations": [{"name": name, "fullyQualifiedName": f"{report.server.url} {name}"}]}


def _keys(about: About) -> Iterator[tuple[str, str]]:
    """Where the contract may declare what a case is about, the closest first."""
    if about.record:
        yield "records", about.record
    if about.kind in _PLACES:
        yield _PLACES[about.kind], about.operation
    if about.principal:
        yield "principals", about.principal
    yield "target", ""


def _fingerprint(result: Result) -> str:
    text = f"{result.check.id}\n{result.case}\n{result.revision or ''}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _web(exchange: Mapping[str, Any]) -> dict[str, Any]:
    request, response = exchange.get("request") or {}, exchange.get("response")
    told: dict[str, Any] = {
        "webRequest": {
            "protocol": "HTTP",
            "method": str(request.get("method", "")),
            "target": str(request.get("url", "")),
            "headers": _headers(request.get("headers") or []),
            "body": {"text": str(request.get("body") or "")[:_LONGEST]},
        }
    }
    if response is None:
        told["webResponse"] = {"noResponseReceived": True}
    else:
        told["webResponse"] = {
            "protocol": "HTTP",
            "statusCode": int(response.get("status") or 0),
            "headers": _headers(response.get("headers") or []),
            "body": {"text": str(response.get("body") or "")[:_LONGEST]},
        }
    return told


def _headers(lines: Iterable[Sequence[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in lines:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _invocation(report: Report) -> dict[str, Any]:
    errors = [result for result in report.results if part_of(result, report.gate) is Part.ERROR]
    notes = [
        {
            "level": "error",
            "message": {"text": printable(result.sentence, limit=_LONGEST)},
            "associatedRule": {"id": result.check.id},
        }
        for result in errors
    ]
    shown = not errors and any(part_of(result, report.gate) in _TOLD for result in report.results)
    cut = ("the run was interrupted",) if report.interrupted else ()
    reasons = (*cut, *report.gate.stale) if shown else report.gate.reasons
    notes += [{"level": "error", "message": {"text": printable(reason, limit=_LONGEST)}} for reason in reasons]
    return {
        "executionSuccessful": not report.interrupted and not errors,
        "exitCode": report.gate.exit_code,
        "exitCodeDescription": f"gate {'open' if report.gate.open else 'shut'}",
        "toolExecutionNotifications": notes,
    }
