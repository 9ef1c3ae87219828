"""Faults of servers that sign users in for single tools: what results and descriptions of tools tell the host."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.responses import JSONResponse, Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import Denial
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.incoming import Incoming, parse_json
from mcp_auth_contract_lab.legacy import run
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import discovery_is_open, with_schemes
from mcp_auth_contract_lab.tools import Tool

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS"]

_Result: TypeAlias = dict[str, Any]
_Edit: TypeAlias = "Callable[[Lab, Incoming, Mapping[str, Any], _Result], Awaitable[Response | None]]"

_MEMBER = "mcp/www_authenticate"
_OTHER = "/.well-known/oauth-protected-resource/other"
_ERROR = re.compile(r', error="[^"]*"|error="[^"]*", ')
_DESCRIPTION = re.compile(r', error_description="[^"]*"')
_POINTER = re.compile(r'resource_metadata="[^"]*", ')
_SCOPE = re.compile(r', scope="[^"]*"')


def _missing(denial: Denial) -> bool:
    return denial.get("error") is None


def _bad(denial: Denial) -> bool:
    return denial.get("error") == "invalid_token"


def _weak(denial: Denial) -> bool:
    return denial.get("error") == "insufficient_scope"


def _any(_denial: Denial) -> bool:
    return True


def _told(edit: Callable[[_Result], _Result], when: Callable[[Denial], bool] = _any) -> Change:
    """Change the result that refuses."""

    def change(behaviour: Behaviour) -> Behaviour:
        sound = behaviour.challenges.told

        def told(denial: Denial) -> _Result:
            return edit(sound(denial)) if when(denial) else sound(denial)

        return replace(behaviour, challenges=replace(behaviour.challenges, told=told))

    return change


def _worded(edit: Callable[[str], str], when: Callable[[Denial], bool] = _any) -> Change:
    """Change the text of the challenge in the result."""

    def edited(result: _Result) -> _Result:
        return {**result, "_meta": {_MEMBER: [edit(text) for text in result["_meta"][_MEMBER]]}}

    return _told(edited, when)


def _without(pattern: re.Pattern[str], when: Callable[[Denial], bool] = _any) -> Change:
    return _worded(lambda text: pattern.sub("", text), when)


def _by_status(when: Callable[[Denial], bool]) -> Change:
    """Refuse by the HTTP status after all."""
    return lambda behaviour: replace(
        behaviour, challenges=replace(behaviour.challenges, in_tool_result=lambda denial: not when(denial))
    )


def _answered(edit: _Edit) -> Change:
    """Change the result of a tool call, after it was answered soundly. None: leave it."""

    async def intercept(lab: "Lab", incoming: Incoming) -> Response | None:
        message: Any = await incoming.message() if incoming.method == "POST" else None
        if not isinstance(message, dict) or message.get("method") != "tools/call" or incoming.header("origin"):
            return None
        response = await lab.guarded(incoming)
        reply = parse_json(bytes(response.body))
        if not isinstance(reply, dict) or not isinstance(reply.get("result"), dict):
            return response
        return await edit(lab, incoming, message, reply["result"]) or response

    return lambda behaviour: replace(behaviour, endpoint=replace(behaviour.endpoint, intercept=intercept))


def _refuses(result: _Result) -> bool:
    return _MEMBER in result.get("_meta", {})


async def _ran_first(lab: "Lab", _incoming: Incoming, message: Mapping[str, Any], result: _Result) -> Response | None:
    name = rpc.params_of(message).get("name")
    if not _refuses(result) or name == "update_invoice":
        return None
    ran = run(lab, message, DEFAULT_USER, Revision.R2025_06_18).get("result", {})
    beside = {"structuredContent": ran.get("structuredContent", {})}
    return rpc.rpc_response(rpc.result_message(message["id"], {**result, **beside}))


async def _as_401(_lab: "Lab", incoming: Incoming, message: Mapping[str, Any], result: _Result) -> Response | None:
    if not _refuses(result) or incoming.header("authorization") is not None:
        return None
    headers = {"www-authenticate": result["_meta"][_MEMBER][0]}
    return rpc.rpc_response(rpc.result_message(message["id"], result), 401, headers)


async def _no_error(_lab: "Lab", _incoming: Incoming, message: Mapping[str, Any], result: _Result) -> Response | None:
    if not _refuses(result) or rpc.params_of(message).get("name") != "export_invoices":
        return None
    if "insufficient_scope" not in result["_meta"][_MEMBER][0]:
        return None
    return rpc.rpc_response(rpc.result_message(message["id"], {**result, "isError": False}))


async def _on_success(_lab: "Lab", _incoming: Incoming, message: Mapping[str, Any], result: _Result) -> Response | None:
    if _refuses(result) or result.get("isError"):
        return None
    meta = {_MEMBER: ['Bearer error="invalid_token", error_description="Sign in to see more"']}
    return rpc.rpc_response(rpc.result_message(message["id"], {**result, "_meta": meta}))


async def _other_document(_lab: "Lab", incoming: Incoming) -> Response | None:
    if incoming.path != _OTHER:
        return None
    return JSONResponse({"resource": "https://other.example.com/mcp", "authorization_servers": []})


def _to_other(behaviour: Behaviour) -> Behaviour:
    pointed = _worded(lambda text: text.replace('/mcp"', '/other"'))(behaviour)
    return replace(pointed, endpoint=replace(pointed.endpoint, intercept=_other_document))


def _everything_gated(behaviour: Behaviour) -> Behaviour:
    return replace(behaviour, endpoint=replace(behaviour.endpoint, open_to_all=discovery_is_open))


def _described(edit: Callable[[_Result], _Result], name: str = "get_invoice") -> Change:
    """Describe one tool in another way."""

    def described(tool: Tool) -> _Result:
        return edit(with_schemes(tool)) if tool.name == name else with_schemes(tool)

    return lambda behaviour: replace(behaviour, listing=replace(behaviour.listing, described=described))


def _saying(*schemes: Mapping[str, Any]) -> Callable[[_Result], _Result]:
    said = list(schemes)
    return lambda entry: {**entry, "securitySchemes": said, "_meta": {"securitySchemes": said}}


_NOAUTH = {"type": "noauth"}
_READ = {"type": "oauth2", "scopes": ["invoices:read"]}

_REFUSALS = (
    Fault("tool-challenge-401-without-token", "A tool without a token is answered with 401.",
          _by_status(_missing)),
    Fault("tool-challenge-401-on-bad-token", "A tool with a bad token is answered with 401.",
          _by_status(_bad)),
    Fault("tool-challenge-403-on-missing-scope", "A tool that lacks a scope is answered with 403.",
          _by_status(_weak)),
    Fault("tool-challenge-in-401", "The result with the challenge is the body of a 401.",
          _answered(_as_401)),
    Fault("tool-challenge-left-out", "A tool that lacks a scope says isError, and no more.",
          _told(lambda result: {**result, "_meta": {}}, _weak)),
    Fault("tool-challenge-no-error-result", "The export without its scope answers with a challenge and no isError.",
          _answered(_no_error)),
    Fault("tool-challenge-without-text", "The result with the challenge has no content.",
          _told(lambda result: {**result, "content": []})),
    Fault("tool-challenge-beside-data", "The tool runs first, and then asks for a sign-in.",
          _answered(_ran_first)),
    Fault("tool-challenge-on-success", "Every result has a challenge.",
          _answered(_on_success)),
    Fault("tool-challenge-for-public-tool", "The tool that is open to everybody asks for a sign-in.",
          _everything_gated),
)  # fmt: skip

_CHALLENGES = (
    Fault("tool-challenge-commas-missing", "The parameters in the result are separated by spaces.",
          _worded(lambda text: text.replace('", ', '" '))),
    Fault("tool-challenge-as-object", "The challenge in the result is an object.",
          _told(lambda result: {**result, "_meta": {_MEMBER: {"scheme": "Bearer"}}})),
    Fault("tool-challenge-of-another-scheme", "The challenge in the result is of the scheme Token.",
          _worded(lambda text: text.replace("Bearer", "Token"))),
    Fault("tool-challenge-without-error", "The challenge in the result has no error.",
          _without(_ERROR)),
    Fault("tool-challenge-without-description", "The challenge in the result has no error_description.",
          _without(_DESCRIPTION)),
    Fault("tool-challenge-without-pointer", "The challenge in the result does not lead to the metadata.",
          _without(_POINTER)),
    Fault("tool-challenge-pointer-to-nowhere", "The challenge in the result leads to a page that is not there.",
          _worded(lambda text: text.replace('/mcp"', '/gone"'))),
    Fault("tool-challenge-pointer-to-another", "The challenge in the result leads to another resource's metadata.",
          _to_other),
    Fault("tool-challenge-bad-token-misnamed", "A bad token is called insufficient_scope in the result.",
          _worded(lambda text: text.replace("invalid_token", "insufficient_scope"), _bad)),
    Fault("tool-challenge-scope-misnamed", "A missing scope is called invalid_token in the result.",
          _worded(lambda text: text.replace("insufficient_scope", "invalid_token"), _weak)),
    Fault("tool-challenge-scope-not-named", "The result does not name the missing scope.",
          _without(_SCOPE, _weak)),
)  # fmt: skip

_SCHEMES = (
    Fault("tool-challenge-schemes-missing", "One protected tool states no securitySchemes.",
          _described(lambda entry: {
              name: value for name, value in entry.items() if name not in ("securitySchemes", "_meta")})),
    Fault("tool-challenge-schemes-unknown", "One tool states a scheme of type http, as OpenAPI would.",
          _described(_saying({"type": "http", "scheme": "bearer"}))),
    Fault("tool-challenge-schemes-scopes-as-text", "The scopes of one tool are one string.",
          _described(_saying({"type": "oauth2", "scopes": "invoices:read"}))),
    Fault("tool-challenge-schemes-noauth", "A protected tool states noauth.",
          _described(_saying(_NOAUTH, _READ))),
    Fault("tool-challenge-schemes-linked-only", "The tool that is open to everybody states oauth2 alone.",
          _described(_saying(_READ), "whoami")),
    Fault("tool-challenge-schemes-other-scopes", "A tool states a scope that it does not need.",
          _described(_saying({"type": "oauth2", "scopes": ["invoices:read", "invoices:write"]}))),
    Fault("tool-challenge-schemes-mirror-differs", "A tool says one thing, and its _meta another.",
          _described(lambda entry: {**entry, "_meta": {"securitySchemes": [_NOAUTH]}})),
)  # fmt: skip

FAULTS = tuple(replace(fault, within=Profile.TOOL_CHALLENGE) for fault in (*_REFUSALS, *_CHALLENGES, *_SCHEMES))
