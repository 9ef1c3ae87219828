"""The JSON Schema of the contract file, for editors."""

import json
from typing import Any

from mcp_auth_contract.contract.models import Contract


def contract_schema() -> str:
    """Return the schema as published in docs/contract.schema.json, ending with a line break."""
    schema: dict[str, Any] = Contract.model_json_schema()
    for table in (schema, *schema["$defs"].values()):
        for described in (table, *table.get("properties", {}).values()):
            if "description" in described:  # what follows the first paragraph speaks to callers in Python
                described["description"] = " ".join(described["description"].partition("\n\n")[0].split())
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "mcp-auth-contract.toml"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
