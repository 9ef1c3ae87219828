"""`init` against servers made with the SDKs: what their defaults show becomes a contract that loads."""

import shutil
from pathlib import Path

import pytest

from mcp_auth_contract.cli import main
from mcp_auth_contract.contract import load_contract

HERE = Path(__file__).parent
SETTINGS = {
    "PORT": "${target.port}",
    "ISSUER": "${issuer.url}",
    "JWKS_URI": "${issuer.jwks_uri}",
    "RESOURCE": "${target.resource}",
}


@pytest.mark.parametrize("name", ["fastmcp", "mcp_sdk"])
def test_a_server_of_an_sdk_is_drafted_with_the_scope_that_everything_needs(name: str, tmp_path: Path) -> None:
    for file in ("invoices.py", f"{name}_server.py"):
        shutil.copy(HERE / file, tmp_path)
    words = [word for setting in SETTINGS.items() for word in ("--env", "=".join(setting))]
    file = tmp_path / "c.toml"
    assert main(["init", "--start", f"${{python}} {name}_server.py", *words, "--output", str(file)]) == 0
    contract, known = load_contract(file), load_contract(HERE / f"{name}.toml")
    assert {tool.name for tool in contract.tools} == {tool.name for tool in known.tools}
    assert all(tool.scopes == ("invoices:read",) for tool in contract.tools)
    assert [one.uri for one in contract.resources] == [one.uri for one in known.resources]
    assert [one.name for one in contract.prompts] == [one.name for one in known.prompts]
    assert {tool.name: tool.effect for tool in contract.tools} == {
        **{tool.name: "read" for tool in contract.tools},
        "update_invoice": "write",
        "export_invoices": "write",  # no annotation and no reading verb: nothing says that it only reads
    }
    assert [tool.name for tool in contract.tools if tool.control] == ["list_invoices"]
