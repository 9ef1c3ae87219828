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
_IDEMPOTENCY = "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07"
_OPENID_DISCOVERY = "https://openid.net/specs/openid-connect-discovery-1_0.html"
_OPENID_CORE = "https://openid.net/specs/openid-connect-core-1_0.html"
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
        "caching": "specification/{revision}/server/utilities/caching",
        "mrtr": "specification/{revision}/basic/patterns/mrtr",
        "tasks": "specification/{revision}/basic/utilities/tasks",
        "basic": "specification/{revision}/basic",
        "tools": "specification/{revision}/server/tools",
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
        3986,
        {
            "6.2.1": "Simple String Comparison",
            "6.2.2.1": "Case Normalization",
            "6.2.3": "Scheme-Based Normalization",
        },
    ),
    _rfc(
        4648,
        {
            "3.5": "Canonical Encoding",
        },
    ),
    _rfc(
        6749,
        {
            "3.3": "Access Token Scope",
        },
    ),
    _rfc(
        6750,
        {
            "2.1": "Authorization Request Header Field",
            "3": "The WWW-Authenticate Response Header Field",
            "3.1": "Error Codes",
        },
    ),
    _rfc(
        7009,
        {
            "2.1": "Revocation Request",
        },
    ),
    _rfc(
        7515,
        {
            "2": "Terminology",
            "4": "JOSE Header",
            "4.1.1": '"alg" (Algorithm) Header Parameter',
            "4.1.2": '"jku" (JWK Set URL) Header Parameter',
            "4.1.3": '"jwk" (JSON Web Key) Header Parameter',
            "4.1.4": '"kid" (Key ID) Header Parameter',
            "4.1.5": '"x5u" (X.509 URL) Header Parameter',
            "4.1.6": '"x5c" (X.509 Certificate Chain) Header Parameter',
            "4.1.9": '"typ" (Type) Header Parameter',
            "4.1.11": '"crit" (Critical) Header Parameter',
            "5.2": "Message Signature or MAC Validation",
            "7.1": "JWS Compact Serialization",
        },
    ),
    _rfc(
        7516,
        {
            "4.1.3": '"zip" (Compression Algorithm) Header Parameter',
        },
    ),
    _rfc(
        7517,
        {
            "4.2": '"use" (Public Key Use) Parameter',
            "4.3": '"key_ops" (Key Operations) Parameter',
            "4.4": '"alg" (Algorithm) Parameter',
            "4.5": '"kid" (Key ID) Parameter',
            "5": "JWK Set Format",
            "8.5.1": "Registry Contents",
            "9.2": "Preventing Disclosure of Non-public Key Information",
        },
    ),
    _rfc(
        7518,
        {
            "3.1": '"alg" (Algorithm) Header Parameter Values for JWS',
            "3.3": "Digital Signature with RSASSA-PKCS1-v1_5",
            "3.4": "Digital Signature with ECDSA",
            "3.5": "Digital Signature with RSASSA-PSS",
            "4.8.1.2": '"p2c" (PBES2 Count) Header Parameter',
        },
    ),
    _rfc(
        7519,
        {
            "4": "JWT Claims",
            "4.1.1": '"iss" (Issuer) Claim',
            "4.1.2": '"sub" (Subject) Claim',
            "4.1.3": '"aud" (Audience) Claim',
            "4.1.4": '"exp" (Expiration Time) Claim',
            "4.1.5": '"nbf" (Not Before) Claim',
            "4.1.6": '"iat" (Issued At) Claim',
            "4.1.7": '"jti" (JWT ID) Claim',
            "5.2": '"cty" (Content Type) Header Parameter',
            "5.3": "Replicating Claims as Header Parameters",
            "7.2": "Validating a JWT",
        },
    ),
    _rfc(
        7523,
        {
            "3": "JWT Format and Processing Requirements",
        },
    ),
    _rfc(
        7662,
        {
            "2.1": "Introspection Request",
            "2.2": "Introspection Response",
            "2.3": "Error Response",
            "4": "Security Considerations",
        },
    ),
    _rfc(
        7797,
        {
            "6": 'Using "crit" with "b64"',
            "7": "Intended Use by Applications",
        },
    ),
    _rfc(
        7800,
        {
            "3.1": "Confirmation Claim",
        },
    ),
    _rfc(
        8017,
        {
            "8.2.2": "Signature Verification Operation",
        },
    ),
    _rfc(
        8032,
        {
            "5.1.7": "Verify",
        },
    ),
    _rfc(
        8259,
        {
            "2": "JSON Grammar",
            "4": "Objects",
            "6": "Numbers",
            "7": "Strings",
            "8.1": "Character Encoding",
            "8.2": "Unicode Characters",
            "9": "Parsers",
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
        8693,
        {
            "4.1": '"act" (Actor) Claim',
            "4.4": '"may_act" (Authorized Actor) Claim',
        },
    ),
    _rfc(
        8705,
        {
            "3": "Mutual-TLS Client Certificate-Bound Access Tokens",
        },
    ),
    _rfc(
        8707,
        {
            "2": "Resource Parameter",
        },
    ),
    _rfc(
        8725,
        {
            "2.1": "Weak Signatures and Insufficient Signature Validation",
            "2.3": "Incorrect Composition of Encryption and Signature",
            "3.1": "Perform Algorithm Verification",
            "3.2": "Use Appropriate Algorithms",
            "3.3": "Validate All Cryptographic Operations",
            "3.5": "Ensure Cryptographic Keys Have Sufficient Entropy",
            "3.6": "Avoid Compression of Encryption Inputs",
            "3.7": "Use UTF-8",
            "3.8": "Validate Issuer and Subject",
            "3.9": "Use and Validate Audience",
            "3.10": "Do Not Trust Received Claims",
            "3.11": "Use Explicit Typing",
            "3.12": "Use Mutually Exclusive Validation Rules for Different Kinds of JWTs",
        },
    ),
    _rfc(
        9068,
        {
            "2.1": "Header",
            "2.2": "Data Structure",
            "2.2.3": "Authorization Claims",
            "2.2.3.1": "Claims for Authorization Outside of Delegation Scenarios",
            "4": "Validating JWT Access Tokens",
            "5": "Security Considerations",
        },
    ),
    _rfc(
        9110,
        {
            "5.3": "Field Order",
            "5.4": "Field Limits",
            "5.6.4": "Quoted Strings",
            "11.1": "Authentication Scheme",
            "11.2": "Authentication Parameters",
            "11.4": "Credentials",
            "11.6.1": "WWW-Authenticate",
            "15.5.2": "401 Unauthorized",
            "15.6": "Server Error 5xx",
            "15.6.4": "503 Service Unavailable",
            "17.8": "Privacy of Server Log Information",
            "17.12": "Disclosure of Product Information",
        },
    ),
    _rfc(
        9111,
        {
            "3.5": "Storing Responses to Authenticated Requests",
        },
    ),
    _rfc(
        9449,
        {
            "7.2": "Compatibility with the Bearer Authentication Scheme",
        },
    ),
    _rfc(
        9700,
        {
            "4.15": "Client Impersonating Resource Owner",
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
            "1.3.2": "Refresh Token",
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
    _draft(
        "idempotency-key",
        "Idempotency-Key HTTP Header Field (draft 07)",
        _IDEMPOTENCY,
        {"2.2": "Uniqueness of Idempotency Key", "2.6": "Idempotency Enforcement Scenarios"},
    ),
    (
        Citation(
            "openid-core-5.7",
            "OpenID Connect Core 1.0",
            "5.7",
            "Claim Stability and Uniqueness",
            f"{_OPENID_CORE}#ClaimStability",
        ),
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
        Citation(
            "owasp-logging-events",
            "OWASP Logging Cheat Sheet",
            "",
            "Which events to log",
            "https://cheatsheetseries.owasp.org/cheatsheets/Logging_Cheat_Sheet.html#which-events-to-log",
        ),
        Citation(
            "sep-2663-security-implications",
            "MCP SEP-2663 tasks extension",
            "",
            "Security Implications",
            f"{_MCP}/seps/2663-tasks-extension#security-implications",
        ),
        Citation("fetch-cors", "Fetch Standard", "", "CORS protocol", f"{_FETCH}#http-cors-protocol"),
        Citation(
            "openai-apps-authentication",
            "OpenAI Apps SDK",
            "",
            "Authentication",
            "https://developers.openai.com/plugins/build/auth",
        ),
        Citation(
            "openai-apps-reference",
            "OpenAI Apps SDK",
            "",
            "Reference",
            "https://developers.openai.com/plugins/reference",
        ),
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
        "Token Theft",
    ),
    _mcp(
        "2025-11-25",
        "transports",
        "Security Warning",
        "Listening for Messages from the Server",
        "Session Management",
        "Resumability and Redelivery",
        "Protocol Version Header",
    ),
    _mcp("2025-11-25", "tasks", "Task Isolation and Access Control"),
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
        "Step-Up Authorization Flow",
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
        "Token Theft",
    ),
    _mcp("2026-07-28", "streamable-http", "Protocol Version Header"),
    _mcp("2026-07-28", "mrtr", "Server Requirements (Basic Workflow)"),
    _mcp("2026-07-28", "subscriptions", "Opening a Stream"),
    _mcp("2026-07-28", "versioning", "Backward Compatibility with Initialization-Based Versions"),
    _mcp("2026-07-28", "basic", "Statelessness", "_meta"),
    _mcp("2026-07-28", "discover", "Response"),
    _mcp("2026-07-28", "tools", "Capabilities"),
    _mcp("2026-07-28", "caching", "Cacheable Model"),
    _mcp("2026-07-28", "security-best-practices", "State Handle Hijacking"),
)
"""Every citable section by its key; a closed table, to which a check may refer only by key."""
