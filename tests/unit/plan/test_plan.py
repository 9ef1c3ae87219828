"""The plan: what a contract expands to, before anything is sent."""

from collections import Counter
from pathlib import Path

import pytest
from tests.work import growth

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.contract import Contract, load_contract, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.plan import (
    UNKNOWN_SCOPES,
    Case,
    Plan,
    Selection,
    make_anonymous_plan,
    make_plan,
    make_provider_plan,
)

CHECKS = load_builtin()
SAMPLE = load_contract(data_folder("scenarios") / "contracts" / "sample.toml")
BOTH = (Revision.R2026_07_28, Revision.R2025_11_25)


def planned(contract: Contract = SAMPLE, *select: str, revisions: tuple[Revision, ...] = BOTH) -> Plan:
    return make_plan(CHECKS, contract, revisions, selection=Selection(select))


def named(plan: Plan, check: str) -> list[Case]:
    return [case for case in plan.cases if case.check.id == check]


def test_a_case_is_named_after_its_operation_and_what_it_varies() -> None:
    ids = {case.id for case in planned().cases}
    assert "token-expired-refused[get_invoice]" in ids
    assert "scope-missing-denied[update_invoice:invoices:write]" in ids
    assert "token-alg-none-refused[get_invoice:upper]" in ids
    assert "token-in-query-refused[get_invoice:query_access_token]" in ids
    assert "prm-served" in ids


def test_no_two_cases_have_one_id_in_one_revision() -> None:
    counted = Counter((case.id, case.revision) for case in planned().cases)
    assert [key for key, times in counted.items() if times > 1] == []


def test_the_whole_catalogue_runs_on_the_first_revision_and_the_core_on_the_others() -> None:
    plan = planned()
    assert {case.revision for case in named(plan, "token-expired-refused")} == set(BOTH)
    assert {case.revision for case in named(plan, "token-audience-type-refused")} == set(BOTH)
    assert {case.revision for case in named(plan, "token-typ-generic-refused")} == {BOTH[0]}


def test_the_other_era_gets_what_reads_messages_and_one_variant_of_each_bad_token() -> None:
    plan = planned(revisions=(*BOTH, Revision.R2025_06_18))
    for check in ("isolation-list-filtered", "scope-odd-message-denied", "token-in-body-refused"):
        assert {case.revision for case in named(plan, check)} == set(BOTH)
    wildcards = Counter(case.revision for case in named(plan, "token-audience-wildcard-refused"))
    assert wildcards[BOTH[0]] > 1
    assert wildcards[BOTH[1]] == 1
    assert Revision.R2025_06_18 not in wildcards


def test_what_only_an_older_revision_knows_runs_there() -> None:
    plan = planned()
    assert {case.revision for case in named(plan, "challenge-get-stream-gated")} == {Revision.R2025_11_25}
    assert named(plan, "challenge-metadata-pointer-required")[0].inapplicable is not None


def test_every_revision_runs_everything_everywhere() -> None:
    plan = make_plan(CHECKS, SAMPLE, BOTH, every_revision=True)
    assert {case.revision for case in named(plan, "token-typ-generic-refused")} == set(BOTH)


def test_a_missing_scope_leaves_all_others_but_those_that_imply_it() -> None:
    (case,) = named(planned(SAMPLE, "scope-missing-denied[update_invoice:*"), "scope-missing-denied")[:1]
    assert case.question is not None
    assert case.question.scopes == {"invoices:read", "invoices:export"}
    implying = text_of(SAMPLE).replace("implies = {", "implies = { all = ['invoices:write'],")
    implying = implying.replace('scopes = ["invoices:export"]', 'scopes = ["invoices:export", "all"]')
    other = read_contract(implying, Path("c.toml"))
    (case,) = named(planned(other, "scope-missing-denied[update_invoice:*"), "scope-missing-denied")[:1]
    assert case.question is not None
    assert "all" not in (case.question.scopes or ())


def text_of(contract: Contract) -> str:
    assert contract.source is not None
    return contract.source.read_text("utf-8")


def test_without_writes_a_tool_that_writes_is_not_called() -> None:
    silent = read_contract(text_of(SAMPLE).replace("writes = true", "writes = false"), Path("c.toml"))
    cases = [case for case in planned(silent).cases if "[update_invoice" in case.id]
    assert cases
    assert all(case.inapplicable for case in cases)


def test_a_write_that_nobody_has_decided_about_is_asked_only_without_effect() -> None:
    open_question = read_contract(text_of(SAMPLE).replace("writes = true\n", "\n"), Path("c.toml"))
    cases = [case for case in planned(open_question).cases if "[update_invoice" in case.id]
    asked = {case.check.id for case in cases if not case.unasked}
    assert asked == {"challenge-missing-token-401", "scope-none-denied"}
    assert not any(case.inapplicable for case in cases)
    assert all(
        case.base is None or case.base.question.operation.name == "get_invoice" for case in cases if not case.unasked
    )
    assert {case.unasked for case in cases} - {None} == {
        "not called: update_invoice writes, and policy.writes is not set; set it to true, or to false to leave it untested"
    }
    written = [case for case in planned(open_question).cases if case.check.id == "isolation-write-denied"]
    assert written
    assert all(case.unasked for case in written)


def test_claims_that_are_not_required_make_their_checks_not_applicable() -> None:
    loose = read_contract(text_of(SAMPLE).replace('required = ["sub", "tenant_id"]', "required = []"), Path("c.toml"))
    assert named(planned(loose), "token-tenant-missing-refused")[0].inapplicable is not None
    assert named(planned(loose), "token-subject-missing-refused")[0].inapplicable is not None


def test_a_call_is_not_its_own_control() -> None:
    for case in planned().cases:
        assert case.base is None or case.base.question != case.question


def test_a_selection_takes_ids_families_cases_and_patterns() -> None:
    assert {case.check.family for case in planned(SAMPLE, "scope-").cases} == {"scope"}
    assert len(planned(SAMPLE, "token-expired-refused[get_invoice]").cases) == len(BOTH)
    assert all("update_invoice" in case.id for case in planned(SAMPLE, "*[update_invoice*").cases)
    rest = make_plan(CHECKS, SAMPLE, BOTH, selection=Selection((), ("token",)))
    assert not [case for case in rest.cases if case.check.family == "token"]


@pytest.mark.parametrize("word", ["token-expird-refused", "nonsense", "token-expired-refused[no_such_tool]"])
def test_a_selection_that_matches_nothing_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="no check or case is called"):
        planned(SAMPLE, word)


def test_an_anonymous_plan_asks_nothing_that_needs_a_token() -> None:
    plan = make_anonymous_plan(CHECKS, BOTH)
    assert len({case.check.id for case in plan.cases}) > 50
    for case in plan.cases:
        assert case.base is None
        assert case.question is not None
        assert getattr(case.question, "token", "none") == "none"
        assert case.principal is None


@pytest.mark.slow
def test_the_work_of_planning_grows_linearly_with_the_tools() -> None:
    head = text_of(SAMPLE).split("[[tools]]")[0]

    def contract(tools: int) -> Contract:
        one = '[[tools]]\nname = "tool_{0}"\nscopes = ["s:{0}", "invoices:read"]\n'
        return read_contract(head + "".join(map(one.format, range(tools))), Path("c.toml"))

    contracts = {tools: contract(tools) for tools in (10, 50)}
    assert len(planned(contracts[50]).cases) > 1000
    assert growth(lambda tools: planned(contracts[tools]), 10, factor=5) < 12


def test_every_check_is_planned_somewhere() -> None:
    plan = make_plan(CHECKS, SAMPLE, tuple(reversed(Revision)))
    provided = make_provider_plan(CHECKS, tuple(reversed(Revision)))
    missing = {check.id for check in CHECKS} - {case.check.id for case in (*plan.cases, *provided.cases)}
    assert missing == set()
    assert all(isinstance(case.check, Check) for case in plan.cases)


def scopes_of(plan: Plan, check: str) -> dict[str, frozenset[str] | None]:
    return {case.id: case.question.scopes for case in named(plan, check) if case.question is not None}


def test_a_broader_scope_stands_for_those_that_it_implies() -> None:
    planned_scopes = scopes_of(planned(SAMPLE, "scope-implied-accepted"), "scope-implied-accepted")
    assert planned_scopes["scope-implied-accepted[approve_invoice:invoices:admin]"] == {"invoices:admin"}
    text = text_of(SAMPLE).replace('"invoices:admin" = ["invoices:read", ', '"invoices:admin" = [')
    partly = scopes_of(planned(read_contract(text, Path("c.toml")), "scope-implied-accepted"), "scope-implied-accepted")
    assert partly["scope-implied-accepted[approve_invoice:invoices:admin]"] == {"invoices:admin", "invoices:read"}
    assert "scope-implied-accepted[get_invoice:invoices:admin]" not in partly


def test_without_a_hierarchy_nothing_is_implied_and_a_word_says_so() -> None:
    lines = [line for line in text_of(SAMPLE).splitlines() if not line.startswith("implies")]
    flat = read_contract("\n".join(lines), Path("c.toml"))
    (case,) = named(planned(flat, "scope-implied-accepted"), "scope-implied-accepted")
    assert "policy.implies" in (case.inapplicable or "")


def test_more_scopes_than_needed_and_none_of_those_needed() -> None:
    more = scopes_of(planned(SAMPLE, "scope-superset-accepted"), "scope-superset-accepted")
    assert more["scope-superset-accepted[get_invoice]"] == {
        "invoices:read", "invoices:write", "invoices:export", *UNKNOWN_SCOPES,
    }  # fmt: skip
    none = scopes_of(planned(SAMPLE, "scope-challenge-complete"), "scope-challenge-complete")
    assert none["scope-challenge-complete[approve_invoice]"] == {"invoices:export"}


def test_what_needs_no_scope_is_asked_without_any() -> None:
    free = scopes_of(planned(SAMPLE, "scope-free-accepted"), "scope-free-accepted")
    assert free == {"scope-free-accepted[list_currencies]": frozenset()}


def test_a_way_past_the_check_is_tried_where_it_exists() -> None:
    plan = make_plan(CHECKS, SAMPLE, (Revision.R2026_07_28, Revision.R2025_03_26))
    odd = named(plan, "scope-odd-message-denied")
    assert {case.revision for case in odd if "header_" in case.id} == {Revision.R2026_07_28}
    kinds = {case.question.operation.kind for case in named(plan, "scope-subscription-denied") if case.question}
    assert kinds == {OperationKind.RESOURCE}
    legacy = make_plan(CHECKS, SAMPLE, (Revision.R2025_11_25,))
    assert not [case.id for case in named(legacy, "scope-odd-message-denied") if "header_" in case.id]


def test_patterns_select_by_tool_principal_and_record() -> None:
    for pattern in ("*[update_invoice*", "*[*bob*]", "*[*INV-1 of alice*]", "scope-*[invoice://INV-1*"):
        cases = planned(SAMPLE, pattern).cases
        assert cases
        word = pattern.split("[")[1].strip("*]")
        assert all(word in case.id for case in cases)
