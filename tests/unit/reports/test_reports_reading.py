"""A JSON report read back says what was written, in every format."""

import json
from dataclasses import replace

import pytest
from tests.unit.reports.examples import (
    CHALLENGE_SCOPE,
    EXPIRED,
    METADATA,
    RESOURCE_NAME,
    SCOPE,
    SESSION,
    green,
    hostile,
    interrupted,
    report,
    text_of,
    waived,
)

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.markdown import render_markdown
from mcp_auth_contract.reports.model import ShardSeen
from mcp_auth_contract.reports.reading import read_report

CHECKS = [EXPIRED, SCOPE, RESOURCE_NAME, SESSION, CHALLENGE_SCOPE, METADATA]
REPORTS = {"report": report, "interrupted": interrupted, "green": green, "waived": waived}


@pytest.mark.parametrize("render", [render_json, render_junit, render_markdown, text_of])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_read_back_is_rendered_alike(name: str, render) -> None:  # type: ignore[no-untyped-def]
    whole = REPORTS[name]()
    assert render(read_report(render_json(whole), "r.json", CHECKS)) == render(whole)


@pytest.mark.parametrize("render", [render_json, render_junit, render_markdown])
def test_no_catalogue_is_needed_but_for_the_why(render) -> None:  # type: ignore[no-untyped-def]
    assert render(read_report(render_json(report()), "r.json")) == render(report())
    assert "why " not in text_of(read_report(render_json(report()), "r.json"))


def test_a_hostile_report_stays_safe() -> None:
    again = read_report(render_json(hostile()), "r.json", CHECKS)
    assert "\x1b" not in text_of(again) + render_junit(again) + render_markdown(again)


def test_the_shard_and_the_levels_that_bind_are_read_back() -> None:
    whole = report(shard=ShardSeen(2, 4, "abc"), options=("--token-env", "TOKEN"), requests=99)
    again = read_report(render_json(whole), "r.json", CHECKS)
    assert (again.shard, again.options, again.sent, again.gate) == (whole.shard, whole.options, 99, whole.gate)


def test_what_a_later_kit_adds_is_passed_over_and_what_an_earlier_one_lacks_is_not_missed() -> None:
    value = json.loads(render_json(report()))
    value["added"] = value["results"][0]["added"] = 1
    value["results"][1]["citations"].append({"key": "rfc9999-1", "label": "x", "title": "y", "url": "https://z"})
    for member in ("options", "waivers", "shard", "requests"):
        del value[member]
    del value["gate"]["binding"]
    assert read_report(json.dumps(value), "r.json", CHECKS).counts == report().counts


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda value: value.update(version=2), "version: Input should be 1"),
        (lambda value: value.pop("gate"), "gate: Field required"),
        (lambda value: value["results"][0].update(outcome="skipped"), "results.0.outcome: "),
        (lambda value: value["results"][1].update(impact="boredom"), "boredom"),
        (lambda value: value["results"][1].update(revision="1999-01-01"), "1999-01-01"),
        (
            lambda value: value["results"][1].update(waived={"reason": "r", "owner": "o", "expires": "2026-01-01"}),
            "waived by a waiver that the report does not list",
        ),
    ],
)
def test_what_is_no_report_is_told_with_its_place(edit, said: str) -> None:  # type: ignore[no-untyped-def]
    value = json.loads(render_json(report()))
    edit(value)
    with pytest.raises(UsageError) as caught:
        read_report(json.dumps(value), "r.json", CHECKS)
    assert str(caught.value).startswith("r.json: no JSON report of version 1: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[", "[]", "null", b"\xff\xfe", '{"version": 1}', "NaN", "[" * 100_000])
def test_other_texts_are_refused_in_one_line(text: "str | bytes") -> None:
    with pytest.raises(UsageError) as caught:
        read_report(text, "r.json", CHECKS)
    assert "\n" not in str(caught.value)


def test_a_failure_keeps_its_own_impact() -> None:
    again = read_report(render_json(report()), "r.json", CHECKS)
    assert [one.impact for one in again.results] == [one.impact for one in report().results]
    assert replace(again.results[0], reproduce=None).check == METADATA
