"""What is generated is committed as generated, and the README's example is a contract."""

import re
from pathlib import Path

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import Claims, Issuer, Policy, Principal, Target, contract_schema, read_contract
from mcp_auth_contract.reports.json_v1 import report_schema
from mcp_auth_contract.reports.rules import render_checks

ROOT = Path(__file__).parents[2]


def test_the_reference_of_checks_is_up_to_date() -> None:
    assert (ROOT / "docs" / "checks.md").read_text("utf-8") == render_checks(load_builtin())


def test_the_schemas_are_up_to_date() -> None:
    assert (ROOT / "docs" / "contract.schema.json").read_text("utf-8") == contract_schema()
    assert (ROOT / "docs" / "report-v1.schema.json").read_text("utf-8") == report_schema()


def test_the_contract_of_the_readme_is_a_contract_of_ten_lines() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    assert len(toml.splitlines()) == 10
    read_contract(toml, Path("mcp-auth-contract.toml"))


def test_the_readme_shows_a_real_report() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "gate open (exit 0)" in readme
    assert "@REPORT@" not in readme


def test_the_number_of_checks_told_is_the_number_there_is() -> None:
    count = len(load_builtin())
    assert count >= 90
    assert f"- {count} checks:" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_reference_of_the_contract_names_every_key_of_the_tables_it_lists() -> None:
    text = (ROOT / "docs" / "contract.md").read_text("utf-8")
    tables = (Target, Issuer, Claims, Policy, Principal)
    assert [name for table in tables for name in table.model_fields if f"`{name}`" not in text] == []


def test_the_contracts_of_the_reference_are_contracts() -> None:
    text = (ROOT / "docs" / "contract.md").read_text("utf-8")
    for toml in re.findall(r"```toml\n(.*?)```", text, re.DOTALL):
        read_contract(toml, Path("c.toml"))
