"""A started server's output and log files are searched, and its upstream is watched."""

import asyncio
from pathlib import Path

import pytest
from tests.lab.lab_runs import CHECKS, SAMPLE

from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.model import Fail, Inconclusive, Pass, Verdict
from mcp_auth_contract.plan import Selection
from mcp_auth_contract_lab.sample import UPSTREAM

_START = '"lab", "--port", "${target.port}"'
_ENV = 'env = { ISSUER = "${issuer.url}"'


def verdict(check: str, *edits: tuple[str, str], folder: Path) -> object:
    text = SAMPLE.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    contract = read_contract(text, folder / "sample.toml")
    options = Options(checks=CHECKS, environ={}, name="sample.toml", selection=Selection(select=(check,)))
    (result,) = asyncio.run(run_contract(contract, options)).results
    return result.outcome


def with_fault(name: str) -> tuple[str, str]:
    return _START, f'{_START}, "--fault", "{name}"'


@pytest.mark.parametrize(("fault", "expected"), [(None, Pass), ("token-in-log", Fail)])
def test_the_output_of_a_started_server_is_searched(fault: str | None, expected: type[Verdict], tmp_path: Path) -> None:
    edits = [] if fault is None else [with_fault(fault)]
    outcome = verdict("leak-token-in-logs", *edits, folder=tmp_path)
    assert isinstance(outcome, expected)


def test_a_log_file_is_searched_and_one_that_is_not_there_is_told(tmp_path: Path) -> None:
    to_file = ('["${python}", "-m"', '["sh", "-c", "exec \\"$0\\" \\"$@\\" 2>server.log", "${python}", "-m"')
    logs = ("[target]", '[target]\nlogs = ["server.log"]')
    outcome = verdict("leak-token-in-logs", to_file, logs, with_fault("token-in-log"), folder=tmp_path)
    assert isinstance(outcome, Fail)
    assert "server.log" in outcome.observed
    missing = verdict("leak-token-in-logs", ("[target]", '[target]\nlogs = ["none.log"]'), folder=tmp_path)
    assert isinstance(missing, Inconclusive)


@pytest.mark.parametrize(("fault", "expected"), [(None, Pass), ("token-passed-on", Fail)])
def test_the_upstream_is_told_to_the_server_by_a_variable(
    fault: str | None, expected: type[Verdict], tmp_path: Path
) -> None:
    edits = [UPSTREAM, (_ENV, _ENV.replace("ISSUER", 'UPSTREAM = "${upstream.url}", ISSUER'))]
    edits += [] if fault is None else [with_fault(fault)]
    assert isinstance(verdict("leak-token-passed-on", *edits, folder=tmp_path), expected)
