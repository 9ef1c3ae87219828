"""Which era a message belongs to, and the steps in which eras may deviate."""

import operator
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.streams import EventStream
from mcp_auth_contract_lab.tools import Tool

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

_MODERN_METHODS = frozenset({"server/discover", "subscriptions/listen"})
_NAMES: Mapping[str, str] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def meta_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `params._meta`, empty where there is none."""
    return rpc.members_of(rpc.params_of(message).get("_meta"))


def is_modern(incoming: Incoming, message: object, protocol: "Protocol") -> bool:
    """Whether a message is to be read as 2026-07-28, by what it says of itself."""
    if not protocol.legacy or not protocol.modern:
        return not protocol.legacy
    if isinstance(message, dict):
        if META_VERSION in meta_of(message):
            return True
        if message.get("method") == "initialize":
            return False
        if message.get("method") in _MODERN_METHODS and incoming.header("mcp-session-id") is None:
            return True
    return incoming.header("mcp-protocol-version") in protocol.modern


def as_json(messages: Sequence[Mapping[str, Any]], batch: bool, headers: Mapping[str, str]) -> Response:
    """Answer a 2025-era call as application/json."""
    return rpc.rpc_response(list(messages) if batch else messages[0], headers=headers)


def as_events(messages: Sequence[Mapping[str, Any]], _batch: bool, headers: Mapping[str, str]) -> Response:
    """Answer a 2025-era call as an event stream in which a notification goes before the response."""
    note = {"level": "info", "logger": "lab", "data": "working"}
    notification = {"jsonrpc": "2.0", "method": "notifications/message", "params": note}
    return EventStream((notification, *messages), headers)


def _mismatch(header: str) -> rpc.Refused:
    return rpc.Refused(rpc.HEADER_MISMATCH, f"{header} is missing or does not match the body", status=400)


def check_mirrored_headers(incoming: Incoming, message: Mapping[str, Any]) -> None:
    """Mcp-Method and Mcp-Name repeat the body (MCP 2026-07-28, request headers). Raises Refused."""
    method = message.get("method")
    if incoming.header_lines("mcp-method") != [method]:
        raise _mismatch("Mcp-Method")
    member = _NAMES.get(method) if isinstance(method, str) else None
    if member is None:
        return
    named = rpc.params_of(message).get(member)
    if not isinstance(named, str):
        raise rpc.Refused(rpc.INVALID_PARAMS, f"{member} is missing", status=400)
    lines = incoming.header_lines("mcp-name")
    if len(lines) != 1 or decoded(lines[0]) != named:
        raise _mismatch("Mcp-Name")


def decoded(value: str) -> str | None:
    """Undo the `=?base64?…?=` form of names that are not plain ASCII."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return None


_INVOICE_HEADER = "Invoice"


def invoice_described(tool: Tool) -> dict[str, Any]:
    """Describe a tool whose invoice a header field repeats (MCP 2026-07-28, x-mcp-header)."""
    described = tool.describe()
    for name, schema in described["inputSchema"]["properties"].items():
        if name == "invoice_id":
            schema["x-mcp-header"] = _INVOICE_HEADER
    return described


def check_mirrored_invoice(incoming: Incoming, message: Mapping[str, Any]) -> None:
    """Mcp-Param-Invoice repeats the invoice of a call, besides what every request mirrors. Raises Refused."""
    check_mirrored_headers(incoming, message)
    named = rpc.members_of(rpc.params_of(message).get("arguments")).get("invoice_id")
    if message.get("method") != "tools/call" or named is None:
        return
    lines = incoming.header_lines(f"mcp-param-{_INVOICE_HEADER}".lower())
    if len(lines) != 1 or decoded(lines[0]) != named:
        raise _mismatch(f"Mcp-Param-{_INVOICE_HEADER}")


def as_written(_incoming: Incoming, message: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """What runs is what is authorized: the method and the parameters of the body."""
    return message["method"], rpc.params_of(message)


@dataclass(frozen=True, slots=True)
class Protocol:
    """Steps: the revisions, how a 2025-era answer is sent, what headers must mirror, what may be cached.

    `asked` returns the method and the parameters that a request is authorized for, `spelt` the method it runs.
    """

    revisions: tuple[Revision, ...] = tuple(Revision)
    legacy_answer: Callable[[Sequence[Mapping[str, Any]], bool, Mapping[str, str]], Response] = as_json
    version_known: Callable[[str, Sequence[Revision]], bool] = lambda version, revisions: version in revisions
    mirrored: Callable[[Incoming, Mapping[str, Any]], None] = check_mirrored_headers
    version_mirrored: Callable[[str, str], bool] = operator.eq
    asked: Callable[[Incoming, Mapping[str, Any]], tuple[str, Mapping[str, Any]]] = as_written
    spelt: Callable[[str], str] = str
    cache_scope: str = "private"

    @property
    def legacy(self) -> tuple[Revision, ...]:
        """The revisions spoken that have `initialize`."""
        return tuple(one for one in self.revisions if not one.stateless)

    @property
    def modern(self) -> tuple[Revision, ...]:
        """The revisions spoken in which each POST stands alone."""
        return tuple(one for one in self.revisions if one.stateless)
