"""Faults of discretion: a secret that comes back, and the one refusal that says less than the others."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import Denial, respond
from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.steps import adding, edited, replacing

FAULTS = Faults()

_CANARY = "carol-t2-INV-1-c04e"
_TRACE = 'Traceback (most recent call last):\n  File "/srv/app/verifier.py", line 42, in verify\nKeyError: "kid"\n'


def _token(incoming: Incoming) -> str | None:
    """Return the token as it was sent, or None where there is none that could be repeated in a header."""
    scheme, _, token = (incoming.header("authorization") or "").partition(" ")
    return token if scheme.lower() == "bearer" and token.isascii() and token.isprintable() and token else None


def _with_body(response: Response, body: object) -> Response:
    """Return the same answer with another JSON body."""
    made = JSONResponse(body, response.status_code)
    for name, value in response.headers.items():
        if name not in ("content-length", "content-type"):
            made.headers.append(name, value)
    return made


def _result(response: Response) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the body of an answer and the result in it, or None."""
    try:
        body = json.loads(bytes(response.body)) if hasattr(response, "body") else None
    except ValueError:
        return None
    return (body, body["result"]) if isinstance(body, dict) and isinstance(body.get("result"), dict) else None


def _with_result(response: Response, body: dict[str, Any], **members: object) -> Response:
    return _with_body(response, {**body, "result": {**body["result"], **members}})


def _good_token(incoming: Incoming, response: Response) -> bool:
    return response.status_code == 200 and _token(incoming) is not None


def _refused_put(incoming: Incoming, response: Response) -> bool:
    return response.status_code == 401 and incoming.method == "PUT"


@FAULTS.by(edited)
async def token_in_header(incoming: Incoming, response: Response) -> Response:
    """The token comes back in a header field of the answer."""
    if _good_token(incoming, response):
        response.headers["x-received-token"] = _token(incoming) or ""
    return response


@FAULTS.by(edited)
async def token_in_result(incoming: Incoming, response: Response) -> Response:
    """The token comes back in the _meta of results."""
    token, found = _token(incoming), _result(response)
    if response.status_code != 200 or token is None or found is None:
        return response
    body, result = found
    return _with_result(response, body, _meta={**result.get("_meta", {}), "debug": {"authInfo": {"token": token}}})


def _saying(text: str) -> Change:
    """Say something in the body of a 401 to a token, `{}` standing for the token."""

    async def edit(incoming: Incoming, response: Response) -> Response:
        token = _token(incoming)
        if response.status_code != 401 or token is None:
            return response
        return _with_body(response, {"error": "invalid_token", "error_description": text.replace("{}", token)})

    return edited(edit)


@FAULTS.by(edited)
async def token_in_log(incoming: Incoming, response: Response) -> Response:
    """The payload part of each token is logged."""
    parts = (_token(incoming) or "").split(".")
    if response.status_code == 200 and len(parts) == 3:
        sys.stderr.write(f"DEBUG claims={parts[1]}\n")
        sys.stderr.flush()
    return response


@FAULTS.step("upstream", "headers")
def token_passed_on(incoming: Incoming) -> Mapping[str, str]:
    """The caller's token goes to the service behind a tool."""
    return {"Authorization": incoming.header("authorization") or ""}


@FAULTS.by(edited)
async def canary_in_listing(_incoming: Incoming, response: Response) -> Response:
    """The tools' descriptions have a user's record as their example."""
    found = _result(response)
    if found is None or not isinstance(found[1].get("tools"), list):
        return response
    body, result = found
    tools = [{**tool, "description": f"{tool['description']}, such as {_CANARY}"} for tool in result["tools"]]
    return _with_result(response, body, tools=tools)


async def _unknown_method(incoming: Incoming) -> bool:
    return str((await incoming.posted()).get("method")).startswith("probe/")


@FAULTS.by(edited)
async def result_in_refusal_of_unknown_method(incoming: Incoming, response: Response) -> Response:
    """The 401 to an unknown method holds a result."""
    if response.status_code != 401 or not await _unknown_method(incoming):
        return response
    ident = (await incoming.posted()).get("id")
    return _with_body(response, {"jsonrpc": "2.0", "id": ident, "result": {"known": ["tools/call"]}})


@FAULTS.by(edited)
async def unknown_method_with_forged_token_breaks(incoming: Incoming, response: Response) -> Response:
    """An unknown method with a forged token ends in a 502."""
    unknown = await _unknown_method(incoming) and _token(incoming) is not None
    return Response(status_code=502) if response.status_code == 401 and unknown else response


@FAULTS.by(lambda change: change, "403-bare-without-scopes")
def bare_without_scopes(behaviour: Behaviour) -> Behaviour:
    """The 403 to a token without scopes says nothing."""
    challenges = behaviour.challenges

    def insufficient(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
        return challenges.insufficient(pointer, needed, held) if held else Denial(403, ())

    def write(denial: Denial) -> Response:
        return challenges.write(denial) if denial.parameters else respond(denial, ())

    return replace(behaviour, challenges=replace(challenges, insufficient=insufficient, write=write))


FAULTS.rows(
    ("answers-publicly-cacheable", "Answers to a token may be kept by every cache.",
     adding("cache-control", "public, max-age=60", _good_token)),
    ("token-in-error", "The body of a 401 repeats the token.", _saying("cannot verify {}")),
    ("trace-in-error", "The body of a 401 is a stack trace.", _saying(_TRACE)),
    ("canary-in-refusal", "The body of a 401 tells of a record.", _saying(f"not yours: {_CANARY}")),
    ("put-401-bare", "The 401 to PUT has no challenge.", replacing(_refused_put, lambda: Response(status_code=401))),
    ("put-without-token-breaks", "PUT without a good token ends in a 500.",
     replacing(_refused_put, lambda: Response(status_code=500))),
    ("put-401-without-pointer", "The challenge to PUT does not lead to the metadata.",
     adding("www-authenticate", 'Bearer scope="invoices:read"', _refused_put)),
    ("put-401-with-session", "The 401 to PUT hands out a session id.",
     adding("mcp-session-id", "opened-before-it-was-asked", _refused_put)),
    ("403-with-session", "Every 403 hands out a session id.",
     adding("mcp-session-id", "opened-before-it-was-allowed", lambda _, response: response.status_code == 403)),
)  # fmt: skip


_V8 = """TypeError: a.trim is not a function<br> &nbsp; &nbsp;at update (/srv/lab/tools.js:41:17)<br> &nbsp; &nbsp;at \
process.processTicksAndRejections (node:internal/process/task_queues:95:5)"""
_NET = "   at Lab.Tools.Find(String name)\n   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)"
_PHP = "<b>Fatal error</b>: Uncaught Error in <b>/srv/lab/rpc.php</b> on line <b>12</b><br />"
_DATABASE = "no connection to postgres://lab:k3y-4Fj29@db.internal/invoices"


def _saying_of_tool(begun: str, text: str) -> Change:
    """Say something in the place of a tool's own error that begins so."""

    async def edit(_incoming: Incoming, response: Response) -> Response:
        body, result = _result(response) or ({}, {})
        said = result.get("content") or [{}]
        if not result.get("isError") or not str(said[0].get("text", "")).startswith(begun):
            return response
        return _with_result(response, body, content=[{"type": "text", "text": text}])

    return edited(edit)


def _saying_of_error(said: str, **members: object) -> Change:
    """Say more, or something else, in the JSON-RPC error with a message."""

    async def edit(_incoming: Incoming, response: Response) -> Response:
        return _with_error(said, response, **members)

    return edited(edit)


def _with_error(said: str, response: Response, **members: object) -> Response:
    try:
        body = json.loads(bytes(response.body)) if hasattr(response, "body") else None
    except ValueError:
        return response
    if not isinstance(body, dict) or not isinstance(body.get("error"), dict) or body["error"].get("message") != said:
        return response
    error = body["error"]
    return _with_body(response, {**body, "error": {**error, **members}})


FAULTS.rows(
    ("trace-of-wrong-arguments", "Wrong arguments are answered with a stack trace, escaped for HTML.",
     _saying_of_tool("wrong arguments", _V8)),
    ("trace-of-unknown-tool", "The error for an unknown tool has a stack trace in its data.",
     _saying_of_error("no such tool", data=_NET)),
    ("trace-of-malformed-json", "Malformed JSON is answered with an error page of PHP.",
     replacing(lambda _, response: b"not JSON" in bytes(getattr(response, "body", b"")),
               lambda: Response(_PHP, 400, media_type="text/html"))),
    ("credentials-in-error", "The error for an unknown prompt holds the URL of the database, and its password.",
     _saying_of_error("no such prompt", message=_DATABASE)),
)  # fmt: skip


async def _headers_repeated(incoming: Incoming, response: Response) -> Response:
    shown = {name: value for name, value in incoming.request.headers.items() if name != "authorization"}
    return _with_error("no such tool", response, data={"headers": shown})


FAULTS.rows(
    ("headers-in-error", "The error for an unknown tool repeats the header fields of the request, a gateway's key too.",
     edited(_headers_repeated)),
    within=Profile.GATEWAY_KEY,
)  # fmt: skip
