"""Faults of discretion: a secret that comes back, and the one refusal that says less than the others."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import Denial, respond
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.answers import Edit, edited
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.upstream import Upstream

__all__ = ["FAULTS"]


_CANARY = "carol-t2-INV-1-c04e"
_TRACE = 'Traceback (most recent call last):\n  File "/srv/app/verifier.py", line 42, in verify\nKeyError: "kid"\n'


def _token(incoming: Incoming) -> str | None:
    """The token as it was sent, or None where there is none that could be repeated in a header."""
    scheme, _, token = (incoming.header("authorization") or "").partition(" ")
    return token if scheme.lower() == "bearer" and token.isascii() and token.isprintable() and token else None


def _with_body(response: Response, body: object) -> Response:
    """The same answer with another JSON body."""
    made = JSONResponse(body, response.status_code)
    for name, value in response.headers.items():
        if name not in ("content-length", "content-type"):
            made.headers.append(name, value)
    return made


def _object(response: Response) -> dict[str, Any] | None:
    try:
        value = json.loads(bytes(response.body)) if hasattr(response, "body") else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def _in_header(incoming: Incoming, response: Response) -> Response:
    token = _token(incoming)
    if response.status_code == 200 and token is not None:
        response.headers["x-received-token"] = token
    return response


async def _in_result(incoming: Incoming, response: Response) -> Response:
    token, body = _token(incoming), _object(response)
    if response.status_code != 200 or token is None or body is None or not isinstance(body.get("result"), dict):
        return response
    meta = {**body["result"].get("_meta", {}), "debug": {"authInfo": {"token": token}}}
    return _with_body(response, {**body, "result": {**body["result"], "_meta": meta}})


async def _in_error(incoming: Incoming, response: Response) -> Response:
    token = _token(incoming)
    if response.status_code != 401 or token is None:
        return response
    return _with_body(response, {"error": "invalid_token", "error_description": f"cannot verify {token}"})


async def _in_log(incoming: Incoming, response: Response) -> Response:
    parts = (_token(incoming) or "").split(".")
    if response.status_code == 200 and len(parts) == 3:
        sys.stderr.write(f"DEBUG claims={parts[1]}\n")
        sys.stderr.flush()
    return response


def _refusal_saying(text: str) -> Edit:
    async def edit(incoming: Incoming, response: Response) -> Response:
        if response.status_code != 401 or _token(incoming) is None:
            return response
        return _with_body(response, {"error": "invalid_token", "error_description": text})

    return edit


async def _in_listing(_incoming: Incoming, response: Response) -> Response:
    body = _object(response)
    result = body.get("result") if body is not None else None
    if body is None or not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        return response
    tools = [{**tool, "description": f"{tool['description']}, such as {_CANARY}"} for tool in result["tools"]]
    return _with_body(response, {**body, "result": {**result, "tools": tools}})


async def _result_for_unknown(incoming: Incoming, response: Response) -> Response:
    message: Any = await incoming.message() if incoming.method == "POST" else None
    method = message.get("method") if isinstance(message, dict) else None
    if response.status_code != 401 or not isinstance(method, str) or not method.startswith("probe/"):
        return response
    return _with_body(response, {"jsonrpc": "2.0", "id": message.get("id"), "result": {"known": ["tools/call"]}})


async def _publicly_cacheable(incoming: Incoming, response: Response) -> Response:
    if response.status_code == 200 and _token(incoming) is not None:
        response.headers["cache-control"] = "public, max-age=60"
    return response


async def _bare_put(incoming: Incoming, response: Response) -> Response:
    return Response(status_code=401) if response.status_code == 401 and incoming.method == "PUT" else response


async def _broken_put(incoming: Incoming, response: Response) -> Response:
    return Response(status_code=500) if response.status_code == 401 and incoming.method == "PUT" else response


async def _broken_unknown(incoming: Incoming, response: Response) -> Response:
    message: Any = await incoming.message() if incoming.method == "POST" else None
    method = message.get("method") if isinstance(message, dict) else None
    unknown = isinstance(method, str) and method.startswith("probe/") and _token(incoming) is not None
    return Response(status_code=502) if response.status_code == 401 and unknown else response


async def _pointing_elsewhere(incoming: Incoming, response: Response) -> Response:
    if response.status_code == 401 and incoming.method == "PUT":
        response.headers["www-authenticate"] = 'Bearer scope="invoices:read"'
    return response


async def _session_for_put(incoming: Incoming, response: Response) -> Response:
    if response.status_code == 401 and incoming.method == "PUT":
        response.headers["mcp-session-id"] = "opened-before-it-was-asked"
    return response


async def _session_for_weak(_incoming: Incoming, response: Response) -> Response:
    if response.status_code == 403:
        response.headers["mcp-session-id"] = "opened-before-it-was-allowed"
    return response


def _bare_without_scopes(behaviour: Behaviour) -> Behaviour:
    """Say nothing to a token that has no scope at all."""
    challenges = behaviour.challenges

    def insufficient(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
        return challenges.insufficient(pointer, needed, held) if held else Denial(403, ())

    def write(denial: Denial) -> Response:
        return challenges.write(denial) if denial.parameters else respond(denial, ())

    return replace(behaviour, challenges=replace(challenges, insufficient=insufficient, write=write))


def _passed_on(incoming: Incoming) -> Mapping[str, str]:
    return {"Authorization": incoming.header("authorization") or ""}


FAULTS = (
    Fault("token-in-header", "The token comes back in a header field of the answer.",
          edited(_in_header)),
    Fault("token-in-result", "The token comes back in the _meta of results.",
          edited(_in_result)),
    Fault("token-in-error", "The body of a 401 repeats the token.",
          edited(_in_error)),
    Fault("token-in-log", "The payload part of each token is logged.",
          edited(_in_log)),
    Fault("token-passed-on", "The caller's token goes to the service behind a tool.",
          lambda behaviour: replace(behaviour, upstream=Upstream(headers=_passed_on))),
    Fault("trace-in-error", "The body of a 401 is a stack trace.",
          edited(_refusal_saying(_TRACE))),
    Fault("canary-in-refusal", "The body of a 401 tells of a record.",
          edited(_refusal_saying(f"not yours: {_CANARY}"))),
    Fault("canary-in-listing", "The tools' descriptions have a user's record as their example.",
          edited(_in_listing)),
    Fault("result-in-refusal-of-unknown-method", "The 401 to an unknown method holds a result.",
          edited(_result_for_unknown)),
    Fault("answers-publicly-cacheable", "Answers to a token may be kept by every cache.",
          edited(_publicly_cacheable)),
    Fault("put-401-bare", "The 401 to PUT has no challenge.",
          edited(_bare_put)),
    Fault("put-without-token-breaks", "PUT without a good token ends in a 500.",
          edited(_broken_put)),
    Fault("unknown-method-with-forged-token-breaks", "An unknown method with a forged token ends in a 502.",
          edited(_broken_unknown)),
    Fault("put-401-without-pointer", "The challenge to PUT does not lead to the metadata.",
          edited(_pointing_elsewhere)),
    Fault("put-401-with-session", "The 401 to PUT hands out a session id.",
          edited(_session_for_put)),
    Fault("403-with-session", "Every 403 hands out a session id.",
          edited(_session_for_weak)),
    Fault("403-bare-without-scopes", "The 403 to a token without scopes says nothing.",
          _bare_without_scopes),
)  # fmt: skip
