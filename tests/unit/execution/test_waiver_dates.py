"""The day on which a run decides about its waivers is the one of the clock it was given."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from tests.lab.lab_runs import CHECKS, run_lab

from mcp_auth_contract.execution import Options, Shard
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Waiver
from mcp_auth_contract.tokens import Algorithm
from mcp_auth_contract_lab.faults import FAULTS

EXPIRED = "token-expired-refused"
LAST = (datetime.now(UTC) + timedelta(days=30)).date()
WAIVER = Waiver("w.toml", 1, EXPIRED, None, "#1", "jane", LAST)
DAY = 86400.0


@pytest.mark.slow
@pytest.mark.parametrize(("days", "open_"), [(0, True), (400, False)])
def test_a_waiver_expires_by_the_clock_of_the_run(days: int, open_: bool) -> None:
    options = Options(
        checks=CHECKS,
        environ={},
        selection=Selection((EXPIRED,)),
        waivers=(WAIVER,),
        clock=lambda: time.time() + days * DAY,
    )
    with EmbeddedIssuer(IssuerSettings(algorithms=tuple(Algorithm))) as issuer:
        report = run_lab(issuer, fault=FAULTS["expiry-ignored"], options=options)
    assert bool(report.gate.stale) is not open_
    assert report.gate.open is open_, report.gate.reasons
    assert {result.waived for result in report.results} == ({WAIVER} if open_ else {None})


@pytest.mark.slow
def test_a_part_of_a_run_leaves_all_but_expiry_to_the_merge() -> None:
    idle = Waiver("w.toml", 2, "scope-missing-denied", None, "#1", "jane", LAST)
    for shard, stale in ((Shard(1, 2), 0), (None, 1)):
        options = Options(
            checks=CHECKS,
            environ={},
            selection=Selection(("scope-missing-denied",)),
            waivers=(idle,),
            shard=shard,
        )
        with EmbeddedIssuer(IssuerSettings(algorithms=tuple(Algorithm))) as issuer:
            report = run_lab(issuer, options=options)
        assert len(report.gate.stale) == stale
        assert (report.shard is None) is (shard is None)
        assert report.controls
