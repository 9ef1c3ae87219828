"""The closed lists of what can be asked: probes, tokens, carriers, doors and methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp_auth_contract.contract import Ways
from mcp_auth_contract.observations import (
    AuditObserved,
    AuthorizationServersObserved,
    BypassObserved,
    CacheScopeObserved,
    CallObserved,
    CursorObserved,
    DoorObserved,
    ExchangesObserved,
    HandleObserved,
    IdentityObserved,
    LeewayObserved,
    ListingsObserved,
    MissingObserved,
    Observation,
    OwnStateObserved,
    ParityObserved,
    PreflightObserved,
    RecordObserved,
    RequestStateObserved,
    ResourceMetadataObserved,
    RoundsObserved,
    SessionEndObserved,
    SessionIdsObserved,
    SessionObserved,
    SurfaceObserved,
    TaskObserved,
    TimelineObserved,
    ToolPointersObserved,
    ToolSchemesObserved,
    UpstreamObserved,
    WriteObserved,
)
from mcp_auth_contract.probes.bypass_words import BYPASSES
from mcp_auth_contract.probes.identity import IDENTITY_SCENES
from mcp_auth_contract.probes.introspection_timelines import INTROSPECTION_TIMELINES
from mcp_auth_contract.probes.key_timelines import KEY_TIMELINES
from mcp_auth_contract.probes.sessions import SCENES
from mcp_auth_contract.probes.succession import LISTS, SUCCESSIONS
from mcp_auth_contract.probes.time_timelines import LEEWAY_CLAIMS, TIME_TIMELINES
from mcp_auth_contract.tokens.defects import DEFECTS

__all__ = ["CARRIERS", "DOORS", "METHODS", "PROBES", "RECORD_WAYS", "TIMELINES", "TOKENS", "WORDS", "Probe"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One kind of question: what it observes and which parameters of a check it takes and requires.

    `once` probes ask about the server as a whole, the others once per revision, `records` ones once for each way of
    somebody to somebody's record; `alone` probes change its state; `last`
    ones look back on the whole run.
    """

    name: str
    asks: str
    observes: type[Observation]
    takes: frozenset[str] = frozenset()
    requires: frozenset[str] = frozenset()
    once: bool = False
    alone: bool = False
    records: bool = False
    last: bool = False


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
        takes=frozenset({"token", "carrier", "scopes", "twin", "tries"}),
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
    Probe(
        "leeway",
        "How many seconds beyond exp or nbf does the server really grant?",
        LeewayObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
    ),
    Probe(
        "timeline",
        "What happens while keys, clocks or the issuer change?",
        TimelineObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
        alone=True,
    ),
    Probe("exchanges", "What was exchanged and written in the whole run?", ExchangesObserved, once=True, last=True),
    Probe("upstream", "What reaches the service behind the tools?", UpstreamObserved, once=True, last=True),
    Probe(
        "tool_pointers",
        "Where do the challenges in the results of a tool lead?",
        ToolPointersObserved,
        once=True,
    ),
    Probe("tool_schemes", "What does tools/list say of signing in, and is it true?", ToolSchemesObserved),
    Probe(
        "session",
        "Whom does a session serve, and when does it end?",
        SessionObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
    ),
    Probe(
        "rounds",
        "What does a refusal ask for, each time, and does that suffice?",
        RoundsObserved,
        takes=frozenset({"scopes"}),
        requires=frozenset({"scopes"}),
    ),
    Probe("surface", "What does the server list, and is it what the contract declares?", SurfaceObserved, once=True),
    Probe(
        "bypass",
        "Does another way of writing the message take a weak token past the scopes?",
        BypassObserved,
        takes=frozenset({"scopes", "variants"}),
        requires=frozenset({"scopes", "variants"}),
    ),
    Probe("session_ids", "What do the ids of several sessions look like?", SessionIdsObserved),
    Probe("cache_scope", "What may caches keep, and does it differ between users?", CacheScopeObserved),
    Probe(
        "identity",
        "Whose records come back when somebody else is named, or calls at the same time?",
        IdentityObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
    ),
    Probe(
        "succession",
        "Is each token judged by itself behind a better one?",
        IdentityObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
        alone=True,
    ),
    Probe(
        "listings",
        "Is a list the same on every connection and after other calls?",
        ListingsObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
        alone=True,
    ),
    Probe("session_end", "Can a stranger end a live session?", SessionEndObserved, alone=True),
    Probe("parity", "Is an operation equally closed in both eras?", ParityObserved, once=True),
    Probe("preflight", "What does a browser's preflight meet?", PreflightObserved),
    Probe(
        "record",
        "What do the owner of a record and somebody else get on the way to it?",
        RecordObserved,
        takes=frozenset({"variants"}),
        requires=frozenset({"variants"}),
        records=True,
    ),
    Probe("record_write", "Does somebody else's write change a record?", WriteObserved, alone=True, records=True),
    Probe("repeated_write", "Does a repeated write have an effect?", WriteObserved, alone=True, records=True),
    Probe("missing_record", "Is a foreign record told from none?", MissingObserved, records=True),
    Probe("cursor", "Whom does a page token serve?", CursorObserved, records=True),
    Probe("handle", "Whom does a handle serve?", HandleObserved, records=True),
    Probe("task", "Whom does a task serve, and who ends it?", TaskObserved, records=True),
    Probe("request_state", "Who may go on with a call that asked for input?", RequestStateObserved, records=True),
    Probe("own_request_state", "What may happen to a state on its way?", OwnStateObserved, records=True),
    Probe("audit", "What does the audit log say of a reader?", AuditObserved, alone=True, records=True),
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
        "basic_token_user": "Authorization: Basic with the token as user name",
        "basic_user_alone": "Authorization: Basic with a user name and an empty password",
        "basic_empty": "Authorization: Basic with empty user name and password",
        "trailing_word": "Authorization: Bearer <token> and one more word",
        "doubled_scheme": "Authorization: Bearer Bearer <token>",
        "two_spaces": "Authorization: Bearer, two spaces, <token>",
        "tab": "Authorization: Bearer, a tab, <token>",
        "trailing_comma": "Authorization: Bearer <token>,",
        "quoted_token": 'Authorization: Bearer "<token>"',
        "auth_param": 'Authorization: Bearer token="<token>"',
        "scheme_colon": "Authorization: Bearer: <token>",
        "scheme_equals": "Authorization: Bearer=<token>",
        "no_break_space": "Authorization: Bearer, a no-break space in Latin-1, <token>",
        "octet_behind_token": "Authorization: Bearer <token> with the octet FF behind it",
        "letters_beyond_ascii": "Authorization: Bearer tökén in UTF-8",
        "comma_joined_bad_first": "one Authorization line with a forged and the good token, joined by a comma",
        "comma_joined_good_first": "one Authorization line with the good and a forged token, joined by a comma",
        "two_headers": "two Authorization lines, one with the good token and one with a forged one",
        "two_equal_headers": "two Authorization lines with the same token",
        "basic_then_bearer": "an Authorization line with Basic, and one with Bearer <token>",
        "query_access_token": "?access_token=<token>",
        "query_token": "?token=<token>",
        "query_bearer": "?bearer=<token>",
        "query_authorization": "?authorization=Bearer <token>",
        "query_auth": "?auth=<token>",
        "query_jwt": "?jwt=<token>",
        "query_api_key": "?api_key=<token>",
        "query_forged_beside_header": "?access_token=<forged token> beside the good token in the header",
        "query_beside_bad_header": "?access_token=<token> beside a forged token in the header",
        "body_member": "a member access_token in the JSON-RPC message",
        "body_authorization": "a member authorization in the JSON-RPC message",
        "body_meta": "a member authorization in params._meta",
        "body_meta_access_token": "a member access_token in params._meta",
        "body_meta_token": "a member token in params._meta",
        "body_meta_prefixed": "a member io.modelcontextprotocol/authorization in params._meta",
        "body_argument": "an argument access_token",
        "good_in_argument": "the principal's good token as argument access_token, beside another token in the header",
        "cookie_access_token": "Cookie: access_token=<token>",
        "cookie_token": "Cookie: token=<token>",
        "cookie_authorization": "Cookie: Authorization=Bearer%20<token>",
        "cookie_session": "Cookie: __Host-session=<token>",
        "header_x_access_token": "X-Access-Token: <token>",
        "header_x_auth_token": "X-Auth-Token: <token>",
        "header_x_api_key": "X-Api-Key: <token>",
        "header_access_token": "Access-Token: <token>",
        "header_token": "Token: <token>",
        "header_x_authorization": "X-Authorization: Bearer <token>",
        "header_underscore": "Authorization_: Bearer <token>",
        "header_x_forwarded_access_token": "X-Forwarded-Access-Token: <token>",
        "header_x_forwarded_authorization": "X-Forwarded-Authorization: Bearer <token>",
        "header_x_original_authorization": "X-Original-Authorization: Bearer <token>",
        "header_x_amzn_oidc_accesstoken": "X-Amzn-Oidc-Accesstoken: <token>",
        "header_cf_access_jwt": "Cf-Access-Jwt-Assertion: <token>",
        "header_proxy_authorization": "Proxy-Authorization: Bearer <token>",
        "header_mcp_param": "Mcp-Param-Authorization: Bearer <token>",
        "header_x_forwarded_user": "X-Forwarded-User with a principal's subject",
        "header_x_user_id": "X-User-Id with a principal's subject",
        "header_x_remote_user": "X-Remote-User with a principal's subject",
        "header_x_goog_user_email": "X-Goog-Authenticated-User-Email with a principal's subject",
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

TIMELINES: Mapping[str, str] = MappingProxyType(
    {word: words for word, (words, _) in {**KEY_TIMELINES, **TIME_TIMELINES, **INTROSPECTION_TIMELINES}.items()}
)

RECORD_WAYS: Mapping[str, str] = MappingProxyType(
    {
        Ways.READS.value: "somebody who is no reader reads one record",
        Ways.LISTS.value: "somebody who is no reader lists, searches or exports",
        Ways.READERS.value: "a declared reader who is not the owner reads one record",
    }
)

WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "bypass": BYPASSES,
        "door": DOORS,
        "identity": {word: words for word, (words, _) in IDENTITY_SCENES.items()},
        "leeway": LEEWAY_CLAIMS,
        "listings": LISTS,
        "method": METHODS,
        "record": RECORD_WAYS,
        "session": SCENES,
        "succession": SUCCESSIONS,
        "timeline": TIMELINES,
    }
)
"""The variants that each probe knows."""
