"""Faults of servers that sign users in for single tools: what results and descriptions of tools tell the host."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from starlette.responses import JSONResponse, Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.challenges import Denial, in_result
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming, parse_json
from mcp_auth_contract_lab.legacy import run
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import discovery_is_open, with_schemes
from mcp_auth_contract_lab.steps import DEFAULT_USER, Message, always, intercepting
from mcp_auth_contract_lab.tools import Tool

FAULTS = Faults(within=Profile.TOOL_CHALLENGE)

_Result: TypeAlias = dict[str, Any]
_When: TypeAlias = Callable[[Denial], bool]

_MEMBER = "mcp/www_authenticate"
_SIGN_IN = 'Bearer error="invalid_token", error_description="Sign in to see more"'


def _for(error: str | None) -> _When:
    return lambda denial: denial.get("error") == error


_MISSING, _BAD, _WEAK = _for(None), _for("invalid_token"), _for("insufficient_scope")


def _refused_with(edit: Callable[[_Result], _Result], when: _When = always) -> Change:
    """Change the result that refuses."""

    def as_result(denial: Denial) -> _Result:
        return edit(in_result(denial)) if when(denial) else in_result(denial)

    return changing("challenges", as_result=as_result)


def _worded(pattern: str, by: str, when: _When = always) -> Change:
    """Change the text of the challenge in the result."""

    def edit(result: _Result) -> _Result:
        return {**result, "_meta": {_MEMBER: [re.sub(pattern, by, text) for text in result["_meta"][_MEMBER]]}}

    return _refused_with(edit, when)


def _by_status(when: _When) -> Change:
    """Refuse by the HTTP status after all."""
    return changing("challenges", in_tool_result=lambda denial: not when(denial))


def _refused(result: Message) -> bool:
    return _MEMBER in result.get("_meta", {})


def _answered(
    edit: Callable[[Lab, Message, _Result], _Result | None],
    *,
    status: int = 200,
    when: Callable[[Incoming], bool] = always,
) -> Change:
    """Change the result of a tool call, or the status that it comes with. None: leave it."""

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        message = await incoming.posted()
        if message.get("method") != "tools/call" or incoming.header("origin") or not when(incoming):
            return None
        response = await lab.guarded(incoming)
        reply = parse_json(bytes(response.body))
        if not isinstance(reply, dict) or not isinstance(reply.get("result"), dict):
            return response
        result = edit(lab, message, reply["result"])
        if result is None:
            return response
        headers = {} if status == 200 else {"www-authenticate": result["_meta"][_MEMBER][0]}
        return rpc.rpc_response(rpc.result_message(message["id"], result), status, headers)

    return intercepting(intercept=intercept)


@FAULTS.by(_answered)
def tool_challenge_beside_data(lab: Lab, message: Message, result: _Result) -> _Result | None:
    """The tool runs first, and then asks for a sign-in."""
    if not _refused(result) or rpc.params_of(message).get("name") == "update_invoice":
        return None
    ran = run(lab, message, DEFAULT_USER, Revision.R2025_06_18).get("result", {})
    return {**result, "structuredContent": ran.get("structuredContent", {})}


@FAULTS.by(_answered)
def tool_challenge_no_error_result(_lab: Lab, message: Message, result: _Result) -> _Result | None:
    """The export without its scope answers with a challenge and no isError."""
    weak = _refused(result) and "insufficient_scope" in result["_meta"][_MEMBER][0]
    return {**result, "isError": False} if weak and rpc.params_of(message).get("name") == "export_invoices" else None


@FAULTS.by(lambda intercept: all_of(_worded('/mcp"', '/other"'), intercepting(intercept=intercept)))
async def tool_challenge_pointer_to_another(_lab: Lab, incoming: Incoming) -> Response | None:
    """The challenge in the result leads to another resource's metadata."""
    if incoming.path != "/.well-known/oauth-protected-resource/other":
        return None
    return JSONResponse({"resource": "https://other.example.com/mcp", "authorization_servers": []})


def _described(edit: Callable[[_Result], _Result], name: str = "get_invoice") -> Change:
    """Describe one tool in another way."""

    def described(tool: Tool) -> _Result:
        return edit(with_schemes(tool)) if tool.name == name else with_schemes(tool)

    return changing("listing", described=described)


def _stating(*schemes: Mapping[str, Any], name: str = "get_invoice") -> Change:
    said = {"securitySchemes": list(schemes)}
    return _described(lambda entry: {**entry, **said, "_meta": said}, name)


_NOAUTH = {"type": "noauth"}
_READ = {"type": "oauth2", "scopes": ["invoices:read"]}

FAULTS.rows(
    ("tool-challenge-in-401", "The result with the challenge is the body of a 401.",
     _answered(lambda _lab, _message, result: result if _refused(result) else None, status=401,
               when=lambda incoming: incoming.header("authorization") is None)),
    ("tool-challenge-on-success", "Every result has a challenge.",
     _answered(lambda _lab, _message, result: (
         None if _refused(result) or result.get("isError") else {**result, "_meta": {_MEMBER: [_SIGN_IN]}}))),
    ("tool-challenge-401-without-token", "A tool without a token is answered with 401.", _by_status(_MISSING)),
    ("tool-challenge-expired-unexplained", "A tool with an expired token says isError, and no more.",
     _refused_with(lambda result: {**result, "_meta": {}},
                   lambda denial: "expired" in (denial.get("error_description") or ""))),
    ("tool-challenge-403-on-missing-scope", "A tool that lacks a scope is answered with 403.", _by_status(_WEAK)),
    ("tool-challenge-left-out", "A tool that lacks a scope says isError, and no more.",
     _refused_with(lambda result: {**result, "_meta": {}}, _WEAK)),
    ("tool-challenge-without-text", "The result with the challenge has no content.",
     _refused_with(lambda result: {**result, "content": []})),
    ("tool-challenge-for-public-tool", "The tool that is open to everybody asks for a sign-in.",
     intercepting(open_to_all=discovery_is_open)),
    ("tool-challenge-commas-missing", "The parameters in the result are separated by spaces.", _worded('", ', '" ')),
    ("tool-challenge-as-object", "The challenge in the result is an object.",
     _refused_with(lambda result: {**result, "_meta": {_MEMBER: {"scheme": "Bearer"}}})),
    ("tool-challenge-of-another-scheme", "The challenge in the result is of the scheme Token.",
     _worded("Bearer", "Token")),
    ("tool-challenge-without-error", "The challenge in the result has no error.",
     _worded(', error="[^"]*"|error="[^"]*", ', "")),
    ("tool-challenge-without-description", "The challenge in the result has no error_description.",
     _worded(', error_description="[^"]*"', "")),
    ("tool-challenge-without-pointer", "The challenge in the result does not lead to the metadata.",
     _worded('resource_metadata="[^"]*", ', "")),
    ("tool-challenge-pointer-to-nowhere", "The challenge in the result leads to a page that is not there.",
     _worded('/mcp"', '/gone"')),
    ("tool-challenge-bad-token-misnamed", "A bad token is called insufficient_scope in the result.",
     _worded("invalid_token", "insufficient_scope", _BAD)),
    ("tool-challenge-scope-misnamed", "A missing scope is called invalid_token in the result.",
     _worded("insufficient_scope", "invalid_token", _WEAK)),
    ("tool-challenge-scope-not-named", "The result does not name the missing scope.",
     _worded(', scope="[^"]*"', "", _WEAK)),
    ("tool-challenge-schemes-missing", "One protected tool states no securitySchemes.",
     _described(lambda entry: {name: entry[name] for name in entry if name not in ("securitySchemes", "_meta")})),
    ("tool-challenge-schemes-unknown", "One tool states a scheme of type http, as OpenAPI would.",
     _stating({"type": "http", "scheme": "bearer"})),
    ("tool-challenge-schemes-scopes-as-text", "The scopes of one tool are one string.",
     _stating({"type": "oauth2", "scopes": "invoices:read"})),
    ("tool-challenge-schemes-noauth", "A protected tool states noauth.", _stating(_NOAUTH, _READ)),
    ("tool-challenge-schemes-linked-only", "The tool that is open to everybody states oauth2 alone.",
     _stating(_READ, name="whoami")),
    ("tool-challenge-schemes-other-scopes", "A tool states a scope that it does not need.",
     _stating({"type": "oauth2", "scopes": ["invoices:read", "invoices:write"]})),
    ("tool-challenge-schemes-mirror-differs", "A tool says one thing, and its _meta another.",
     _described(lambda entry: {**entry, "_meta": {"securitySchemes": [_NOAUTH]}})),
)  # fmt: skip
