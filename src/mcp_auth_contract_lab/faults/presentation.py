"""Faults of the way in: where the token is taken from, and what gets past the token check."""

import base64
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import legacy, rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.credentials import (
    Absent,
    Credential,
    Malformed,
    Presented,
    Source,
    authorization_header,
    read_authorization,
)
from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.modern import acknowledged
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.settings import ENDPOINT
from mcp_auth_contract_lab.steps import DEFAULT_USER, broken, intercepting, sources, verified, vouched
from mcp_auth_contract_lab.streams import OpenStream
from mcp_auth_contract_lab.verification import Trust, verify

FAULTS = Faults()

_Answer: TypeAlias = Callable[[Lab, Incoming], Awaitable[Response | None]]


async def _as_default_user(lab: Lab, incoming: Incoming) -> Response | None:
    """Answer a POST for whoever sent it, as the default user and without a session."""
    return await _as(DEFAULT_USER, lab, incoming)


async def _as(caller: Principal, lab: Lab, incoming: Incoming) -> Response | None:
    message: Any = await incoming.message()
    messages = message if isinstance(message, list) else [message]
    if not all(isinstance(one, dict) for one in messages):
        return None
    requests = [one for one in messages if isinstance(one.get("method"), str) and "id" in one]
    if not requests:
        return Response(status_code=202)
    answers = [legacy.run(lab, one, caller, Revision.R2025_06_18) for one in requests]
    for one in answers:
        if META_VERSION in meta_of(requests[0]) and "result" in one:
            one["result"]["resultType"] = "complete"
    return rpc.rpc_response(answers if isinstance(message, list) else answers[0])


def _open(test: Callable[[Incoming], bool], answer: _Answer = _as_default_user) -> Change:
    """Answer requests without a token that pass the test, before the token is asked for."""

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        return await answer(lab, incoming) if incoming.header("authorization") is None and test(incoming) else None

    return intercepting(intercept=intercept)


def _open_to_messages(test: Callable[[Any], bool], answer: _Answer = _as_default_user) -> Change:
    """Answer messages without a token that pass the test, before the token is asked for."""

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        if incoming.header("authorization") is not None or (incoming.method, incoming.path) != ("POST", ENDPOINT):
            return None
        return await answer(lab, incoming) if test(await incoming.message()) else None

    return intercepting(intercept=intercept)


@FAULTS.by(lambda intercept: intercepting(intercept=intercept))
async def array_unscoped_in_stateless(lab: Lab, incoming: Incoming) -> Response | None:
    """The stateless revision still executes arrays, and checks no scopes of their elements."""
    if incoming.method != "POST" or incoming.header("mcp-protocol-version") not in lab.behaviour.protocol.modern:
        return None
    if not isinstance(await incoming.message(), list):
        return None
    with suppress(InvalidToken):
        caller = await verified(lab, incoming)
        return None if caller is None else await _as(replace(caller, scopes=DEFAULT_USER.scopes), lab, incoming)
    return None


def _verb(method: str, path: str = ENDPOINT) -> Callable[[_Answer], Change]:
    return lambda answer: _open(lambda incoming: (incoming.method, incoming.path) == (method, path), answer)


def _saying(make: Callable[[], Response]) -> _Answer:
    async def answer(_lab: Lab, _incoming: Incoming) -> Response:
        return make()

    return answer


@FAULTS.by(_verb("DELETE"))
async def delete_open(lab: Lab, incoming: Incoming) -> Response | None:
    """Anybody who knows its id ends a session."""
    session = lab.sessions.peek(incoming.header("mcp-session-id"))
    if session is None:
        return None
    lab.sessions.end(session)
    return Response(status_code=204)


@FAULTS.by(lambda answer: _open_to_messages(
    lambda message: isinstance(message, dict) and message.get("method") == "subscriptions/listen", answer))  # fmt: skip
async def listen_open(_lab: Lab, incoming: Incoming) -> Response:
    """subscriptions/listen needs no token."""
    return OpenStream((acknowledged((await incoming.posted()).get("id"), {}),), primed=False)


def _spelt(test: Callable[[str], bool]) -> Change:
    """Look at the path and query of a POST as they were sent."""

    def of_target(incoming: Incoming) -> bool:
        raw: bytes = incoming.request.scope.get("raw_path") or incoming.path.encode()
        path = raw.decode("latin-1").partition("?")[0]
        query: bytes = incoming.request.scope["query_string"]
        return incoming.method == "POST" and test(f"{path}?{query.decode('latin-1')}" if query else path)

    return _open(of_target)


def _media(test: Callable[[str], bool]) -> Change:
    return _open(lambda incoming: (incoming.method, incoming.path) == ("POST", ENDPOINT)
                 and test((incoming.header("content-type") or "").lower()))  # fmt: skip


FAULTS.rows(
    ("get-stream-open", "The GET stream needs no token.", _verb("GET")(_saying(OpenStream))),
    ("head-open", "HEAD is answered without a token.", _verb("HEAD")(_saying(Response))),
    ("legacy-sse-open", "The old SSE transport is still there, without a gate.",
     _verb("GET", "/sse")(_saying(lambda: OpenStream(opening="event: endpoint\ndata: /messages?session_id=1\n\n")))),
    ("notification-open", "Notifications need no token.",
     _open_to_messages(lambda message: "method" in rpc.members_of(message) and "id" not in message)),
    ("client-response-open", "Responses of a client need no token.",
     _open_to_messages(lambda message: rpc.is_response(rpc.members_of(message)))),
    ("batch-open", "A batch is executed without a token.",
     _open_to_messages(lambda message: isinstance(message, list))),
    ("modern-era-open", "Requests of 2026-07-28 need no token, those of older revisions do.",
     _open_to_messages(lambda message: META_VERSION in meta_of(rpc.members_of(message)) and "id" in message)),
    *(
        (f"path-{name}-open", f"The gate does not know the path {shown}.", _spelt(test))
        for name, shown, test in (
            ("trailing-slash", f"{ENDPOINT}/", lambda target: target == f"{ENDPOINT}/"),
            ("double-slash", f"/{ENDPOINT}", lambda target: target == f"/{ENDPOINT}"),
            ("query", f"{ENDPOINT}?x", lambda target: target.startswith(f"{ENDPOINT}?")),
            ("parameter", f"{ENDPOINT};x", lambda target: target.startswith(f"{ENDPOINT};")),
            ("percent-encoded", "/%6dcp", lambda target: "%" in target.partition("?")[0]),
            ("upper-case", ENDPOINT.upper(), lambda target: target == ENDPOINT.upper()),
            ("dot-segment", f"/.{ENDPOINT}", lambda target: "/." in target and target.endswith(ENDPOINT[1:])),
        )
    ),
    *(
        (f"content-type-{name}-open", f"A body sent as {shown} goes past the gate.", _media(test))
        for name, shown, test in (
            ("text", "text/plain", lambda media: media.startswith("text/plain")),
            ("form", "a form", lambda media: media.startswith("application/x-www-form-urlencoded")),
            ("unknown", "a type that nobody knows", lambda media: media == "application/x-probe"),
            ("missing", "nothing in particular", lambda media: media == ""),
            ("charset", "JSON with a charset", lambda media: "charset=" in media),
        )
    ),
)  # fmt: skip


def _header(read: Callable[[str], Credential | None]) -> Change:
    """Read the one Authorization line in another way; None leaves it to the right one."""

    async def source(incoming: Incoming) -> Credential:
        lines = incoming.header_lines("authorization")
        return (read(lines[0]) if len(lines) == 1 else None) or await authorization_header(incoming)

    return sources(source)


def _breaking(when: Callable[[Incoming], bool]) -> Change:
    """Break down over requests with an odd header."""

    async def source(incoming: Incoming) -> Credential:
        if when(incoming):
            raise broken()
        return await authorization_header(incoming)

    return sources(source)


def _word(pick: Callable[[list[str]], str | None]) -> Change:
    """Take one of the words of the Authorization line for the token; None leaves it to the right reading."""

    def read(value: str) -> Credential | None:
        token = pick(value.split())
        return None if token is None else Presented(token)

    return _header(read)


def _basic(part: int) -> Change:
    """Take the user name (0) or the password (2) for a token."""

    def read(value: str) -> Credential | None:
        scheme, _, encoded = value.partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            token = base64.b64decode(encoded, validate=True).decode().partition(":")[part]
        except ValueError:
            return Malformed("the Basic credentials cannot be read")
        return Presented(token) if token.count(".") == 2 else Absent()

    return _header(read)


def _default_user(when: Callable[[str | None], bool]) -> Change:
    """Let the default user in by what the Authorization header says, None where there is none."""

    async def vouching(_lab: object, incoming: Incoming) -> Principal | None:
        return DEFAULT_USER if when(incoming.header("authorization")) else None

    return vouched(vouching)


def _line(incoming: Incoming) -> str:
    lines = incoming.header_lines("authorization")
    return lines[0] if len(lines) == 1 else ""


@FAULTS.by(vouched)
async def opaque_token_accepted(_lab: object, incoming: Incoming) -> Principal | None:
    """Any string that is not a JWT is let in."""
    credential = await authorization_header(incoming)
    return DEFAULT_USER if isinstance(credential, Presented) and credential.token.count(".") != 2 else None


def _presented(values: Iterable[object]) -> Credential:
    """Take the first text for the token, with or without the scheme before it."""
    found = next((one for one in values if isinstance(one, str) and one), None)
    return Absent() if found is None else Presented(found.removeprefix("Bearer%20").removeprefix("Bearer "))


def _looked_up(find: Callable[[Incoming], Mapping[str, Any]], *names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        return _presented(map(find(incoming).get, names))

    return source


def _in_message(find: Callable[[Mapping[str, Any]], object], *names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        found = find(await incoming.posted())
        return _presented(map(found.get, names)) if isinstance(found, dict) else Absent()

    return source


def _beside(*others: Source) -> Change:
    """Take the token from another place where the header has none."""
    return sources(authorization_header, *others)


def _from_header(*names: str) -> Change:
    return _beside(_looked_up(lambda incoming: incoming.request.headers, *names))


def _from_query(*names: str) -> Source:
    return _looked_up(lambda incoming: incoming.request.query_params, *names)


async def _query_over_header(incoming: Incoming) -> Credential:
    both = incoming.header("authorization") is not None
    return await _from_query("access_token")(incoming) if both else Absent()


_ARGUMENT = _in_message(lambda message: rpc.params_of(message).get("arguments"), "access_token")

FAULTS.rows(
    ("scheme-case-sensitive", "Only the spelling Bearer is a token's scheme.",
     _header(lambda value: None if value.startswith("Bearer") else Absent())),
    ("any-scheme-accepted", "A token under the scheme Token, JWT or DPoP is taken for a bearer token.",
     _word(lambda words: words[1] if len(words) == 2 and words[0].lower() in ("token", "jwt", "dpop") else None)),
    ("trailing-word-ignored", "What follows the token is not read.",
     _word(lambda words: words[1] if len(words) > 2 and words[0].lower() == "bearer" else None)),
    ("doubled-scheme-accepted", "Bearer may be said twice.",
     _word(lambda words: words[2] if len(words) == 3 and words[1].lower() == "bearer" else None)),
    # Python takes the no-break space of Latin-1 for white space, too.
    ("no-break-space-splits", "Any white space separates scheme and token.",
     _word(lambda words: words[1] if len(words) == 2 and words[0].lower() == "bearer" else None)),
    ("credentials-cleaned", "Quotes, colons and the like around the token are left out.",
     _header(lambda value: None if "," in value[:-1]
             else read_authorization(re.sub(r'[",:=]|token=', " ", value.rstrip("="))))),
    ("bare-token-accepted", "A token needs no scheme before it.",
     _header(lambda value: Presented(value) if " " not in value and value.count(".") == 2 else None)),
    ("comma-list-split", "A comma separates tokens, and the last one counts.",
     _header(lambda value: read_authorization(value.rpartition(",")[2]))),
    ("comma-list-first", "A comma separates tokens, and the first one counts.",
     _header(lambda value: read_authorization(value.partition(",")[0]))),
    ("beyond-ascii-breaks-down", "An octet beyond ASCII in the header ends in a 500.",
     _breaking(lambda incoming: not _line(incoming).isascii())),
    ("odd-spacing-breaks-down", "Anything but one space behind the scheme ends in a 500.",
     _breaking(lambda incoming: re.match(r"(?i)bearer(  |\t)", _line(incoming)) is not None)),
    ("second-line-breaks-down", "A second Authorization line ends in a 500.",
     _breaking(lambda incoming: len(incoming.header_lines("authorization")) > 1)),
    ("second-place-breaks-down", "A token in the query beside one in the header ends in a 500.",
     _breaking(lambda incoming: incoming.header("authorization") is not None
               and "access_token" in incoming.request.query_params)),
    ("basic-user-name-accepted", "The user name of Basic credentials is taken for a token.", _basic(0)),
    ("basic-password-accepted", "The password of Basic credentials is taken for a token.", _basic(2)),
    ("basic-user-accepted", "Any Basic user and password will do.",
     _default_user(lambda value: (value or "").partition(" ")[0].lower() == "basic")),
    ("empty-credentials-accepted", "A Bearer without a token is let in.",
     _default_user(lambda value: value is not None and value.strip().lower() in ("", "bearer"))),
    ("token-optional", "Without a token the caller is a default user.", _default_user(lambda value: value is None)),
    ("query-token-accepted", "A token in the query is accepted.",
     _beside(_from_query("access_token", "token", "bearer", "authorization", "auth", "jwt", "api_key"))),
    ("query-token-overrides", "A token in the query replaces the one in the header.",
     sources(_query_over_header, authorization_header)),
    ("authorization-member-accepted", "A member authorization of the message is taken for the header.",
     _beside(_in_message(lambda message: message, "authorization"))),
    ("underscored-header-accepted", "A header name with an underscore behind it is folded into the real one.",
     _from_header("authorization_")),
    ("body-member-token-accepted", "A member of the JSON-RPC message is taken for a token.",
     _beside(_in_message(lambda message: message, "access_token"))),
    ("meta-token-accepted", "A member of _meta is taken for a token.",
     _beside(_in_message(lambda message: rpc.params_of(message).get("_meta"), "authorization", "access_token", "token",
                         "io.modelcontextprotocol/authorization"))),
    ("argument-token-accepted", "A tool's argument is taken for a token.", _beside(_ARGUMENT)),
    ("argument-token-overrides", "A tool's argument is taken for the token even where the header has one.",
     sources(_ARGUMENT, authorization_header)),
    ("cookie-token-accepted", "A cookie is taken for a token.",
     _beside(_looked_up(lambda incoming: incoming.request.cookies,
                        "access_token", "token", "Authorization", "__Host-session"))),
    ("x-header-token-accepted", "X-Access-Token or X-Auth-Token is taken for a token.",
     _from_header("x-access-token", "x-auth-token", "x-api-key")),
    ("forwarded-token-accepted", "A proxy's header is taken for a token, whoever sent it.",
     _from_header("x-forwarded-access-token", "x-forwarded-authorization", "x-original-authorization",
                  "x-amzn-oidc-accesstoken", "cf-access-jwt-assertion", "proxy-authorization")),
    ("mcp-param-token-accepted", "A mirrored parameter is taken for a token.", _from_header("mcp-param-authorization")),
)  # fmt: skip


@FAULTS.by(vouched)
async def any_header_line_accepted(lab: Lab, incoming: Incoming) -> Principal | None:
    """Of several Authorization lines the good one counts."""
    lines = incoming.header_lines("authorization")
    for credential in map(read_authorization, lines if len(lines) > 1 else ()):
        if isinstance(credential, Presented):
            with suppress(InvalidToken):
                return await lab.principal_of(credential.token)
    return None


@FAULTS.by(vouched)
async def identity_header_trusted(_lab: object, incoming: Incoming) -> Principal | None:
    """A header that names a user stands for a token."""
    named = map(incoming.header, ("x-forwarded-user", "x-user-id", "x-remote-user"))
    subject = next((one for one in named if one), None)
    without = incoming.header("authorization") is None
    return replace(DEFAULT_USER, subject=subject) if without and subject is not None else None


def _without_token(trusts: Callable[[Incoming], bool]) -> Change:
    """Take whoever has no token for the default user where the request says that it comes from inside."""

    async def vouching(_lab: object, incoming: Incoming) -> Principal | None:
        return DEFAULT_USER if incoming.header("authorization") is None and trusts(incoming) else None

    return vouched(vouching)


def _says(incoming: Incoming, said: str, *names: str) -> bool:
    return any(said in (incoming.header(name) or "") for name in names)


@FAULTS.by(vouched)
async def audience_from_host(lab: Lab, incoming: Incoming) -> Principal | None:
    """The own identifier is built from Host, or what X-Forwarded-Host says of it."""
    host, forwarded = incoming.header("host"), incoming.header("x-forwarded-host")
    scheme = incoming.header("x-forwarded-proto") or "http"
    settings = replace(lab.settings, resource=f"{scheme}://{forwarded or host}{lab.settings.resource_path}")
    credential = await authorization_header(incoming)
    if not isinstance(credential, Presented):
        return None
    with suppress(InvalidToken):
        trust = Trust(settings, lab.keys, settings.clock())
        return await verify(credential.token, lab.behaviour.verification, trust, lab.behaviour.scopes.granted)
    return None


FAULTS.rows(
    ("forwarded-address-trusted", "Calls that X-Forwarded-For and its like call local need no token.",
     _without_token(lambda incoming: _says(
         incoming, "127.0.0.1", "x-forwarded-for", "forwarded", "x-real-ip", "x-client-ip", "true-client-ip"))),
    ("local-host-trusted", "Calls to the host localhost need no token.",
     _without_token(lambda incoming: _says(incoming, "localhost", "host", "x-forwarded-host"))),
    ("underscored-address-trusted", "Calls that X_Forwarded_For calls local need no token.",
     _without_token(lambda incoming: _says(incoming, "127.0.0.1", "x_forwarded_for"))),
    ("subrequest-trusted", "Calls that the framework would have made itself need no token.",
     _without_token(lambda incoming: _says(incoming, "middleware:middleware", "x-middleware-subrequest"))),
    ("internal-mark-trusted", "Calls that a proxy has marked as internal need no token, whoever marked them.",
     _without_token(lambda incoming: _says(
         incoming, "true", "x-envoy-internal", "x-internal-request", "x_internal_request"))),
    ("original-path-checked", "The path of X-Original-URL is checked, and the real one is served.",
     _without_token(lambda incoming: _says(incoming, "/.well-known/", "x-original-url", "x-rewrite-url"))),
    ("underscored-identity-trusted", "X_Forwarded_User stands for a token.",
     _without_token(lambda incoming: incoming.header("x_forwarded_user") is not None)),
)  # fmt: skip
