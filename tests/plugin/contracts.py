"""A small server with its contract, written into a pytester folder."""

from importlib.metadata import entry_points

import pytest

SERVER = """
import os
from pathlib import Path

from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.server import settings_from

LOG = Path(__file__).with_name("log.txt")


def note(what):
    with LOG.open("a") as log:
        log.write(f"{what}\\n")


note(f"started by {os.getpid()}")
lab = create_app(settings_from(os.environ, 8000, FAULTS.get(os.environ.get("FAULT", ""))))


async def app(scope, receive, send):
    if scope["type"] == "http":
        note("asked")
        if os.environ.get("FAULT") == "down":
            raise RuntimeError("the server is down")
    await lab(scope, receive, send)
"""

CONTRACT = """
[target]
app = "server:app"
revisions = ["2026-07-28"]
env = { ISSUER = "${issuer.url}", JWKS_URI = "${issuer.jwks_uri}", RESOURCE = "${target.resource}", FAULT = "FAULT_NAME" }

[claims]
tenant = "tenant_id"

[principals.alice]
subject = "alice"
tenant = "t1"
scopes = ["invoices:read", "invoices:write"]

[principals.bob]
subject = "bob"
tenant = "t1"
scopes = ["invoices:read"]

[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
control = true

[[resources]]
uri = "invoice://INV-1"
scopes = ["invoices:read"]

[[prompts]]
name = "summarise_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
"""

_REGISTERED = any(one.value == "mcp_auth_contract.pytest_plugin" for one in entry_points(group="pytest11"))
PLUGIN = () if _REGISTERED else ("-p", "mcp_auth_contract.pytest_plugin")
"""What loads the plugin where the installed kit is older than its entry point."""

FEW = "challenge-missing-token or token-expired or token-typ or scope-challenge or challenge-invalid"


def write_server(
    pytester: pytest.Pytester, fault: str = "", *, name: str = "mcp-auth-contract.toml", edit: str = ""
) -> None:
    """Write server.py, and a contract for it with a fault of the lab."""
    pytester.makepyfile(server=SERVER)
    (pytester.path / name).write_text(CONTRACT.replace("FAULT_NAME", fault) + edit, "utf-8")


def log(pytester: pytest.Pytester) -> list[str]:
    """Return what the server noted."""
    file = pytester.path / "log.txt"
    return file.read_text().splitlines() if file.exists() else []
