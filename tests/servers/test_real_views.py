"""Views of servers on published SDKs, as their authors write them, are green."""

import asyncio
from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.model import Error, Fail, Inconclusive
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report

HERE = Path(__file__).parent
APPS = {
    "fastmcp": "fastmcp_views_server:server.http_app()",
    "mcp_sdk": "mcp_sdk_views_server:server.streamable_http_app()",
}
VIEWS = """
[[tools]]
name = "show_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
visibility = ["model", "app"]

[[tools]]
name = "refresh_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
visibility = ["app"]

[apps]
csp = { resource = ["https://assets.example.com"] }
permissions = []

[[views]]
tool = "show_invoice"
"""


def run(name: str, *select: str) -> Report:
    file = HERE / f"{name}.toml"
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("start =")]
    text = "\n".join(lines).replace('url = "http://127.0.0.1:0/mcp"', f'app = "{APPS[name]}"') + VIEWS
    options = Options(checks=load_builtin(), environ={}, name=file.name, selection=Selection(select))
    return asyncio.run(run_contract(read_contract(text, file), options))


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")  # a server in this process warns here
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize("name", APPS)
def test_a_view_on_a_published_sdk_is_green(name: str) -> None:
    report = run(name, "app-", "scope-surface-declared")
    bad = (Fail, Error, Inconclusive)
    assert [result.sentence for result in report.results if isinstance(result.outcome, bad)] == []
    assert sum(result.check.family == "app" for result in report.results) == 48
