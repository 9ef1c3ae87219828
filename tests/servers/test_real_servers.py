"""Real servers on published SDKs: no false alarm, and every real weakness told as what it is."""

import asyncio
from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import load_contract, read_contract
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report

HERE = Path(__file__).parent

COMMON = {
    "challenge-scope-advertised": "neither SDK puts scope into the 401 by default",
    "prm-resource-name": "neither example sets a display name",
    "scope-challenge-names-missing": "the 403 of the base scope has no scope parameter",
    "token-typ-other-kind-refused": "no verifier looks at typ unless it is told to",
    "token-other-kind-for-this-server-refused": "nor at the other marks of an ID or refresh token",
}

EXPECTED = {
    "mcp_sdk": {
        **COMMON,
        "challenge-no-error-without-token": "a missing token is called an invalid one",
        "scope-missing-403": "scopes of single tools are checked inside the tool, too late for an HTTP status",
    },
    "fastmcp": {
        **COMMON,
        "prm-issuer-identical": "RemoteAuthProvider takes AnyHttpUrl, which adds a slash to an issuer without a path",
        "transport-origin-refused": "neither Host nor Origin is checked by default, on loopback too",
        "token-deep-json-refused": "a header nested a thousand levels deep ends in a 500, before any signature is checked",
        "token-deep-json-signed-handled": "so does a payload, if its signature is right",
        "token-number-not-json-refused": "an exp of Infinity ends in a 500",
        "token-number-huge-handled": "so does an exp of 1e999, which Python reads as infinity",
        "token-unencoded-payload-refused": "joserfc reads b64 = false, which RFC 7797 §7 forbids for a JWT",
        "token-without-expiry-refused": "JWTVerifier has no setting for required claims",
    },
}
"""Checks that fail on the default server, each a weakness that was looked at."""

IN_TIME = {
    "mcp_sdk": {
        "keys-hanging-issuer-harmless": "PyJWKClient fetches on the event loop; only a moved clock makes it fetch",
        "keys-outage-no-breakdown": "PyJWKClient lets errors of the JSON parser through, and nobody catches them",
    },
    "fastmcp": {},
}
"""Checks that fail besides, where the clock can be moved."""

UNSEEN = {"scope-challenge-error", "scope-challenge-metadata", "scope-challenge-names-missing"}
"""Inconclusive where a tool refuses inside a 200: there is no 403 whose challenge could be read."""


APPS = {
    "mcp_sdk": "mcp_sdk_server:server.streamable_http_app()",
    "fastmcp": "fastmcp_server:server.http_app()",
}


def run(name: str, *, inside: bool = False, select: tuple[str, ...] = ()) -> Report:
    file = HERE / f"{name}.toml"
    contract = load_contract(file)
    if inside:
        lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("start =")]
        text = "\n".join(lines).replace('url = "http://127.0.0.1:0/mcp"', f'app = "{APPS[name]}"')
        contract = read_contract(text, file)
    options = Options(checks=load_builtin(), environ={}, name=f"{name}.toml", selection=Selection(select))
    return asyncio.run(run_contract(contract, options))


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")  # a server in this process warns here
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize("inside", [False, True], ids=["started", "inside"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_default_server_shows_its_known_weaknesses_and_no_other(name: str, inside: bool) -> None:
    report = run(name, inside=inside)
    said = [result.sentence for result in report.results if isinstance(result.outcome, Fail | Error)]
    failed = {result.check.id for result in report.results if isinstance(result.outcome, Fail)}
    assert not [result for result in report.results if isinstance(result.outcome, Error)]
    known = {*EXPECTED[name], *(IN_TIME[name] if inside else ())}
    # On a slow machine a started server's keys grow old during the run, as they do on a moved clock.
    assert known <= failed <= known | set(IN_TIME[name]), "\n".join(said)
    unseen = {result.check.id for result in report.results if isinstance(result.outcome, Inconclusive)}
    assert unseen <= UNSEEN
    must = {result.check.id for result in report.results if result.check.level is Level.MUST}
    assert report.gate.exit_code == (1 if failed & must else 0)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_started_server_is_stopped(name: str) -> None:
    report = run(name, select=("challenge-missing-token-401",))
    assert report.controls
    assert all(control.accepted for control in report.controls)

    async def connect() -> None:
        host, port = report.server.url.removeprefix("http://").split("/")[0].split(":")
        await asyncio.open_connection(host, int(port))

    with pytest.raises(OSError):
        asyncio.run(connect())
