"""The closed lists of what can be asked: probes, tokens, carriers, doors and methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp_auth_contract.observations import (
    AuthorizationServersObserved,
    CallObserved,
    DoorObserved,
    Observation,
    ParityObserved,
    PreflightObserved,
    ResourceMetadataObserved,
    SessionEndObserved,
)
from mcp_auth_contract.tokens.defects import DEFECTS

__all__ = ["CARRIERS", "DOORS", "METHODS", "PROBES", "TOKENS", "Probe"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One kind of question: what it observes and which parameters of a check it takes and requires.

    `once` probes ask about the server as a whole, the others once per revision; `alone` probes change its state.
    """

    name: str
    asks: str
    observes: type[Observation]
    takes: frozenset[str] = frozenset()
    requires: frozenset[str] = frozenset()
    once: bool = False
    alone: bool = False


def _table(*probes: Probe) -> Mapping[str, Probe]:
    return MappingProxyType({probe.name: probe for probe in probes})


PROBES = _table(
    Probe(
        "resource_metadata",
        "Where is the protected-resource metadata, and what does it say?",
        ResourceMetadataObserved,
        once=True,
    ),
    Probe(
        "authorization_servers",
        "What do the listed authorization servers publish?",
        AuthorizationServersObserved,
        once=True,
    ),
    Probe(
        "call",
        "What happens to an operation with this token, presented this way?",
        CallObserved,
        takes=frozenset({"token", "carrier", "scopes"}),
        requires=frozenset({"token"}),
    ),
    Probe(
        "method",
        "What does a protocol method answer?",
        CallObserved,
        takes=frozenset({"token", "variants"}),
        requires=frozenset({"variants"}),
    ),
    Probe(
        "door",
        "Is this way into the endpoint closed without a token?",
        DoorObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
    ),
    Probe("session_end", "Can a stranger end a live session?", SessionEndObserved, alone=True),
    Probe("parity", "Is an operation equally closed in both eras?", ParityObserved, once=True),
    Probe("preflight", "What does a browser's preflight meet?", PreflightObserved),
)

TOKENS: Mapping[str, str] = MappingProxyType(
    {
        "good": "the unbroken token",
        "none": "no token",
        **{name: defect.sentence for name, defect in DEFECTS.items()},
    }
)

CARRIERS: Mapping[str, str] = MappingProxyType(
    {
        "bearer": "Authorization: Bearer <token>",
        "scheme_lower": "Authorization: bearer <token>",
        "scheme_upper": "Authorization: BEARER <token>",
        "scheme_mixed": "Authorization: bEaReR <token>",
        "scheme_missing": "Authorization: <token>",
        "scheme_token": "Authorization: Token <token>",
        "scheme_jwt": "Authorization: JWT <token>",
        "scheme_dpop": "Authorization: DPoP <token>, without a proof",
        "header_empty": "Authorization with an empty value",
        "bearer_alone": "Authorization: Bearer, and nothing after it",
        "basic_user_password": "Authorization: Basic with a user name and a password",
        "basic_token_password": "Authorization: Basic with the token as password",
        "trailing_word": "Authorization: Bearer <token> and one more word",
        "doubled_scheme": "Authorization: Bearer Bearer <token>",
        "comma_joined_bad_first": "one Authorization line with a forged and the good token, joined by a comma",
        "two_headers": "two Authorization lines, one with the good token and one with a forged one",
        "query_access_token": "?access_token=<token>",
        "query_token": "?token=<token>",
        "query_bearer": "?bearer=<token>",
        "query_authorization": "?authorization=Bearer <token>",
        "query_beside_bad_header": "?access_token=<token> beside a forged token in the header",
        "body_member": "a member access_token in the JSON-RPC message",
        "body_meta": "a member authorization in params._meta",
        "body_argument": "an argument access_token",
        "cookie_access_token": "Cookie: access_token=<token>",
        "cookie_token": "Cookie: token=<token>",
        "cookie_authorization": "Cookie: Authorization=Bearer%20<token>",
        "header_x_access_token": "X-Access-Token: <token>",
        "header_x_auth_token": "X-Auth-Token: <token>",
        "header_x_forwarded_access_token": "X-Forwarded-Access-Token: <token>",
        "header_x_forwarded_authorization": "X-Forwarded-Authorization: Bearer <token>",
        "header_proxy_authorization": "Proxy-Authorization: Bearer <token>",
        "header_mcp_param": "Mcp-Param-Authorization: Bearer <token>",
        "header_x_forwarded_user": "X-Forwarded-User with a principal's subject",
        "header_x_user_id": "X-User-Id with a principal's subject",
        "header_x_remote_user": "X-Remote-User with a principal's subject",
        "header_x_ms_client_principal": "X-MS-CLIENT-PRINCIPAL with a principal's claims",
        "foreign_origin": "Authorization: Bearer <token>, and an Origin nobody knows",
        "bogus_version": "Authorization: Bearer <token>, and an MCP-Protocol-Version that does not exist",
    }
)

DOORS: Mapping[str, str] = MappingProxyType(
    {
        "notification": "a JSON-RPC notification",
        "client_response": "a JSON-RPC response object",
        "get_stream": "GET for the event stream",
        "head": "HEAD",
        "batch": "a JSON-RPC array",
        "listen": "subscriptions/listen",
        "legacy_sse": "the HTTP+SSE transport of 2024-11-05 beside the endpoint",
        "path_trailing_slash": "the path with a slash more, or less, at its end",
        "path_double_slash": "the path with its first slash doubled",
        "path_query": "the path with a query",
        "path_parameter": "the path with a ;parameter",
        "path_percent_encoded": "the path with a letter percent-encoded",
        "path_upper_case": "the path in the other case",
        "path_dot_segment": "the path with a dot segment",
        "content_type_text": "the message as text/plain",
        "content_type_form": "the message as application/x-www-form-urlencoded",
        "content_type_missing": "the message without a Content-Type",
        "content_type_charset": "the message as application/json; charset=utf-8",
    }
)

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "initialize": "open a session",
        "ping": "is anybody there",
        "tools/list": "list the tools",
        "resources/list": "list the resources",
        "resources/templates/list": "list the resource templates",
        "prompts/list": "list the prompts",
        "completion/complete": "complete a prompt's argument",
        "server/discover": "which revisions and capabilities",
    }
)
