"""Real servers on published SDKs: no false alarm, and every real weakness told as what it is."""

import asyncio
from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import load_contract
from mcp_auth_contract.execute import Options, run_contract
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level
from mcp_auth_contract.runner import Report

HERE = Path(__file__).parent

COMMON = {
    "challenge-scope-advertised": "neither SDK puts scope into the 401 by default",
    "prm-resource-name": "neither example sets a display name",
    "scope-challenge-names-missing": "the 403 of the base scope has no scope parameter",
    "scope-missing-403": "scopes of single tools are checked inside the tool, too late for an HTTP status",
}

EXPECTED = {
    "mcp_sdk": COMMON,
    "fastmcp": {
        **COMMON,
        "prm-issuer-identical": "RemoteAuthProvider takes AnyHttpUrl, which adds a slash to an issuer without a path",
        "transport-origin-refused": "neither Host nor Origin is checked by default, on loopback too",
        "token-without-expiry-refused": "JWTVerifier has no setting for required claims",
    },
}
"""Checks that fail on the default server, each a weakness that was looked at."""

UNSEEN = {"scope-challenge-error", "scope-challenge-metadata", "scope-challenge-names-missing"}
"""Inconclusive where a tool refuses inside a 200: there is no 403 whose challenge could be read."""


def run(name: str) -> Report:
    contract = load_contract(HERE / f"{name}.toml")
    return asyncio.run(run_contract(contract, Options(checks=load_builtin(), environ={}, name=f"{name}.toml")))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_default_server_shows_its_known_weaknesses_and_no_other(name: str) -> None:
    report = run(name)
    said = [result.sentence for result in report.results if isinstance(result.outcome, Fail | Error)]
    failed = {result.check.id for result in report.results if isinstance(result.outcome, Fail)}
    assert not [result for result in report.results if isinstance(result.outcome, Error)]
    assert failed == set(EXPECTED[name]), "\n".join(said)
    unseen = {result.check.id for result in report.results if isinstance(result.outcome, Inconclusive)}
    assert unseen <= UNSEEN
    must = {result.check.id for result in report.results if result.check.level is Level.MUST}
    assert report.gate.exit_code == (1 if failed & must else 0)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_started_server_is_stopped(name: str) -> None:
    report = run(name)
    assert all(control.held for control in report.controls)

    async def connect() -> None:
        host, port = report.target.url.removeprefix("http://").split("/")[0].split(":")
        await asyncio.open_connection(host, int(port))

    with pytest.raises(OSError):
        asyncio.run(connect())
