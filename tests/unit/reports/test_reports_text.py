"""The text report leads from the finding to the repair, at any width."""

import shlex
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from tests.unit.reports.examples import CURL, NEWEST, RESULTS, SCOPE, green, interrupted, report, text_of

from mcp_auth_contract.model import Fail, Inconclusive, Level, Pass
from mcp_auth_contract.reports.model import ControlSeen, ServerSeen
from mcp_auth_contract.reports.text import print_report


def line_with(word: str, text: str) -> str:
    return next(line for line in text.splitlines() if word in line)


def test_a_broken_check_is_told_with_its_level_impact_reason_repair_and_source() -> None:
    text = text_of(report())
    block = text[text.index("MUST: An expired token") :].split("\n\n")[0]
    for told in (
        "MUST: An expired token is refused (auth-bypass, interop)",
        'token-expired-refused[get_invoice]: expected 401 with error="invalid_token"',
        "why      A token that leaked once",
        "fix      Let the JWT library check exp",
        "source   RFC 7519 §4.1.4; MCP 2025-11-25 authorization, Token Handling",
    ):
        assert told in block


@pytest.mark.parametrize("width", [40, 100, 300])
def test_commands_stand_on_one_line_at_any_width_so_that_they_can_be_copied(width: int) -> None:
    text = text_of(report(), width)
    again = line_with("again", text).split("again", 1)[1].strip()
    assert shlex.split(again) == ["mcp-auth-contract", "reproduce", RESULTS[3].case, "invoices.toml"]
    assert line_with("by hand", text).split("by hand", 1)[1].strip() == CURL


@pytest.mark.parametrize(
    ("contract", "start"),
    [
        ("my invoices.toml", ["reproduce", "CASE", "my invoices.toml"]),
        ("(the built-in sample)", ["reproduce", "CASE", "--sample"]),
        ("(the built-in sample with the fault f)", ["reproduce", "CASE", "--sample", "--fault", "f"]),
        ("(none: anonymous probe)", ["probe", "https://mcp.example.com/mcp", "--select", "CASE"]),
    ],
)
def test_the_command_that_repeats_a_case_is_one_that_works(contract: str, start: list[str]) -> None:
    text = text_of(report(contract=contract))
    words = shlex.split(line_with("again", text).split("again", 1)[1])
    assert words[0] == "mcp-auth-contract"
    cases = {result.case for result in RESULTS}
    assert ["CASE" if word in cases else word for word in words[1:]] == start


@pytest.mark.parametrize("width", [60, 100])
def test_prose_is_wrapped_within_the_width_and_below_its_own_first_word(width: int) -> None:
    lines = text_of(report(), width).splitlines()
    assert all(len(line) <= width for line in lines if " again " not in line and "by hand" not in line)
    fix = lines.index(next(line for line in lines if line.strip().startswith("fix      Let")))
    assert lines[fix + 1].startswith(" " * 13)
    assert lines[fix + 1][13] != " "


def test_no_line_ends_in_blanks() -> None:
    assert [line for line in text_of(report()).splitlines() if line != line.rstrip()] == []


def test_a_check_that_broke_in_many_cases_shows_some_and_counts_the_rest() -> None:
    text = text_of(report())
    assert text.count("scope-missing-denied[") - text.count("--select") < 7
    assert "… and 1 more case of scope-missing-denied" in text
    many = [replace(RESULTS[3], case=f"scope-missing-denied[t{number}]") for number in range(30)]
    assert "… and 26 more cases of scope-missing-denied" in text_of(report(many))


def test_many_cases_without_an_answer_for_one_reason_are_one_entry() -> None:
    lost = Inconclusive("the control was not accepted: 401")
    many = [replace(RESULTS[3], case=f"scope-missing-denied[t{number}]", outcome=lost) for number in range(30)]
    text = text_of(report(many))
    assert text.count("the control was not accepted: 401") == 1
    assert "and 26 more" in text


def test_the_counts_add_up_and_name_the_levels() -> None:
    text = text_of(report())
    assert "tried           13 cases of 6 checks, 5 requests in 12.3 s" in text
    assert "passed          2" in text
    assert "failed          8 (7 MUST, 1 SHOULD)" in text
    assert "inconclusive    2" in text
    assert "kit errors      1" in text
    assert "not applicable  1" in text


def test_what_shuts_the_gate_is_told_apart_from_what_does_not() -> None:
    text = text_of(report())
    titles = [line for line in text.splitlines() if "the gate)" in line]
    assert titles == [
        "Kit errors; please report them (shuts the gate)",
        "Failed (shuts the gate)",
        "Failed, but only recommended (does not shut the gate)",
        "Inconclusive (shuts the gate)",
        "Inconclusive (does not shut the gate)",
    ]
    strict = text_of(report(fail_on=Level.SHOULD))
    assert "does not shut the gate" not in strict


def test_the_last_line_is_the_gate() -> None:
    assert text_of(green()).splitlines()[-1] == "gate open (exit 0)"
    assert "gate SHUT (exit 3): " in text_of(interrupted())
    assert "the run was interrupted" in text_of(interrupted(), 300).splitlines()[-1]


def test_an_interrupted_run_says_so_at_the_top_too() -> None:
    assert "before it was interrupted" in line_with("tried", text_of(interrupted()))
    assert "before it was interrupted" not in text_of(report())


def test_what_has_to_be_known_first_is_the_first_line() -> None:
    text = text_of(report(finding="this server asks for no token at all"))
    assert text.splitlines()[0] == "This server asks for no token at all."


def test_controls_that_were_refused_alike_are_told_once() -> None:
    controls = tuple(ControlSeen(f"tool_{number}", "alice", NEWEST, False, "401") for number in range(8))
    told = [line for line in text_of(report(controls=controls), 200).splitlines() if line.startswith("control")]
    assert len(told) == 1
    assert "tool_0 as alice, MCP 2026-07-28 (and 7 more control calls): NOT ACCEPTED" in told[0]


def test_a_lost_control_is_shown_rather_than_one_that_held() -> None:
    text = text_of(report(), 200)
    assert "control         get_invoice as alice, MCP 2025-11-25: NOT ACCEPTED" in text
    assert "2026-07-28: accepted" not in text
    held = text_of(report(controls=report().controls[:1]), 200)
    assert "control         get_invoice as alice, MCP 2026-07-28: accepted (200 with a result)" in held


def test_a_server_that_shows_no_name_and_no_revision_is_described_so() -> None:
    text = text_of(report(server=ServerSeen("https://h/mcp", "https://h/mcp", ())))
    assert "target          https://h/mcp (unnamed server; MCP revision unknown)" in text
    assert "resource" not in text.split("tried")[0]


def test_advice_is_a_remark_and_breaks_nothing() -> None:
    text = text_of(report([replace(RESULTS[3], outcome=Pass("a remark")), RESULTS[0]]))
    assert "Remarks on what passed" in text
    assert "a remark" in text
    assert "gate open" in text


def test_colour_is_used_only_where_the_console_has_it() -> None:
    out = StringIO()
    print_report(report(), Console(file=out, width=100, force_terminal=True, color_system="standard"))
    assert "\x1b[" in out.getvalue()
    assert "\x1b[" not in text_of(report())


def test_markup_in_foreign_text_is_no_markup() -> None:
    told = Fail("[bold]401[/bold]", "[red]:warning: 200")
    out = StringIO()
    print_report(report([replace(RESULTS[3], outcome=told, check=SCOPE)]), Console(file=out, width=200), verbose=True)
    assert "expected [bold]401[/bold], observed [red]:warning: 200" in out.getvalue()
