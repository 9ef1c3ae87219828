"""Faults of discretion: a secret that comes back, and the one refusal that says less than the others."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import Denial, respond
from mcp_auth_contract_lab.fault import Change, Faults, changing
from mcp_auth_contract_lab.incoming import Incoming, parse_json
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.steps import Message, adding, always, edited, replacing, replying

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


def _in_results(added: Callable[[Incoming, dict[str, Any]], dict[str, Any]]) -> Change:
    """Add members to results."""

    async def edit(incoming: Incoming, response: Response) -> Response:
        body = parse_json(bytes(response.body))
        if not isinstance(body, dict) or not isinstance(body.get("result"), dict):
            return response
        members = added(incoming, body["result"])
        return _with_body(response, {**body, "result": {**body["result"], **members}}) if members else response

    return edited(edit)


def _good_token(incoming: Incoming, response: Response) -> bool:
    return response.status_code == 200 and _token(incoming) is not None


def _refused_put(incoming: Incoming, response: Response) -> bool:
    return response.status_code == 401 and incoming.method == "PUT"


def _saying(text: str) -> Change:
    """Say something in the body of a 401 to a token, `{}` standing for the token."""
    return replacing(
        lambda incoming, response: response.status_code == 401 and _token(incoming) is not None,
        lambda incoming, response: _with_body(
            response, {"error": "invalid_token", "error_description": text.replace("{}", _token(incoming) or "")}
        ),
    )


def _unknown_method(message: Message) -> bool:
    return str(message.get("method")).startswith("probe/")


def _bare_without_scopes(behaviour: Behaviour) -> Behaviour:
    challenges = behaviour.challenges

    def insufficient(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
        return challenges.insufficient(pointer, needed, held) if held else Denial(403, ())

    def write(denial: Denial) -> Response:
        return challenges.write(denial) if denial.parameters else respond(denial, ())

    return replace(behaviour, challenges=replace(challenges, insufficient=insufficient, write=write))


FAULTS.rows(
    ("answers-publicly-cacheable", "Answers to a token may be kept by every cache.",
     adding("cache-control", "public, max-age=60", _good_token)),
    ("token-in-header", "The token comes back in a header field of the answer.",
     adding("x-received-token", lambda incoming: _token(incoming) or "", _good_token)),
    ("token-passed-on", "The caller's token goes to the service behind a tool.",
     changing("upstream", headers=lambda incoming: {"Authorization": incoming.header("authorization") or ""})),
    ("result-in-refusal-of-unknown-method", "The 401 to an unknown method holds a result.",
     replying(lambda _, message, response: response.status_code == 401 and _unknown_method(message),
              lambda message, response: _with_body(
                  response, {"jsonrpc": "2.0", "id": message.get("id"), "result": {"known": ["tools/call"]}}))),
    ("unknown-method-with-forged-token-breaks", "An unknown method with a forged token ends in a 502.",
     replying(lambda incoming, message, response: (
         response.status_code == 401 and _unknown_method(message) and _token(incoming) is not None),
         lambda *_: Response(status_code=502))),
    ("token-in-error", "The body of a 401 repeats the token.", _saying("cannot verify {}")),
    ("trace-in-error", "The body of a 401 is a stack trace.", _saying(_TRACE)),
    ("canary-in-refusal", "The body of a 401 tells of a record.", _saying(f"not yours: {_CANARY}")),
    ("put-401-bare", "The 401 to PUT has no challenge.", replacing(_refused_put, lambda *_: Response(status_code=401))),
    ("put-without-token-breaks", "PUT without a good token ends in a 500.",
     replacing(_refused_put, lambda *_: Response(status_code=500))),
    ("put-401-without-pointer", "The challenge to PUT does not lead to the metadata.",
     adding("www-authenticate", 'Bearer scope="invoices:read"', _refused_put)),
    ("put-401-with-session", "The 401 to PUT hands out a session id.",
     adding("mcp-session-id", "opened-before-it-was-asked", _refused_put)),
    ("403-bare-without-scopes", "The 403 to a token without scopes says nothing.", _bare_without_scopes),
    ("403-with-session", "Every 403 hands out a session id.",
     adding("mcp-session-id", "opened-before-it-was-allowed", lambda _, response: response.status_code == 403)),
)  # fmt: skip


@FAULTS.by(edited)
async def token_in_log(incoming: Incoming, response: Response) -> Response:
    """The payload part of each token is logged."""
    parts = (_token(incoming) or "").split(".")
    if response.status_code == 200 and len(parts) == 3:
        sys.stderr.write(f"DEBUG claims={parts[1]}\n")
        sys.stderr.flush()
    return response


@FAULTS.by(_in_results)
def canary_in_listing(_incoming: Incoming, result: dict[str, Any]) -> dict[str, Any]:
    """The tools' descriptions have a user's record as their example."""
    marked = [{**tool, "description": f"{tool['description']}, such as {_CANARY}"} for tool in result.get("tools", ())]
    return {"tools": marked} if marked else {}


@FAULTS.by(_in_results)
def token_in_result(incoming: Incoming, result: dict[str, Any]) -> dict[str, Any]:
    """The token comes back in the _meta of results."""
    token = _token(incoming)
    return {"_meta": {**result.get("_meta", {}), "debug": {"authInfo": {"token": token}}}} if token else {}


_V8 = """TypeError: a.trim is not a function<br> &nbsp; &nbsp;at update (/srv/lab/tools.js:41:17)<br> &nbsp; &nbsp;at \
process.processTicksAndRejections (node:internal/process/task_queues:95:5)"""
_NET = "   at Lab.Tools.Find(String name)\n   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)"
_PHP = "<b>Fatal error</b>: Uncaught Error in <b>/srv/lab/rpc.php</b> on line <b>12</b><br />"
_DATABASE = "no connection to postgres://lab:k3y-4Fj29@db.internal/invoices"


def _saying_of_tool(begun: str, text: str) -> Change:
    """Say something in the place of a tool's own error that begins so."""

    def said(_incoming: Incoming, result: dict[str, Any]) -> dict[str, Any]:
        first = (result.get("content") or [{}])[0]
        failed = result.get("isError") and str(first.get("text", "")).startswith(begun)
        return {"content": [{"type": "text", "text": text}]} if failed else {}

    return _in_results(said)


def _with_error(said: str, response: Response, **members: object) -> Response:
    """Change the JSON-RPC error that has this message."""
    body = parse_json(bytes(response.body))
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or error.get("message") != said:
        return response
    return _with_body(response, {**body, "error": {**error, **members}})


def _saying_of_error(said: str, **members: object) -> Change:
    """Say more, or something else, in the JSON-RPC error with a message."""
    return replacing(always, lambda _, response: _with_error(said, response, **members))


FAULTS.rows(
    ("trace-of-wrong-arguments", "Wrong arguments are answered with a stack trace, escaped for HTML.",
     _saying_of_tool("wrong arguments", _V8)),
    ("trace-of-unknown-tool", "The error for an unknown tool has a stack trace in its data.",
     _saying_of_error("no such tool", data=_NET)),
    ("trace-of-malformed-json", "Malformed JSON is answered with an error page of PHP.",
     replacing(lambda _, response: b"not JSON" in bytes(response.body),
               lambda *_: Response(_PHP, 400, media_type="text/html"))),
    ("credentials-in-error", "The error for an unknown prompt holds the URL of the database, and its password.",
     _saying_of_error("no such prompt", message=_DATABASE)),
)  # fmt: skip


def _headers_repeated(incoming: Incoming, response: Response) -> Response:
    shown = {name: value for name, value in incoming.request.headers.items() if name != "authorization"}
    return _with_error("no such tool", response, data={"headers": shown})


FAULTS.rows(
    ("headers-in-error", "The error for an unknown tool repeats the header fields of the request, a gateway's key too.",
     replacing(always, _headers_repeated)),
    within=Profile.GATEWAY_KEY,
)  # fmt: skip
