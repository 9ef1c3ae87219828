"""The inspection of a server, and the draft of its contract: what the server shows, and what to ask its author."""

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
