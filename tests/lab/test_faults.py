"""Each fault of the sample server is found by its own checks, and by no other.

A run of every check against every fault takes longer than a build may. So each fault is run against the checks that it
breaks and an eightieth of all others, other ones for each fault; `MCP_AUTH_CONTRACT_WHOLE_MATRIX=1` runs them all.
"""

import pytest
from tests.lab.lab_runs import CHECKS, EDITS, run_lab, sampled

from mcp_auth_contract.execute import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.lab.faults import FAULTS
from mcp_auth_contract.model import Error, Fail
from mcp_auth_contract.plan import Selection

_PARTS = 80
_IN_TIME = {check.id for check in CHECKS if check.probe in ("timeline", "leeway")}
"""The checks that move the clock."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_its_own_checks_and_no_other(name: str, issuer: EmbeddedIssuer) -> None:
    fault = FAULTS[name]
    tried = sampled(name, _PARTS, fault.breaks)
    report = run_lab(
        issuer,
        fault=fault,
        edits=[] if fault.within is None else EDITS[fault.within],
        options=Options(checks=CHECKS, environ={}, name="sample.toml", selection=Selection(tried)),
        freeze=not _IN_TIME.isdisjoint(tried),  # to take the clock over costs as much as a few cases
        behind=name == "token-passed-on",
    )
    failed = {result.check.id for result in report.results if isinstance(result.outcome, Fail)}
    errors = [result.sentence for result in report.results if isinstance(result.outcome, Error)]
    assert not errors
    assert failed == set(fault.breaks), "\n".join(
        result.sentence for result in report.results if isinstance(result.outcome, Fail)
    )
    assert report.gate.exit_code != 0 or not any(
        result.check.level == "MUST" for result in report.results if result.check.id in fault.breaks
    )


def test_every_fault_breaks_something() -> None:
    assert [name for name, fault in FAULTS.items() if not fault.breaks] == []


def test_every_check_has_a_fault_that_makes_it_fail() -> None:
    shown = {check for fault in FAULTS.values() for check in fault.breaks}
    assert {check.id for check in CHECKS} - shown == set()


@pytest.mark.parametrize("name", ["resource-private-keys", "as-private-keys"])
def test_a_private_key_that_the_server_publishes_enters_no_report(name: str, issuer: EmbeddedIssuer) -> None:
    options = Options(checks=CHECKS, environ={}, selection=Selection(("prm-", "as-")))
    report = run_lab(issuer, fault=FAULTS[name], options=options)
    bodies = [exchange["response"]["body"] for exchange in report.exchanges.values() if exchange["response"]]
    leaked = [body for body in bodies if '"d"' in body]
    assert leaked
    assert all('"d":"<redacted>"' in body.replace(" ", "") for body in leaked)
