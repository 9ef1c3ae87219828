"""Faults of the refusal: it refuses, but says it wrongly, or says too much."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import Denial, bearer_challenge, respond
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.answers import edited
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.scopes import Operation, required_scopes
from mcp_auth_contract_lab.tools import EXPORT, READ

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS"]

_Write: TypeAlias = Callable[[Denial], Response]


def _saying(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, challenges=replace(behaviour.challenges, **steps))


def _written(*statuses: int, write: _Write) -> Change:
    """Write refusals of some statuses in another way."""

    def change(behaviour: Behaviour) -> Behaviour:
        sound = behaviour.challenges.write

        def chosen(denial: Denial) -> Response:
            return write(denial) if denial.status in statuses else sound(denial)

        return replace(behaviour, challenges=replace(behaviour.challenges, write=chosen))

    return change


def _worded(edit: Callable[[str], str], *statuses: int) -> Change:
    """Change the text of the challenge."""
    return _written(*statuses, write=lambda denial: respond(denial, (edit(bearer_challenge(denial)),)))


def _without(name: str, *statuses: int, when: Callable[[Denial], bool] = lambda _denial: True) -> Change:
    """Leave a parameter out of the challenge."""

    def write(denial: Denial) -> Response:
        kept = tuple(pair for pair in denial.parameters if pair[0] != name or not when(denial))
        return respond(denial, (bearer_challenge(replace(denial, parameters=kept)),))

    return _written(*statuses, write=write)


def _with(name: str, value: str, *statuses: int) -> Change:
    """Give a parameter another value."""

    def write(denial: Denial) -> Response:
        changed = tuple((key, value if key == name else old) for key, old in denial.parameters)
        return respond(denial, (bearer_challenge(replace(denial, parameters=changed)),))

    return _written(*statuses, write=write)


def _has_no_error(denial: Denial) -> bool:
    return denial.get("error") is None


def _has_error(denial: Denial) -> bool:
    return denial.get("error") is not None


def _refused(response: Response, status: int = 401) -> bool:
    return response.status_code == status


async def _with_session_id(_incoming: Incoming, response: Response) -> Response:
    if _refused(response):
        response.headers["mcp-session-id"] = "opened-before-it-was-asked"
    return response


async def _with_result(incoming: Incoming, response: Response) -> Response:
    message: Any = await incoming.message() if incoming.method == "POST" else None
    if not _refused(response) or not isinstance(message, dict) or "id" not in message:
        return response
    body = JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}, 401)
    for line in response.headers.getlist("www-authenticate"):
        body.headers.append("www-authenticate", line)
    return body


async def _login_page(_incoming: Incoming, response: Response) -> Response:
    missing = _refused(response) and 'error="' not in response.headers.get("www-authenticate", "")
    return RedirectResponse("/login", 302) if missing else response


async def _html_page(_incoming: Incoming, response: Response) -> Response:
    missing = _refused(response) and 'error="' not in response.headers.get("www-authenticate", "")
    return HTMLResponse("<p>Please sign in.</p>") if missing else response


async def _elicited_login(incoming: Incoming, response: Response) -> Response:
    message: Any = await incoming.message() if incoming.method == "POST" else None
    missing = _refused(response) and 'error="' not in response.headers.get("www-authenticate", "")
    if not missing or not isinstance(message, dict) or rpc.params_of(message).get("name") != "export_invoices":
        return response
    login = {"mode": "url", "elicitationId": "login", "url": "http://127.0.0.1/login", "message": "Please sign in."}
    error = {"code": -32042, "message": "URL elicitation required", "data": {"elicitations": [login]}}
    return rpc.rpc_response({"jsonrpc": "2.0", "id": message["id"], "error": error})


async def _breaks_on_length(incoming: Incoming, response: Response) -> Response:
    return Response(status_code=500) if len(incoming.header("authorization") or "") > 8000 else response


async def _discover_is_unknown(incoming: Incoming, response: Response) -> Response:
    message: Any = await incoming.message() if incoming.method == "POST" else None
    asked = isinstance(message, dict) and message.get("method") == "server/discover"
    if not asked or response.status_code != 200:
        return response
    return rpc.rpc_response({"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}})


def _scope_denied(answer: Callable[[Mapping[str, Any], bool], Response]) -> Change:
    async def edit(incoming: Incoming, response: Response) -> Response:
        message: Any = await incoming.message() if incoming.method == "POST" else None
        if not _refused(response, 403) or not isinstance(message, dict):
            return response
        return answer(message, META_VERSION in meta_of(message))

    return edited(edit)


def _tool_error(message: Mapping[str, Any], modern: bool) -> Response:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "scope missing"}], "isError": True}
    if modern:
        result["resultType"] = "complete"
    return rpc.rpc_response({"jsonrpc": "2.0", "id": message.get("id"), "result": result})


def _unauthorized(_message: Mapping[str, Any], _modern: bool) -> Response:
    return Response(status_code=401, headers={"www-authenticate": 'Bearer error="insufficient_scope"'})


def _forbidden_unexplained(denial: Denial) -> Response:
    return respond(replace(denial, body=json.dumps({"message": "forbidden"})), ())


def _of_other_scheme(denial: Denial) -> Response:
    return respond(denial, (bearer_challenge(denial, "Token"),))


def _quoting_the_kid(behaviour: Behaviour) -> Behaviour:
    """Repeat in quotes what the token says; RFC 6750 §3 allows none inside a description."""
    sound = behaviour.challenges.invalid

    def invalid(pointer: str | None, scope: str, description: str) -> Denial:
        return sound(pointer, scope, f'{description}: "kid" is not known')

    return replace(behaviour, challenges=replace(behaviour.challenges, invalid=invalid))


def _scopes(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, scopes=replace(behaviour.scopes, **steps))


def _export_needs_read(operation: Operation) -> frozenset[str]:
    needed = required_scopes(operation)
    return needed | {READ} if EXPORT in needed else needed


def _any_origin(behaviour: Behaviour) -> Behaviour:
    return replace(behaviour, endpoint=replace(behaviour.endpoint, origin_allowed=lambda _origin: True))


def _any_version(behaviour: Behaviour) -> Behaviour:
    def mirrored(_incoming: Incoming, _message: Mapping[str, Any]) -> None:
        return None

    lenient = replace(behaviour.protocol, version_known=lambda *_: True, version_mirrored=lambda *_: True)
    return replace(behaviour, protocol=replace(lenient, mirrored=mirrored))


def _on_preflight(answer: Callable[[str], Response]) -> Change:
    async def intercept(lab: "Lab", incoming: Incoming) -> Response | None:
        endpoint = lab.behaviour.endpoint.matches(incoming.path)
        return answer(incoming.header("origin") or "") if endpoint and incoming.method == "OPTIONS" else None

    return lambda behaviour: replace(behaviour, endpoint=replace(behaviour.endpoint, intercept=intercept))


def _credentials_for_all(_origin: str) -> Response:
    return Response(
        status_code=204,
        headers={"access-control-allow-origin": "*", "access-control-allow-credentials": "true"},
    )


async def _hidden_challenge(lab: "Lab", incoming: Incoming) -> Response | None:
    endpoint = lab.behaviour.endpoint.matches(incoming.path)
    loopback = lab.behaviour.endpoint.origin_allowed(incoming.header("origin") or "")
    if not endpoint or incoming.method == "OPTIONS" or incoming.header("origin") is None or not loopback:
        return None
    return await lab.guarded(incoming)


def _hide_challenge(behaviour: Behaviour) -> Behaviour:
    return replace(behaviour, endpoint=replace(behaviour.endpoint, intercept=_hidden_challenge))


def _open_listing(behaviour: Behaviour) -> Behaviour:
    async def listing(incoming: Incoming) -> bool:
        message: Any = await incoming.message()
        return isinstance(message, dict) and message.get("method") == "tools/list"

    return replace(behaviour, endpoint=replace(behaviour.endpoint, open_to_all=listing))


_UNREADABLE = ("challenge-syntax",)

_ON_401 = (
    Fault("challenge-missing", "A 401 comes without a WWW-Authenticate header.",
          _written(401, write=lambda denial: respond(denial, ()))),
    Fault("challenge-of-another-scheme", "The challenge is of the scheme Token.",
          _written(401, write=_of_other_scheme)),
    Fault("challenge-bare", "The challenge of a missing token is the word Bearer alone; the pointer is elsewhere.",
          _written(401, write=lambda denial: respond(denial, ("Bearer", bearer_challenge(denial, "DPoP")))
                   if _has_no_error(denial) else respond(denial, (bearer_challenge(denial),)))),
    Fault("challenge-url-unquoted", "The URL of the metadata is not quoted.",
          _worded(lambda text: text.replace('metadata="', "metadata=").replace('/mcp"', "/mcp"), 401)),
    Fault("challenge-commas-missing", "The parameters are separated by spaces.",
          _worded(lambda text: text.replace('", ', '" '), 401)),
    Fault("challenge-single-quotes", "The values stand in single quotes.",
          _worded(lambda text: text.replace('"', "'").replace("scope='invoices:read'", 'scope="a"'), 401)),
    Fault("challenge-parameter-twice", "The challenge names its realm twice.",
          _worded(lambda text: f'{text}, realm="a", realm="b"', 401)),
    Fault("challenge-quotes-inside", "The error description holds quotation marks.",
          _quoting_the_kid),
    Fault("challenge-without-pointer", "The challenge of a missing token does not lead to the metadata.",
          _without("resource_metadata", 401, when=_has_no_error)),
    Fault("challenge-without-pointer-on-bad-token", "The challenge of a rejected token does not lead to the metadata.",
          _without("resource_metadata", 401, when=_has_error)),
    Fault("challenge-without-scope", "The challenge of a missing token names no scope.",
          _without("scope", 401, when=_has_no_error)),
    Fault("challenge-scope-with-commas", "The scopes of the challenge are separated by commas.",
          _with("scope", "invoices:read, invoices:write", 401)),
    Fault("challenge-scope-empty", "The scope of the challenge is an empty string.",
          _with("scope", "", 401)),
    Fault("error-not-invalid-token", "A rejected token is called an unauthorized client.",
          _with("error", "unauthorized_client", 401)),
    Fault("error-missing", "A rejected token is refused without an error code.",
          _without("error", 401)),
    Fault("session-id-on-refusal", "A 401 hands out a session id.",
          edited(_with_session_id)),
    Fault("result-in-refusal", "A 401 carries the result all the same.",
          edited(_with_result)),
    Fault("login-redirect", "Without a token the caller is sent to a login page.",
          edited(_login_page)),
    Fault("login-page", "Without a token the caller gets a login page with status 200.",
          edited(_html_page)),
    Fault("login-by-elicitation", "Without a token a tool asks the user to open the login page (URL elicitation).",
          edited(_elicited_login)),
    Fault("discovery-open", "The list of tools is open without a token.",
          _open_listing),
)  # fmt: skip

_ON_403 = (
    Fault("scope-denied-in-result", "A missing scope is told by a tool result with isError.",
          _scope_denied(_tool_error)),
    Fault("scope-denied-as-401", "A missing scope is answered with 401.",
          _scope_denied(_unauthorized)),
    Fault("scope-denied-unexplained", "A missing scope is answered with 403 without a challenge.",
          _written(403, write=_forbidden_unexplained)),
    Fault("scope-error-misnamed", "A missing scope is called access_denied.",
          _with("error", "access_denied", 403)),
    Fault("scope-not-named", "The 403 does not name the missing scope.",
          _without("scope", 403)),
    Fault("scope-misnamed", "The 403 names a scope that the token holds already.",
          _with("scope", "openid", 403)),
    Fault("scope-denied-without-pointer", "The 403 does not lead to the metadata.",
          _without("resource_metadata", 403)),
    Fault("scope-undeclared", "The export needs a scope that nobody was told of.",
          _scopes(required=_export_needs_read)),
)  # fmt: skip

_TRANSPORT = (
    Fault("long-token-breaks", "A long token ends in a server error.",
          edited(_breaks_on_length)),
    Fault("discover-empty", "server/discover does not say which revisions it speaks.",
          edited(_discover_is_unknown)),
    Fault("origin-ignored", "A foreign Origin is served.",
          _any_origin),
    Fault("version-ignored", "A protocol version that does not exist is served.",
          _any_version),
    Fault("preflight-breaks", "A preflight ends in a server error.",
          _on_preflight(lambda _origin: Response(status_code=500))),
    Fault("preflight-credentials", "A preflight allows credentials to every origin.",
          _on_preflight(_credentials_for_all)),
    Fault("challenge-hidden", "Browsers may call, but not read the challenge.",
          _hide_challenge),
)  # fmt: skip

FAULTS = (*_ON_401, *_ON_403, *_TRANSPORT)
