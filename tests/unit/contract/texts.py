"""Contracts as their authors write them, shared by the tests of this room."""

from collections.abc import Mapping
from pathlib import Path

from mcp_auth_contract.contract import Contract, read_contract, resolve

SOURCE = Path("c.toml")

MINIMAL = """[target]
url = "http://127.0.0.1:8000/mcp"
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""

VALUES = {
    "issuer.url": "http://127.0.0.1:9",
    "issuer.jwks_uri": "http://127.0.0.1:9/jwks",
    "issuer.introspection_uri": "http://127.0.0.1:9/introspect",
    "issuer.ca_file": "/ca.pem",
    "python": "/usr/bin/python3",
    "target.port": "8000",
    "target.resource": "http://127.0.0.1:8000/mcp",
    "target.url": "http://127.0.0.1:8000/mcp",
    "upstream.url": "http://127.0.0.1:7",
}

RECORD = """[[records]]
name = "r"
owner = "alice"
canary = "canary-0001"
reads = [{ tool = "get_invoice" }]
"""


def with_target(lines: str) -> str:
    """Return the minimal contract with more keys under [target]."""
    return MINIMAL.replace('8000/mcp"', f'8000/mcp"\n{lines}', 1)


def with_table(text: str) -> str:
    """Return the minimal contract with another table before [principals.alice]."""
    return MINIMAL.replace("[principals", f"{text}\n[principals", 1)


def with_more(text: str) -> str:
    """Return the minimal contract with more at its end, where [[tools]] is open."""
    return MINIMAL + text


def read(text: str) -> Contract:
    return read_contract(text, SOURCE)


def resolved(text: str, environ: Mapping[str, str] | None = None, **values: str) -> Contract:
    return resolve(read(text), {**VALUES, **values}, environ or {})
