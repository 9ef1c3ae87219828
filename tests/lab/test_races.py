"""How surely a race is found: each fault that needs two callers at once is found in every run.

Twenty runs out of twenty when it was measured; a build makes five of each.
"""

import asyncio
from dataclasses import replace

import pytest
from tests.lab.lab_runs import CHECKS, run_lab

from mcp_auth_contract.checks.identity.probe import ROUNDS
from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Fail, Pass
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Result
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.steps import verified, vouched

RUNS = 5
STATELESS, STATEFUL = "isolation-callers-at-once-apart", "isolation-callers-at-once-apart-stateful"


def _current_user(behaviour: Behaviour) -> Behaviour:
    current: list[Principal | None] = [None]

    async def vouching(lab: Lab, incoming: Incoming) -> Principal | None:
        current[0] = await verified(lab, incoming)
        await asyncio.sleep(0)
        return current[0]

    return vouched(vouching)(behaviour)


GLOBAL = Fault("current-user-global", "The current user is set before an await and read after it.", _current_user)
"""No fault of the sample server, for it disturbs whatever else is asked at the same time."""


def asked(issuer: EmbeddedIssuer, fault: Fault | None, check: str = STATELESS) -> Result:
    revision = "2026-07-28" if check == STATELESS else "2025-11-25"
    options = Options(checks=CHECKS, environ={}, name="sample.toml", selection=Selection(select=(check,)))
    edits = [("[target]", f'[target]\nrevisions = ["{revision}"]')]
    (found,) = run_lab(issuer, fault=fault, options=options, edits=edits).results
    return found


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (GLOBAL, STATELESS),
        (FAULTS["answers-swapped"], STATELESS),
        (FAULTS["answers-swapped"], STATEFUL),
        (FAULTS["caller-kept-by-request-id"], STATELESS),
        (FAULTS["answers-cached-by-request-id"], STATELESS),
        (FAULTS["results-cached-by-arguments"], STATELESS),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)
def test_a_race_is_found_in_every_run(fault: Fault, check: str, issuer: EmbeddedIssuer) -> None:
    found = [asked(issuer, fault, check).outcome for _ in range(RUNS)]
    assert sum(isinstance(outcome, Fail) for outcome in found) == RUNS


@pytest.mark.parametrize("check", [STATELESS, STATEFUL])
def test_the_sound_server_mixes_nobody_up(check: str, issuer: EmbeddedIssuer) -> None:
    assert [asked(issuer, None, check).outcome for _ in range(3)] == [Pass()] * 3


def test_the_failure_says_how_often_it_was_tried(issuer: EmbeddedIssuer) -> None:
    sentence = asked(issuer, replace(FAULTS["answers-swapped"])).sentence
    assert f"of {ROUNDS}" in sentence
    assert "30 calls of alice, bob, carol were tried" in sentence
