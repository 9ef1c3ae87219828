"""Drafting a contract: what looks at a server that nobody has described, and writes what it shows and what to ask."""

from mcp_auth_contract.init.draft import Draft, DraftOperation, DraftPrincipal, DraftTool, draft_contract
from mcp_auth_contract.init.inspection import KIT, Inspection, Listed, NeededScopes, ServerSettings, TokenShape
from mcp_auth_contract.init.inspector import inspect_server
from mcp_auth_contract.init.interview import interview
from mcp_auth_contract.init.render import how_to_see_more, provisional, questions_in, render
from mcp_auth_contract.init.toml import shown

__all__ = [
    "KIT",
    "Draft",
    "DraftOperation",
    "DraftPrincipal",
    "DraftTool",
    "Inspection",
    "Listed",
    "NeededScopes",
    "ServerSettings",
    "TokenShape",
    "draft_contract",
    "how_to_see_more",
    "inspect_server",
    "interview",
    "provisional",
    "questions_in",
    "render",
    "shown",
]
