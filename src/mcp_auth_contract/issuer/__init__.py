"""The embedded authorization server that the server under test trusts."""

from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.issuer.control import IssuerName
from mcp_auth_contract.issuer.introspection import IntrospectionAnswer
from mcp_auth_contract.issuer.server import EmbeddedIssuer, IssuerSettings

__all__ = [
    "BEHAVIOURS",
    "Behaviour",
    "BehaviourName",
    "EmbeddedIssuer",
    "IntrospectionAnswer",
    "IssuerName",
    "IssuerSettings",
]
