"""Provoking errors: what a caller can send that no server can serve."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.client import OWN, PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.leaks.observation import ErrorObserved
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import FormQuestion
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.wire import Call, Request

_TOO_LARGE = 5 * 1024 * 1024
_DEEP = 2000
_NOTHING = "kit-no-such-thing"

_Send: TypeAlias = Callable[[PrincipalSession, Operation], Awaitable[Answer]]


def _body(octets: bytes, *, signed_in: bool = True) -> _Send:
    """POST something else than the message."""

    async def send(session: PrincipalSession, operation: Operation) -> Answer:
        message, token = await session.calling(operation), OWN if signed_in else None
        return (await session.send(message, token=token, note="provoking an error", body=octets)).answer

    return send


def _call(method: str, params: Mapping[str, Any]) -> _Send:
    """Ask for what there is not."""

    async def send(session: PrincipalSession, _operation: Operation) -> Answer:
        message = await session.message(Call(method, dict(params)))
        return (await session.send(message, note="provoking an error")).answer

    return send


def _changed(member: str, value: Callable[[Any], object]) -> _Send:
    """Make the call with another value of a member of its params, and the header fields of the right one."""

    async def send(session: PrincipalSession, operation: Operation) -> Answer:
        message = await session.calling(operation)
        params = dict(message.value["params"])
        named = member if member in params else "uri"
        changed = {**message.value, "params": {**params, named: value(params.get(named))}}
        return (await session.send(replace(message, value=changed), note="provoking an error")).answer

    return send


def _of_other_types(arguments: object) -> object:
    if not isinstance(arguments, dict):
        return 7
    return {name: {"kit": [None, -1]} for name in arguments} or {_NOTHING: {"kit": [None, -1]}}


def _of_odd_text(arguments: object) -> object:
    odd = "kit'\"`%s%n\\ ${x} {{7*7}} \ud7ff\u0000"
    if not isinstance(arguments, dict):
        return f"kit://{odd}"
    return {name: odd if isinstance(value, str) else value for name, value in arguments.items()}


async def _elsewhere(session: PrincipalSession, _operation: Operation) -> Answer:
    """GET a path that there is not, with octets that are no UTF-8."""
    context = session.context
    path = f"{urlsplit(context.endpoint).path.rstrip('/')}/{_NOTHING}%ff%00"
    sent = Request("GET", context.endpoint, (("Accept", "*/*"),), target=path.encode(), note="provoking an error")
    return await context.conversation.http.send(sent)


_ARGUMENTS = frozenset({"argument_types", "argument_list", "argument_text"})
_ERRORS: Mapping[str, tuple[str, _Send]] = {
    "malformed_anonymous": ("malformed JSON without a token", _body(b'{"jsonrpc": "2.0", "id": 1,', signed_in=False)),
    "malformed": ("malformed JSON", _body(b'{"jsonrpc": "2.0", "id": 1, "method": \xff}')),
    "not_an_object": ("a text in the place of a message", _body(b'"kit"')),
    "deep": ("JSON nested too deep", _body(b"[" * _DEEP + b"]" * _DEEP)),
    "too_large": ("a body of 5 MiB", _body(b"{" + b" " * _TOO_LARGE + b"}")),
    "unknown_method": ("a method that there is not", _call("kit/unknown", {})),
    "unknown_tool": ("a tool that there is not", _call("tools/call", {"name": _NOTHING, "arguments": {}})),
    "unknown_resource": ("a resource that there is not", _call("resources/read", {"uri": f"kit://{_NOTHING}"})),
    "unknown_prompt": ("a prompt that there is not", _call("prompts/get", {"name": _NOTHING})),
    "unknown_path": ("a path that there is not", _elsewhere),
    "odd_cursor": ("a page token that nobody was given", _call("tools/list", {"cursor": "kit'\"\\"})),
    "argument_types": ("arguments of other types", _changed("arguments", _of_other_types)),
    "argument_list": ("a list in the place of the arguments", _changed("arguments", lambda _: ["kit"])),
    "argument_text": ("arguments with quotation marks and control characters", _changed("arguments", _of_odd_text)),
}


def _exists(form: str, operation: Operation, _revision: Revision) -> bool:
    return form not in _ARGUMENTS or operation.effect is not Effect.WRITE


@probe("What does the answer to a request give away that no server can serve?", forms=_ERRORS, exists=_exists)
async def ask_error(question: FormQuestion, context: Context) -> ErrorObserved:
    """Send one request that is wrong, with the good token unless the form says otherwise."""
    way, send = _ERRORS[question.form]
    session = PrincipalSession(context, question.revision, question.principal)
    return ErrorObserved(way, await send(session, question.operation), question.form == "too_large")
