"""As whom a server acts that lets anybody in."""

from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.scopes import SCOPES_SUPPORTED

__all__ = ["DEFAULT_USER"]

DEFAULT_USER = Principal("alice", "t1", "default", frozenset(SCOPES_SUPPORTED))
"""The first user of the first tenant, with every scope: what a careless fallback usually is."""
