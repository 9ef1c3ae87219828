"""What the first answers show before anything is judged: is this an MCP server, and does it ask for a token?"""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_auth_contract.answers import Accepted, Answer, describe, read
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.tokens.probe import ask_without_token
from mcp_auth_contract.contract import operations, principal_for
from mcp_auth_contract.errors import Unreachable
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import protected_resource_urls
from mcp_auth_contract.wire import Call, HttpClient

NO_TOKEN_AT_ALL = "this server asks for no token at all"  # noqa: S105  a sentence, no token

_NO_SUCH_TOOL = Call("tools/call", {"name": "mcp-auth-contract-no-such-tool", "arguments": {}})
_ASKED = 8
_NOT_SERVED = frozenset({404, 405, 410, 501})


def demand_answers(url: str, answers: Sequence[Answer]) -> None:
    """Raise Unreachable when not one request got an HTTP answer: a run would only wait for each case in turn."""
    if all(answer.status is None for answer in answers):
        raise Unreachable(f"{url}: something listens, but no request gets an HTTP answer: {describe(answers[0])}")


async def demand_mcp(http: HttpClient, url: str, answers: Sequence[Answer]) -> None:
    """Raise Unreachable when there is an HTTP server that is no MCP server: nothing that it says is about MCP.

    A server may hide from strangers, so one that publishes protected-resource metadata, or asks for credentials, is
    taken for one.
    """
    demand_answers(url, answers)
    if not all(map(_foreign, answers)) or await resource_metadata(http, url) is not None:
        return
    last = answers[-1]
    location = last.header("location")
    if location is not None and 300 <= (last.status or 0) < 400:
        raise Unreachable(f"{url}: this is no MCP endpoint: it redirects to {location}; if that is one, write its URL")
    raise Unreachable(
        f"{url}: this is no MCP server: it answers `initialize` with {_shown(last)}; write the URL of the MCP endpoint"
    )


def _foreign(answer: Answer) -> bool:
    """Whether an answer to an MCP request has nothing of MCP, or of somebody who asks for credentials."""
    if answer.status is None or answer.messages or answer.header_lines("www-authenticate"):
        return False
    return answer.status < 400 or answer.status in _NOT_SERVED


def _shown(answer: Answer) -> str:
    kind = f" and a body of type {answer.media_type}" if answer.media_type else ""
    return f"{answer.status}{kind}"


async def resource_metadata(http: HttpClient, url: str) -> Mapping[str, Any] | None:
    """Return the protected-resource metadata of an endpoint, where there is any (RFC 9728 §3.1)."""
    places = protected_resource_urls(url)
    for place in dict.fromkeys((places.path, places.root)):
        answer = await http.fetch(place, note="is this a protected resource?")
        document = None if answer.status != 200 else read_json_object(answer.text).value
        if document is not None and ("resource" in document or "authorization_servers" in document):
            return document
    return None


async def runs_without_token(context: Context, revision: Revision) -> bool:
    """Whether every operation that the contract says is closed, and that changes nothing, runs without a token."""
    reading = [one for one in operations(context.contract) if not one.public and one.effect is not Effect.WRITE]
    for operation in sorted(reading, key=lambda one: one != context.control)[:_ASKED]:
        principal = context.minter.caller(principal_for(context.contract, operation))
        observed = await ask_without_token(context, revision, operation, principal)
        if observed.accepted is None:
            return False
    return bool(reading)


async def asks_for_no_token(context: Context, revision: Revision) -> bool:
    """Whether a server without a contract does all that can be asked of it without a token, and wants none.

    The list of its tools is answered, a call of a tool that no server has is not refused for want of a token, and no
    metadata says where a token would come from.
    """
    session = PrincipalSession(context, revision, None)
    if not revision.stateless:
        session = await session.open(note="does it ask for a token?")
        if session.opened is None or not session.opened.open:
            return False
    listed = await session.say(Call("tools/list", {}), note="does it ask for a token?")
    called = await session.say(_NO_SUCH_TOOL, note="does it ask for a token?")
    await session.end()
    if not isinstance(read(listed.answer), Accepted) or called.answer.status in (401, 403):
        return False
    if any(answer.header_lines("www-authenticate") for answer in (listed.answer, called.answer)):
        return False
    if "mcp/www_authenticate" in called.answer.text:
        return False
    if not called.answer.messages:
        return False
    return await resource_metadata(context.conversation.http, context.endpoint) is None
