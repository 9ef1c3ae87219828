"""The words of OAuth on the wire: challenges, metadata locations, identifiers, JSON documents. No network."""

from mcp_auth_contract.oauth.challenge import Challenge, Challenges, parse_challenges, scopes_of
from mcp_auth_contract.oauth.challenge_syntax import Fault, FaultKind
from mcp_auth_contract.oauth.metadata import is_loopback_url

__all__ = ["Challenge", "Challenges", "Fault", "FaultKind", "is_loopback_url", "parse_challenges", "scopes_of"]
