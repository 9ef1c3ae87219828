"""Waivers: read from a file, laid over the results of a run, told when they are no longer true, drafted."""

from mcp_auth_contract.waivers.draft import draft_waivers
from mcp_auth_contract.waivers.file import find_waivers, load_waivers
from mcp_auth_contract.waivers.judging import in_scope, stale_waivers, waive

__all__ = ["draft_waivers", "find_waivers", "in_scope", "load_waivers", "stale_waivers", "waive"]
