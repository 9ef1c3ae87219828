"""The JSON Schema of the contract file, for editors."""

import json
from typing import Any

from mcp_auth_contract.contract.models import Contract

__all__ = ["contract_schema", "schema_text"]


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a contract file; it knows each table, not what tables demand of each other."""
    schema = Contract.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "mcp-auth-contract.toml",
    }


def schema_text() -> str:
    """Return the schema as the text of docs/contract.schema.json."""
    return json.dumps(contract_schema(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
