"""Faults of the refusal: it refuses, but says it wrongly, or says too much."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.challenges import Denial, bearer_challenge, respond, token_invalid
from mcp_auth_contract_lab.fault import Change, Faults, adapting, changing
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.scopes import required_scopes
from mcp_auth_contract_lab.steps import Message, adding, always, edited, intercepting, replacing, replying
from mcp_auth_contract_lab.tools import EXPORT, READ

FAULTS = Faults()


def _written(status: int, write: Callable[[Denial], Response]) -> Change:
    """Write refusals of one status in another way."""
    return adapting(
        "challenges", "write", lambda sound: lambda denial: (write if denial.status == status else sound)(denial)
    )


def _worded(edit: Callable[[str], str]) -> Change:
    """Change the text of the challenge of a 401."""
    return _written(401, lambda denial: respond(denial, (edit(bearer_challenge(denial)),)))


def _with(name: str, value: str | None, status: int = 401, when: Callable[[Denial], bool] = always) -> Change:
    """Give a parameter of the challenge another value; None leaves it out."""

    def write(denial: Denial) -> Response:
        changed = ((key, value if key == name and when(denial) else old) for key, old in denial.parameters)
        kept = tuple((key, new) for key, new in changed if new is not None)
        return respond(denial, (bearer_challenge(replace(denial, parameters=kept)),))

    return _written(status, write)


def _has_no_error(denial: Denial) -> bool:
    return denial.get("error") is None


def _asks_for_a_token(_incoming: Incoming, response: Response) -> bool:
    return response.status_code == 401 and 'error="' not in response.headers.get("www-authenticate", "")


def _login_by_elicitation(message: Message, _response: Response) -> Response:
    login = {"mode": "url", "elicitationId": "login", "url": "http://127.0.0.1/login", "message": "Please sign in."}
    error = {"code": -32042, "message": "URL elicitation required", "data": {"elicitations": [login]}}
    return rpc.rpc_response({"jsonrpc": "2.0", "id": message["id"], "error": error})


def _result_in_refusal(message: Message, response: Response) -> Response:
    body = JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}, 401)
    for line in response.headers.getlist("www-authenticate"):
        body.headers.append("www-authenticate", line)
    return body


def _denied_in_result(message: Message, _response: Response) -> Response:
    era = {"resultType": "complete"} if META_VERSION in meta_of(message) else {}
    text = {"type": "text", "text": "scope missing"}
    return rpc.rpc_response(rpc.result_message(message.get("id"), {"content": [text], "isError": True, **era}))


def _as_unauthorized(_message: Message, _response: Response) -> Response:
    pointer = "http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp"
    challenge = f'Bearer error="invalid_token", resource_metadata="{pointer}"'
    return Response(status_code=401, headers={"www-authenticate": challenge})


@FAULTS.by(edited)
async def challenge_of_deletes_unquoted(incoming: Incoming, response: Response) -> Response:
    """The handler that ends sessions writes a challenge of its own, and forgets a quotation mark."""
    if incoming.method == "DELETE" and "www-authenticate" in response.headers:
        response.headers["www-authenticate"] = response.headers["www-authenticate"].removesuffix('"')
    return response


@FAULTS.step("endpoint", "open_to_all")
async def discovery_open(incoming: Incoming) -> bool:
    """The list of tools is open without a token."""
    return (await incoming.posted()).get("method") == "tools/list"


def _on_preflight(**answer: Any) -> Change:
    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        preflight = lab.behaviour.endpoint.matches(incoming.path) and incoming.method == "OPTIONS"
        return Response(**answer) if preflight else None

    return intercepting(intercept=intercept)


_FOR_ALL = {"access-control-allow-origin": "*", "access-control-allow-credentials": "true"}

FAULTS.rows(
    ("challenge-bare", "The challenge of a missing token is the word Bearer alone; the pointer is elsewhere.",
     _written(401, lambda denial: respond(denial, (
         ("Bearer", bearer_challenge(denial, "DPoP")) if _has_no_error(denial) else (bearer_challenge(denial),))))),
    ("error-on-missing-token", "A request without a token is told that its token is invalid.",
     changing("challenges", missing=lambda pointer, scope: (
         token_invalid(pointer, scope, "authentication is required")))),
    ("challenge-quotes-inside", "The error description holds quotation marks.",
     changing("challenges", invalid=lambda pointer, scope, description: (
         token_invalid(pointer, scope, f'{description}: "kid" is not known')))),
    ("challenge-missing", "A 401 comes without a WWW-Authenticate header.",
     _written(401, lambda denial: respond(denial, ()))),
    ("challenge-of-another-scheme", "The challenge is of the scheme Token.",
     _written(401, lambda denial: respond(denial, (bearer_challenge(denial, "Token"),)))),
    ("challenge-url-unquoted", "The URL of the metadata is not quoted.",
     _worded(lambda text: text.replace('metadata="', "metadata=").replace('/mcp"', "/mcp"))),
    ("challenge-commas-missing", "The parameters are separated by spaces.",
     _worded(lambda text: text.replace('", ', '" '))),
    ("challenge-single-quotes", "The values stand in single quotes.",
     _worded(lambda text: text.replace('"', "'").replace("scope='invoices:read'", 'scope="a"'))),
    ("challenge-parameter-twice", "The challenge names its realm twice.",
     _worded(lambda text: f'{text}, realm="a", realm="b"')),
    ("challenge-without-pointer", "The challenge of a missing token does not lead to the metadata.",
     _with("resource_metadata", None, when=_has_no_error)),
    ("challenge-without-pointer-on-bad-token", "The challenge of a rejected token does not lead to the metadata.",
     _with("resource_metadata", None, when=lambda denial: not _has_no_error(denial))),
    ("challenge-without-scope", "The challenge of a missing token names no scope.",
     _with("scope", None, when=_has_no_error)),
    ("challenge-scope-with-commas", "The scopes of the challenge are separated by commas.",
     _with("scope", "invoices:read, invoices:write")),
    ("challenge-scope-empty", "The scope of the challenge is an empty string.", _with("scope", "")),
    ("error-not-invalid-token", "A rejected token is called an unauthorized client.",
     _with("error", "unauthorized_client")),
    ("error-missing", "A rejected token is refused without an error code.", _with("error", None)),
    ("scope-denied-unexplained", "A missing scope is answered with 403 without a challenge.",
     _written(403, lambda denial: respond(replace(denial, body=json.dumps({"message": "forbidden"})), ()))),
    ("scope-error-misnamed", "A missing scope is called access_denied.", _with("error", "access_denied", 403)),
    ("scope-not-named", "The 403 does not name the missing scope.", _with("scope", None, 403)),
    ("scope-misnamed", "The 403 names a scope that the token holds already.", _with("scope", "openid", 403)),
    ("scope-denied-without-pointer", "The 403 does not lead to the metadata.", _with("resource_metadata", None, 403)),
    ("session-id-on-refusal", "A 401 hands out a session id.",
     adding("mcp-session-id", "opened-before-it-was-asked", lambda _, response: response.status_code == 401)),
    ("login-by-elicitation", "Without a token a tool asks the user to open the login page (URL elicitation).",
     replying(lambda incoming, message, response: (
         _asks_for_a_token(incoming, response) and rpc.params_of(message).get("name") == "export_invoices"),
         _login_by_elicitation)),
    ("login-redirect", "Without a token the caller is sent to a login page.",
     replacing(_asks_for_a_token, lambda *_: RedirectResponse("/login", 302))),
    ("login-page", "Without a token the caller gets a login page with status 200.",
     replacing(_asks_for_a_token, lambda *_: HTMLResponse("<p>Please sign in.</p>"))),
    ("result-in-refusal", "A 401 carries the result all the same.",
     replying(lambda _, message, response: response.status_code == 401 and "id" in message, _result_in_refusal)),
    ("scope-denied-in-result", "A missing scope is told by a tool result with isError.",
     replying(lambda _, message, response: response.status_code == 403 and message != {}, _denied_in_result)),
    ("scope-denied-as-401", "A missing scope is answered with 401.",
     replying(lambda _, message, response: response.status_code == 403 and message != {},
              lambda *_: Response(status_code=401, headers={"www-authenticate": 'Bearer error="insufficient_scope"'}))),
    ("discover-empty", "server/discover does not say which revisions it speaks.",
     replying(lambda _, message, response: message.get("method") == "server/discover" and response.status_code == 200,
              lambda message, _: rpc.rpc_response(rpc.result_message(message["id"], {"resultType": "complete"})))),
    ("unknown-method-as-401", "In the stateless revision a method that nobody has is answered 401.",
     replying(lambda _, message, response: response.status_code == 404 and META_VERSION in meta_of(message),
              _as_unauthorized)),
    ("mirrored-headers-not-compared", "Mcp-Method and Mcp-Name are not compared with the body.",
     changing("protocol", mirrored=lambda *_: None)),
    ("mirrored-version-not-compared", "MCP-Protocol-Version is not compared with the body.",
     changing("protocol", version_mirrored=always, version_known=lambda version, _spoken: version in tuple(Revision))),
    ("long-token-breaks", "A long token ends in a server error.",
     replacing(lambda incoming, _: len(incoming.header("authorization") or "") > 8000,
               lambda *_: Response(status_code=500))),
    ("scope-undeclared", "The export needs a scope that nobody was told of.",
     changing("scopes", required=lambda operation: (
         required_scopes(operation) | ({READ} if EXPORT in required_scopes(operation) else set())))),
    ("origin-ignored", "A foreign Origin is served.", intercepting(origin_allowed=always)),
    ("version-ignored", "A protocol version that does not exist is served.",
     changing("protocol", version_known=always, version_mirrored=always, mirrored=lambda *_: None)),
    ("preflight-breaks", "A preflight ends in a server error.", _on_preflight(status_code=500)),
    ("preflight-credentials", "A preflight allows credentials to every origin.",
     _on_preflight(status_code=204, headers=_FOR_ALL)),
)  # fmt: skip


@FAULTS.step("endpoint", "intercept")
async def challenge_hidden(lab: Lab, incoming: Incoming) -> Response | None:
    """Browsers may call, but not read the challenge."""
    endpoint, origin = lab.behaviour.endpoint, incoming.header("origin")
    called = endpoint.matches(incoming.path) and incoming.method != "OPTIONS"
    return await lab.guarded(incoming) if called and origin is not None and endpoint.origin_allowed(origin) else None
