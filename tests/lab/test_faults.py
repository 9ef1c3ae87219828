"""Each fault of the sample server is found by its own checks, and by no other.

A run of every check against every fault takes longer than a build may. So each fault is run against the checks that it
breaks and a fortieth of all others, other ones for each fault; `MCP_AUTH_CONTRACT_WHOLE_MATRIX=1` runs them all.
"""

import os
import zlib

import pytest

from lab.lab_runs import CHECKS, EDITS, run_lab
from mcp_auth_contract.execute import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.lab.faults import FAULTS
from mcp_auth_contract.model import Error, Fail
from mcp_auth_contract.plan import Selection

_PARTS = 1 if os.environ.get("MCP_AUTH_CONTRACT_WHOLE_MATRIX") else 40


def tried(name: str) -> Selection:
    """The checks that a fault is run against."""
    wanted = set(FAULTS[name].breaks)
    wanted |= {check.id for check in CHECKS if zlib.crc32(f"{name} {check.id}".encode()) % _PARTS == 0}
    return Selection(select=tuple(check.id for check in CHECKS if check.id in wanted))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_its_own_checks_and_no_other(name: str, issuer: EmbeddedIssuer) -> None:
    fault = FAULTS[name]
    report = run_lab(
        issuer,
        fault=fault,
        edits=[] if fault.within is None else EDITS[fault.within],
        options=Options(checks=CHECKS, environ={}, name="sample.toml", selection=tried(name)),
        freeze=True,
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
    report = run_lab(issuer, fault=FAULTS[name])
    bodies = [exchange["response"]["body"] for exchange in report.exchanges.values() if exchange["response"]]
    leaked = [body for body in bodies if '"d"' in body]
    assert leaked
    assert all('"d":"<redacted>"' in body.replace(" ", "") for body in leaked)
