"""What the contract says about scopes reaches the tokens: a scope with a meaning is no lookalike."""

from pathlib import Path

from mcp_auth_contract.checks.minting import profile_of
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.datafiles import data_folder

SAMPLE = (data_folder("scenarios") / "contracts" / "sample.toml").read_text("utf-8")


def test_every_scope_that_the_contract_names_is_known() -> None:
    text = SAMPLE.replace("implies = {", 'implies = { "invoices:*" = ["invoices:read", "invoices:list"],').replace(
        'scopes = ["invoices:read"]\n\n[principals.carol]', 'scopes = ["invoices:audit"]\n\n[principals.carol]'
    )
    profile = profile_of(read_contract(text, Path("sample.toml")), "https://issuer.test", "https://mcp.test/mcp")
    assert profile.known_scopes == {
        "invoices:read",
        "invoices:write",
        "invoices:export",
        "invoices:admin",
        "invoices:audit",
        "invoices:list",
        "invoices:*",
    }
