"""Drafting a contract: from what a look at a server showed to a commented text that asks for the rest."""

from mcp_auth_contract.drafting.draft import Draft, DraftPrincipal, DraftTool, draft_of, is_scope
from mcp_auth_contract.drafting.render import how_to_see_more, provisional, questions_in, render
from mcp_auth_contract.drafting.seen import KIT, Listed, Needed, Place, Seen, TokenShape
from mcp_auth_contract.drafting.toml import shown

__all__ = [
    "KIT",
    "Draft",
    "DraftPrincipal",
    "DraftTool",
    "Listed",
    "Needed",
    "Place",
    "Seen",
    "TokenShape",
    "draft_of",
    "how_to_see_more",
    "is_scope",
    "provisional",
    "questions_in",
    "render",
    "shown",
]
