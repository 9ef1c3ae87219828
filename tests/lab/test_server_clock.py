"""Tokens follow the server's clock, so one check alone tells where that clock is wrong."""

import pytest
from tests.lab.lab_runs import CHECKS, run_lab

from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.plan import Selection
from mcp_auth_contract_lab.faults import FAULTS


@pytest.mark.parametrize(("declared", "code"), [(0, 1), (40, 1), (60, 0)])
def test_a_clock_that_is_off_by_more_than_leeway_and_declared_skew_shuts_the_gate(
    issuer: EmbeddedIssuer, declared: int, code: int
) -> None:
    options = Options(checks=CHECKS, environ={}, selection=Selection(("time-server-clock", "token-expired-refused")))
    edits = [("[policy]", f"[policy]\nclock_skew = {declared}")]
    report = run_lab(issuer, fault=FAULTS["clock-behind"], edits=edits, options=options)
    assert report.gate.exit_code == code, report.gate.reasons
    assert report.counts["fail"] == (code == 1)


def test_a_moved_clock_in_process_is_not_off(issuer: EmbeddedIssuer) -> None:
    options = Options(checks=CHECKS, environ={}, selection=Selection(("time-",)))
    report = run_lab(issuer, options=options, freeze=True)
    assert report.gate.open, report.gate.reasons
