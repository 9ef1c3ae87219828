"""JSON-RPC 2.0 messages and the error codes of MCP."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


@dataclass(eq=False)
class Refused(Exception):
    """Refused with a JSON-RPC error."""

    code: int
    message: str
    detail: Any = None
    status: int | None = None


def result_message(request_id: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response that carries a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_message(request_id: Any, code: int, message: str, detail: Any = None) -> dict[str, Any]:
    """Return a response that carries an error; the id is None where the request's cannot be told."""
    error = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": request_id, "error": error if detail is None else {**error, "data": detail}}


def refusal_message(request_id: Any, refused: Refused) -> dict[str, Any]:
    """Return the response that says why a request was refused."""
    return error_message(request_id, refused.code, refused.message, refused.detail)


def is_request_id(value: object) -> bool:
    """Whether a value may be the id of a request: a string or an integer (MCP base protocol)."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def is_response(message: Mapping[str, Any]) -> bool:
    """Whether a message is a client's response to the server."""
    return "method" not in message and ("result" in message or "error" in message)


def members_of(value: object) -> Mapping[str, Any]:
    """Return an object of a message, empty where there is none."""
    return value if isinstance(value, dict) else {}


def params_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the params object of a message, empty where it has none."""
    return members_of(message.get("params"))


def rpc_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return messages as application/json that nobody may store."""
    return JSONResponse(content, status, headers={"cache-control": "no-store", **(headers or {})})
