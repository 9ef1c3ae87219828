"""Every reference to a specification, once: checks cite by key, reports print labels, URLs live only here."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

__all__ = ["CITATIONS", "Citation"]


@dataclass(frozen=True, slots=True)
class Citation:
    """One section of one specification.

    `section` is its number ("3.3"), or empty where the document numbers nothing; `title` is its heading.
    """

    key: str
    document: str
    section: str
    title: str
    url: str

    @property
    def label(self) -> str:
        """The reference as prose: `RFC 9728 §3.3`, or `MCP 2025-11-25 authorization, Token Handling`."""
        return f"{self.document} §{self.section}" if self.section else f"{self.document}, {self.title}"


_OAUTH_2_1 = "https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13"
_CLIENT_ID_METADATA = "https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document-00"
_OPENID_DISCOVERY = "https://openid.net/specs/openid-connect-discovery-1_0.html"
_FETCH = "https://fetch.spec.whatwg.org/"
_MCP = "https://modelcontextprotocol.io"

_MCP_PAGES = MappingProxyType(
    {
        "authorization": "specification/{revision}/basic/authorization",
        "authorization-server-discovery": "specification/{revision}/basic/authorization/authorization-server-discovery",
        "client-registration": "specification/{revision}/basic/authorization/client-registration",
        "authorization-security": "specification/{revision}/basic/authorization/security-considerations",
        "transports": "specification/{revision}/basic/transports",
        "streamable-http": "specification/{revision}/basic/transports/streamable-http",
        "subscriptions": "specification/{revision}/basic/patterns/subscriptions",
        "versioning": "specification/{revision}/basic/versioning",
        "discover": "specification/{revision}/server/discover",
        "security-best-practices": "docs/{revision}/tutorials/security/security_best_practices",
    }
)
"""Where the pages of the MCP specification stand; 2026-07-28 split authorization and transports."""


def _rfc(number: int, sections: Mapping[str, str]) -> Iterable[Citation]:
    """Sections of an RFC, their headings by number."""
    for section, title in sections.items():
        url = f"https://www.rfc-editor.org/rfc/rfc{number}#section-{section}"
        yield Citation(f"rfc{number}-{section}", f"RFC {number}", section, title, url)


def _draft(name: str, document: str, url: str, sections: Mapping[str, str]) -> Iterable[Citation]:
    """Sections of an Internet-Draft, their headings by number."""
    for section, title in sections.items():
        yield Citation(f"{name}-{section}", document, section, title, f"{url}#section-{section}")


def _mcp(revision: str, page: str, *headings: str) -> Iterable[Citation]:
    """Headings of a page of the MCP specification; the site makes a heading's anchor of its words."""
    url = f"{_MCP}/{_MCP_PAGES[page].format(revision=revision)}"
    document = f"MCP {revision} {page.replace('-', ' ')}"
    for heading in headings:
        anchor = "-".join(re.findall(r"[a-z0-9]+", heading.lower()))
        yield Citation(f"mcp-{revision}-{page}#{anchor}", document, "", heading, f"{url}#{anchor}")


def _table(*groups: Iterable[Citation]) -> Mapping[str, Citation]:
    return MappingProxyType({citation.key: citation for citation in chain(*groups)})


CITATIONS: Mapping[str, Citation] = _table(
    _rfc(
        6750,
        {
            "3": "The WWW-Authenticate Response Header Field",
            "3.1": "Error Codes",
        },
    ),
    _rfc(
        7515,
        {
            "4.1.11": '"crit" (Critical) Header Parameter',
            "5.2": "Message Signature or MAC Validation",
        },
    ),
    _rfc(
        7517,
        {
            "4.5": '"kid" (Key ID) Parameter',
            "9.2": "Preventing Disclosure of Non-public Key Information",
        },
    ),
    _rfc(
        7519,
        {
            "4.1.3": '"aud" (Audience) Claim',
            "4.1.4": '"exp" (Expiration Time) Claim',
            "4.1.5": '"nbf" (Not Before) Claim',
            "7.2": "Validating a JWT",
        },
    ),
    _rfc(
        8259,
        {
            "4": "Objects",
            "8.1": "Character Encoding",
        },
    ),
    _rfc(
        8414,
        {
            "2": "Authorization Server Metadata",
            "3.1": "Authorization Server Metadata Request",
            "3.2": "Authorization Server Metadata Response",
            "3.3": "Authorization Server Metadata Validation",
        },
    ),
    _rfc(
        8725,
        {
            "3.1": "Perform Algorithm Verification",
            "3.2": "Use Appropriate Algorithms",
            "3.3": "Validate All Cryptographic Operations",
            "3.8": "Validate Issuer and Subject",
            "3.9": "Use and Validate Audience",
            "3.10": "Do Not Trust Received Claims",
        },
    ),
    _rfc(
        9068,
        {
            "2.2": "Data Structure",
            "4": "Validating JWT Access Tokens",
        },
    ),
    _rfc(
        9110,
        {
            "5.3": "Field Order",
            "5.6.4": "Quoted Strings",
            "11.1": "Authentication Scheme",
            "11.2": "Authentication Parameters",
            "11.6.1": "WWW-Authenticate",
            "15.5.2": "401 Unauthorized",
        },
    ),
    _rfc(
        9449,
        {
            "7.2": "Compatibility with the Bearer Authentication Scheme",
        },
    ),
    _rfc(
        9728,
        {
            "1.2": "Terminology",
            "2": "Protected Resource Metadata",
            "2.2": "Signed Protected Resource Metadata",
            "3": "Obtaining Protected Resource Metadata",
            "3.1": "Protected Resource Metadata Request",
            "3.2": "Protected Resource Metadata Response",
            "3.3": "Protected Resource Metadata Validation",
            "4": "Authorization Server Metadata",
            "5.1": "WWW-Authenticate Response",
            "6": "String Operations",
            "7.3": "Impersonation Attacks",
        },
    ),
    _draft(
        "oauth-2.1",
        "OAuth 2.1 (draft 13)",
        _OAUTH_2_1,
        {
            "1.4.1": "Access Token Scope",
            "1.5": "Communication security",
            "4.1.1": "Authorization Request",
            "5.1": "Bearer Token Requests",
            "5.1.1": "Authorization Request Header Field",
            "5.1.2": "Form-Encoded Content Parameter",
            "5.2": "Access Token Validation",
            "5.3.1": "The WWW-Authenticate Response Header Field",
            "5.3.2": "Error Codes",
            "7.1.3.4": "Don't store bearer tokens in HTTP cookies",
            "7.1.3.7": "Don't pass bearer tokens in page URLs",
            "7.1.4": "Access Token Privilege Restriction",
            "10": "Differences from OAuth 2.0",
            "10.1": "Removal of the OAuth 2.0 Implicit grant",
        },
    ),
    _draft(
        "client-id-metadata",
        "OAuth Client ID Metadata Document (draft 00)",
        _CLIENT_ID_METADATA,
        {"5": "Authorization Server Metadata"},
    ),
    (
        Citation(
            "openid-discovery-4.2",
            "OpenID Connect Discovery 1.0",
            "4.2",
            "OpenID Provider Configuration Response",
            f"{_OPENID_DISCOVERY}#ProviderConfigurationResponse",
        ),
        Citation(
            "openid-discovery-4.3",
            "OpenID Connect Discovery 1.0",
            "4.3",
            "OpenID Provider Configuration Validation",
            f"{_OPENID_DISCOVERY}#ProviderConfigurationValidation",
        ),
        Citation("fetch-cors", "Fetch Standard", "", "CORS protocol", f"{_FETCH}#http-cors-protocol"),
        Citation(
            "mcp-sep-985",
            "MCP SEP-985",
            "",
            "Align OAuth 2.0 Protected Resource Metadata with RFC 9728",
            f"{_MCP}/seps/985-align-oauth-20-protected-resource-metadata-with-rf",
        ),
    ),
    _mcp(
        "2025-03-26",
        "authorization",
        "Server Metadata Discovery Headers",
        "Token Requirements",
        "Token Handling",
    ),
    _mcp("2025-03-26", "transports", "Sending Messages to the Server"),
    _mcp(
        "2025-06-18",
        "authorization",
        "Authorization Server Location",
        "Server Metadata Discovery",
        "Dynamic Client Registration",
    ),
    _mcp(
        "2025-11-25",
        "authorization",
        "Authorization Server Location",
        "Protected Resource Metadata Discovery Requirements",
        "Authorization Server Metadata Discovery",
        "Client Registration Approaches",
        "Discovery",
        "Scope Selection Strategy",
        "Canonical Server URI",
        "Token Requirements",
        "Token Handling",
        "Error Handling",
        "Runtime Insufficient Scope Errors",
        "Communication Security",
        "Authorization Code Protection",
        "Access Token Privilege Restriction",
    ),
    _mcp(
        "2025-11-25",
        "transports",
        "Security Warning",
        "Listening for Messages from the Server",
        "Session Management",
        "Protocol Version Header",
    ),
    _mcp("2025-11-25", "security-best-practices", "Session Hijacking", "Scope Minimization"),
    _mcp(
        "2026-07-28",
        "authorization",
        "Scope Selection Strategy",
        "Canonical Server URI",
        "Token Requirements",
        "Token Handling",
        "Refresh Tokens",
        "Error Handling",
        "Runtime Insufficient Scope Errors",
    ),
    _mcp(
        "2026-07-28",
        "authorization-server-discovery",
        "Authorization Server Location",
        "Protected Resource Metadata Discovery Requirements",
        "Authorization Server Metadata Discovery",
    ),
    _mcp("2026-07-28", "client-registration", "Advertising CIMD Support"),
    _mcp(
        "2026-07-28",
        "authorization-security",
        "Communication Security",
        "Authorization Code Protection",
        "Access Token Privilege Restriction",
    ),
    _mcp("2026-07-28", "streamable-http", "Protocol Version Header"),
    _mcp("2026-07-28", "subscriptions", "Opening a Stream"),
    _mcp("2026-07-28", "versioning", "Backward Compatibility with Initialization-Based Versions"),
    _mcp("2026-07-28", "discover", "Response"),
    _mcp("2026-07-28", "security-best-practices", "State Handle Hijacking"),
)
"""Every citable section by its key; a closed table, to which a check may refer only by key."""
