"""Writing MCP requests in every revision: complete and valid, so that only what a probe changes can be refused."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, assert_never

from mcp_auth_contract import __version__
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.wire.request import HeaderPair

ACCEPT = "application/json, text/event-stream"
CLIENT_INFO = {"name": "mcp-auth-contract", "version": __version__}

VIEW_MIME_TYPE = "text/html;profile=mcp-app"
"""The media type of Views (MCP Apps)."""

SHOWS_VIEWS: Mapping[str, Any] = MappingProxyType(
    {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [VIEW_MIME_TYPE]}}}
)
"""What a client says of itself that shows Views (MCP Apps, capability negotiation)."""

_META = "io.modelcontextprotocol/"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/cancel": "taskId",
}
"""The parameter that Mcp-Name repeats (MCP 2026-07-28, streamable HTTP; SEP-2663 for tasks)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A JSON-RPC method with its parameters, independent of any revision."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """A message ready to be sent: header fields without credentials, the JSON-RPC object, and the id awaited."""

    headers: tuple[tuple[str, str], ...]
    value: dict[str, Any]
    id: int | None

    @property
    def body(self) -> bytes:
        """The JSON text."""
        return encode(self.value)


def encode(value: object) -> bytes:
    """Write compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def operation_call(kind: OperationKind, name: str, arguments: Mapping[str, Any]) -> Call:
    """Return the call of a tool, resource or prompt. Prompt arguments are strings (MCP server/prompts)."""
    match kind:
        case OperationKind.TOOL:
            return Call("tools/call", {"name": name, "arguments": dict(arguments)})
        case OperationKind.RESOURCE:
            return Call("resources/read", {"uri": name})
        case OperationKind.PROMPT:
            texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
            return Call("prompts/get", {"name": name, "arguments": texts})
        case _:
            assert_never(kind)


def request(
    revision: Revision,
    call: Call,
    identifier: int,
    *,
    session: str | None = None,
    schema: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
) -> Message:
    """Write a request as the revision demands: session and version headers, or `_meta` and mirrored headers.

    `schema` is the called tool's inputSchema, where known: it may name arguments to be mirrored (`x-mcp-header`).
    `capabilities` are what the client can do, which a request says for itself where there is no handshake.
    """
    params: dict[str, Any] = dict(call.params)
    if revision.stateless:
        params["_meta"] = {
            f"{_META}protocolVersion": revision.value,
            f"{_META}clientInfo": CLIENT_INFO,
            f"{_META}clientCapabilities": dict(capabilities or {}),
        }
    value: dict[str, Any] = {"jsonrpc": "2.0", "id": identifier, "method": call.method}
    if params:
        value["params"] = params
    headers = _headers(revision, call, session)
    if revision.stateless and call.method == "tools/call" and schema is not None:
        headers += tuple(_parameter_headers(schema, call.params.get("arguments", {})))
    return Message(headers, value, identifier)


def notification(revision: Revision, call: Call, *, session: str | None = None) -> Message:
    """Write a notification, which has no id and is answered 202."""
    value: dict[str, Any] = {"jsonrpc": "2.0", "method": call.method}
    if call.params:
        value["params"] = dict(call.params)
    return Message(_headers(revision, call, session), value, None)


def initialize(revision: Revision, identifier: int, capabilities: Mapping[str, Any] | None = None) -> Message:
    """Write the `initialize` request of a stateful revision; it carries neither session nor version header."""
    params = {"protocolVersion": revision.value, "capabilities": dict(capabilities or {}), "clientInfo": CLIENT_INFO}
    value = {"jsonrpc": "2.0", "id": identifier, "method": "initialize", "params": params}
    return Message((("Content-Type", "application/json"), ("Accept", ACCEPT)), value, identifier)


def read_headers(revision: Revision, session: str | None, *, accept: str) -> tuple[HeaderPair, ...]:
    """Return the header fields of a request without a body: GET for the stream, DELETE, HEAD."""
    fields: list[HeaderPair] = [("Accept", accept)]
    if revision >= Revision.R2025_06_18:
        fields.append(("MCP-Protocol-Version", revision.value))
    if session is not None:
        fields.append(("Mcp-Session-Id", session))
    return tuple(fields)


def _headers(revision: Revision, call: Call, session: str | None) -> tuple[tuple[str, str], ...]:
    fields = [("Content-Type", "application/json"), ("Accept", ACCEPT)]
    if revision >= Revision.R2025_06_18:
        fields.append(("MCP-Protocol-Version", revision.value))
    if revision.stateless:
        fields.append(("Mcp-Method", call.method))
        key = _NAMED.get(call.method)
        if key is not None:
            fields.append(("Mcp-Name", _mirrored(str(call.params[key]))))
    elif session is not None:
        fields.append(("Mcp-Session-Id", session))
    return tuple(fields)


def _parameter_headers(schema: Mapping[str, Any], arguments: Any) -> Iterator[tuple[str, str]]:
    """Yield Mcp-Param-* for the arguments that the schema marks, at any depth of plain properties."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not isinstance(arguments, Mapping):
        return
    for name, part in properties.items():
        value = arguments.get(name)
        if not isinstance(part, dict) or value is None:
            continue
        field = part.get("x-mcp-header")
        if isinstance(field, str) and _TOKEN.fullmatch(field) and isinstance(value, str | int | float):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"Mcp-Param-{field}", _mirrored(text)
        yield from _parameter_headers(part, value)


def _mirrored(value: str) -> str:
    """Encode a mirrored value (MCP 2026-07-28, streamable HTTP): plain where it is visible ASCII, else Base64."""
    plain = value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?")
    return value if plain else f"=?base64?{base64.b64encode(value.encode()).decode()}?="
