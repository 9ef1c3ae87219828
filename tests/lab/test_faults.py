"""Each fault of the sample server is found by its own checks, and by no other."""

import pytest

from lab.lab_runs import CHECKS, run_lab
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.lab.faults import FAULTS
from mcp_auth_contract.model import Error, Fail


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_its_own_checks_and_no_other(name: str, issuer: EmbeddedIssuer) -> None:
    fault = FAULTS[name]
    report = run_lab(issuer, fault=fault)
    failed = {result.check.id for result in report.results if isinstance(result.outcome, Fail)}
    errors = [result.sentence for result in report.results if isinstance(result.outcome, Error)]
    assert not errors
    assert failed == set(fault.breaks), "\n".join(
        result.sentence for result in report.results if isinstance(result.outcome, Fail)
    )
    assert report.gate.exit_code != 0 or not any(
        result.check.level == "MUST" for result in report.results if result.check.id in fault.breaks
    )


def test_every_check_has_a_fault_that_makes_it_fail() -> None:
    shown = {check for fault in FAULTS.values() for check in fault.breaks}
    assert {check.id for check in CHECKS} - shown == set()


@pytest.mark.parametrize("name", ["resource-private-keys", "as-private-keys"])
def test_a_private_key_that_the_server_publishes_enters_no_report(name: str, issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, fault=FAULTS[name])
    bodies = [exchange["response"]["body"] for exchange in report.exchanges.values() if exchange["response"]]
    leaked = [body for body in bodies if '"d"' in body]
    assert leaked
    assert all('"d":"<redacted>"' in body.replace(" ", "") for body in leaked)
