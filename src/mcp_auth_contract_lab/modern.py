"""2026-07-28: each POST stands alone and says everything about itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.methods import CAPABILITIES, SERVER, Client, perform
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import META_CAPABILITIES, META_VERSION, meta_of
from mcp_auth_contract_lab.scopes import authorize
from mcp_auth_contract_lab.streams import OpenStream
from mcp_auth_contract_lab.tasks import EXTENSION
from mcp_auth_contract_lab.views import UI, shows_views

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

_TTL_MS = 60_000
_CACHEABLE = frozenset({
    "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
    "resources/read",
})  # fmt: skip
_STATUS = {rpc.INVALID_PARAMS: 400, rpc.INVALID_REQUEST: 400, rpc.METHOD_NOT_FOUND: 404}
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_KINDS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


def answer(lab: "Lab", incoming: Incoming, message: object, principal: Principal) -> Response:
    """Answer one message of the stateless era. Raises InsufficientScope."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return rpc.rpc_response(rpc.error_message(None, rpc.INVALID_REQUEST, "not one JSON-RPC message"), 400)
    request_id = message.get("id")
    try:
        return _answer(lab, incoming, message, principal)
    except rpc.Refused as refused:
        known = request_id if rpc.is_request_id(request_id) else None
        return rpc.rpc_response(rpc.refusal_message(known, refused), refused.status or _STATUS.get(refused.code, 200))


def _answer(lab: "Lab", incoming: Incoming, message: Mapping[str, Any], principal: Principal) -> Response:
    method, request_id = message.get("method"), message.get("id")
    if not isinstance(method, str):
        raise rpc.Refused(rpc.INVALID_REQUEST, "a request needs a method")
    if "id" not in message:
        _check_version_header(lab, incoming)
        return Response(status_code=202)
    if not rpc.is_request_id(request_id):
        raise rpc.Refused(rpc.INVALID_REQUEST, "a request needs an id")
    _check_envelope(lab, incoming, message)
    lab.behaviour.protocol.mirrored(incoming, message)
    params = rpc.params_of(message)
    authorize(lab.behaviour.scopes, principal, *lab.behaviour.protocol.asked(incoming, message))
    method = lab.behaviour.protocol.spelt(method)
    if method == "subscriptions/listen":
        return _listen(lab, request_id, params, principal)
    if method == "server/discover":
        result = _discover(lab)
    else:
        result = perform(lab.context(principal, rpc.INVALID_PARAMS, _client(lab, message)), method, params)
    return rpc.rpc_response(rpc.result_message(request_id, _complete(lab, method, result)))


def _client(lab: "Lab", message: Mapping[str, Any]) -> Client:
    """Return what the client of this one request says it can do."""
    capabilities = rpc.members_of(meta_of(message).get(META_CAPABILITIES))
    tasks = lab.behaviour.tasks.offered and EXTENSION in rpc.members_of(capabilities.get("extensions"))
    asked = lab.states if "elicitation" in capabilities else None
    shown = shows_views(capabilities)
    return Client(asked, lab.behaviour.states.demanded, lab.tasks if tasks else None, apps=shown)


def _complete(lab: "Lab", method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    dressed = {"resultType": "complete", **result}
    if method in _CACHEABLE:
        dressed |= {"ttlMs": _TTL_MS, "cacheScope": lab.behaviour.protocol.cache_scope}
    return dressed


def _discover(lab: "Lab") -> dict[str, Any]:
    offered = {EXTENSION: lab.behaviour.tasks.offered, UI: lab.behaviour.views.offered}
    extensions: dict[str, Any] = {name: {} for name, there in offered.items() if there}
    return {
        "supportedVersions": [str(one) for one in lab.behaviour.protocol.revisions],
        "capabilities": {**CAPABILITIES, **({"extensions": extensions} if extensions else {})},
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER},
    }


def _check_version_header(lab: "Lab", incoming: Incoming) -> None:
    lines = incoming.header_lines("mcp-protocol-version")
    if len(lines) != 1:
        raise rpc.Refused(rpc.HEADER_MISMATCH, "MCP-Protocol-Version is missing", status=400)
    if not lab.behaviour.protocol.version_known(lines[0], lab.behaviour.protocol.modern):
        raise _unsupported(lab, lines[0])


def _unsupported(lab: "Lab", requested: object) -> rpc.Refused:
    supported = [str(one) for one in lab.behaviour.protocol.revisions]
    detail = {"supported": supported, "requested": requested}
    return rpc.Refused(rpc.UNSUPPORTED_VERSION, "protocol version not supported", detail, 400)


def _check_envelope(lab: "Lab", incoming: Incoming, message: Mapping[str, Any]) -> None:
    meta = meta_of(message)
    header = incoming.header("mcp-protocol-version")
    if message.get("method") == "initialize" and META_VERSION not in meta:
        raise _unsupported(lab, rpc.params_of(message).get("protocolVersion"))
    if header is None:
        raise rpc.Refused(rpc.HEADER_MISMATCH, "MCP-Protocol-Version is missing", status=400)
    if not isinstance(meta.get(META_VERSION), str) or not isinstance(meta.get(META_CAPABILITIES), dict):
        raise rpc.Refused(rpc.INVALID_PARAMS, f"_meta needs {META_VERSION} and {META_CAPABILITIES}", status=400)
    if not lab.behaviour.protocol.version_mirrored(header, meta[META_VERSION]):
        raise rpc.Refused(rpc.HEADER_MISMATCH, "MCP-Protocol-Version does not match _meta", status=400)
    _check_version_header(lab, incoming)


def acknowledged(request_id: Any, honoured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message that begins a subscription's stream."""
    return {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {_SUBSCRIPTION: request_id}, "notifications": honoured},
    }


def _listen(lab: "Lab", request_id: Any, params: Mapping[str, Any], principal: Principal) -> Response:
    """Acknowledge the subscription and keep the stream open (MCP 2026-07-28, subscriptions)."""
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise rpc.Refused(rpc.INVALID_PARAMS, "notifications is missing")
    honoured: dict[str, Any] = {kind: True for kind in _KINDS if wanted.get(kind) is True}
    if uris := wanted.get("resourceSubscriptions"):
        honoured["resourceSubscriptions"] = uris
    ended = rpc.result_message(request_id, {"resultType": "complete", "_meta": {_SUBSCRIPTION: request_id}})
    opening = (acknowledged(request_id, honoured),)
    return OpenStream(opening, seconds=lab.remaining(principal), farewell=ended, primed=False)
