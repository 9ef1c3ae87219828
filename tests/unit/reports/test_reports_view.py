"""The view tells each result in exactly one part, and every format has its words from there."""

import datetime
from dataclasses import replace

import pytest
from tests.unit.reports.examples import RESULTS, green, interrupted, report, text_of, waived

from mcp_auth_contract.model import Inconclusive, Level, Pass
from mcp_auth_contract.reports.annotations import render_annotations
from mcp_auth_contract.reports.groups import SHOWN, Part, many, more, part_of
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.markdown import render_markdown
from mcp_auth_contract.reports.model import Report, Waiver
from mcp_auth_contract.reports.view import view_of

REPORTS = {"report": report(), "interrupted": interrupted(), "green": green(), "waived": waived()}


@pytest.mark.parametrize("whole", REPORTS.values(), ids=REPORTS)
def test_each_result_is_in_one_group_but_for_what_passed_without_a_remark(whole: Report) -> None:
    view = view_of(whole)
    told = [id(result) for group in view.groups for result in group.results]
    assert len(told) == len(set(told))
    silent = [result for result in whole.results if id(result) not in told]
    assert all(part_of(result, whole.gate) is Part.PASSED for result in silent)
    assert [group.part for group in view.groups] == sorted((group.part for group in view.groups), key=list(Part).index)


def test_a_part_says_whether_the_gate_is_shut_by_it() -> None:
    parts = [part_of(result, report().gate) for result in RESULTS]
    assert parts[:3] == [Part.PASSED, Part.FAILED, Part.FAILED]
    assert parts[8:] == [
        Part.REMARK,
        Part.RECOMMENDED,
        Part.INCONCLUSIVE,
        Part.INCONCLUSIVE_RECOMMENDED,
        Part.NOT_APPLICABLE,
        Part.ERROR,
    ]
    strict = report(fail_on=Level.SHOULD).gate
    assert {part_of(result, strict) for result in RESULTS} & {Part.RECOMMENDED, Part.INCONCLUSIVE_RECOMMENDED} == set()
    waiver = Waiver("w", 1, RESULTS[1].check.id, None, "r", "o", datetime.date(2026, 12, 31))
    assert part_of(replace(RESULTS[1], waived=waiver), report().gate) is Part.WAIVED


def test_numbers_have_their_nouns() -> None:
    assert (many(1, "case"), many(0, "case"), many(2, "case")) == ("1 case", "0 cases", "2 cases")
    assert (more([1]), more([1, 2]), more([1, 2, 3], " of x")) == ("", " (and 1 more)", " (and 2 more of x)")


def test_counts_are_phrases_in_the_words_of_json() -> None:
    phrases = [count.phrase for count in view_of(report()).counts]
    assert phrases == ["2 passed", "8 failed (7 MUST, 1 SHOULD)", "2 inconclusive", "1 not applicable", "1 kit error"]
    assert [count.name for count in view_of(report()).counts] == list(report().counts)


def test_a_reason_is_told_once_with_the_first_cases_and_the_number_of_the_others() -> None:
    lost = Inconclusive("the control was not accepted")
    many_lost = [replace(RESULTS[3], case=f"scope-missing-denied[t{number}]", outcome=lost) for number in range(9)]
    (group,) = view_of(report(many_lost)).of(Part.INCONCLUSIVE)
    assert (group.headline, len(group.shown), group.rest) == (lost.reason, SHOWN, f"and {9 - SHOWN} more")


def test_every_format_has_the_sentences_of_the_view() -> None:
    view = view_of(report())
    (failed, *_) = view.of(Part.FAILED)
    fix = dict(failed.facts)["fix"]
    for text in (
        text_of(report(), 400),
        render_markdown(report()),
        render_junit(report()),
        render_annotations(report()),
    ):
        assert failed.results[0].case in text
        assert fix in text
    assert text_of(report(), 400).splitlines()[-1] == view.gate_line
    assert render_markdown(report()).splitlines()[0].endswith(view.decision)


def test_a_remark_is_told_once_for_a_check() -> None:
    remarks = [
        replace(RESULTS[3], case=f"scope-missing-denied[t{number}]", outcome=Pass("a remark")) for number in (1, 2)
    ]
    (group,) = view_of(report(remarks)).of(Part.REMARK)
    assert group.headline == "scope-missing-denied[t1] and 1 more: a remark"
