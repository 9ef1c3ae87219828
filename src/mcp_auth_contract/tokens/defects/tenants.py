"""Defects of the tenant: tokens of nobody's tenant that a careless server takes for one of another."""

from mcp_auth_contract.tokens.defects.defect import Defect, Expectation, Kind, Need, Variant, claim, one
from mcp_auth_contract.tokens.defects.lookalikes import LOOKALIKES
from mcp_auth_contract.tokens.defects.values import carried, like, own, the_same, values

__all__ = ["TENANT_DEFECTS", "TENANT_NOBODY"]

TENANT_NOBODY = "mcp-auth-contract-no-tenant"
"""A tenant that no server knows."""

_TENANT = frozenset({Need.TENANT_REQUIRED})

TENANT_DEFECTS = (
    Defect(
        name="tenant_blank",
        sentence="The token's tenant is white space or an empty value.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=values(
            "{tenant}",
            {"space": " ", "tab": "\t", "empty_list": [], "empty_object": {}, "zero": 0, "boolean": False},
        ),
        needs=_TENANT,
    ),
    Defect(
        name="tenant_other_type",
        sentence="The token's tenant is neither a string nor a list.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=(
            *values("{tenant}", {"number": 1, "boolean": True}),
            Variant("object", own("{tenant}", lambda right: {"id": right})),
        ),
        needs=_TENANT,
    ),
    Defect(
        name="tenant_operator",
        sentence="The token's tenant is an operator of a query language (CWE-943).",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=(
            *values("{tenant}", {"not_equal": {"$ne": ""}, "greater": {"$gt": ""}, "exists": {"$exists": True}}),
            Variant("equal", own("{tenant}", lambda right: {"$eq": right})),
        ),
        needs=_TENANT,
    ),
    Defect(
        name="tenant_list",
        sentence="The token's tenant is a list.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=(
            Variant("own_only", own("{tenant}", lambda right: [right])),
            Variant("own_first", own("{tenant}", lambda right: [right, TENANT_NOBODY])),
            Variant("own_last", own("{tenant}", lambda right: [TENANT_NOBODY, right])),
        ),
        expectation=Expectation.DISPUTED,
        needs=_TENANT,
    ),
    Defect(
        name="tenant_lookalike",
        sentence="The token's tenant resembles another one without being it.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=like("{tenant}", LOOKALIKES),
        expectation=Expectation.DISPUTED,
        needs=_TENANT,
    ),
    Defect(
        name="tenant_unknown",
        sentence="The token's tenant is well formed and none the server has heard of.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=one(claim("{tenant}", lambda _: TENANT_NOBODY)),
        expectation=Expectation.DISPUTED,
        needs=_TENANT,
    ),
    Defect(
        name="tenant_pattern",
        sentence="The token's tenant is a pattern, a path or a list in one string.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=(
            *values("{tenant}", {"percent": "%", "star": "*", "sql_condition": "' OR '1'='1", "regex": ".*"}),
            Variant("percent_appended", own("{tenant}", lambda right: f"{right}%")),
            Variant("underscore", own("{tenant}", lambda right: f"{right[:-1]}_" if right[-1:] != "_" else None)),
            Variant("star_appended", own("{tenant}", lambda right: f"{right[:-1]}*")),
            Variant("path", own("{tenant}", lambda right: f"{TENANT_NOBODY}/../{right}")),
            Variant("comma_joined", own("{tenant}", lambda right: f"{TENANT_NOBODY},{right}")),
            Variant("space_joined", own("{tenant}", lambda right: f"{TENANT_NOBODY} {right}")),
        ),
        expectation=Expectation.DISPUTED,
        needs=_TENANT,
    ),
    Defect(
        name="tenant_in_other_claim",
        sentence="The token is of a tenant nobody knows, and names another one in a claim of a similar name.",
        kind=Kind.CLAIM,
        changes=("claims.{tenant}",),
        forms=(
            *(
                carried(elsewhere, "{tenant}", TENANT_NOBODY, the_same)
                for elsewhere in ("tenant", "tenant_id", "tid", "org_id", "org")
            ),
            carried("organization", "{tenant}", TENANT_NOBODY, lambda right: {"id": right}),
        ),
        expectation=Expectation.DISPUTED,
        needs=_TENANT,
    ),
)
