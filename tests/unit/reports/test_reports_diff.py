"""Two reports side by side: each change is told once, under its name, and only what shuts the gate is a regression."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from tests.unit.reports.examples import ENDPOINT, RESULTS, exchange, green, hostile, report, waived

from mcp_auth_contract.cli import main
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Outcome, Pass
from mcp_auth_contract.reports.diff import compare
from mcp_auth_contract.reports.diff_json import diff_schema, render_diff_json
from mcp_auth_contract.reports.diff_text import diff_headline, render_diff_markdown, render_diff_text
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.model import Coverage, Report, Result

MUST, SHOULD = RESULTS[1], RESULTS[9]
FAILED, DOUBTED = Fail("a", "b"), Inconclusive("no answer")


def one(outcome: Outcome, of: Result = MUST) -> Report:
    return report([replace(of, outcome=outcome)])


def lists(old: Report, new: Report) -> dict[str, int]:
    difference = compare(old, new)
    names = ("broken", "unseen", "waived", "fixed", "added", "gone")
    return {name: len(getattr(difference, name)) for name in names if getattr(difference, name)}


@pytest.mark.parametrize(
    ("before", "after", "told", "regression"),
    [
        (Pass(), Pass(), {}, False),
        (Pass(), FAILED, {"broken": 1}, True),
        (NotApplicable("x"), FAILED, {"broken": 1}, True),
        (DOUBTED, FAILED, {"broken": 1}, True),
        (FAILED, FAILED, {}, False),
        (Pass(), Error("x"), {"broken": 1}, True),
        (Pass(), DOUBTED, {"unseen": 1}, True),
        (FAILED, DOUBTED, {"unseen": 1}, True),
        (DOUBTED, DOUBTED, {}, False),
        (FAILED, Pass(), {"fixed": 1}, False),
        (DOUBTED, Pass(), {}, False),
        (Pass(), NotApplicable("x"), {"gone": 1}, False),
    ],
)
def test_a_change_of_an_outcome_has_one_name(
    before: Outcome, after: Outcome, told: dict[str, int], regression: bool
) -> None:
    assert lists(one(before), one(after)) == told
    assert compare(one(before), one(after)).regression is regression


def test_cases_that_come_and_go() -> None:
    none = report([])
    assert lists(none, one(Pass())) == {"added": 1}
    assert lists(none, one(FAILED)) == {"broken": 1}
    assert lists(none, one(DOUBTED)) == {"unseen": 1}
    assert lists(one(Pass()), none) == {"gone": 1}
    assert lists(one(NotApplicable("x")), none) == {}


def test_a_recommendation_is_a_regression_only_where_it_binds() -> None:
    old, new = one(Pass(), SHOULD), one(FAILED, SHOULD)
    assert not compare(old, new).regression
    assert len(compare(old, new).broken) == 1
    strict = replace(new, gate=replace(new.gate, binding=(Level.MUST, Level.SHOULD)))
    assert compare(old, strict).regression


def test_a_failure_that_is_waived_now_is_no_regression_and_a_stale_waiver_is_one() -> None:
    failing = report(RESULTS[:9])
    difference = compare(failing, waived())
    assert {moved.case for moved in difference.waived} == {result.case for result in waived().results if result.waived}
    assert difference.reasons == waived().gate.stale
    assert difference.regression


def test_what_moved_beside_the_cases_is_told() -> None:
    def documented(body: str, advice: str, version: str, missing: tuple[str, ...], port: int) -> Report:
        url = f"http://127.0.0.1:{port}/.well-known/oauth-protected-resource"
        fetched = exchange("x1", 200, body=body)
        fetched["request"].update(method="GET", url=url)
        whole = report([replace(RESULTS[0], outcome=Pass(advice))], kit_version=version)
        return replace(whole, exchanges={"x1": fetched}, coverage=(Coverage("tools", 8, 7, missing),))

    old = documented('{"resource": "http://127.0.0.1:1/a", "scopes": [1]}', "leeway measured: 0 s", "1", (), 1)
    new = documented(
        '{"resource": "http://127.0.0.1:22/a", "jwks_uri": "x"}', "leeway measured: 90 s", "2", ("dump",), 22
    )
    difference = compare(old, new)
    assert [(one.what.split()[-1], one.before, one.after) for one in difference.metadata] == [
        ("jwks_uri", "absent", '"x"'),
        ("scopes", "[1]", "absent"),
    ]
    assert [(one.before, one.after) for one in difference.measured] == [
        ("leeway measured: 0 s", "leeway measured: 90 s")
    ]
    assert ("kit", "1", "2") in {(one.what, one.before, one.after) for one in difference.about}
    assert difference.undeclared == ("tool dump",)
    for render in (render_diff_text, render_diff_markdown, render_diff_json):
        text = render(difference)
        for fact in ("leeway measured: 90 s", "jwks_uri", "tool dump"):
            assert fact in text
    assert not difference.regression


def test_json_keeps_to_its_schema_and_equal_reports_differ_in_nothing() -> None:
    schema = json.loads(diff_schema())
    for old, new in ((green(), report()), (report(), hostile()), (report(), report())):
        value = json.loads(render_diff_json(compare(old, new)))
        jsonschema.Draft202012Validator(schema).validate(value)
    assert not any(value[name] for name in ("broken", "unseen", "fixed", "gone", "about", "measured", "metadata"))
    assert value["still_broken"] > 0


def test_the_texts_lead_with_what_broke_and_end_or_begin_with_the_decision() -> None:
    difference = compare(green(), report())
    text = render_diff_text(difference)
    assert text.splitlines()[-1] == diff_headline(difference)
    assert text.index("Newly broken") < text.index("Newly not observed")
    markdown = render_diff_markdown(difference)
    assert markdown.startswith("## Authentication contract: regression")
    assert "`token-expired-refused[get_invoice]` (MCP 2026-07-28) | MUST | not asked | broken |" in markdown


def test_nothing_hostile_is_in_a_difference() -> None:
    difference = compare(report(), hostile())
    for text in (render_diff_text(difference), render_diff_markdown(difference), render_diff_json(difference)):
        text.encode("utf-8")
        assert not set("\x1b\x07\x00\x9b\u202e") & set(text)


def files(folder: Path) -> tuple[str, str]:
    for name, whole in (("old.json", green()), ("new.json", report())):
        (folder / name).write_text(render_json(whole), "utf-8")
    return str(folder / "old.json"), str(folder / "new.json")


def test_the_command_exits_1_on_a_regression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = files(tmp_path)
    page, data = tmp_path / "d.md", tmp_path / "d.json"
    assert main(["report", "diff", old, new, "--markdown", str(page), "--json", str(data)]) == 1
    assert "REGRESSION (exit 1)" in capsys.readouterr().out
    assert json.loads(data.read_text("utf-8"))["regression"] is True
    assert page.read_text("utf-8").startswith("## ")
    assert main(["report", "diff", new, new, "-q"]) == 0
    assert capsys.readouterr().out == "no regression (exit 0)\n"
    assert main(["report", "diff", new, old, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["fixed"] == []
    assert main(["report", "diff", old, new, "--json", "-", "--markdown", "-"]) == 2
    assert main(["report", "diff", old, str(tmp_path / "none.json")]) == 2


def test_render_need_not_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, new = files(tmp_path)
    out = tmp_path / "r.html"
    assert main(["report", new, "--html", str(out), "-q"]) == 0
    assert "gate SHUT" in capsys.readouterr().out
    assert ENDPOINT in out.read_text("utf-8")
    assert main(["report", "nonsense.json"]) == 2
