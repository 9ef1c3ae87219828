"""The wire: the one HTTP client, redaction and evidence, and MCP in every revision."""

from mcp_auth_contract.wire.evidence import Evidence, Exchange
from mcp_auth_contract.wire.http import HttpClient
from mcp_auth_contract.wire.inside import AsgiApp, InsideTransport, resolver_inside
from mcp_auth_contract.wire.mcp import (
    ACCEPT,
    SHOWS_VIEWS,
    VIEW_MIME_TYPE,
    Call,
    Message,
    encode,
    notification,
    operation_call,
    read_headers,
    request,
)
from mcp_auth_contract.wire.pace import seconds_of
from mcp_auth_contract.wire.redaction import Redactor
from mcp_auth_contract.wire.request import HeaderPair, Request, resolve_host
from mcp_auth_contract.wire.session import LISTS, Conversation, Handshake, Listing, ListKind, detect_revisions, list_all

__all__ = [
    "ACCEPT",
    "LISTS",
    "SHOWS_VIEWS",
    "VIEW_MIME_TYPE",
    "AsgiApp",
    "Call",
    "Conversation",
    "Evidence",
    "Exchange",
    "Handshake",
    "HeaderPair",
    "HttpClient",
    "InsideTransport",
    "ListKind",
    "Listing",
    "Message",
    "Redactor",
    "Request",
    "detect_revisions",
    "encode",
    "list_all",
    "notification",
    "operation_call",
    "read_headers",
    "request",
    "resolve_host",
    "resolver_inside",
    "seconds_of",
]
