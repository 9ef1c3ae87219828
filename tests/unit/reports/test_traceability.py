"""From requirements to checks to what was seen: nothing is left out, and the worst counts."""

from dataclasses import replace

import pytest
from tests.unit.reports.examples import EXPIRED, METADATA, OLDER, RESULTS

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass
from mcp_auth_contract.reports.model import Result
from mcp_auth_contract.reports.traceability import by_document, render_traceability, trace
from mcp_auth_contract.reports.verdict import Verdict, verdict_of, worst
from mcp_auth_contract.requirements import Excuse, Requirement, load_requirements

EXPIRY = Requirement("rs-expiry", "An expired token is refused.", Level.MUST, "resource-server")
LATER = Requirement("as-later", "Later.", Level.MUST, "authorization-server", Excuse("later", "Not yet.", "providers"))
CHECK = replace(EXPIRED, requirements=("rs-expiry",))


def result(outcome: object) -> Result:
    return Result("token-expired-refused[x]", CHECK, OLDER, outcome)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([Pass()], Verdict.HELD),
        ([Pass(), Fail("a", "b")], Verdict.BROKEN),
        ([Pass(), Inconclusive("x")], Verdict.UNSEEN),
        ([NotApplicable("x"), Pass()], Verdict.HELD),
        ([NotApplicable("x")], Verdict.NOT_APPLICABLE),
        ([Fail("a", "b"), Error("x")], Verdict.ERROR),
        ([], Verdict.NOT_RUN),
    ],
)
def test_a_requirement_has_the_worst_that_its_checks_showed(outcomes: list[object], verdict: Verdict) -> None:
    (traced,) = trace([result(one) for one in outcomes], [CHECK], [EXPIRY])
    assert (traced.verdict, traced.checks) == (verdict, ("token-expired-refused",))
    assert traced.documents == ("MCP 2025-11-25", "RFC 7519")


def test_a_requirement_without_a_check_is_shown_with_its_reason() -> None:
    (traced,) = trace(RESULTS, [METADATA], [LATER])
    assert not traced.tested
    assert traced.requirement.excuse is not None
    assert traced.requirement.excuse.said == "later (providers): Not yet."


def test_a_waived_failure_is_told_as_one() -> None:
    assert verdict_of(result(Pass())) is Verdict.HELD
    assert worst([Verdict.HELD, Verdict.WAIVED]) is Verdict.WAIVED
    assert worst([Verdict.WAIVED, Verdict.BROKEN]) is Verdict.BROKEN


def test_every_resource_server_requirement_has_a_check_or_a_reason() -> None:
    traced = trace((), load_builtin())
    assert {one.requirement.id for one in traced} == {one.id for one in load_requirements()}
    assert [one.requirement.id for one in traced if not one.tested and one.requirement.excuse is None] == []


def test_the_page_names_every_requirement_under_its_specifications() -> None:
    traced = trace((), load_builtin())
    page = render_traceability(load_builtin())
    for one in traced:
        assert one.requirement.id in page
    listed = {one.requirement.id for members in by_document(traced).values() for one in members}
    assert listed == {one.requirement.id for one in traced if one.tested}
