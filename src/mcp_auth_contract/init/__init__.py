"""The inspection of a server, and the draft of its contract: what the server shows, and what to ask its author."""

from mcp_auth_contract.init.draft import Draft, draft_contract
from mcp_auth_contract.init.inspection import ServerSettings
from mcp_auth_contract.init.inspector import inspect_server
from mcp_auth_contract.init.interview import interview
from mcp_auth_contract.init.render import how_to_see_more, questions_in, render
from mcp_auth_contract.init.toml import shown

__all__ = [
    "Draft",
    "ServerSettings",
    "draft_contract",
    "how_to_see_more",
    "inspect_server",
    "interview",
    "questions_in",
    "render",
    "shown",
]
