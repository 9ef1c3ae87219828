"""Handles, tasks and states of requests: what proves that one serves others, and what proves nothing."""

import pytest
from tests.unit.checks.handles.handle_literals import ASKED, CANCELLED, WORKING, handle, own_state, state, task
from tests.unit.checks.isolation.isolation_literals import ALICE, OWN
from tests.unit.checks.literals import answer, judged, result, rpc_error, tool_error

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass

REFUSALS = [answer(403), answer(404), tool_error(), rpc_error()]
SILENT = [answer(503), answer(401, "Bearer"), answer(403, 'Bearer error="insufficient_scope"')]
TELLING = answer(403, body={"error": f"this is {ALICE.text}"})


@pytest.mark.parametrize("refusal", REFUSALS)
def test_every_way_to_refuse_is_legal(refusal: Answer) -> None:
    assert judged("handle_bound", handle(other=refusal)) == Pass()
    gone = dict.fromkeys(("foreign_get", "foreign_result", "foreign_get_after", "foreign_result_after"), refusal)
    assert judged("task_bound", task(**gone)) == Pass()
    assert judged("task_list_own", task(foreign_list=refusal)) == Pass()
    assert judged("task_cancelled_by_owner_only", task(foreign_cancel=refusal)) == Pass()
    assert judged("request_state_keeps_records", state(other=refusal)) == Pass()
    assert judged("request_state_of_one_principal", state(other=refusal)) == Pass()
    assert judged("request_state_intact", own_state(flipped=refusal, cut=refusal, garbage=refusal)) == Pass()
    assert judged("request_state_for_one_request", own_state(replayed=refusal)) == Pass()


@pytest.mark.parametrize("silent", SILENT)
def test_what_is_refused_for_another_reason_proves_nothing(silent: Answer) -> None:
    for name, observed in (
        ("handle_bound", handle(other=silent)),
        ("task_bound", task(foreign_get=silent)),
        ("task_list_own", task(foreign_list=silent)),
        ("task_cancelled_by_owner_only", task(foreign_cancel=silent)),
        ("request_state_keeps_records", state(other=silent)),
        ("request_state_of_one_principal", state(other=silent)),
        ("request_state_intact", own_state(cut=silent)),
        ("request_state_for_one_request", own_state(replayed=silent)),
    ):
        assert isinstance(judged(name, observed), Inconclusive), name


@pytest.mark.parametrize("leak", [OWN, TELLING])
def test_a_record_of_the_owner_is_a_leak_wherever_it_stands(leak: Answer) -> None:
    for name, observed in (
        ("handle_bound", handle(other=leak)),
        ("task_bound", task(foreign_result_after=leak)),
        ("task_list_own", task(foreign_list=leak)),
        ("task_cancelled_by_owner_only", task(foreign_cancel=leak)),
        ("request_state_keeps_records", state(other=leak)),
    ):
        verdict = judged(name, observed)
        assert isinstance(verdict, Fail), name
        assert ALICE.text not in verdict.observed


def test_what_is_not_there_is_not_applicable() -> None:
    for name, observed in (
        ("handle_bound", handle(unasked="no handle")),
        ("handles_unguessable", handle(unasked="no handle")),
        ("handles_unguessable", handle(handles=("h", "h", "h"))),
        ("task_bound", task(unasked="no tasks")),
        ("task_list_own", task(unasked="no tasks")),
        ("task_list_own", task(foreign_list=None, own_list=None)),
        ("task_cancelled_by_owner_only", task(unasked="no tasks")),
        ("task_cancelled_by_owner_only", task(foreign_cancel=None, state=None, own_cancel=None)),
        ("request_state_keeps_records", state(unasked="not asked")),
        ("request_state_of_one_principal", state(unasked="not asked")),
        ("request_state_intact", own_state(unasked="not asked")),
        ("request_state_for_one_request", own_state(unasked="not asked")),
        ("request_state_for_one_request", own_state(second=None, replayed=None)),
        ("request_state_for_one_request", own_state(second=tool_error())),
    ):
        assert isinstance(judged(name, observed), NotApplicable), name


def test_an_owner_who_is_not_served_proves_nothing() -> None:
    refused = answer(403)
    for name, observed in (
        ("handle_bound", handle(made=refused)),
        ("handle_bound", handle(control=refused)),
        ("handle_bound", handle(other=None, own=None)),
        ("handle_bound", handle(own=answer(503))),
        ("task_bound", task(made=refused)),
        ("task_bound", task(own=refused)),
        ("task_list_own", task(listing=frozenset())),
        ("task_cancelled_by_owner_only", task(own=refused)),
        ("task_cancelled_by_owner_only", task(state=answer(503))),
        ("request_state_keeps_records", state(first=refused)),
        ("request_state_keeps_records", state(own=ASKED)),
        ("request_state_of_one_principal", state(own=refused)),
        ("request_state_intact", own_state(control=refused)),
        ("request_state_intact", own_state(control_again=ASKED)),
        ("request_state_for_one_request", own_state(second=answer(503))),
        ("request_state_for_one_request", own_state(second=ASKED)),
    ):
        assert isinstance(judged(name, observed), Inconclusive), name


def test_the_page_that_the_owner_gets_is_the_owners() -> None:
    same = result(csv="nothing of a record")
    assert isinstance(judged("handle_bound", handle(other=same, own=same)), Fail)
    verdict = judged("handle_bound", handle(other=result(csv="")))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None


def test_a_handle_that_a_stranger_used_up_is_a_failure_of_availability() -> None:
    verdict = judged("handle_bound", handle(own=tool_error()))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY


@pytest.mark.parametrize(
    "handles",
    [("e-1", "e-2", "e-3"), ("18c2f5e0a1", "18c2f5e0b7", "18c2f5e0c9"), ("1764505000123", "1764505000391", "1764505000877")],
)  # fmt: skip
def test_handles_that_count_are_told(handles: tuple[str, ...]) -> None:
    assert isinstance(judged("handles_unguessable", handle(handles=handles)), Fail)


@pytest.mark.parametrize("step", ["foreign_get", "foreign_result", "foreign_get_after", "foreign_result_after"])
def test_a_foreign_task_answered_with_a_result_is_not_bound(step: str) -> None:
    assert isinstance(judged("task_bound", task(**{step: WORKING})), Fail)


def test_a_task_in_the_list_of_another_principal_is_told() -> None:
    both = frozenset({"own list", "foreign list"})
    assert isinstance(judged("task_list_own", task(listing=both)), Fail)


def test_a_task_that_is_cancelled_was_cancelled_whatever_was_answered() -> None:
    for observed in (task(state=CANCELLED), task(foreign_cancel=CANCELLED), task(state=rpc_error())):
        verdict = judged("task_cancelled_by_owner_only", observed)
        assert isinstance(verdict, Fail)
        assert verdict.impact is Impact.AVAILABILITY


def test_a_task_that_had_ended_shows_nobody_who_may_cancel() -> None:
    assert isinstance(judged("task_cancelled_by_owner_only", task(own_cancel=rpc_error())), NotApplicable)


def test_the_extension_acknowledges_without_a_promise() -> None:
    verdict = judged("task_cancelled_by_owner_only", task(core=False, foreign_cancel=result()))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None
    cancelled = task(core=False, foreign_cancel=result(), state=CANCELLED)
    assert isinstance(judged("task_cancelled_by_owner_only", cancelled), Fail)


def test_who_is_asked_anew_was_not_let_through() -> None:
    assert judged("request_state_of_one_principal", state(other=ASKED)) == Pass()
    assert judged("request_state_intact", own_state(flipped=ASKED)) == Pass()
    assert judged("request_state_for_one_request", own_state(replayed=ASKED)) == Pass()


def test_a_state_that_goes_through_for_others_or_elsewhere_is_told() -> None:
    through = result(approved=True)
    assert isinstance(judged("request_state_of_one_principal", state(other=through)), Fail)
    assert judged("request_state_keeps_records", state(other=through)) == Pass()
    assert isinstance(judged("request_state_for_one_request", own_state(replayed=through)), Fail)
    verdict = judged("request_state_intact", own_state(cut=through))
    assert isinstance(verdict, Fail)
    assert verdict.observed.endswith("to one cut")


def test_a_state_that_nobody_reads_can_be_altered() -> None:
    observed = own_state(garbage=OWN, flipped=OWN, cut=OWN, replayed=OWN)
    for name in ("request_state_intact", "request_state_for_one_request"):
        assert isinstance(judged(name, observed), NotApplicable)
