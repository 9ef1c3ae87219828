"""What a server is, told before anything else: a page, a wrong path, a server that asks for no token."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from mcp_auth_contract.asgi import serve_in_thread
from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.errors import Unreachable
from mcp_auth_contract.execution import Options, probe_url, run_contract
from mcp_auth_contract.model import Fail, NotApplicable
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.wire import AsgiApp

CHECKS = load_builtin()
JSON = "application/json"
CONTRACT = """
[target]
url = "{url}"
[principals.alice]
subject = "alice"
scopes = ["files:read"]
[[tools]]
name = "list_files"
scopes = ["files:read"]
"""


def answering(status: int, media_type: str, body: bytes, headers: Mapping[str, str] | None = None) -> AsgiApp:
    """A server with one answer to everything."""

    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        fields = {"content-type": media_type, **(headers or {})}
        sent = [(name.encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})

    return app


def probed(app: AsgiApp, path: str = "/mcp") -> Report:
    with serve_in_thread(app, lifespan="auto") as served:
        return asyncio.run(probe_url(f"{served.url}{path}", Options(checks=CHECKS, environ={})))


def contracted(app: AsgiApp, *select: str) -> Report:
    with serve_in_thread(app, lifespan="auto") as served:
        contract = read_contract(CONTRACT.format(url=f"{served.url}/mcp"), Path("contract.toml"))
        options = Options(checks=CHECKS, environ={}, selection=Selection(select))
        return asyncio.run(run_contract(contract, options))


def open_server() -> AsgiApp:
    server = MCPServer("files", log_level="ERROR")

    @server.tool()
    def list_files() -> list[str]:
        """List the files."""
        return ["a.txt"]

    return server.streamable_http_app()


@pytest.mark.parametrize(
    ("app", "said"),
    [
        (
            answering(200, "text/html", b"<html></html>"),
            "it answers `initialize` with 200 and a body of type text/html",
        ),
        (answering(404, "text/plain", b"not here"), "it answers `initialize` with 404 and a body of type text/plain"),
        (answering(200, JSON, b'{"hello": "world"}'), "200 and a body of type application/json"),
        (
            answering(307, "text/plain", b"", {"location": "http://127.0.0.1:9/mcp/"}),
            "this is no MCP endpoint: it redirects to http://127.0.0.1:9/mcp/; if that is one, write its URL",
        ),
    ],
    ids=["page", "not_found", "other_json", "redirect"],
)
def test_what_is_no_mcp_server_is_told_in_one_line(app: AsgiApp, said: str) -> None:
    with pytest.raises(Unreachable, match="this is no MCP") as told:
        probed(app)
    assert said in str(told.value)
    with pytest.raises(Unreachable, match="this is no MCP"):
        contracted(app)


@pytest.mark.parametrize(
    "app",
    [
        answering(401, JSON, b"{}"),
        answering(404, JSON, b"{}", {"www-authenticate": "Bearer"}),
        answering(400, JSON, json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32600}}).encode()),
        answering(200, JSON, json.dumps({"authorization_servers": ["https://issuer.example"]}).encode()),
    ],
    ids=["unauthorized", "challenge", "json_rpc", "metadata"],
)
def test_what_may_hide_an_mcp_server_is_looked_at(app: AsgiApp) -> None:
    assert probed(app).results


def test_a_server_that_asks_for_no_token_is_told_so_first() -> None:
    report = probed(open_server())
    assert report.finding.startswith("this server asks for no token at all")
    assert (report.gate.exit_code, report.gate.reasons) == (1, ("this server asks for no token at all",))
    assert not [result.case for result in report.results if isinstance(result.outcome, Fail)]
    unasked = {result.check.family for result in report.results if isinstance(result.outcome, NotApplicable)}
    assert {"prm", "as", "challenge"} <= unasked


def test_a_contract_about_a_server_that_asks_for_no_token_says_so_first() -> None:
    report = contracted(open_server(), "token-expired-refused", "prm-*", "as-*")
    assert report.finding == "this server asks for no token at all"
    assert report.gate.reasons[0] == "this server asks for no token at all"
    failed = {result.check.id for result in report.results if isinstance(result.outcome, Fail)}
    assert failed == {"prm-served", "token-expired-refused"}
    told = {result.said for result in report.results if result.check.id in ("prm-status-200", "as-metadata-json")}
    assert told == {
        "no metadata document was found; prm-served reports it",
        "no authorization server is listed; prm-served reports it",
    }
    applies = [one for one in report.results if one.check.family in ("prm", "as") and one.check.id != "prm-served"]
    assert all(isinstance(one.outcome, NotApplicable) for one in applies)
