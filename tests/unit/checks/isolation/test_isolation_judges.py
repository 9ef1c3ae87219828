"""Isolation: what proves a leak, what proves none, and what proves nothing."""

from dataclasses import replace

import pytest
from tests.unit.checks.isolation.isolation_literals import (
    ALICE,
    FOREIGN,
    NOTHING,
    OWN,
    audit,
    cursor,
    missing,
    reach,
    record,
    refused,
    repeated,
    strangers,
    write,
)
from tests.unit.checks.literals import answer, event_stream, judged, login_redirect, result, rpc_error, tool_error

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass

WEAK = 'Bearer error="insufficient_scope", scope="invoices:read"'
REFUSALS = [
    answer(403),
    answer(404),
    tool_error(),
    rpc_error(),
    result(invoices=[]),
    result(note="bob's own"),
    event_stream(),
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_every_way_of_saying_no_is_legal(refusal: Answer) -> None:
    assert judged("record_hidden", record(foreign=refusal, last=refusal)) == Pass()


@pytest.mark.parametrize(
    "leak",
    [
        OWN,
        answer(403, body={"error": f"not yours: {ALICE.text}"}),
        answer(500, body={"trace": ALICE.text}),
        answer(404, headers=(("x-record", ALICE.text),)),
        tool_error(f'Bearer error_description="{ALICE.text}"'),
        answer(429, body={"error": ALICE.text}),
    ],
    ids=["result", "refusal", "breakdown", "header", "meta", "rate limit"],
)
@pytest.mark.parametrize("place", ["foreign", "last"])
def test_a_canary_anywhere_is_a_leak(leak: Answer, place: str) -> None:
    verdict = judged("record_hidden", record(**{place: leak}))
    assert isinstance(verdict, Fail)
    assert verdict.impact is None
    assert ALICE.record in verdict.observed
    assert ALICE.text not in verdict.observed + verdict.expected


@pytest.mark.parametrize(
    "silent",
    [answer(500), answer(503), answer(429), answer(None), login_redirect(), answer(401, "Bearer"), answer(403, WEAK)],
)
def test_what_is_refused_for_another_reason_proves_nothing(silent: Answer) -> None:
    assert isinstance(judged("record_hidden", record(foreign=silent)), Inconclusive)
    assert isinstance(judged("foreign_write_denied", write(foreign=silent)), Inconclusive)
    assert isinstance(judged("cursor_bound", cursor(other=silent)), Inconclusive)


def test_an_answer_that_was_cut_proves_nothing() -> None:
    assert isinstance(judged("record_hidden", record(last=replace(result(), truncated=True))), Inconclusive)


@pytest.mark.parametrize("place", ["control", "again"])
def test_without_the_owners_control_nothing_is_believed(place: str) -> None:
    assert isinstance(judged("record_hidden", record(**{place: NOTHING})), Inconclusive)
    assert isinstance(judged("reader_served", record(**{place: NOTHING})), Inconclusive)


def test_a_leak_is_told_even_without_a_control() -> None:
    assert isinstance(judged("record_hidden", record(control=NOTHING, foreign=OWN)), Fail)


def test_an_owner_who_gets_another_record_is_disturbed() -> None:
    verdict = judged("owner_undisturbed", record(control=FOREIGN, again=FOREIGN))
    assert isinstance(verdict, Fail)
    assert verdict.impact is None


def test_an_owner_who_loses_the_record_is_not_served() -> None:
    verdict = judged("owner_undisturbed", record(again=NOTHING))
    assert isinstance(verdict, Fail)
    assert verdict.impact is Impact.AVAILABILITY
    assert "after bob had asked" in verdict.observed


def test_another_record_beside_the_own_one_is_the_other_records_leak() -> None:
    both = result(notes=[ALICE.text, "carol-t2-INV-1-c04e"])
    assert judged("owner_undisturbed", record(control=both, again=both)) == Pass()


def test_an_owner_who_never_sees_the_record_shows_nothing() -> None:
    assert isinstance(judged("owner_undisturbed", record(control=NOTHING, again=NOTHING)), Inconclusive)
    assert isinstance(judged("owner_undisturbed", record(again=answer(503))), Inconclusive)


def test_a_reader_sees_the_record_each_time() -> None:
    assert judged("reader_served", record(foreign=OWN, last=OWN)) == Pass()
    assert isinstance(judged("reader_served", record(foreign=OWN)), Fail)
    assert isinstance(judged("reader_served", record(foreign=answer(429), last=OWN)), Inconclusive)


def test_a_write_that_changes_the_record_fails_however_it_is_answered() -> None:
    changed = result(note=ALICE.text, amount=2)
    for said in (NOTHING, answer(403), result(amount=2), answer(500)):
        assert isinstance(judged("foreign_write_denied", write(foreign=said, after=changed, again=changed)), Fail)


def test_a_write_on_the_own_record_of_that_id_is_none_on_the_foreign_one() -> None:
    assert judged("foreign_write_denied", write(foreign=result(amount=2))) == Pass()


def test_where_no_read_shows_a_write_only_a_refusal_tells() -> None:
    blind = {"before": OWN, "after": OWN, "again": OWN, "changed": OWN}
    assert judged("foreign_write_denied", write(**blind)) == Pass()
    assert isinstance(judged("foreign_write_denied", write(**blind, foreign=result())), Inconclusive)


def test_an_answer_that_differs_each_time_shows_no_change() -> None:
    restless = {"after": result(now=1), "again": result(now=2)}
    assert judged("foreign_write_denied", write(**restless)) == Pass()
    assert isinstance(judged("foreign_write_denied", write(**restless, foreign=result())), Inconclusive)
    assert isinstance(judged("one_write_per_key", repeated(**restless)), NotApplicable)


@pytest.mark.parametrize("step", ["own", "before", "after", "control"])
def test_an_owner_who_cannot_write_or_read_controls_nothing(step: str) -> None:
    assert isinstance(judged("foreign_write_denied", write(**{step: NOTHING})), Inconclusive)
    for judge in ("one_write_per_key", "key_bound"):
        assert isinstance(judged(judge, repeated(**{step: NOTHING})), Inconclusive)


def test_a_second_effect_is_seen_by_reading() -> None:
    twice = result(note=ALICE.text, amount=2)
    assert isinstance(judged("one_write_per_key", repeated(after=twice, again=twice)), Fail)
    assert judged("one_write_per_key", repeated(second=answer(422))) == Pass()
    assert isinstance(judged("one_write_per_key", repeated(changed=result(note=ALICE.text, amount=1))), NotApplicable)


def test_a_borrowed_key_brings_nothing() -> None:
    assert isinstance(judged("key_bound", repeated(borrowed=OWN)), Fail)
    assert isinstance(judged("key_bound", repeated(borrowed=OWN, unborrowed=OWN)), NotApplicable)
    assert isinstance(judged("key_bound", repeated(own=result())), NotApplicable)


def test_a_page_token_that_only_counts_is_no_leak() -> None:
    verdict = judged("cursor_bound", cursor(other=result(invoices=["INV-12"])))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None


def test_a_page_token_that_works_as_its_owner_is_a_leak() -> None:
    assert isinstance(judged("cursor_bound", cursor(other=result(invoices=["INV-11"]))), Fail)
    assert isinstance(judged("cursor_bound", cursor(other=OWN)), Fail)


def test_a_list_that_everybody_shares_has_nobody_to_protect() -> None:
    shared = result(invoices=["INV-11"])
    observed = cursor(other=shared, other_first=result(invoices=["INV-1"]))
    assert isinstance(judged("cursor_bound", observed), NotApplicable)


def test_a_list_of_one_page_hands_out_no_token() -> None:
    assert isinstance(judged("cursor_bound", cursor(handed=False)), NotApplicable)
    assert isinstance(judged("cursor_bound", cursor(first=answer(403))), Inconclusive)
    assert isinstance(judged("cursor_bound", cursor(second=NOTHING)), Inconclusive)


def test_a_foreign_record_that_is_told_from_none_is_advice() -> None:
    verdict = judged("foreign_like_missing", missing(answer(403), answer(404)))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None
    assert isinstance(judged("foreign_like_missing", missing(absent=None)), NotApplicable)
    assert isinstance(judged("foreign_like_missing", missing(answer(None))), Inconclusive)
    assert isinstance(judged("foreign_like_missing", missing(answer(500))), Fail)


def test_the_audit_log_names_the_reader_in_any_form() -> None:
    assert judged("reader_audited", audit("2026-11-30 admin read INV-1")) == Pass()
    unnamed = judged("reader_audited", audit("something happened"))
    assert isinstance(unnamed, Pass)
    assert unnamed.advice is not None
    assert isinstance(judged("reader_audited", replace(audit(), lines=None)), Inconclusive)
    assert isinstance(judged("reader_audited", audit(call=answer(403))), Inconclusive)


def test_no_stranger_gets_a_record_and_any_refusal_of_one_will_do() -> None:
    for legal in (strangers(), strangers(answer(401), answer(403)), strangers(answer(500))):
        assert judged("strangers_denied", legal) == Pass()
    for broken in (strangers(OWN), strangers(neighbour=OWN), strangers(OWN, spared=True)):
        assert isinstance(judged("strangers_denied", broken), Fail)
    for open_ in (strangers(own=NOTHING), strangers(answer(None)), strangers(neighbour=answer(429))):
        assert isinstance(judged("strangers_denied", open_), Inconclusive)


def test_a_neighbour_whom_the_contract_does_not_bar_is_a_remark() -> None:
    verdict = judged("strangers_denied", strangers(neighbour=OWN, spared=True))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None


def test_a_refusal_is_believed_only_where_the_owner_reads_the_same() -> None:
    other = result(note=ALICE.text, amount=2)
    for refusal in (answer(401), answer(403), answer(404), tool_error()):
        assert judged("refused_write_undone", refused(refusal)) == Pass()
        assert isinstance(judged("refused_write_undone", refused(refusal, other)), Fail)
    same = result(note=ALICE.text, amount=1)
    for blind in ({"changed": same}, {"again": other}):
        assert isinstance(judged("refused_write_undone", refused(answer(401), **blind)), NotApplicable)
    for open_ in (refused(OWN), refused(answer(None)), refused(answer(401), answer(500))):
        assert isinstance(judged("refused_write_undone", open_), Inconclusive)
    assert isinstance(judged("refused_write_undone", refused(answer(401), control=NOTHING)), Inconclusive)


def test_a_record_that_another_form_of_an_argument_brings_is_told_with_the_form() -> None:
    verdict = judged("arguments_reach_no_further", reach(NOTHING, OWN))
    assert isinstance(verdict, Fail)
    assert "INV-1 of alice in the body for bob asking for 't1/INV-1'" in verdict.observed


@pytest.mark.parametrize(
    ("observed", "kind"),
    [
        (reach(), NotApplicable),
        (reach(OWN, plain=OWN), NotApplicable),
        (reach(NOTHING, own=NOTHING), Inconclusive),
        (reach(NOTHING, plain=answer(401)), Inconclusive),
        (reach(answer(None)), Inconclusive),
        (reach(answer(500), NOTHING), Pass),
    ],
)
def test_an_argument_reaches_nothing_only_where_the_owner_is_served(observed: object, kind: type) -> None:
    assert isinstance(judged("arguments_reach_no_further", observed), kind)


def test_a_role_that_opens_a_record_is_told_with_its_place() -> None:
    verdict = judged("roles_open_nothing", reach(OWN))
    assert isinstance(verdict, Fail)
    assert "for bob with t1/INV-1" in verdict.observed
    assert isinstance(judged("roles_open_nothing", reach(OWN, plain=OWN)), NotApplicable)
    assert isinstance(judged("roles_open_nothing", reach(NOTHING, own=NOTHING)), Inconclusive)
