"""2025-03-26 to 2025-11-25: initialize, sessions, the GET stream and DELETE."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.methods import CAPABILITIES, SERVER, Client, perform
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.scopes import authorize, needed_by, operations_of
from mcp_auth_contract_lab.sessions import Listener, Session
from mcp_auth_contract_lab.streams import OpenStream
from mcp_auth_contract_lab.tasks import CORE_TASKS
from mcp_auth_contract_lab.views import UI, shows_views

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_LOG_LEVELS = frozenset({"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"})


def answer(lab: "Lab", incoming: Incoming, message: object, principal: Principal) -> Response:
    """Answer one POST. Raises InsufficientScope or HttpRefused."""
    if isinstance(message, dict) and message.get("method") == "initialize":
        return _initialize(lab, message, principal)
    session = _enter(lab, incoming, principal)
    revision = _revision(lab, incoming, session)
    acting = lab.behaviour.sessions.acting(session, principal) if session else principal
    if isinstance(message, list):
        if not revision.batches or not message:
            return _invalid("a batch is not allowed here")
        return _batch(lab, message, acting, revision)
    if not isinstance(message, dict):
        return _invalid("not a JSON-RPC message")
    return _single(lab, incoming, message, acting, session, revision)


def _invalid(reason: str) -> Response:
    return rpc.rpc_response(rpc.error_message(None, rpc.INVALID_REQUEST, reason), 400)


def _initialize(lab: "Lab", message: Mapping[str, Any], principal: Principal) -> Response:
    request_id = message.get("id")
    if message.get("jsonrpc") != "2.0" or not rpc.is_request_id(request_id):
        return _invalid("initialize is a request and needs an id")
    spoken = lab.behaviour.protocol.legacy
    wanted = rpc.params_of(message).get("protocolVersion")
    if not isinstance(wanted, str):
        error = rpc.error_message(request_id, rpc.INVALID_PARAMS, "protocolVersion is missing")
        return rpc.rpc_response(error, 400)
    revision = Revision(wanted) if wanted in spoken else max(spoken)
    headers = {}
    if lab.behaviour.sessions.kept:
        apps = shows_views(rpc.params_of(message).get("capabilities"))
        headers[_SESSION] = lab.sessions.open(principal, revision, apps=apps).ident
    capabilities = {**CAPABILITIES, "logging": {}, **({"tasks": CORE_TASKS} if _tasks_in(lab, revision) else {})}
    result = {
        "protocolVersion": str(revision),
        "capabilities": {**capabilities, **({"extensions": {UI: {}}} if lab.behaviour.views.offered else {})},
        "serverInfo": SERVER,
    }
    return lab.behaviour.protocol.legacy_answer([rpc.result_message(request_id, result)], False, headers)


def _tasks_in(lab: "Lab", revision: Revision) -> bool:
    """Whether a revision has tasks; before 2025-11-25 a request for one is a request like any other."""
    return lab.behaviour.tasks.offered and revision is Revision.R2025_11_25


def _enter(lab: "Lab", incoming: Incoming, principal: Principal) -> Session | None:
    """Return the session of a request, None on a server that keeps none. Raises HttpRefused."""
    if not lab.behaviour.sessions.kept:
        return None
    return lab.sessions.enter(incoming.header(_SESSION), principal)


def _revision(lab: "Lab", incoming: Incoming, session: Session | None) -> Revision:
    """Return the revision that governs a request. Raises HttpRefused for a version that is not spoken."""
    protocol = lab.behaviour.protocol
    header = incoming.header(_VERSION)
    if header is not None and not protocol.version_known(header, protocol.legacy):
        raise HttpRefused(400, "MCP-Protocol-Version is not supported")
    if session is not None:
        return session.revision
    known = header if header in protocol.legacy else None
    # Without the header the server has to assume the revision that had none (MCP 2025-06-18, version header).
    return Revision(known) if known else Revision.R2025_03_26


def _single(
    lab: "Lab",
    incoming: Incoming,
    message: Mapping[str, Any],
    principal: Principal,
    session: Session | None,
    revision: Revision,
) -> Response:
    if message.get("jsonrpc") != "2.0":
        return _invalid("not a JSON-RPC 2.0 message")
    if rpc.is_response(message):
        return Response(status_code=202)
    method = message.get("method")
    if not isinstance(method, str):
        return _invalid("a request needs a method")
    if "id" not in message:
        return Response(status_code=202)
    if not rpc.is_request_id(message["id"]):
        return _invalid("a request needs an id that is a string or an integer")
    try:
        authorize(lab.behaviour.scopes, principal, *lab.behaviour.protocol.asked(incoming, message))
    except rpc.Refused as refused:
        return lab.behaviour.protocol.legacy_answer([rpc.refusal_message(message["id"], refused)], False, {})
    answered = run(lab, message, principal, revision, apps=session is not None and session.apps)
    if session is not None and method == "tools/call" and "result" in answered:
        _tell(lab, session, message, answered["result"])
    return lab.behaviour.protocol.legacy_answer([answered], False, {})


def _tell(lab: "Lab", session: Session, message: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """Log the call on the session's streams, for a host that shows what its tools did."""
    params = rpc.params_of(message)
    needed = needed_by(lab.behaviour.scopes, operations_of(message["method"], params))
    said = {"level": "info", "logger": "lab", "data": {"tool": params.get("name"), "result": result}}
    lab.sessions.publish(session, {"jsonrpc": "2.0", "method": "notifications/message", "params": said}, needed)


def _batch(lab: "Lab", messages: list[Any], principal: Principal, revision: Revision) -> Response:
    """Authorize every element before any is executed."""
    requests = []
    for one in messages:
        if not isinstance(one, dict) or one.get("jsonrpc") != "2.0" or one.get("method") == "initialize":
            return _invalid("an element of the batch is not a message that may stand there")
        if isinstance(one.get("method"), str) and rpc.is_request_id(one.get("id")):
            requests.append(one)
    unknown: dict[Any, dict[str, Any]] = {}
    for one in lab.behaviour.scopes.batched(requests):
        try:
            authorize(lab.behaviour.scopes, principal, one["method"], rpc.params_of(one))
        except rpc.Refused as refused:
            unknown[one["id"]] = rpc.refusal_message(one["id"], refused)
    if not requests:
        return Response(status_code=202)
    answers = [unknown.get(one["id"]) or run(lab, one, principal, revision) for one in requests]
    return lab.behaviour.protocol.legacy_answer(answers, True, {})


def run(
    lab: "Lab", message: Mapping[str, Any], principal: Principal, revision: Revision, *, apps: bool = False
) -> dict[str, Any]:
    """Return the response to one request whose caller may do what it asks."""
    method, request_id, params = message["method"], message["id"], rpc.params_of(message)
    if method == "logging/setLevel" and params.get("level") not in _LOG_LEVELS:
        return rpc.error_message(request_id, rpc.INVALID_PARAMS, "no such level")
    if method in ("ping", "logging/setLevel"):
        return rpc.result_message(request_id, {})
    client = Client(tasks=lab.tasks, core=True, apps=apps) if _tasks_in(lab, revision) else Client(apps=apps)
    try:
        context = lab.context(principal, rpc.RESOURCE_NOT_FOUND, client)
        result = perform(context, lab.behaviour.protocol.spelt(method), params)
    except rpc.Refused as refused:
        return rpc.refusal_message(request_id, refused)
    return rpc.result_message(request_id, result)


def stream(lab: "Lab", incoming: Incoming, principal: Principal) -> Response:
    """Open the stream for messages of the server; it ends with the token. Raises HttpRefused."""
    if not lab.behaviour.sessions.kept or not lab.behaviour.sessions.stream:
        raise HttpRefused(405, "there is no stream here", lab.allowed)
    session = _enter(lab, incoming, principal)
    _revision(lab, incoming, session)
    accept = incoming.header("accept") or ""
    if "text/event-stream" not in accept and "*/*" not in accept:
        raise HttpRefused(406, "a stream is text/event-stream")
    if session is None:
        return OpenStream(seconds=lab.remaining(principal))
    listener = Listener(principal)
    for text in lab.sessions.missed(session, principal, incoming.header("last-event-id")):
        listener.waiting.put_nowait(text)
    session.listeners.append(listener)
    return OpenStream(
        seconds=lab.remaining(principal), waiting=listener.waiting, closed=lambda: session.listeners.remove(listener)
    )


def end(lab: "Lab", incoming: Incoming, principal: Principal) -> Response:
    """End a session at its owner's wish. Raises HttpRefused."""
    if not lab.behaviour.sessions.kept:
        raise HttpRefused(405, "there are no sessions here", lab.allowed)
    session = lab.sessions.enter(incoming.header(_SESSION), principal)
    _revision(lab, incoming, session)
    lab.sessions.end(session)
    return Response(status_code=204)
