"""The JSON Schema for editors: committed as generated, and of one mind with the reader."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.unit.contract.texts import MINIMAL, RECORD, with_more, with_table, with_target

from mcp_auth_contract.contract.models import Contract, contract_schema

ROOT = Path(__file__).parents[3]
SCHEMA: dict[str, Any] = json.loads(contract_schema())


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_key_is_described() -> None:
    tables = [SCHEMA, *SCHEMA["$defs"].values()]
    keys = {f"{table['title']}.{name}": key for table in tables for name, key in table.get("properties", {}).items()}
    assert len(keys) > 60
    assert [name for name, key in keys.items() if not key.get("description", key.get("$ref"))] == []


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios" / "contracts").glob("*.toml")), ids=lambda file: file.stem)
def test_the_ready_made_contracts_follow_it(file: Path) -> None:
    Draft202012Validator(SCHEMA).validate(tomllib.loads(file.read_text("utf-8")))


@pytest.mark.parametrize(
    "text",
    [
        "",
        with_target("authorised = true"),
        with_target('max_rate = "1"'),
        with_table("[issuer]\nport = 70000"),
        with_table('[issuer]\nalgorithms = ["RS257"]'),
        with_table('[policy]\nrevocation = "never"'),
        with_more("control = 1"),
        with_more(RECORD.replace("owner", "ower")),
        MINIMAL.replace("subject", "sub"),
    ],
)
def test_it_refuses_what_the_reader_refuses(text: str) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text))


def test_its_defaults_are_those_of_the_reader() -> None:
    for table in ("Issuer", "Claims", "Policy"):
        properties = SCHEMA["$defs"][table]["properties"]
        kept = Contract.model_fields[table.lower()].default.model_dump(mode="json")
        assert {name: key["default"] for name, key in properties.items()} == kept
