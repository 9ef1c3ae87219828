"""Failures are told by what they come down to: the worst first, on one screen, each check in one cause."""

import json
import re
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from tests.unit.reports.examples import (
    ABOUT,
    BYPASS,
    EXPIRED,
    NEWEST,
    RESULTS,
    SCOPE,
    exchange,
    green,
    report,
    short_of,
)

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.model import Fail, Impact, Inconclusive, Level
from mcp_auth_contract.reports.causes import causes_of, load_causes
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.model import About, ControlSeen, Report, Result
from mcp_auth_contract.reports.reading import read_report
from mcp_auth_contract.reports.text import SCREEN
from mcp_auth_contract.reports.traffic import answered, asked
from mcp_auth_contract_lab.breaks import read_breaks

CHECKS = {check.id: check for check in load_builtin()}
WORDS = re.compile(r"\b(?:JWT|JWKS|RFC|PKCE|bearer|claims?|audience|issuer|iss|aud|exp|nbf|OAuth|scopes?)\b")


def failed(check: str, observed: str = "200 with a result", operation: str = "get_invoice", **more: object) -> Result:
    about = About("tool", operation, "bob", "alice")
    return Result(f"{check}[{operation}]", CHECKS[check], NEWEST, Fail("401", observed, **more), about=about)  # type: ignore[arg-type]


def told(*results: Result) -> list[tuple[str, int]]:
    return [(cause.id, len(cause.results)) for cause in causes_of(results, report(results).gate)]


def test_each_check_has_a_cause_and_each_pattern_a_check() -> None:
    used: Counter[tuple[str, str]] = Counter()
    for check in CHECKS:
        entry = next((one for one in load_causes() if one.place(check) is not None), None)
        assert entry is not None, check
        used[entry.id, next(one for one in entry.checks if fnmatchcase(check, one))] += 1
    assert [(entry.id, one) for entry in load_causes() for one in entry.checks if not used[entry.id, one]] == []


def test_a_headline_needs_no_knowledge_of_oauth() -> None:
    assert {entry.id: WORDS.findall(entry.headline) for entry in load_causes() if WORDS.search(entry.headline)} == {}
    assert all(entry.decision.endswith(".") and not entry.headline.endswith(".") for entry in load_causes())


def test_what_one_fault_of_the_sample_server_breaks_is_few_causes() -> None:
    numbers = Counter[int]()
    for checks in read_breaks().values():
        results = [failed(check) for check in checks if check in CHECKS]
        numbers[len(causes_of(results, report(results).gate))] += 1
    assert numbers[1] > 0.8 * numbers.total()
    assert sum(many for causes, many in numbers.items() if causes <= 3) > 0.98 * numbers.total()


def test_a_5xx_is_a_breakdown_whatever_the_check() -> None:
    results = [failed(check, "500") for check in ("token-audience-other-refused", "token-alg-none-refused")]
    assert told(*results, failed("token-expired-refused")) == [("crash", 2), ("expiry", 1)]
    (cause,) = causes_of(results, report(results).gate)
    assert cause.headline == "The server breaks down (500) where it should say no"
    assert told(failed("prm-served", "500")) == [("resource-metadata", 1)]


def test_a_refusal_in_the_wrong_form_is_no_bypass() -> None:
    assert told(failed("token-expired-refused", "403", impact=Impact.INTEROP)) == [("refusal-form", 1)]


def test_one_cause_hides_what_it_brings_along_but_nothing_that_fails_by_itself() -> None:
    forged = failed("token-signed-by-stranger-refused")
    assert told(forged, failed("token-alg-none-refused"), failed("token-jku-refused-without-fetching")) == [
        ("signature", 3)
    ]
    assert told(forged, failed("session-delete-bad-token-refused")) == [("signature", 2)]
    assert told(forged, failed("session-foreign-delete-refused")) == [("signature", 1), ("session", 1)]


def test_operations_are_told_apart_up_to_two() -> None:
    two = [failed("scope-missing-denied", operation=name) for name in ("write_note", "delete_note")]
    headlines = [cause.headline for cause in causes_of(two, report(two).gate)]
    assert headlines == [
        "Write_note runs with a token that was not given the right to it",
        "Delete_note runs with a token that was not given the right to it",
    ]
    three = [*two, failed("scope-missing-denied", operation="send_note")]
    (cause,) = causes_of(three, report(three).gate)
    assert cause.headline.endswith(": write_note, delete_note, send_note")
    (cause,) = causes_of([failed("isolation-read-denied")], report([failed("isolation-read-denied")]).gate)
    assert cause.headline == "Bob gets the data of alice through get_invoice"


def test_the_worst_comes_first_and_the_plainest_case_is_the_example() -> None:
    results = [
        failed("token-audience-empty-list-refused"),
        failed("prm-served", "404"),
        failed("token-audience-other-refused"),
        failed("token-expired-refused"),
        failed("prm-resource-name", "no such member"),
    ]
    causes = causes_of(results, report(results).gate)
    assert [(cause.id, cause.binding) for cause in causes] == [
        ("expiry", True),
        ("audience", True),
        ("resource-metadata", True),
        ("resource-metadata", False),
    ]
    assert causes[1].example.check.id == "token-audience-other-refused"


def test_a_check_of_a_users_own_is_a_cause_by_itself() -> None:
    own = replace(EXPIRED, id="billing-own", family="billing", title="A bill is refused", remedy="Refuse it.")
    (cause,) = causes_of([replace(RESULTS[1], check=own)], report().gate)
    assert (cause.id, cause.headline, cause.decision) == ("billing-own", "Not so: A bill is refused", "Refuse it.")


def crowded() -> Report:
    """A report of many causes, each with many cases."""
    checks: list[Check] = list(CHECKS.values())
    results = [failed(check.id, operation=f"tool_{number}") for number in range(3) for check in checks]
    results += [replace(RESULTS[9], outcome=Inconclusive(f"reason {number}")) for number in range(30)]
    return report([replace(one, evidence=("x3",)) for one in results], notes=())


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_short_report_fits_a_screen_and_ends_in_the_headlines_and_the_decision(width: int) -> None:
    for whole in (crowded(), report(), green()):
        lines = short_of(whole, width).splitlines()
        assert len(lines) <= SCREEN
        assert any(line.startswith("gate ") for line in lines[-3:])
    lines = short_of(crowded(), width).splitlines()
    assert "The server breaks down" not in lines[1]
    assert lines[1].startswith("broken          Without any sign-in")
    assert [line for line in lines if line.startswith(("1. Without any sign-in", "2. "))]


def test_all_well_fits_a_screen_and_counts_the_rest() -> None:
    text = short_of(green())
    assert "Not shown: 1 not applicable; -v shows everything." in text
    assert text.splitlines()[-1] == "gate open (exit 0)"


def test_a_refused_control_is_told_in_few_lines() -> None:
    lost = Inconclusive('the control was not accepted: 401 with error="invalid_token"')
    results = [replace(failed(check), outcome=lost) for check in CHECKS if CHECKS[check].level is Level.MUST]
    refused = ControlSeen("get_invoice", "alice", NEWEST, accepted=False, observed='401 with error="invalid_token"')
    lines = short_of(report(results, controls=(refused,), notes=(), coverage=())).splitlines()
    assert len(lines) <= 15
    assert "Not observed" in lines[1]
    assert any("NOT ACCEPTED" in line for line in lines)


def test_the_example_shows_request_and_answer_in_a_line_each() -> None:
    body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_invoice","arguments":{}}}'
    one = exchange("x3", 401, headers=[["WWW-Authenticate", 'Bearer error="invalid_token"']], body="\n no ")
    one["request"]["body"] = body
    assert asked(one) == "POST /mcp tools/call get_invoice, Authorization: Bearer token-expired#3f9a1c2e"
    assert answered(one) == '401, WWW-Authenticate: Bearer error="invalid_token": no'
    one["request"] |= {"headers": [], "body": "[" * 100_000, "url": "https://h/mcp?a=b"}
    assert asked(one) == "POST /mcp?a=b, without a token"
    assert answered({**one, "response": None, "trouble": "timeout", "detail": ""}) == "timeout"


def test_json_has_the_same_causes_and_they_survive_reading() -> None:
    text = render_json(report())
    causes = json.loads(text)["causes"]
    assert [cause["id"] for cause in causes] == ["expiry", "scope", "refusal-form", "resource-metadata"]
    results = json.loads(text)["results"]
    assert [results[place]["check"] for place in causes[1]["results"]] == [SCOPE.id] * 5
    assert [cause["binding"] for cause in causes] == [True, True, True, False]
    again = read_report(text, "r.json", [EXPIRED])
    assert [cause.headline for cause in causes_of(again.results, again.gate)] == [one["headline"] for one in causes]
    assert BYPASS.observed in json.dumps(results[causes[0]["results"][0]])
    assert ABOUT.operation == "get_invoice"
