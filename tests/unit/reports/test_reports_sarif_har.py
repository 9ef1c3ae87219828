"""SARIF keeps to its schema and points to the contract's lines; HAR has what a viewer needs."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.reports.examples import ENDPOINT, RESULTS, exchange, green, hostile, interrupted, report, waived

from mcp_auth_contract.model import Impact
from mcp_auth_contract.reports.har import render_har
from mcp_auth_contract.reports.model import About, Report
from mcp_auth_contract.reports.sarif import SEVERITIES, render_sarif

SCHEMA = json.loads((Path(__file__).parents[2] / "data" / "sarif-2.1.0.schema.json").read_text("utf-8"))
REPORTS = {"report": report, "interrupted": interrupted, "green": green, "hostile": hostile, "waived": waived}


def run(whole: Report) -> dict[str, Any]:
    (one,) = json.loads(render_sarif(whole))["runs"]
    return dict(one)


def log(whole: Report) -> dict[str, Any]:
    return dict(json.loads(render_har(whole))["log"])


@pytest.mark.parametrize("name", REPORTS)
def test_sarif_keeps_to_its_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(render_sarif(REPORTS[name]())))


def test_the_schema_is_not_blind() -> None:
    value = json.loads(render_sarif(report()))
    value["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA)


def test_every_result_names_its_rule_and_what_passed_is_left_out() -> None:
    told = run(report())
    rules = told["tool"]["driver"]["rules"]
    assert len(told["results"]) == 8 + 2
    for result in told["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [result["partialFingerprints"]["mcpAuthContract/v1"] for result in told["results"]]
    assert len(set(prints)) == len(prints)


def test_levels_tell_what_shuts_the_gate() -> None:
    levels = {(one["ruleId"], one["kind"], one["level"]) for one in run(report())["results"]}
    assert levels == {
        ("token-expired-refused", "fail", "error"),
        ("scope-missing-denied", "fail", "error"),
        ("prm-resource-name", "fail", "warning"),
        ("challenge-delete-gated", "open", "none"),
        ("challenge-scope-advertised", "open", "none"),
    }


def test_a_rule_has_help_a_source_and_a_severity() -> None:
    rule = run(report())["tool"]["driver"]["rules"][0]
    assert rule["properties"]["security-severity"] == "9.8"
    assert "Let the JWT library check exp" in rule["help"]["text"]
    assert "(https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4)" in rule["help"]["markdown"]
    assert rule["helpUri"].startswith("https://")
    assert set(SEVERITIES) == set(Impact)
    assert all(0 < float(score) <= 10 for score in SEVERITIES.values())


@pytest.mark.parametrize(
    ("about", "line"),
    [
        (About("tool", "get_invoice", "alice"), "[[tools]]"),
        (About("tool", "unknown", "alice"), "[principals.alice]"),
        (About(record="INV-1"), "[target]"),
        (About(), "[target]"),
    ],
)
def test_a_result_stands_on_the_line_that_declares_what_it_is_about(about: About, line: str) -> None:
    whole = report([replace(RESULTS[1], about=about)])
    (place,) = run(whole)["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "invoices.toml", "uriBaseId": "%SRCROOT%"}
    number = place["physicalLocation"]["region"]["startLine"]
    assert (whole.source or "").splitlines()[number - 1] == line


def test_a_report_without_a_contract_names_the_target_alone() -> None:
    whole = report(RESULTS[1:2], contract="(none: anonymous probe)", source=None)
    (place,) = run(whole)["results"][0]["locations"]
    assert "physicalLocation" not in place
    assert ENDPOINT in place["logicalLocations"][0]["fullyQualifiedName"]


def test_a_waived_failure_is_suppressed_and_a_stale_waiver_is_a_notification() -> None:
    told = run(waived())
    suppressed = [one for one in told["results"] if "suppressions" in one]
    assert len(suppressed) == 7
    assert suppressed[0]["suppressions"][0]["justification"] == "the gateway checks it (ops | team, until 2026-09-01)"
    notes = [note["message"]["text"] for note in told["invocations"][0]["toolExecutionNotifications"]]
    assert notes == list(waived().gate.stale)


def test_an_interrupted_run_and_a_kit_error_are_no_success() -> None:
    assert run(green())["invocations"][0]["executionSuccessful"] is True
    for whole in (interrupted(), report()):
        invocation = run(whole)["invocations"][0]
        assert invocation["executionSuccessful"] is False
        assert invocation["toolExecutionNotifications"]


def test_har_has_the_cited_exchanges_in_the_order_of_time() -> None:
    told = log(report())
    assert (told["version"], told["creator"]["version"]) == ("1.2", "1.2.3")
    assert [one["comment"].split(";")[0] for one in told["entries"]] == ["x1", "x3", "x4", "x5"]
    first = told["entries"][0]
    assert datetime.fromisoformat(first["startedDateTime"]) == datetime.fromisoformat("2026-08-22T10:00:00.250+00:00")
    assert first["time"] == 12.0
    assert "prm-resource-name" in first["comment"]


@pytest.mark.parametrize("name", REPORTS)
def test_every_entry_has_what_the_format_demands(name: str) -> None:
    for one in log(REPORTS[name]())["entries"]:
        assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= set(one)
        common = {"httpVersion", "cookies", "headers", "headersSize", "bodySize"}
        assert common | {"method", "url", "queryString"} <= set(one["request"])
        assert common | {"status", "statusText", "content", "redirectURL"} <= set(one["response"])
        assert {"send", "wait", "receive"} == set(one["timings"])
        assert {"size", "mimeType"} <= set(one["response"]["content"])


def test_an_exchange_without_a_response_has_status_0_and_says_why() -> None:
    failed = {**exchange("x1", 200), "response": None, "trouble": "timeout", "detail": "read"}
    (one,) = log(report([replace(RESULTS[1], evidence=("x1",))], exchanges={"x1": failed}))["entries"]
    assert (one["response"]["status"], one["response"]["comment"]) == (0, "timeout read")
    assert run(report([replace(RESULTS[1], evidence=("x1",))], exchanges={"x1": failed}))["results"][0][
        "webResponse"
    ] == {"noResponseReceived": True}


def test_a_query_is_split_and_a_body_is_posted() -> None:
    sent = exchange("x1", 404)
    sent["request"].update(url=f"{ENDPOINT}?a=1&b=", body='{"a": 1}', headers=[["Content-Type", "application/json"]])
    (one,) = log(report([replace(RESULTS[1], evidence=("x1",))], exchanges={"x1": sent}))["entries"]
    assert one["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]
    assert one["request"]["postData"] == {"mimeType": "application/json", "text": '{"a": 1}', "params": []}
    assert one["response"]["statusText"] == "Not Found"


def test_a_report_that_tells_no_time_costs_nothing() -> None:
    assert log(report(RESULTS[1:2], started="yesterday"))["entries"][0]["startedDateTime"].startswith("1970-")
