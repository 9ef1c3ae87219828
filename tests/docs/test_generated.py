"""What is generated is committed as generated, and the README's example is a contract."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.generate import DOCS, GENERATED

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.contract.models import contract_schema

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("file", GENERATED)
def test_a_generated_file_is_up_to_date(file: str) -> None:
    assert (DOCS / file).read_text("utf-8") == GENERATED[file](), "run `python -m tests.docs.generate`"


def test_every_table_of_a_contract_is_in_its_reference() -> None:
    marked = re.findall(r"<!-- generated: (\w+) -->", (DOCS / "contract.md").read_text("utf-8"))
    tables = json.loads(contract_schema())["$defs"]
    assert sorted(marked) == sorted(["variables", *(name for name, table in tables.items() if "properties" in table)])


def test_the_contract_of_the_readme_is_a_contract_of_ten_lines() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    assert len(toml.splitlines()) == 10
    read_contract(toml, Path("mcp-auth-contract.toml"))


def shown() -> str:
    (report,) = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    return str(report)


def steady(text: str) -> list[str]:
    """The lines of a report that are the same in every run, without what numbers them."""
    lines = (line for line in text.splitlines() if not re.match(r"tried|target| {16}| +answered|Not shown", line))
    return [re.sub(r"#[0-9a-f]{8}|\d+ (?:cases?|checks?)", "N", line) for line in lines]


@pytest.mark.slow
def test_the_readme_shows_a_real_report(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mcp_auth_contract", "run", "--sample", "--fault", "audience-ignored"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    assert steady(done.stdout) == steady(shown())
    headline = done.stdout.splitlines()[2]
    assert "A token made for another service is accepted" in headline


def test_the_picture_shows_the_report_of_the_readme() -> None:
    words = html.unescape(re.sub(r"<[^>]*>", " ", (DOCS / "report.svg").read_text("utf-8"))).split()
    assert [word for word in shown().split() if word not in words] == []


def test_the_number_of_checks_told_is_the_number_there_is() -> None:
    count = len(load_builtin())
    assert count >= 90
    assert f"- {count} checks:" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_contracts_of_the_reference_are_contracts() -> None:
    text = (ROOT / "docs" / "contract.md").read_text("utf-8")
    for toml in re.findall(r"```toml\n(.*?)```", text, re.DOTALL):
        read_contract(toml, Path("c.toml"))
