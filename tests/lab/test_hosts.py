"""What MCP hosts would make of the sample server, sound and with single faults."""

import asyncio
from collections.abc import Mapping

import pytest
from tests.lab.lab_runs import CHECKS

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.execution import Options, probe_url
from mcp_auth_contract.hosts.verdicts import Connection, HostVerdict
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.plan import Selection
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import LabSettings

CONNECTS = {"chatgpt", "claude", "claude-code", "vscode", "goose", "gemini-cli", "typescript-sdk"}
"""The hosts of which a URL alone can tell that they will connect."""

FOUND: Mapping[str, dict[str, Connection]] = {
    "metadata-missing": {"chatgpt": Connection.FAILS, "claude": Connection.FAILS, "vscode": Connection.DEGRADED},
    "metadata-gated": {"chatgpt": Connection.FAILS, "claude": Connection.FAILS},
    "pointer-dangling": {"vscode": Connection.DEGRADED},
    "resource-trailing-slash": {"claude": Connection.FAILS, "gemini-cli": Connection.FAILS},
    "resource-bare-origin": {
        "claude": Connection.FAILS,
        "gemini-cli": Connection.FAILS,
        "vscode": Connection.DEGRADED,
    },
    "resource-other-origin": {
        "claude": Connection.FAILS,
        "gemini-cli": Connection.FAILS,
        "goose": Connection.FAILS,
        "typescript-sdk": Connection.FAILS,
    },
    "resource-missing": {"claude": Connection.FAILS, "goose": Connection.FAILS, "typescript-sdk": Connection.FAILS},
    "get-stream-open": {"goose": Connection.FAILS},
    "as-without-pkce": {"chatgpt": Connection.FAILS, "claude": Connection.FAILS},
    "as-pkce-plain-only": {
        "chatgpt": Connection.FAILS,
        "claude": Connection.FAILS,
        "goose": Connection.FAILS,
        "typescript-sdk": Connection.FAILS,
    },
    "as-without-response-types": {"typescript-sdk": Connection.FAILS},
    "as-without-code": {"typescript-sdk": Connection.FAILS, "goose": Connection.FAILS},
    "as-without-registration": {
        "chatgpt": Connection.DEGRADED,
        "claude": Connection.DEGRADED,
        "vscode": Connection.DEGRADED,
        "cursor": Connection.DEGRADED,
        "gemini-cli": Connection.DEGRADED,
    },
    "login-page": dict.fromkeys(CONNECTS - {"chatgpt"}, Connection.FAILS),
}


def verdicts(fault: str | None, issuer: EmbeddedIssuer) -> dict[str, HostVerdict]:
    with bind("127.0.0.1", 0) as listener:
        base = url_of(listener, tls=False)
        settings = LabSettings(
            issuer=issuer.url,
            jwks_uri=issuer.jwks_uri,
            resource=f"{base}/mcp",
            base=base,
            fault=None if fault is None else FAULTS[fault],
            profiles=frozenset({Profile.OWN_AS}),
        )
        with serve_in_thread(create_app(settings), listener=listener):
            chosen = Selection(("prm-served",))
            options = Options(checks=CHECKS, environ={}, name="(probe)", selection=chosen, hosts=True)
            report = asyncio.run(probe_url(f"{base}/mcp", options))
    return {one.id: one for one in report.hosts}


def test_hosts_connect_to_the_sound_server(issuer: EmbeddedIssuer) -> None:
    found = verdicts(None, issuer)
    assert {name for name, one in found.items() if one.verdict is Connection.CONNECTS} == CONNECTS
    rest = {name: one for name, one in found.items() if name not in CONNECTS}
    assert set(rest) == {"messages-api", "cursor", "m365-copilot"}
    assert {one.verdict for one in rest.values()} == {Connection.UNKNOWN}
    assert all(one.reasons for one in rest.values())


@pytest.mark.parametrize("fault", FOUND)
def test_a_fault_stops_the_hosts_that_mind_it_and_no_other(fault: str, issuer: EmbeddedIssuer) -> None:
    found = verdicts(fault, issuer)
    for name, expected in FOUND[fault].items():
        assert found[name].verdict is expected, found[name]
        assert all(reason.says and reason.url and reason.checked for reason in found[name].reasons)
    if fault.startswith("as-") or fault in ("get-stream-open", "resource-trailing-slash"):
        fine = {name for name in CONNECTS if name not in FOUND[fault]}
        stopped = {name for name in fine if found[name].verdict is Connection.FAILS}
        assert stopped == set(), stopped
