"""Merging shards: all of one plan, each once, and the gate decided anew."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest
from tests.unit.reports.examples import NEWEST, RESULTS, exchange, report

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import plan_digest
from mcp_auth_contract.execution.merge import merge_shards
from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Inconclusive, Level, Revision
from mcp_auth_contract.reports.model import ControlSeen, Report, ServerSeen, ShardSeen, Waiver
from mcp_auth_contract.waivers import stale_waivers, waive

PLAN = plan_digest((result.case, result.revision) for result in RESULTS)
ORDER = ["challenge-delete-gated", "prm-served", "token-expired-refused"]


def part(index: int, of: int = 2, **changes: object) -> Report:
    port = 40000 + index
    url = f"http://127.0.0.1:{port}/mcp"
    whole = report(
        RESULTS[index - 1 :: of],
        server=ServerSeen(url, url, (NEWEST, Revision.R2025_11_25), "Invoices", "4.5"),
        shard=ShardSeen(index, of, PLAN),
        started=f"2026-08-22T10:0{index}:00+00:00",
        duration_s=10.0 * index,
        exchanges={"x1": exchange("x1", 200), f"x{index + 2}": exchange(f"x{index + 2}", 200)},
        notes=("the same", f"of part {index}"),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def named(*parts: Report) -> list[tuple[str, Report]]:
    return [(f"{number}.json", one) for number, one in enumerate(parts, 1)]


def test_the_parts_in_any_order_make_the_whole() -> None:
    merged = merge_shards(named(part(2), part(1)), ORDER)
    key = lambda one: (one.case, str(one.revision))  # noqa: E731
    assert sorted(map(key, merged.results)) == sorted(map(key, RESULTS))
    assert merged == merge_shards(named(part(1), part(2)), ORDER)
    assert merged.counts == report().counts
    assert merged.gate == report().gate
    assert merged.shard is None
    assert (merged.started, merged.duration_s) == ("2026-08-22T10:01:00+00:00", 20.0)
    assert merged.notes == ("the same", "of part 1", "of part 2")
    checks = list(dict.fromkeys(result.check.id for result in merged.results))
    assert checks[:3] == ORDER
    assert checks[3:] == sorted(checks[3:])


def test_exchanges_of_two_parts_do_not_mix() -> None:
    merged = merge_shards(named(part(1), part(2)))
    assert set(merged.exchanges) == {"1.x1", "1.x3", "2.x1", "2.x4"}
    assert all(one["id"] == key for key, one in merged.exchanges.items())
    expired = next(result for result in merged.results if result.case == "token-expired-refused[get_invoice]")
    assert set(expired.evidence) in ({"2.x3", "2.x4"}, {"1.x5"})
    assert merged.sent == 4


def test_a_control_that_one_part_lost_is_lost() -> None:
    held = ControlSeen("get_invoice", "alice", NEWEST, accepted=True, observed="200")
    lost = replace(held, accepted=False, observed="500")
    merged = merge_shards(named(part(1, controls=(held,)), part(2, controls=(lost, held))))
    assert merged.controls == (lost,)


def test_an_interrupted_part_shuts_the_gate() -> None:
    merged = merge_shards(named(part(1), part(2, interrupted=True)))
    assert merged.interrupted
    assert "the run was interrupted" in merged.gate.reasons


def test_waivers_are_judged_over_all_parts() -> None:
    waivers = (
        Waiver("w.toml", 1, "scope-missing-denied", None, "r", "o", date(2026, 12, 31)),
        Waiver("w.toml", 2, "prm-served", None, "r", "o", date(2026, 12, 31)),
        Waiver("w.toml", 3, "token-expired-refused", None, "r", "o", date(2026, 8, 21)),
    )
    today = date(2026, 8, 22)

    def judged(one: Report) -> Report:
        results = waive(one.results, waivers, today)
        stale = stale_waivers(waivers, results, today, whole=False)
        assert len(stale) == 1
        return replace(one, waivers=waivers, results=results, gate=decide(results, stale=stale))

    merged = merge_shards(named(judged(part(1)), judged(part(2))))
    stale = [reason for reason in merged.gate.reasons if reason.startswith("w.toml")]
    assert [reason.split(":")[1] for reason in stale] == [
        " waiver 2 (check prm-served)",
        " waiver 3 (check token-expired-refused)",
    ]
    assert sum(result.waived is not None for result in merged.results) == 5


def test_fail_on_should_is_kept() -> None:
    strict = [replace(one, gate=decide(one.results, fail_on=Level.SHOULD)) for one in (part(1), part(2))]
    assert merge_shards(named(*strict)).gate == report(fail_on=Level.SHOULD).gate


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (list, "no report to merge"),
        (lambda: [report()], "1.json: no shard of a run but a whole one"),
        (lambda: [part(1)], "missing: shard 2/2; a merge needs every shard"),
        (lambda: [part(1), part(1)], "2.json: shard 1/2 is 1.json already"),
        (lambda: [part(1), part(2), part(2)], "3.json: shard 2/2 is 2.json already"),
        (lambda: [part(1), part(2, 3)], "2.json: shard 2 of 3, while 1.json is one of 2"),
        (lambda: [part(1), part(2, kit_version="9")], "2.json: another kit version than 1.json: 9 instead of 1.2.3"),
        (lambda: [part(1), part(2, contract="b.toml")], "another contract than 1.json: b.toml"),
        (lambda: [part(1), part(2, server=replace(part(2).server, url="http://127.0.0.1:1/x"))], "another target"),
        (lambda: [part(1), part(2, server=replace(part(2).server, url="https://a.example/mcp"))], "another target"),
        (lambda: [part(1), part(2, server=replace(part(2).server, resource="https://a"))], "another resource"),
        (lambda: [part(1), part(2, server=replace(part(2).server, version="5"))], "another server"),
        (lambda: [part(1), part(2, gate=decide([], fail_on=Level.SHOULD))], "another set of levels that shut the gate"),
        (
            lambda: [part(1), part(2, options=("--token-env", "T"))],
            "another set of options than 1.json: --token-env T instead of none",
        ),
        (lambda: [part(1), part(2, waivers=(Waiver("w", 1, "a", None, "r", "o", date.max),))], "other waivers"),
        (lambda: [part(1), part(2, shard=ShardSeen(2, 2, "other"))], "another plan than 1.json"),
        (lambda: [part(1), part(2, results=RESULTS[3::2])], "do not hold the cases of their plan"),
        (lambda: [part(1), part(2, started="yesterday")], "is no date"),
        (lambda: [part(1), part(2, started="2026-13-01T")], "is no date"),
    ],
)
def test_what_does_not_belong_together_is_refused(parts: Callable[[], list[Report]], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        merge_shards(named(*parts()))
    assert said in str(caught.value)


def test_a_case_without_an_outcome_in_one_part_is_not_seen_in_the_whole() -> None:
    cut = part(1, results=tuple(replace(one, outcome=Inconclusive("cut")) for one in part(1).results))
    assert merge_shards(named(cut, part(2))).counts["inconclusive"] >= 7
