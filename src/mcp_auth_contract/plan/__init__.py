"""The plan: every check expanded over the contract into cases, before anything is sent."""

from mcp_auth_contract.plan.case import Base, Case, Plan
from mcp_auth_contract.plan.expansion import UNKNOWN_SCOPES
from mcp_auth_contract.plan.making import joined, make_anonymous_plan, make_plan, make_provider_plan
from mcp_auth_contract.plan.selection import Selection

__all__ = [
    "UNKNOWN_SCOPES",
    "Base",
    "Case",
    "Plan",
    "Selection",
    "joined",
    "make_anonymous_plan",
    "make_plan",
    "make_provider_plan",
]
