"""Every way into the endpoint, tried without a token."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeAlias
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Answer, Reading, Refusal, Refused, read
from mcp_auth_contract.checks.client import PrincipalSession, read_bodiless
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.presentation import Presentation
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import FormQuestion, OperationQuestion, ParityQuestion
from mcp_auth_contract.checks.tokens.probe import ask_without_token
from mcp_auth_contract.checks.transport.callers import CALLERS
from mcp_auth_contract.checks.transport.observation import (
    EndpointObserved,
    MirrorObserved,
    ParityObserved,
    PreflightObserved,
)
from mcp_auth_contract.contract import Operation, operations
from mcp_auth_contract.model import Revision
from mcp_auth_contract.wire import Call, Message, Request, encode

BROWSER_ORIGIN = "http://localhost:6274"
"""The origin of a browser client on the developer's own machine."""

_ASKED_HEADERS = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-session-id"
_STREAM = "text/event-stream"
_CANCELLED: Mapping[str, object] = {
    "jsonrpc": "2.0",
    "method": "notifications/cancelled",
    "params": {"requestId": 999999, "reason": "probe"},
}
_RESPONSE: Mapping[str, object] = {"jsonrpc": "2.0", "id": 999999, "result": {}}

_Seen: TypeAlias = tuple[Answer, Reading, *tuple[Answer, ...]]
"""The answer that decides, how it reads, and the others there were."""

_Send: TypeAlias = Callable[[PrincipalSession, Operation], Awaitable[_Seen]]
"""Sends one form of a request without a token: complete otherwise, with the id of a live session."""


def _unanswered(value: Mapping[str, object]) -> _Send:
    """POST a message to which no reply is due."""

    async def send(session: PrincipalSession, operation: Operation) -> _Seen:
        message = Message((await session.calling(operation)).headers, dict(value), None)
        answer = (await session.send(message, token=None)).answer
        return answer, read(answer, expects_reply=False)

    return send


def _bodiless(verb: str, accept: str) -> _Send:
    """Use another HTTP method; of GET only an event stream is a way in."""

    async def send(session: PrincipalSession, _operation: Operation) -> _Seen:
        answer = (await session.bodiless(verb, accept=accept, token=None)).answer
        return answer, read_bodiless(answer)

    return send


async def _batch(session: PrincipalSession, operation: Operation) -> _Seen:
    """POST the call inside a JSON-RPC array of one (MCP 2025-03-26)."""
    message = await session.calling(operation)
    answer = (await session.send(message, token=None, body=encode([message.value]))).answer
    return answer, read(answer)


async def _listen(session: PrincipalSession, _operation: Operation) -> _Seen:
    """Open a subscription stream (MCP 2026-07-28)."""
    message = await session.message(Call("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
    answer = (await session.send(message, token=None, reply=False)).answer
    return answer, read(answer, expects_reply=False)


def _typed(media: str | None) -> _Send:
    """POST the call with another Content-Type, as a web page may do without a preflight."""

    async def send(session: PrincipalSession, operation: Operation) -> _Seen:
        message = await session.calling(operation)
        kept = tuple(pair for pair in message.headers if pair[0] != "Content-Type")
        typed = () if media is None else (("Content-Type", media),)
        answer = (await session.send(replace(message, headers=kept + typed), token=None)).answer
        return answer, read(answer)

    return send


def _as(media: str) -> tuple[str, _Send]:
    return f"the message as {media}", _typed(media)


def _spelled(spell: Callable[[str], str]) -> _Send:
    """POST the call to another spelling of the path; what the path does not have is not served."""

    async def send(session: PrincipalSession, operation: Operation) -> _Seen:
        parts = urlsplit(session.context.endpoint)
        path = parts.path or "/"
        spelled = spell(path) if path.rstrip("/") else path
        if spelled == path:
            return Answer("", "POST", session.context.endpoint, status=404), Refused(Refusal.NOT_SERVED)
        return await _post_to(f"{spelled}?{parts.query}" if parts.query else spelled, session, operation)

    return send


async def _with_query(session: PrincipalSession, operation: Operation) -> _Seen:
    parts = urlsplit(session.context.endpoint)
    query = f"{parts.query}&probe=1" if parts.query else "probe=1"
    return await _post_to(f"{parts.path or '/'}?{query}", session, operation)


async def _post_to(target: str, session: PrincipalSession, operation: Operation) -> _Seen:
    message, context = await session.calling(operation), session.context
    sent = Request(
        "POST", context.endpoint, message.headers, message.body, target=target.encode(), expects_id=message.id
    )
    answer = await context.conversation.http.send(sent)
    return answer, read(answer)


def _percent_encoded(path: str) -> str:
    """Write the last letter of a path in its encoded form."""
    at = next((at for at in range(len(path) - 1, -1, -1) if path[at].isalnum()), None)
    return path if at is None else f"{path[:at]}%{ord(path[at]):02x}{path[at + 1 :]}"


def _claiming(headers: tuple[tuple[str, str], ...]) -> _Send:
    """POST the call with headers that say where it comes from; under another Host nothing need be served at all."""

    async def send(session: PrincipalSession, operation: Operation) -> _Seen:
        answer = (await session.send(await session.calling(operation), token=Presentation(headers))).answer
        reading = read(answer)
        elsewhere = any(name == "Host" for name, _ in headers) and isinstance(reading, Ambiguous)
        return answer, Refused(Refusal.NOT_SERVED) if elsewhere else reading

    return send


async def _legacy_sse(session: PrincipalSession, _operation: Operation) -> _Seen:
    """GET the old transport's stream at the endpoint's siblings (MCP 2024-11-05)."""
    parts = urlsplit(session.context.endpoint)
    paths = dict.fromkeys([f"{parts.path.rsplit('/', 1)[0]}/sse", "/sse", f"{parts.path.rstrip('/')}/sse"])
    origin = f"{parts.scheme}://{parts.netloc}"
    answers = [await session.context.fetch(f"{origin}{path}", accept=_STREAM) for path in paths if path != parts.path]
    for answer in answers:
        if answer.status == 200 and answer.stream:
            return answer, Accepted(), *answers
    # What was not answered may be open.
    for answer in answers:
        if answer.status is None or answer.limits_rate or (answer.status >= 500 and answer.status != 501):
            return answer, Ambiguous(AmbiguityReason.NO_ANSWER), *answers
    return answers[0], Refused(Refusal.NOT_SERVED), *answers


_FORMS: Mapping[str, tuple[str, _Send]] = {
    "notification": ("a JSON-RPC notification", _unanswered(_CANCELLED)),
    "client_response": ("a JSON-RPC response object", _unanswered(_RESPONSE)),
    "get_stream": ("GET for the event stream", _bodiless("GET", _STREAM)),
    "head": ("HEAD", _bodiless("HEAD", "*/*")),
    "batch": ("a JSON-RPC array", _batch),
    "listen": ("subscriptions/listen", _listen),
    "legacy_sse": ("the HTTP+SSE transport of 2024-11-05 beside the endpoint", _legacy_sse),
    "path_trailing_slash": (
        "the path with a slash more, or less, at its end",
        _spelled(lambda path: path.rstrip("/") if path.endswith("/") else f"{path}/"),
    ),
    "path_double_slash": ("the path with its first slash doubled", _spelled(lambda path: f"/{path}")),
    "path_query": ("the path with a query", _with_query),
    "path_parameter": ("the path with a ;parameter", _spelled(lambda path: f"{path};probe=1")),
    "path_percent_encoded": ("the path with a letter percent-encoded", _spelled(_percent_encoded)),
    "path_upper_case": ("the path in the other case", _spelled(str.swapcase)),
    "path_dot_segment": ("the path with a dot segment", _spelled(lambda path: f"/.{path}")),
    "content_type_text": _as("text/plain"),
    "content_type_form": _as("application/x-www-form-urlencoded"),
    "content_type_multipart": _as("multipart/form-data; boundary=probe"),
    "content_type_octets": _as("application/octet-stream"),
    "content_type_xml": _as("application/xml"),
    "content_type_unknown": _as("application/x-probe"),
    "content_type_missing": ("the message without a Content-Type", _typed(None)),
    "content_type_charset": _as("application/json; charset=utf-8"),
    **{form: (words, _claiming(headers)) for form, (words, headers) in CALLERS.items()},
}


@probe("Is this way into the endpoint closed without a token?", forms=_FORMS, anonymous=True)
async def ask_endpoint(question: FormQuestion, context: Context) -> EndpointObserved:
    """Try one way into the endpoint without a token."""
    _, send = _FORMS[question.form]
    session = PrincipalSession(context, question.revision, question.principal)
    answer, reading, *also = await send(session, question.operation)
    return EndpointObserved(question.form, answer, reading, tuple(also))


def _field(prefix: str, value: str | None) -> Callable[[Message, str], Message | None]:
    """Give the header fields of a name, or whose names begin so, another value (None: leave them out)."""

    def change(message: Message, other: str) -> Message | None:
        named = {name for name, _ in message.headers if name.startswith(prefix)}
        kept = tuple(pair for pair in message.headers if pair[0] not in named)
        said = () if value is None else tuple((name, value.format(other=other)) for name in named)
        return replace(message, headers=(*kept, *said)) if named else None

    return change


_OLDER = Revision.R2025_11_25
_MIRRORS: Mapping[str, tuple[str, Callable[[Message, str], Message | None]]] = {
    "method_other": ("another method in Mcp-Method", _field("Mcp-Method", "tools/list")),
    "method_missing": ("no Mcp-Method", _field("Mcp-Method", None)),
    "name_other": ("another name in Mcp-Name", _field("Mcp-Name", "{other}")),
    "name_missing": ("no Mcp-Name", _field("Mcp-Name", None)),
    "version_other": ("another version in MCP-Protocol-Version", _field("MCP-Protocol-Version", _OLDER)),
    "parameter_other": ("another value in Mcp-Param", _field("Mcp-Param-", "other")),
    "parameter_missing": ("no Mcp-Param for an argument that the schema marks", _field("Mcp-Param-", None)),
}


@probe("Does a header field that contradicts the message count?", forms=_MIRRORS)
async def ask_mirror(question: FormQuestion, context: Context) -> MirrorObserved:
    """Make a call with the good token, and change or leave out one header field that repeats the body."""
    words, change = _MIRRORS[question.form]
    session = PrincipalSession(context, question.revision, question.principal)
    operation = question.operation
    others = (one.name for one in operations(context.contract) if one.kind is operation.kind)
    other = next((name for name in others if name != operation.name and name.isascii()), "no-such-thing")
    changed = change(await session.calling(operation), other)
    if changed is None:
        return MirrorObserved()
    older = _OLDER if question.form == "version_other" else None
    return MirrorObserved(await session.attempt(changed, words), older)


@probe("Is an operation equally closed in both eras?")
async def ask_parity(question: ParityQuestion, context: Context) -> ParityObserved:
    """Make the same call without a token in one revision of each era."""
    eras: dict[bool, Revision] = {}
    for revision in context.revisions:
        eras.setdefault(revision.stateless, revision)
    readings = []
    for revision in eras.values():
        asked = await ask_without_token(context, revision, question.operation, question.principal)
        attempt = asked.accepted or asked.attempts[-1]
        readings.append((revision, attempt.answer, attempt.reading))
    return ParityObserved(tuple(readings))


@probe("What does a browser's preflight meet?", anonymous=True)
async def ask_preflight(question: OperationQuestion, context: Context) -> PreflightObserved:
    """Send the preflight of a browser client, then its call without a token."""
    origin = ("Origin", BROWSER_ORIGIN)
    asked = (("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", _ASKED_HEADERS))
    preflight = await context.conversation.http.send(Request("OPTIONS", context.endpoint, (origin, *asked)))
    browser = PrincipalSession(context, question.revision, None)
    called = await browser.call(question.operation, token=Presentation((origin,)), note="from a browser")
    return PreflightObserved(BROWSER_ORIGIN, preflight, called.answer)
