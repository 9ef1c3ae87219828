"""The embedded authorization server that the server under test trusts."""

from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.issuer.control import Control, IssuerName, IssuerState
from mcp_auth_contract.issuer.introspection import (
    INACTIVE,
    Asked,
    ClientAuthentication,
    Introspection,
    IntrospectionAnswer,
)
from mcp_auth_contract.issuer.memory import Memory, Received
from mcp_auth_contract.issuer.server import EmbeddedIssuer, IssuerSettings

__all__ = [
    "BEHAVIOURS",
    "INACTIVE",
    "Asked",
    "Behaviour",
    "BehaviourName",
    "ClientAuthentication",
    "Control",
    "EmbeddedIssuer",
    "Introspection",
    "IntrospectionAnswer",
    "IssuerName",
    "IssuerSettings",
    "IssuerState",
    "Memory",
    "Received",
]
