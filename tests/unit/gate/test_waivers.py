"""Waivers: what a file may say, what it covers, and how it shuts the gate once it is no longer true."""

import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.errors import ContractError, UsageError
from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Outcome, Pass, Revision
from mcp_auth_contract.plan import Case, Plan, Selection
from mcp_auth_contract.reports.model import Report, Result, ServerSeen, Waiver
from mcp_auth_contract.waivers import draft_waivers, in_scope, load_waivers, stale_waivers, waive

CHECKS = load_builtin()
BY_ID = {check.id: check for check in CHECKS}
EXPIRED = BY_ID["token-expired-refused"]
SCOPE = BY_ID["scope-missing-denied"]
TODAY = date(2026, 8, 22)
FAIL = Fail("401", "200 with a result")
PASS = Pass()
UNSEEN = Inconclusive("no answer in time")
ABSENT = NotApplicable("the server has no sessions")

GOOD = """
[[waiver]]
check = "token-expired-refused"
reason = "the gateway
  does it"
owner = "jane"
expires = 2026-12-31

[[waiver]]
case = "token-expired-refused[get_invoice]"
reason = "x"
owner = "y"
expires = 2026-08-22
""".replace('"the gateway\n  does it"', '"""the gateway\n  does it"""')


def write(folder: Path, text: str) -> Path:
    file = folder / "w.toml"
    file.write_text(text, "utf-8")
    return file


def waiver(about: str, *, expires: date = date(2026, 12, 31), number: int = 1, owner: str = "jane") -> Waiver:
    is_case = "[" in about
    return Waiver("w.toml", number, None if is_case else about, about if is_case else None, "#1", owner, expires)


def result(outcome: Outcome, where: str = "get_invoice", check: Check = EXPIRED) -> Result:
    return Result(f"{check.id}[{where}]", check, Revision.R2025_11_25, outcome)


def test_a_good_file_is_read_in_its_order(tmp_path: Path) -> None:
    first, second = load_waivers(write(tmp_path, GOOD), CHECKS)
    assert (first.check, first.case, first.reason) == ("token-expired-refused", None, "the gateway does it")
    assert (first.owner, first.expires, first.number) == ("jane", date(2026, 12, 31), 1)
    assert (second.check, second.case) == (None, "token-expired-refused[get_invoice]")


def test_an_empty_file_waives_nothing(tmp_path: Path) -> None:
    assert load_waivers(write(tmp_path, "# none today\n"), CHECKS) == ()


ENTRY = '[[waiver]]\ncheck = "token-expired-refused"\nreason = "r"\nowner = "o"\nexpires = 2026-12-31\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[waiver]", "not readable as TOML"),
        ("[[waver]]\n", 'waver: unknown table; did you mean "waiver"?'),
        ("waiver = 1\n", "waiver: write each one as a table of its own, below a line [[waiver]]"),
        ("waiver = [1]\n", "below a line [[waiver]]"),
        (
            ENTRY.replace("owner", "onwer"),
            'waiver 1 (token-expired-refused): onwer: unknown key; did you mean "owner"?',
        ),
        (ENTRY.replace("expired", "expird"), 'no check is called "token-expird-refused"; did you mean "token-expired-'),
        (ENTRY.replace("token-expired-refused", "token-*"), '"token-*" is a pattern; a waiver takes one exact id'),
        (ENTRY.replace("token-expired-refused", "zzz"), "`mcp-auth-contract list` names them all"),
        (ENTRY.replace("token-expired-refused", "token-expired-refused[x]"), 'is a case; write case = "token-expired-'),
        (ENTRY.replace('check = "token-expired-refused"', ""), "waiver 1: check: write either check"),
        (ENTRY + 'case = "token-expired-refused[x]"\n', "and not both"),
        (ENTRY.replace('check = "token-expired-refused"', "check = 3"), "check: must be an id"),
        (ENTRY.replace('reason = "r"\n', ""), "reason: missing; say why"),
        (ENTRY.replace('owner = "o"', 'owner = ""'), "owner: left to fill in; name who answers for it"),
        (ENTRY.replace('owner = "o"', 'owner = " "'), "owner: left to fill in"),
        (ENTRY.replace('owner = "o"', "owner = 1"), "owner: must be a string"),
        (ENTRY.replace("expires = 2026-12-31\n", ""), "expires: missing; write the last day"),
        (ENTRY.replace("2026-12-31", '""'), "expires: left to fill in; write the last day"),
        (ENTRY.replace("2026-12-31", '"2026-12-31"'), "expires: must be a date without quotes and time"),
        (ENTRY.replace("2026-12-31", "2026-12-31T00:00:00Z"), "expires: must be a date without quotes and time"),
        (ENTRY + ENTRY, "waiver 2 (check token-expired-refused): check: waived by waiver 1 already"),
    ],
)
def test_a_bad_file_is_one_clear_error(text: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ContractError) as caught:
        load_waivers(file, CHECKS)
    assert str(caught.value).startswith(f"{file}: ")
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_there_and_one_that_is_no_text_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such waivers file"):
        load_waivers(tmp_path / "none.toml", CHECKS)
    (tmp_path / "w.toml").write_bytes(b"\xff")
    with pytest.raises(ContractError, match="not readable"):
        load_waivers(tmp_path / "w.toml", CHECKS)


def test_only_failures_are_waived_and_the_entry_of_the_case_counts_first() -> None:
    broad, narrow = waiver(EXPIRED.id), waiver(f"{EXPIRED.id}[a]", number=2)
    results = [result(FAIL, "a"), result(FAIL, "b"), result(PASS, "c"), result(UNSEEN, "d"), result(Error("x"), "e")]
    waived = waive([*results, result(FAIL, "a", SCOPE)], (broad, narrow), TODAY)
    assert [one.waived for one in waived] == [narrow, broad, None, None, None, None]
    assert [one.outcome for one in waived[:5]] == [one.outcome for one in results]


@pytest.mark.parametrize(
    ("expires", "open_"), [(date(2026, 8, 23), True), (date(2026, 8, 22), True), (date(2026, 8, 21), False)]
)
def test_the_last_day_counts_and_the_day_after_does_not(expires: date, open_: bool) -> None:
    waivers = (waiver(EXPIRED.id, expires=expires),)
    results = waive([result(FAIL)], waivers, TODAY)
    stale = stale_waivers(waivers, results, TODAY)
    gate = decide(results, stale=stale)
    assert gate.open is open_
    if not open_:
        assert gate.exit_code == 1
        assert gate.reasons == (
            "1 case of level MUST failed",
            (
                "w.toml: waiver 1 (check token-expired-refused): expired on 2026-08-21; repair the server and remove it, "
                "or have jane agree to a new date"
            ),
        )


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([], "matches no case of this run; remove it"),
        ([PASS], "what it is about passes; remove it"),
        ([PASS, PASS], "what it is about passes; remove it"),
        ([PASS, ABSENT], "what it is about passes; remove it"),
        ([ABSENT], "what it is about was not run (the server has no sessions); remove it, or keep it"),
        ([PASS, FAIL], None),
        ([FAIL], None),
        ([UNSEEN], None),
        ([PASS, UNSEEN], None),
        ([Error("x")], None),
    ],
)
def test_a_waiver_that_covers_no_failure_shuts_the_gate(outcomes: list[Outcome], said: str | None) -> None:
    waivers = (waiver(EXPIRED.id),)
    results = waive([result(outcome, str(n)) for n, outcome in enumerate(outcomes)], waivers, TODAY)
    results = (*results, result(PASS, check=SCOPE))
    stale = stale_waivers(waivers, results, TODAY)
    if said is None:
        assert stale == ()
        return
    assert len(stale) == 1
    assert stale[0].startswith(f"w.toml: waiver 1 (check token-expired-refused): {said}")
    gate = decide(results, stale=stale)
    assert (gate.open, gate.exit_code, gate.reasons) == (False, 1, stale)


def test_a_case_that_matches_nothing_names_the_nearest() -> None:
    (said,) = stale_waivers((waiver(f"{EXPIRED.id}[get_invoce]"),), [result(PASS)], TODAY)
    assert said.endswith(
        'matches no case of this run; did you mean "token-expired-refused[get_invoice]"? Else remove it'
    )


def test_a_shard_tells_expiry_alone() -> None:
    waivers = (waiver(EXPIRED.id), waiver(SCOPE.id, expires=date(2026, 1, 1), number=2))
    (said,) = stale_waivers(waivers, [result(PASS)], TODAY, whole=False)
    assert "waiver 2" in said


def test_a_fault_of_the_kit_wins_over_a_stale_waiver_and_that_over_what_was_not_seen() -> None:
    assert decide([result(Error("x"))], stale=["s"]).exit_code == 4
    assert decide([result(UNSEEN)], stale=["s"]).exit_code == 1


def test_a_waived_failure_does_not_bind() -> None:
    (waived,) = waive([result(FAIL)], (waiver(EXPIRED.id),), TODAY)
    gate = decide([waived])
    assert (gate.open, gate.exit_code, gate.reasons) == (True, 0, ())
    assert not gate.binds(waived)
    assert gate.binds(result(FAIL))


def planned(*names: tuple[str, Check], selection: Selection) -> Plan:
    cases = [Case(f"{check.id}[{where}]", check, None, None) for where, check in names]
    admitted = tuple(case for case in cases if selection.admits(case))
    return Plan(admitted, (), tuple(case for case in cases if case not in admitted))


@pytest.mark.parametrize(
    ("about", "select", "judged"),
    [
        (EXPIRED.id, (), True),
        (EXPIRED.id, (EXPIRED.id,), True),
        (EXPIRED.id, ("token",), True),
        (EXPIRED.id, ("token-expired-*",), True),
        (EXPIRED.id, (f"{EXPIRED.id}[a]",), False),
        (EXPIRED.id, ("scope",), False),
        (f"{EXPIRED.id}[a]", (f"{EXPIRED.id}[a]",), True),
        (f"{EXPIRED.id}[a]", (f"{EXPIRED.id}[b]",), False),
        (f"{EXPIRED.id}[gone]", ("token",), True),
        (f"{EXPIRED.id}[gone]", ("scope",), False),
        (f"{EXPIRED.id}[gone]", (f"{EXPIRED.id}[*o*]",), True),
    ],
)
def test_with_a_selection_only_what_was_wholly_selected_is_judged(
    about: str, select: tuple[str, ...], judged: bool
) -> None:
    selection = Selection(select)
    plan = planned(("a", EXPIRED), ("b", EXPIRED), ("a", SCOPE), selection=selection)
    (seen,) = in_scope((waiver(about),), plan, selection)
    assert seen.judged is judged
    assert bool(stale_waivers((seen,), [result(PASS, "z", SCOPE)], TODAY)) is judged


def of(*results: Result, fail_on: Level = Level.MUST) -> Report:
    server = ServerSeen("http://127.0.0.1:1/mcp", "http://127.0.0.1:1/mcp", ())
    return Report(
        "1.2.3", "c.toml", server, "2026-08-22T10:00:00+00:00", 1.0, results, decide(results, fail_on=fail_on)
    )


def test_a_draft_is_refused_until_it_is_filled_in_and_opens_the_gate_then(tmp_path: Path) -> None:
    nasty = 'get "x"\\\n\x00\x7f\x1b]é\ud800'
    results = (
        result(FAIL, "a"),
        result(Fail("401", f"200 {nasty}\n[[waiver]]"), "b"),
        replace(result(FAIL, "a"), revision=Revision.R2025_06_18),
        result(FAIL, nasty, SCOPE),
        result(PASS, "y", SCOPE),
    )
    text = draft_waivers(of(*results), whole=True)
    assert text is not None
    tables = tomllib.loads(text)["waiver"]
    assert [table.get("check") or table["case"][:22] for table in tables] == [EXPIRED.id, "scope-missing-denied[g"]
    assert all(table["owner"] == table["expires"] == "" for table in tables)
    file = write(tmp_path, text)
    with pytest.raises(ContractError, match=r"waiver 1 .* owner: left to fill in"):
        load_waivers(file, CHECKS)
    filled = text.replace('owner = ""', 'owner = "jane"').replace('expires = ""', "expires = 2026-12-31")
    waivers = load_waivers(write(tmp_path, filled), CHECKS)
    clean = tuple(replace(one, case=one.case.replace("\ud800", "?")) for one in results)
    waived = waive(clean, waivers, TODAY)
    assert stale_waivers(waivers, waived, TODAY) == ()
    assert decide(waived).open


def test_a_draft_repeats_what_was_said_in_plain_letters_and_on_one_line() -> None:
    said = Fail('401 with error="invalid_token" (§4)', "200\n[[waiver]]\x7f\u2028\u202e")
    text = draft_waivers(of(result(said, "a")), whole=False) or ""
    (line,) = [one for one in text.splitlines() if "expected" in one]
    assert 'expected 401 with error="invalid_token" (§4), observed 200' in line
    assert line.isprintable()
    assert len(tomllib.loads(text)["waiver"]) == 1


def test_a_draft_names_each_case_where_not_all_of_a_check_failed_or_not_all_was_run() -> None:
    some = of(result(FAIL, "a"), result(FAIL, "b"), result(UNSEEN, "c"))
    every = of(result(FAIL, "a"), result(FAIL, "b"), result(ABSENT, "c"))
    one = of(result(FAIL, "a"))
    for whole, by_check, keys in (
        (some, True, {"case"}),
        (every, True, {"check"}),
        (every, False, {"case"}),
        (one, True, {"case"}),
    ):
        tables = tomllib.loads(draft_waivers(whole, whole=by_check) or "")["waiver"]
        assert {key for table in tables for key in table if key in ("check", "case")} == keys


def test_what_does_not_shut_the_gate_is_not_drafted() -> None:
    (waived,) = waive([result(FAIL)], (waiver(EXPIRED.id),), TODAY)
    mild = replace(EXPIRED, level=Level.SHOULD)
    assert draft_waivers(of(waived, result(FAIL, check=mild), result(UNSEEN)), whole=True) is None
    assert draft_waivers(of(result(FAIL, check=mild), fail_on=Level.SHOULD), whole=True) is not None
