"""An example exchange for one check: the request it sends and an answer that it accepts."""

from mcp_auth_contract.catalogue import Axis, Check, ScopeChoice
from mcp_auth_contract.checks.registry import CARRIERS, DOORS, TIMELINES, TOKENS
from mcp_auth_contract.checks.scopes.bypass_words import BYPASSES

__all__ = ["example_exchange"]

_POINTER = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'
_INVALID = f'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer error="invalid_token",\n  {_POINTER}'
_MISSING = f'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer {_POINTER},\n  scope="invoices:read"'
_WEAK = (
    "HTTP/1.1 403 Forbidden\n"
    f'WWW-Authenticate: Bearer error="insufficient_scope", scope="invoices:write",\n  {_POINTER}'
)
_RESULT = 'HTTP/1.1 200 OK\n\n{"jsonrpc":"2.0","id":1,"result":{…}}'
_CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_invoice","arguments":{…}}}'

_RESOURCE_DOCUMENT = """HTTP/1.1 200 OK
Content-Type: application/json

{"resource": "https://mcp.example.com/mcp",
 "authorization_servers": ["https://auth.example.com"],
 "scopes_supported": ["invoices:read", "invoices:write"],
 "bearer_methods_supported": ["header"],
 "resource_name": "Invoices"}"""

_SERVER_DOCUMENT = """HTTP/1.1 200 OK
Content-Type: application/json

{"issuer": "https://auth.example.com",
 "authorization_endpoint": "https://auth.example.com/authorize",
 "token_endpoint": "https://auth.example.com/token",
 "registration_endpoint": "https://auth.example.com/register",
 "jwks_uri": "https://auth.example.com/jwks",
 "response_types_supported": ["code"],
 "grant_types_supported": ["authorization_code", "refresh_token"],
 "code_challenge_methods_supported": ["S256"],
 "token_endpoint_auth_methods_supported": ["none"]}"""

_ACCEPTED = ("accepted", "accepted_or_advice", "discover_answers")
_TIMELINE_ENDS = {
    **dict.fromkeys(("new_accepted", "good_accepted", "answered_promptly", "recovered"), _RESULT),
    "no_breakdown": "HTTP/1.1 503 Service Unavailable\nRetry-After: 5",
    "keys_fetched_rarely": "and the issuer is asked for its keys a few times at most",
    "introspecting_client_known": "and the server asks the issuer with its own credentials",
}
_WEAKNESS = (
    "refused_for_scope",
    "scope_challenge_error",
    "scope_challenge_metadata",
    "scope_challenge_names_missing",
)


def example_exchange(check: Check) -> str:
    """Return a request and an accepted answer for a check, as readable text; hosts and names are made up."""
    match check.probe:
        case "resource_metadata":
            head = "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\nHost: mcp.example.com"
            return f"{head}\n\n{_RESOURCE_DOCUMENT}"
        case "authorization_servers":
            head = "GET /.well-known/oauth-authorization-server HTTP/1.1\nHost: auth.example.com"
            return f"{head}\n\n{_SERVER_DOCUMENT}"
        case "preflight":
            request = (
                "OPTIONS /mcp HTTP/1.1\nHost: mcp.example.com\nOrigin: https://client.example.com\n"
                "Access-Control-Request-Method: POST\nAccess-Control-Request-Headers: authorization,content-type"
            )
            answer = (
                "HTTP/1.1 204 No Content\nAccess-Control-Allow-Origin: https://client.example.com\n"
                "Access-Control-Allow-Headers: authorization, content-type\n\n"
                "and on the 401 afterwards\nAccess-Control-Expose-Headers: WWW-Authenticate"
            )
            return f"{request}\n\n{answer}"
        case "session_end":
            return (
                "DELETE /mcp HTTP/1.1\nHost: mcp.example.com\nMcp-Session-Id: <a live session>\n(no Authorization)\n\n"
                f"{_MISSING}\n\nand the session goes on working"
            )
        case "rounds":
            return f"{_request(check)}\n\n{_WEAK}\n\nand with those scopes\n\n{_RESULT}"
        case "bypass":
            return f"{BYPASSES[check.variants[0]]}, with a token that lacks the scopes\n\n{_WEAK}"
        case "surface":
            return f"tools/list, resources/list, resources/templates/list, prompts/list\n\n{_RESULT}"
        case "parity":
            return f"the same call without a token in each revision\n\n{_MISSING}"
        case "door":
            door = f"{DOORS[check.variants[0]]}, without a token"
            return f"{door}\n\n{_MISSING}\n\nor 404 or 405 where there is no such door"
        case "timeline":
            played = "\n".join(f"- {TIMELINES[word]}" for word in check.variants)
            return f"the control operation is called while\n{played}\n\n{_TIMELINE_ENDS.get(check.judge, _INVALID)}"
        case "leeway":
            claims = " and ".join(check.variants)
            return f"the control operation, with tokens some seconds beyond their {claims}\n\n{_INVALID}"
        case _:
            return f"{_request(check)}\n\n{_answer(check)}"


def _request(check: Check) -> str:
    lines = ["POST /mcp HTTP/1.1", "Host: mcp.example.com"]
    token = check.tokens[-1] if check.tokens else "none"
    carrier = check.carriers[0] if check.carriers else "bearer"
    if carrier != "bearer":
        lines.append(f"({CARRIERS[carrier]})")
    elif token == "none" and check.scopes is ScopeChoice.PRINCIPAL:  # noqa: S105
        lines.append("(no Authorization)")
    else:
        named = "good" if token == "none" else token  # noqa: S105
        lines.append(f"Authorization: Bearer <{TOKENS[named]}>")
    if check.scopes is not ScopeChoice.PRINCIPAL:
        lack = {
            ScopeChoice.EXACT: "just the scopes the operation needs",
            ScopeChoice.MISSING: "every scope but the one needed",
            ScopeChoice.NONE: "no scope",
            ScopeChoice.SUPERSET: "every scope, and unknown ones",
            ScopeChoice.BROADER: "a broader scope in the place of the one needed",
            ScopeChoice.UNRELATED: "every scope but those that the operation needs",
        }[check.scopes]
        lines.append(f"(the token carries {lack})")
    body = _CALL
    if check.probe == "method":
        body = f'{{"jsonrpc":"2.0","id":1,"method":"{check.variants[0]}"}}'
    return "\n".join([*lines, "Content-Type: application/json", "", body])


def _answer(check: Check) -> str:
    if check.judge in _ACCEPTED:
        return _RESULT
    if check.judge == "refused_as_bad_request":
        return "HTTP/1.1 400 Bad Request"
    if check.judge == "foreign_origin_refused":
        return "HTTP/1.1 403 Forbidden"
    if check.judge in _WEAKNESS or check.over is Axis.MISSING_SCOPES or check.scopes is ScopeChoice.NONE:
        return _WEAK
    token = check.tokens[-1] if check.tokens else "none"
    return _MISSING if token == "none" else _INVALID  # noqa: S105
