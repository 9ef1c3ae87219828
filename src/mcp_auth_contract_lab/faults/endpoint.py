"""Faults of the gate: a verb, a spelling of the path, a kind of message that gets past it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import legacy, rpc
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.settings import ENDPOINT
from mcp_auth_contract_lab.streams import OpenStream

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS", "anyone"]

_Test: TypeAlias = Callable[[Incoming], Awaitable[bool]]
_Answer: TypeAlias = "Callable[[Lab, Incoming], Awaitable[Response | None]]"


async def anyone(lab: "Lab", incoming: Incoming) -> Response | None:
    """Answer a POST for whoever sent it, as the default user and without a session."""
    message: Any = await incoming.message()
    messages = message if isinstance(message, list) else [message]
    if not all(isinstance(one, dict) for one in messages):
        return None
    requests = [one for one in messages if isinstance(one.get("method"), str) and "id" in one]
    if not requests:
        return Response(status_code=202)
    answers = [legacy.run(lab, one, DEFAULT_USER, Revision.R2025_06_18) for one in requests]
    for one in answers:
        if META_VERSION in meta_of(requests[0]) and "result" in one:
            one["result"]["resultType"] = "complete"
    return rpc.rpc_response(answers if isinstance(message, list) else answers[0])


async def _stream(_lab: "Lab", _incoming: Incoming) -> Response:
    return OpenStream()


async def _listen(_lab: "Lab", incoming: Incoming) -> Response:
    message: Any = await incoming.message()
    meta = {"io.modelcontextprotocol/subscriptionId": message.get("id")}
    acknowledged = {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": meta, "notifications": {}},
    }
    return OpenStream((acknowledged,), primed=False)


async def _end_session(lab: "Lab", incoming: Incoming) -> Response | None:
    session = lab.sessions.peek(incoming.header("mcp-session-id"))
    if session is None:
        return None
    lab.sessions.end(session)
    return Response(status_code=204)


async def _empty(_lab: "Lab", _incoming: Incoming) -> Response:
    return Response(status_code=200)


async def _legacy_sse(_lab: "Lab", _incoming: Incoming) -> Response:
    return OpenStream(opening=f"event: endpoint\ndata: {_MESSAGES}?session_id=1\n\n")


def _opened(test: _Test, answer: _Answer = anyone) -> Change:
    """Answer requests without a token that pass the test before the gate sees them."""

    async def intercept(lab: "Lab", incoming: Incoming) -> Response | None:
        if incoming.header("authorization") is None and await test(incoming):
            return await answer(lab, incoming)
        return None

    return lambda behaviour: replace(behaviour, endpoint=replace(behaviour.endpoint, intercept=intercept))


_SSE, _MESSAGES = "/sse", "/messages"


def _verb(method: str) -> _Test:
    async def test(incoming: Incoming) -> bool:
        return incoming.method == method and incoming.path == ENDPOINT

    return test


def _message(test: Callable[[Any], bool]) -> _Test:
    """Look at the message that a POST to the endpoint carries."""

    async def of_message(incoming: Incoming) -> bool:
        if incoming.method != "POST" or incoming.path != ENDPOINT:
            return False
        return test(await incoming.message())

    return of_message


def _spelt(test: Callable[[str], bool]) -> _Test:
    """Look at the path and query of a POST as they were sent."""

    async def of_target(incoming: Incoming) -> bool:
        raw: bytes = incoming.request.scope.get("raw_path") or incoming.path.encode()
        path = raw.decode("latin-1").partition("?")[0]
        query: bytes = incoming.request.scope["query_string"]
        return incoming.method == "POST" and test(f"{path}?{query.decode('latin-1')}" if query else path)

    return of_target


def _content_type(test: Callable[[str], bool]) -> _Test:
    async def of_type(incoming: Incoming) -> bool:
        if incoming.method != "POST" or incoming.path != ENDPOINT:
            return False
        return test((incoming.header("content-type") or "").lower())

    return of_type


def _is_notification(message: Any) -> bool:
    return isinstance(message, dict) and "method" in message and "id" not in message


def _is_modern(message: Any) -> bool:
    return isinstance(message, dict) and META_VERSION in meta_of(message) and "id" in message


def _method_is(method: str) -> Callable[[Any], bool]:
    return lambda message: isinstance(message, dict) and message.get("method") == method


async def _on_sse(incoming: Incoming) -> bool:
    return incoming.method == "GET" and incoming.path == _SSE


_NAME = ENDPOINT.removeprefix("/")

_VERBS = (
    Fault("get-stream-open", "The GET stream needs no token.",
          _opened(_verb("GET"), _stream)),
    Fault("head-open", "HEAD is answered without a token.",
          _opened(_verb("HEAD"), _empty)),
    Fault("delete-open", "Anybody who knows its id ends a session.",
          _opened(_verb("DELETE"), _end_session)),
    Fault("legacy-sse-open", "The old SSE transport is still there, without a gate.",
          _opened(_on_sse, _legacy_sse)),
)  # fmt: skip

_MESSAGE_KINDS = (
    Fault("notification-open", "Notifications need no token.",
          _opened(_message(_is_notification))),
    Fault("client-response-open", "Responses of a client need no token.",
          _opened(_message(lambda message: isinstance(message, dict) and rpc.is_response(message)))),
    Fault("batch-open", "A batch is executed without a token.",
          _opened(_message(lambda message: isinstance(message, list)))),
    Fault("listen-open", "subscriptions/listen needs no token.",
          _opened(_message(_method_is("subscriptions/listen")), _listen)),
    Fault("modern-era-open", "Requests of 2026-07-28 need no token, those of older revisions do.",
          _opened(_message(_is_modern))),
)  # fmt: skip

_PATHS = tuple(
    Fault(f"path-{name}-open", f"The gate does not know the path {shown}.",
          _opened(_spelt(test)))
    for name, shown, test in (
        ("trailing-slash", f"{ENDPOINT}/", lambda target: target == f"{ENDPOINT}/"),
        ("double-slash", f"/{ENDPOINT}", lambda target: target == f"/{ENDPOINT}"),
        ("query", f"{ENDPOINT}?x", lambda target: target.startswith(f"{ENDPOINT}?")),
        ("parameter", f"{ENDPOINT};x", lambda target: target.startswith(f"{ENDPOINT};")),
        ("percent-encoded", "/%6dcp", lambda target: "%" in target.partition("?")[0]),
        ("upper-case", ENDPOINT.upper(), lambda target: target == ENDPOINT.upper()),
        ("dot-segment", f"/.{ENDPOINT}", lambda target: "/." in target and target.endswith(_NAME)),
    )
)  # fmt: skip

_TYPES = tuple(
    Fault(f"content-type-{name}-open", f"A body sent as {shown} goes past the gate.",
          _opened(_content_type(test)))
    for name, shown, test in (
        ("text", "text/plain", lambda media: media.startswith("text/plain")),
        ("form", "a form", lambda media: media.startswith("application/x-www-form-urlencoded")),
        ("missing", "nothing in particular", lambda media: media == ""),
        ("charset", "JSON with a charset", lambda media: "charset=" in media),
    )
)  # fmt: skip

FAULTS = (*_VERBS, *_MESSAGE_KINDS, *_PATHS, *_TYPES)
