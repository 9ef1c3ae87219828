"""The formats for machines: JSON keeps to its schema, JUnit tells a shut gate, and neither carries a hostile byte."""

import json
import unicodedata
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from tests.unit.reports.examples import (
    CURL,
    ESCAPES,
    RESULTS,
    exchange,
    green,
    hostile,
    interrupted,
    report,
    text_of,
    waived,
)

from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Level, NotApplicable
from mcp_auth_contract.reports.json_v1 import render_json, report_schema
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import encodable, printable
from mcp_auth_contract.reports.reading import read_report

REPORTS = {"report": report, "interrupted": interrupted, "green": green, "hostile": hostile, "waived": waived}
SCHEMA = json.loads(report_schema())


def read_back(whole: Report) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(render_json(whole))
    return read


def junit(whole: Report) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(whole))


@pytest.mark.parametrize("name", REPORTS)
def test_a_json_report_keeps_to_its_published_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(read_back(REPORTS[name]()))


@pytest.mark.parametrize("member", ["version", "kit", "gate", "counts", "results", "interrupted", "exchanges"])
def test_the_schema_demands_what_a_report_always_has(member: str) -> None:
    value = read_back(report())
    del value[member]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA)


def test_the_schema_admits_members_that_version_1_may_gain() -> None:
    value = read_back(report())
    value["added"] = value["results"][0]["added"] = value["gate"]["added"] = 1
    jsonschema.validate(value, SCHEMA)


def test_the_schema_refuses_outcomes_and_levels_that_do_not_exist() -> None:
    for member, word in (("outcome", "skipped"), ("level", "MIGHT")):
        value = read_back(report())
        value["results"][0][member] = word
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value, SCHEMA)


def test_json_tells_every_result_with_what_belongs_to_its_outcome() -> None:
    value = read_back(report())
    assert [one["case"] for one in value["results"]] == [result.case for result in RESULTS]
    for one in value["results"]:
        failed = one["outcome"] == "fail"
        assert (one["expected"] is not None) == (one["observed"] is not None) == failed
        assert (one["reason"] is not None) == (one["outcome"] in ("inconclusive", "not_applicable", "error"))
        assert one["advice"] is None or one["outcome"] == "pass"
        assert one["waived"] is None
        assert all(citation["url"].startswith("https://") for citation in one["citations"])


def test_json_counts_add_up_and_the_gate_is_told() -> None:
    value = read_back(report())
    assert value["counts"] == {"pass": 2, "fail": 8, "inconclusive": 2, "not_applicable": 1, "error": 1}
    assert sum(value["counts"].values()) == len(value["results"])
    assert value["gate"]["open"] is False
    assert value["gate"]["exit_code"] == 4
    assert len(value["gate"]["reasons"]) == 3


def test_json_tells_the_milder_impact_of_a_failure() -> None:
    impacts = [one["impact"] for one in read_back(report())["results"] if one["check"] == "token-expired-refused"]
    assert impacts == ["auth-bypass", "interop"]


def test_json_holds_the_exchanges_that_a_result_cites_and_no_traffic_log() -> None:
    value = read_back(report())
    assert set(value["exchanges"]) == {"x1", "x3", "x4", "x5"}
    cited = {identity for one in value["results"] for identity in one["evidence"]}
    assert cited == set(value["exchanges"])


def test_what_passed_is_told_in_short_and_what_it_has_in_common_once() -> None:
    whole = report([replace(RESULTS[0], evidence=("x1",)), *RESULTS[1:]])
    value = read_back(whole)
    first = value["results"][0]
    assert (first["citations"], first["remedy"], first["evidence"], first["about"]) == ([], "", [], None)
    assert value["checks"]["prm-served"] == {
        "impact": "interop",
        "remedy": RESULTS[0].check.remedy,
        "citations": ["rfc9728-3.2"],
        "requirements": list(RESULTS[0].check.requirements),
    }
    assert value["citations"]["rfc9728-3.2"]["label"] == "RFC 9728 §3.2"
    assert value["results"][1]["about"] == {"kind": "tool", "operation": "get_invoice", "principal": "alice"}
    again = read_report(render_json(whole), "r.json")
    assert (again.results[0].check.cites, again.results[0].check.remedy) == (("rfc9728-3.2",), RESULTS[0].check.remedy)
    everything = read_back(replace(whole, all_evidence=True))
    assert everything["results"][0]["evidence"] == ["x1"]
    assert read_report(json.dumps(everything), "r.json").all_evidence


def test_json_is_ascii_and_ends_with_a_line_break() -> None:
    text = render_json(hostile())
    assert text.isascii()
    assert text.endswith("}\n")


def test_junit_counts_what_it_holds() -> None:
    suites = junit(report())
    tags = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for element in (suites, *suites):
        assert int(element.get("tests", "-1")) == len(list(element.iter("testcase")))
        for counted, tag in tags.items():
            assert int(element.get(counted, "-1")) == len(list(element.iter(tag)))
    assert [suite.get("name") for suite in suites] == ["challenge", "prm", "scope", "token"]


def test_junit_fails_for_what_shuts_the_gate_and_skips_the_rest() -> None:
    def kinds(whole: Report) -> dict[str, str]:
        return {
            case.get("name", ""): next((child.tag for child in case if child.tag != "system-out"), "passed")
            for case in junit(whole).iter("testcase")
        }

    seen = kinds(report())
    assert seen["token-expired-refused[get_invoice] (2026-07-28)"] == "failure"
    assert seen["prm-resource-name"] == "skipped"
    assert seen["challenge-delete-gated[get_invoice] (2025-11-25)"] == "error"
    assert seen["challenge-scope-advertised[get_invoice] (2026-07-28)"] == "skipped"
    assert seen["challenge-delete-gated"] == "skipped"
    assert seen["challenge-scope-advertised[list_invoices] (2025-11-25)"] == "error"
    assert seen["prm-served"] == "passed"
    strict = kinds(report(fail_on=Level.SHOULD))
    assert strict["prm-resource-name"] == "failure"
    assert strict["challenge-scope-advertised[get_invoice] (2026-07-28)"] == "error"


def test_junit_keeps_a_command_whole() -> None:
    failure = next(junit(report()).iter("failure"))
    whole = junit(report([replace(RESULTS[1], reproduce=CURL + " " + "x" * 2000)]))
    assert failure.get("type")
    assert (next(whole.iter("failure")).text or "").rstrip().endswith("x" * 2000)


def test_junit_shows_a_gate_that_is_shut_though_no_case_is_to_blame() -> None:
    nothing = report([replace(RESULTS[12], outcome=NotApplicable("no sessions"))])
    cut = report([RESULTS[0]], interrupted=True)
    for whole, reason in (
        (nothing, "no check was run at all"),
        (cut, "the run was interrupted"),
        (report([]), "no check"),
    ):
        (error,) = junit(whole).iter("error")
        assert reason in (error.get("message") or "")
        assert junit(whole).get("errors") == "1"
    assert list(junit(green()).iter("error")) == []
    assert junit(report()).find("testsuite[@name='gate']") is None


def test_junit_shows_a_stale_waiver_beside_the_failures() -> None:
    whole = report(RESULTS[:2], gate=decide(RESULTS[:2], stale=["w.toml: waiver 1 (check x): expired"]))
    assert [failure.get("type") for failure in junit(whole).iter("failure")] == ["auth-bypass"]
    (error,) = junit(whole).iter("error")
    assert error.get("message") == "w.toml: waiver 1 (check x): expired"


def test_waived_failures_are_skipped_and_told_in_properties() -> None:
    suites = junit(waived())
    assert (suites.get("failures"), suites.get("skipped"), suites.get("errors")) == ("0", "7", "1")
    case = suites.find(".//testcase[@name='token-expired-refused[get_invoice] (2026-07-28)']")
    assert case is not None
    told = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert told == {
        "waived.reason": "the gateway checks it",
        "waived.owner": "ops | team",
        "waived.expires": "2026-09-01",
    }
    assert [child.tag for child in case] == ["properties", "skipped"]


def test_nothing_that_a_terminal_obeys_is_in_the_text_report() -> None:
    text = text_of(hostile())
    bad = {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Co")}
    assert bad == set()
    text.encode("utf-8")
    assert not any(line.startswith("INJECTED") for line in text.splitlines())


def test_junit_of_a_hostile_server_parses_and_holds_only_its_own_elements() -> None:
    text = render_junit(hostile())
    suites = ElementTree.fromstring(text)
    text.encode("utf-8")
    known = {"testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out"}
    assert {element.tag for element in suites.iter()} == known
    assert "]]>" not in text
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Co") for char in text if char != "\n")


def test_json_of_a_hostile_server_is_readable_by_strict_readers() -> None:
    text = render_json(hostile())
    json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    kept = json.loads(text)["exchanges"]["x9"]["response"]["body"]
    assert kept == ESCAPES.replace("\ud800", "\ufffd")


def test_a_surrogate_in_an_exchange_costs_no_report() -> None:
    broken = report(exchanges={"x1": exchange("x1", 200, body="\udcff\ud83d\ude00")})
    assert json.loads(render_json(broken))["exchanges"]["x1"]["response"]["body"] == "\ufffd\U0001f600"


def test_encodable_leaves_other_values_as_they_are() -> None:
    value = {"a": [1, 2.5, None, True, "\ud800é"], "\udfff": ("x",)}
    assert encodable(value) == {"a": [1, 2.5, None, True, "\ufffdé"], "\ufffd": ["x"]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with é and 発票", "plain, with é and 発票"),
        ("\x1b[31m", "\\u001b[31m"),
        ("a\nb\tc\r", "a\\u000ab\\u0009c\\u000d"),
        ("\u202eabc\u200b", "\\u202eabc\\u200b"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\ud800", "\\ud800"),
        ("\U000e0001\uffff", "\\U000e0001\\uffff"),
        ("", ""),
    ],
)
def test_printable_escapes_what_cannot_be_seen(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_printable_cuts_floods() -> None:
    assert printable("x" * 10_000) == "x" * 599 + "…"
    assert printable("x" * 600) == "x" * 600
    assert len(printable("\x00" * 10_000, limit=50)) == 50
