"""Markdown and annotations: short enough for the page of a job, and nothing in them that a server could have written."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.unit.reports.examples import ESCAPES, EXPIRED, NEWEST, RESULTS, green, hostile, report, waived

from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Fail, Inconclusive, Pass
from mcp_auth_contract.reports.annotations import quarantined, render_annotations
from mcp_auth_contract.reports.markdown import render_markdown, render_summary
from mcp_auth_contract.reports.model import Report, ShardSeen, Waiver

MARKUP = "| a | `b` ``c`` <script>x</script> [l](http://evil) @octocat **b** | \\| \n# H\n::error::x https://evil www.evil.io"


def outside_code(line: str) -> str:
    """A line without its code spans: a fence of backticks ends at the next of the same length."""
    return re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", line)


def cells(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def evil() -> Report:
    """A report in which everything that can be told is markup."""
    told = f"{ESCAPES}{MARKUP}"
    results = [replace(one, case=f"{one.check.id}[{told}]", outcome=Fail(told, told)) for one in RESULTS[:3]]
    results += [replace(RESULTS[0], outcome=Inconclusive(told), case=told)]
    waiver = Waiver("w", 1, EXPIRED.id, None, told, told, date(2026, 12, 31))
    results += [replace(RESULTS[1], outcome=Fail(told, told), waived=waiver)]
    gate = replace(decide(results), reasons=(told, "# x", "- y", "1. z"))
    return replace(hostile(), results=tuple(results), gate=gate)


def tokens_of(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        yield token
        yield from token.children or ()


@pytest.mark.parametrize("whole", [hostile(), evil(), report(), waived()], ids=["hostile", "evil", "report", "waived"])
def test_a_reader_of_markdown_finds_only_the_kits_own_elements(whole: Report) -> None:
    found = list(tokens_of(render_markdown(whole)))
    links = {str(token.attrs["href"]) for token in found if token.type == "link_open"}
    assert links <= {citation.url for citation in CITATIONS.values()}
    html = {line for token in found if token.type.startswith("html_") for line in token.content.split("\n") if line}
    assert all(
        re.fullmatch(r"</?details>|<summary>Coverage: \d+ cases?, \d+ checks? run</summary>", one) for one in html
    )
    known = {"image", "em_open", "s_open", "fence", "code_block", "blockquote_open", "hr"}
    assert known & {token.type for token in found} == set()
    assert {token.tag for token in found if token.type == "heading_open"} <= {"h2", "h3"}
    widths = _widths(found)
    assert all(len(set(width)) == 1 for width in widths)
    assert whole.gate.open or widths


def _widths(found: list[Token]) -> list[list[int]]:
    """Cells of each row, for each table."""
    tables: list[list[int]] = []
    for token in found:
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append(0)
        elif token.type in ("td_open", "th_open"):
            tables[-1][-1] += 1
    return tables


def test_markdown_of_a_hostile_server_has_only_the_kits_own_markup() -> None:
    for whole in (hostile(), evil()):
        text = render_markdown(whole)
        text.encode("utf-8")
        assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Co") for char in text if char != "\n")
        width = 0
        for line in text.splitlines():
            bare = re.sub(r"\\.", "", outside_code(line))
            assert re.search(r"</?(?!details|summary)\w|@|\*\*b", bare) is None, line
            assert re.search(r"(?<!\]\()https?://", bare) is None, line
            assert re.search(r"(?<!//)www\.", bare) is None, line
            assert not line.startswith(("::", "# "))
            if line.startswith("|"):
                width = width or cells(line)
                assert cells(line) == width, line
            else:
                width = 0


def test_the_decision_comes_first_and_each_part_only_where_it_has_something_to_say() -> None:
    text = render_markdown(report())
    assert text.splitlines()[0] == "## Authentication contract: gate SHUT (exit 4)"
    titles = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert titles == [
        "What the failures come down to",
        "Kit errors; please report them (shuts the gate)",
        "Failed (shuts the gate)",
        "Failed, but only recommended (does not shut the gate)",
        "Inconclusive (shuts the gate)",
        "Inconclusive (does not shut the gate)",
    ]
    assert "… and 1 more case" in text
    assert "Check the token" not in text
    assert "[RFC 7519 §4.1.4](https://" in text
    assert render_markdown(green()).startswith("## Authentication contract: gate open (exit 0)\n")
    assert "###" not in render_markdown(green())
    assert "### Failed, but waived" in render_markdown(waived())
    assert "| shard | `` 2 of 4; `mcp" in render_markdown(report(shard=ShardSeen(2, 4, "d")))


def test_a_summary_is_never_longer_than_a_page_may_be() -> None:
    many = []
    for number in range(1500):
        check = replace(EXPIRED, id=f"token-{number}-refused", remedy="発" * 500)
        outcome = (Fail("発" * 900, "発" * 900), Inconclusive(f"{number}" + "発" * 900))[number % 2]
        many.append(replace(RESULTS[1], case=f"{check.id}[{'発' * 400}]", check=check, outcome=outcome))
    text = render_summary(report(many))
    assert 100_000 < len(text.encode("utf-8")) <= 1_000_000
    assert "more cases, which the JSON report has" in text
    assert render_summary(green()) == render_markdown(green())


def test_annotations_tell_the_gate_and_each_check_once() -> None:
    lines = render_annotations(report(), "sub/invoices.toml").splitlines()
    assert lines[0].startswith("::error file=sub/invoices.toml,title=gate SHUT (exit 4)::1 case ended with")
    assert [line for line in lines if "title=MUST%3A An expired token is refused::token-expired-refused" in line]
    assert sum("scope-missing-denied[" in line for line in lines) == 1
    assert any("(and 4 more of scope-missing-denied)%0Afix: Compare" in line for line in lines)
    assert not any("prm-resource-name" in line for line in lines)
    assert render_annotations(green(), "c.toml") == ""
    assert render_annotations(report()).startswith("::error title=")


def test_annotations_of_waived_failures_are_warnings() -> None:
    lines = render_annotations(waived(), "c.toml").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::warning", "::warning", "::error"]
    assert "waived: by jane until 2026-12-31" in lines[1]
    assert "waiver 3" in lines[2]


def test_no_more_annotations_than_are_shown() -> None:
    checks = [replace(EXPIRED, id=f"token-{number}-refused") for number in range(40)]
    results = [replace(RESULTS[1], check=check, case=check.id) for check in checks]
    assert len(render_annotations(report(results)).splitlines()) == 10


def test_a_server_cannot_write_a_workflow_command() -> None:
    evil = "x\r\n::set-env name=A::b\n%0A::error::c, d: e"
    results = [replace(RESULTS[1], case=evil, outcome=Fail(evil, evil)), replace(RESULTS[0], outcome=Pass(evil))]
    for line in render_annotations(report(results), evil).splitlines():
        assert line.startswith("::error file=")
        head, _, data = line[2:].partition("::")
        assert "\r" not in line
        assert head.count(",") == head.count("title=") == 1
        assert "%0A::error::c" not in data


def test_text_is_kept_from_being_obeyed_under_a_word_that_nobody_can_guess() -> None:
    text = "::error::x\n"
    first, second = quarantined(text), quarantined(text.rstrip())
    start, body, end, *rest = first.split("\n")
    assert start.startswith("::stop-commands::")
    word = start.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", word)
    assert (body, end, rest) == ("::error::x", f"::{word}::", [""])
    assert word not in second
    assert second.splitlines()[-1].startswith("::")


@pytest.mark.parametrize("text", ["a`b", "``", "`", "a|b", " x ", ""])
def test_code_spans_hold_any_text(text: str) -> None:
    whole = report([replace(RESULTS[1], revision=NEWEST, outcome=Fail(text, "o"))])
    row = next(line for line in render_markdown(whole).splitlines() if line.startswith("| `token-expired"))
    assert cells(row) == 6
