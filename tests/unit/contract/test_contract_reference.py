"""The reference for authors says what the reader does."""

import re
from pathlib import Path

import pytest
from tests.unit.contract.test_contract_problems import PROBLEMS
from tests.unit.contract.test_contract_variables import PROBLEMS as PROBLEMS_OF_VARIABLES
from tests.unit.contract.texts import read, resolved

from mcp_auth_contract.contract import apps, models
from mcp_auth_contract.contract.load import VARIABLES
from mcp_auth_contract.contract.models import Contract, contract_schema

TEXT = (Path(__file__).parents[3] / "docs" / "contract.md").read_text("utf-8")
(MINIMAL,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
TABLES = re.findall(r"```toml fragment\n(.*?)```", TEXT, re.DOTALL)
LINES = [line for block in re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


def test_the_minimal_contract_comes_first_and_has_ten_lines() -> None:
    assert TEXT.index(MINIMAL) < TEXT.index(TABLES[0])
    assert len(MINIMAL.splitlines()) == 10
    assert read(MINIMAL).target.wants_free_port


def test_its_examples_make_one_contract_that_uses_every_table() -> None:
    secrets = {"GATEWAY_KEY": "k", "UPSTREAM_KEY": "long-enough"}
    contract = resolved("".join(TABLES), secrets, **{"target.port": "4711"})
    assert contract.model_fields_set == set(Contract.model_fields)
    assert contract.target.ready == "http://127.0.0.1:4711/healthz"


@pytest.mark.parametrize("line", LINES)
def test_each_problem_it_shows_is_one_that_is_told(line: str) -> None:
    assert line in {said for _, said in (*PROBLEMS, *PROBLEMS_OF_VARIABLES)}


def test_it_names_every_key_and_variable() -> None:
    keys = set(re.findall(r'^        "([a-z_]+)": \{$', contract_schema(), re.MULTILINE))
    assert {"url", "jwks_cache", "canary"} <= keys
    assert [key for key in sorted(keys) if f"`{key}`" not in TEXT and f"[{key}" not in TEXT] == []
    assert [name for name in VARIABLES if f"`${{{name}}}`" not in TEXT] == []


def test_it_names_the_keys_whose_values_are_never_shown() -> None:
    rooms = (*vars(models).values(), *vars(apps).values())
    tables = [one for one in rooms if isinstance(one, type) and issubclass(one, models.Table)]
    hidden = {name for table in tables for name, field in table.model_fields.items() if not field.repr}
    (sentence,) = re.findall(r"The values of ([^.]*), and all values from the environment", " ".join(TEXT.split()))
    assert set(re.findall(r"`(\w+)`", sentence)) == hidden
