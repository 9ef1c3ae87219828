"""Servers on published SDKs, in this process with their lifespans: through the plugin, and through its fixtures."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SERVERS = Path(__file__).parents[1] / "servers"
APPS = {
    "mcp_sdk": "mcp_sdk_server:server.streamable_http_app()",
    "fastmcp": "fastmcp_server:server.http_app()",
}

OWN = """
from mcp_auth_contract.pytest_plugin import assert_accepted, assert_refused


def test_own(mcp_client):
    for revision in (None, "2025-06-18"):
        alice = mcp_client("alice", revision=revision)
        assert "INV-1" in assert_accepted(alice.tool("get_invoice", {"invoice_id": "INV-1"})).text
        assert alice.resource("invoice://INV-1").accepted
        assert alice.prompt("summarise_invoice", {"invoice_id": "INV-1"}).accepted
    assert_refused(mcp_client("alice", defect="audience_other").tool("whoami"), "invalid_token")


async def nothing():
    pass
"""


@pytest.mark.filterwarnings("ignore")  # what the SDKs deprecate is none of the plugin's
@pytest.mark.parametrize("name", APPS)
def test_a_server_in_process(pytester: pytest.Pytester, run: Callable[..., pytest.RunResult], name: str) -> None:
    for file in (f"{name}_server.py", "invoices.py"):
        (pytester.path / file).write_text((SERVERS / file).read_text("utf-8"), "utf-8")
    lines = [line for line in (SERVERS / f"{name}.toml").read_text("utf-8").splitlines() if "start =" not in line]
    text = "\n".join(lines).replace('url = "http://127.0.0.1:0/mcp"', f'app = "{APPS[name]}"')
    (pytester.path / "mcp-auth-contract.toml").write_text(text, "utf-8")
    pytester.makepyfile(test_own=OWN)
    chosen = "challenge-missing-token or token-audience-other or token-expired-refused or test_own"
    result = run("--mcp-auth-contract", "mcp-auth-contract.toml", "-k", chosen)
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] >= 4, str(result.stdout)
    assert not {"failed", "errors", "skipped"} & set(outcomes), str(result.stdout)
