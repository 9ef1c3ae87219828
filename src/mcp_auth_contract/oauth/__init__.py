"""The words of OAuth on the wire: challenges, metadata locations, identifiers, JSON documents. No network."""

from mcp_auth_contract.oauth.challenge import (
    Challenge,
    Challenges,
    format_challenge,
    parse_challenges,
    scopes_of,
)
from mcp_auth_contract.oauth.challenge_syntax import Fault, FaultKind
from mcp_auth_contract.oauth.document import JsonDocument, read_json_object
from mcp_auth_contract.oauth.metadata import (
    AuthorizationServerUrls,
    Difference,
    ProtectedResourceUrls,
    authorization_server_urls,
    difference,
    endpoint_faults,
    identifier_faults,
    is_loopback_url,
    issuer_faults,
    protected_resource_urls,
    resource_of_well_known,
)

__all__ = [
    "AuthorizationServerUrls",
    "Challenge",
    "Challenges",
    "Difference",
    "Fault",
    "FaultKind",
    "JsonDocument",
    "ProtectedResourceUrls",
    "authorization_server_urls",
    "difference",
    "endpoint_faults",
    "format_challenge",
    "identifier_faults",
    "is_loopback_url",
    "issuer_faults",
    "parse_challenges",
    "protected_resource_urls",
    "read_json_object",
    "resource_of_well_known",
    "scopes_of",
]
