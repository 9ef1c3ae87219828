"""A folder with a contract whose server is the sample in the kit's own process: the quickest whole run there is."""

from pathlib import Path

ROOT = Path(__file__).parents[2]

_SERVER = """
import os

from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.server import settings_from

app = create_app(settings_from(os.environ, 8000, FAULTS.get(os.environ["FAULT"])))
"""


def in_process_contract(folder: Path, *, fault: str = "none", name: str = "mcp-auth-contract.toml") -> Path:
    """Write a contract and its server, sound or with a fault, and return the contract."""
    sample = (ROOT / "scenarios" / "contracts" / "sample.toml").read_text("utf-8")
    lines = [line for line in sample.splitlines() if not line.startswith(("url =", "start =", "env ="))]
    known = 'ISSUER = "${issuer.url}", JWKS_URI = "${issuer.jwks_uri}", RESOURCE = "${target.resource}"'
    given = f'{known}, ALGORITHMS = "RS256 ES256 PS256 EdDSA", FAULT = "{fault}"'
    target = f'[target]\napp = "invoices_server:app"\nenv = {{ {given} }}'
    (folder / "invoices_server.py").write_text(_SERVER, "utf-8")
    file = folder / name
    file.write_text("\n".join(lines).replace("[target]", target, 1), "utf-8")
    return file
