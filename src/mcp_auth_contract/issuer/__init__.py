"""The embedded authorization server that the server under test trusts."""

from mcp_auth_contract.issuer.control import Behaviour, Control, IssuerName, IssuerState
from mcp_auth_contract.issuer.memory import Memory, Received
from mcp_auth_contract.issuer.server import EmbeddedIssuer, IssuerSettings

__all__ = [
    "Behaviour",
    "Control",
    "EmbeddedIssuer",
    "IssuerName",
    "IssuerSettings",
    "IssuerState",
    "Memory",
    "Received",
]
