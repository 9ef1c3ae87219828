"""Defects of the tenant: tokens of nobody's tenant that a careless server takes for one of another.

Tenants stand in no specification of OAuth: a contract says which claim names them, and that it is required.
"""

from functools import partial

from mcp_auth_contract.tokens.defects.defect import ABSENT, DISPUTED, Capability, Defects, claim, own
from mcp_auth_contract.tokens.defects.lookalikes import LOOKALIKES
from mcp_auth_contract.tokens.defects.subjects import OPERATORS, carried

DEFECTS = Defects(Capability.TENANT_REQUIRED)

_NOBODY = "mcp-auth-contract-no-tenant"
"""A tenant that no server knows."""

_ALIASES = {
    **{name: name for name in ("tenant", "tenant_id", "tid", "org_id", "org", "organization_id", "account_id")},
    "camel_case": "tenantId",
    "workspace_id": "workspace_id",
    "cognito": "custom:tenant_id",
    "zitadel": "urn:zitadel:iam:org:id",
}
"""Claims that some issuer names a tenant in."""

_tenant = partial(DEFECTS.table, claim("{tenant}", own("{tenant}")))

_tenant("tenant_missing", "The token names no tenant.", {"": ABSENT})
_tenant("tenant_empty", "The token's tenant is an empty string.", {"": ""})
_tenant("tenant_null", "The token's tenant is null.", {"": None})
_tenant(
    "tenant_blank",
    "The token's tenant is white space or an empty value.",
    {"space": " ", "tab": "\t", "empty_list": [], "empty_object": {}, "zero": 0, "boolean": False},
)
_tenant(
    "tenant_other_type",
    "The token's tenant is neither a string nor a list.",
    {"number": 1, "boolean": True, "object": lambda right: {"id": right}},
)
_tenant(
    "tenant_operator",
    "The token's tenant is an operator of a query language (CWE-943).",
    OPERATORS | {"not_equal": {"$ne": ""}, "equal": lambda right: {"$eq": right}},
)
_tenant(
    "tenant_list",
    "The token's tenant is a list.",
    {
        "own_only": lambda right: [right],
        "own_first": lambda right: [right, _NOBODY],
        "own_last": lambda right: [_NOBODY, right],
    },
    DISPUTED,
)
_tenant("tenant_lookalike", "The token's tenant resembles another one without being it.", LOOKALIKES, DISPUTED)
_tenant(
    "tenant_unknown", "The token's tenant is well formed and none the server has heard of.", {"": _NOBODY}, DISPUTED
)
_tenant(
    "tenant_pattern",
    "The token's tenant is a pattern, a path or a list in one string.",
    {
        "percent": "%",
        "star": "*",
        "sql_condition": "' OR '1'='1",
        "regex": ".*",
        "percent_appended": lambda right: f"{right}%",
        "underscore": lambda right: f"{right[:-1]}_",
        "star_appended": lambda right: f"{right[:-1]}*",
        "path": lambda right: f"{_NOBODY}/../{right}",
        "comma_joined": lambda right: f"{_NOBODY},{right}",
        "space_joined": lambda right: f"{_NOBODY} {right}",
    },
    DISPUTED,
)
DEFECTS.add(
    "tenant_in_other_claim",
    "The token is of a tenant nobody knows, and names another one in a claim of a similar name.",
    {
        **{form: carried(name, "{tenant}", _NOBODY) for form, name in _ALIASES.items()},
        "organization": carried("organization", "{tenant}", _NOBODY, lambda right: {"id": right}),
    },
    DISPUTED,
)
