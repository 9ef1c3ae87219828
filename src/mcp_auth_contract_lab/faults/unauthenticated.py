"""Faults of the gate: what is answered before a token is asked for."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import legacy, rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.modern import acknowledged
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.settings import ENDPOINT
from mcp_auth_contract_lab.steps import DEFAULT_USER, intercepting, verified
from mcp_auth_contract_lab.streams import OpenStream

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
