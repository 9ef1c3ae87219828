"""Each fault of the sample server is found by its own checks, and by no other.

A run of every check against every fault takes longer than a build may. So each fault is run against the checks that it
breaks and a hundredth of all others, other ones for each fault; `MCP_AUTH_CONTRACT_WHOLE_MATRIX=1` runs them all.
"""

import pytest
from tests.lab.breaks import rendered
from tests.lab.lab_runs import CHECKS, failed_checks, run_lab, sampled

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.plan import Selection
from mcp_auth_contract_lab.breaks import FILE, read_breaks
from mcp_auth_contract_lab.faults import FAULTS

_PARTS = 110
BREAKS = read_breaks()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_its_own_checks_and_no_other(name: str, issuer: EmbeddedIssuer) -> None:
    tried = sampled(name, _PARTS, BREAKS[name])
    assert failed_checks(issuer, FAULTS[name], tried) == set(BREAKS[name])


def test_every_fault_breaks_something() -> None:
    assert set(BREAKS) == set(FAULTS)
    assert [name for name, checks in BREAKS.items() if not checks] == []


def test_every_check_has_a_fault_that_makes_it_fail() -> None:
    assert {check.id for check in CHECKS} == {check for checks in BREAKS.values() for check in checks}


def test_the_file_is_as_its_command_writes_it() -> None:
    assert (data_folder("scenarios") / FILE).read_text("utf-8") == rendered(BREAKS)


@pytest.mark.parametrize("name", ["resource-private-keys", "as-private-keys"])
def test_a_private_key_that_the_server_publishes_enters_no_report(name: str, issuer: EmbeddedIssuer) -> None:
    options = Options(checks=CHECKS, environ={}, selection=Selection(("prm-", "as-")))
    report = run_lab(issuer, fault=FAULTS[name], options=options)
    bodies = [exchange["response"]["body"] for exchange in report.exchanges.values() if exchange["response"]]
    leaked = [body for body in bodies if '"d"' in body]
    assert leaked
    assert all('"d":"<redacted>"' in body.replace(" ", "") for body in leaked)
