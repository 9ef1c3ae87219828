"""Header fields against the body: what ran, what was refused in another way, and what was served as an older call."""

from dataclasses import replace

import pytest
from tests.unit.checks.literals import answer, facts, judged, mirrored, result, rpc_error, tool_error

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Revision

OLDER = Revision.R2025_11_25
DUAL = facts(revisions=(Revision.R2026_07_28, OLDER))


def test_the_error_of_the_sdks_is_right() -> None:
    assert judged("mirror_refused", mirrored(rpc_error(400, -32020))) == Pass()


def test_a_call_that_ran_is_a_failure_of_full_weight() -> None:
    assert judged("mirror_refused", mirrored(result())) == Fail(
        "400", "200 with a result to the call with another name in Mcp-Name"
    )


@pytest.mark.parametrize("each", [rpc_error(200, -32020), tool_error(), answer(404), answer(401)])
def test_what_did_not_run_is_a_milder_failure(each: Answer) -> None:
    verdict = judged("mirror_refused", mirrored(each))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.INTEROP


def test_a_breakdown_is_a_matter_of_availability() -> None:
    verdict = judged("mirror_refused", mirrored(answer(500)))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY


@pytest.mark.parametrize("each", [answer(None), answer(429)])
def test_without_an_answer_nothing_is_known(each: Answer) -> None:
    assert isinstance(judged("mirror_refused", mirrored(each)), Inconclusive)


def test_a_call_without_such_a_field_is_not_asked() -> None:
    assert isinstance(judged("mirror_refused", replace(mirrored(result()), attempt=None)), NotApplicable)


def test_a_server_of_both_eras_may_serve_the_older_revision_that_the_header_names() -> None:
    older = replace(mirrored(result()), older=OLDER)
    assert isinstance(judged("mirror_refused", older, DUAL), Pass)
    assert isinstance(judged("mirror_refused", older, facts(revisions=(Revision.R2026_07_28,))), Fail)
    modern = replace(mirrored(result(resultType="complete", content=[])), older=OLDER)
    assert isinstance(judged("mirror_refused", modern, DUAL), Fail)
