"""Every way into the endpoint, tried without a token."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from mcp_auth_contract.model import Revision
from mcp_auth_contract.observations import (
    Accepted,
    Ambiguous,
    Answer,
    Attempt,
    DoorObserved,
    Doubt,
    ParityObserved,
    PreflightObserved,
    Reading,
    Refusal,
    Refused,
    SessionEndObserved,
    read,
)
from mcp_auth_contract.probes.bench import Bench
from mcp_auth_contract.probes.calls import ask_call, effective
from mcp_auth_contract.probes.question import Question
from mcp_auth_contract.wire import (
    Call,
    HeaderPair,
    Message,
    Request,
    encode,
    operation_call,
    read_headers,
    request,
)

__all__ = ["ask_door", "ask_parity", "ask_preflight", "ask_session_end"]

BROWSER_ORIGIN = "http://localhost:6274"
"""The origin of a browser client on the developer's own machine."""

_STREAM = "text/event-stream"
_CONTENT_TYPES = {
    "content_type_text": "text/plain",
    "content_type_form": "application/x-www-form-urlencoded",
    "content_type_missing": None,
    "content_type_charset": "application/json; charset=utf-8",
}


async def ask_door(question: Question, bench: Bench) -> DoorObserved:
    """Try one door of the endpoint without a token; the request is otherwise complete, live session included."""
    revision = question.revision
    if revision is None:
        raise ValueError("a door needs a revision")
    live = await bench.live(revision, question.principal)
    knock = _Knock(question, bench, live.revision if live else revision, live.session if live else None)
    door = question.word
    if door.startswith("path_"):
        return await knock.path(door)
    if door in _CONTENT_TYPES:
        return await knock.content_type(door)
    match door:
        case "notification":
            value: dict[str, object] = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": 999999, "reason": "probe"},
            }
            return await knock.message(door, value)
        case "client_response":
            return await knock.message(door, {"jsonrpc": "2.0", "id": 999999, "result": {}})
        case "get_stream":
            return await knock.verb(door, "GET", _STREAM)
        case "head":
            return await knock.verb(door, "HEAD", "*/*")
        case "batch":
            return await knock.batch()
        case "listen":
            return await knock.listen()
        case "legacy_sse":
            return await knock.legacy_sse()
        case _:
            raise ValueError(f"no such door: {door}")


@dataclass(frozen=True, slots=True)
class _Knock:
    """One question at one door. `session` is the raw id of a live session, if the server hands them out."""

    question: Question
    bench: Bench
    revision: Revision
    session: str | None

    def _call(self) -> Message:
        operation = self.question.operation
        if operation is None:
            raise ValueError("a door needs an operation")
        call = operation_call(operation.kind, operation.name, operation.arguments)
        if self.bench.minter is None:
            call = Call(operation.name, {})
        return request(self.revision, call, next(self.bench.conversation.ids), session=self.session)

    async def _send(self, wanted: Request) -> Answer:
        return await self.bench.conversation.door.send(wanted)

    async def message(self, door: str, value: dict[str, object]) -> DoorObserved:
        """POST a message to which no reply is due."""
        headers = self._call().headers
        answer = await self._send(Request("POST", self.bench.endpoint, headers, encode(value)))
        return DoorObserved(door, answer, read(answer, expects_reply=False))

    async def verb(self, door: str, verb: str, accept: str) -> DoorObserved:
        """Use another HTTP method on the endpoint."""
        headers = read_headers(self.revision, self.session, accept=accept)
        answer = await self._send(Request(verb, self.bench.endpoint, headers))
        reading = read(answer, expects_reply=False)
        if verb == "GET" and isinstance(reading, Accepted) and not answer.stream:
            # A page for people at the same address is no door: only an event stream is.
            reading = Ambiguous(Doubt.UNREADABLE)
        return DoorObserved(door, answer, reading)

    async def batch(self) -> DoorObserved:
        """POST the call inside a JSON-RPC array of one (MCP 2025-03-26)."""
        call = self._call()
        sent = Request("POST", self.bench.endpoint, call.headers, encode([call.value]), expects_id=call.id)
        answer = await self._send(sent)
        return DoorObserved("batch", answer, read(answer))

    async def listen(self) -> DoorObserved:
        """Open a subscription stream (MCP 2026-07-28)."""
        call = Call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        message = request(self.revision, call, next(self.bench.conversation.ids))
        answer = await self._send(Request("POST", self.bench.endpoint, message.headers, message.body))
        reading = read(answer, expects_reply=False)
        return DoorObserved("listen", answer, reading)

    async def content_type(self, door: str) -> DoorObserved:
        """POST the call with another Content-Type, as a web page may do without a preflight."""
        call = self._call()
        media = _CONTENT_TYPES[door]
        headers: list[HeaderPair] = [pair for pair in call.headers if pair[0] != "Content-Type"]
        if media is not None:
            headers.append(("Content-Type", media))
        answer = await self._send(Request("POST", self.bench.endpoint, tuple(headers), call.body, expects_id=call.id))
        return DoorObserved(door, answer, read(answer))

    async def path(self, door: str) -> DoorObserved:
        """POST the call to another spelling of the endpoint's path."""
        call = self._call()
        target = _spelt(self.bench.endpoint, door)
        if target is None:
            answer = Answer("", "POST", self.bench.endpoint, status=404)
            return DoorObserved(door, answer, Refused(Refusal.NOT_SERVED))
        sent = Request("POST", self.bench.endpoint, call.headers, call.body, target=target.encode(), expects_id=call.id)
        answer = await self._send(sent)
        return DoorObserved(door, answer, read(answer))

    async def legacy_sse(self) -> DoorObserved:
        """GET the old transport's stream at the endpoint's siblings (MCP 2024-11-05)."""
        parts = urlsplit(self.bench.endpoint)
        folder = parts.path.rsplit("/", 1)[0]
        paths = list(dict.fromkeys([f"{folder}/sse", "/sse", f"{parts.path.rstrip('/')}/sse"]))
        answers = [
            await self._send(Request("GET", f"{parts.scheme}://{parts.netloc}{path}", (("Accept", _STREAM),)))
            for path in paths
            if path != parts.path
        ]
        for answer in answers:
            if answer.status == 200 and answer.stream:
                return DoorObserved("legacy_sse", answer, Accepted(), tuple(answers))
        closed: Reading = Refused(Refusal.NOT_SERVED)
        unseen = [answer for answer in answers if _unseen(answer)]
        if unseen:  # what was not answered may be open
            closed = Ambiguous(Doubt.NO_ANSWER)
        return DoorObserved("legacy_sse", (unseen or answers)[0], closed, tuple(answers))


def _unseen(answer: Answer) -> bool:
    """Whether an answer says nothing about a place: none, a rate limit, a fault of the server."""
    return answer.status is None or answer.limits_rate or (answer.status >= 500 and answer.status != 501)


def _spelt(endpoint: str, door: str) -> str | None:
    """Return the request target in another spelling; None where the endpoint's path does not have one."""
    parts = urlsplit(endpoint)
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    word = path.rstrip("/")
    if not word:
        return f"{path}?probe=1" if door == "path_query" else None
    letter = next((at for at in range(len(path) - 1, -1, -1) if path[at].isalnum()), None)
    match door:
        case "path_trailing_slash":
            return f"{word if path.endswith('/') else path + '/'}{query}"
        case "path_double_slash":
            return f"/{path}{query}"
        case "path_query":
            return f"{path}{query}&probe=1" if query else f"{path}?probe=1"
        case "path_parameter":
            return f"{path};probe=1{query}"
        case "path_percent_encoded":
            return None if letter is None else f"{path[:letter]}%{ord(path[letter]):02x}{path[letter + 1 :]}{query}"
        case "path_upper_case":
            swapped = path.swapcase()
            return None if swapped == path else f"{swapped}{query}"
        case "path_dot_segment":
            return f"/.{path}{query}"
        case _:
            raise ValueError(f"no such spelling: {door}")


async def ask_session_end(question: Question, bench: Bench) -> SessionEndObserved:
    """Open a session, DELETE it without a token, and use it once more with one."""
    revision, principal, operation = question.revision, question.principal, question.operation
    if revision is None or principal is None or operation is None:
        raise ValueError("the end of a session needs a revision, a principal and an operation")
    if revision.stateless:
        return SessionEndObserved(session=False, ended=None, after=None)
    conversation, bearer = bench.conversation, bench.bearer(principal)
    handshake = await conversation.open_session(revision, bearer, note="a session to be ended")
    if handshake.session is None:
        return SessionEndObserved(session=False, ended=None, after=None)
    headers = read_headers(handshake.revision, handshake.session, accept="*/*")
    ended = await conversation.door.send(Request("DELETE", bench.endpoint, headers))
    call = operation_call(operation.kind, operation.name, operation.arguments)
    answer = await conversation.call(handshake.revision, call, bearer, session=handshake.session)
    after = Attempt("in the session after DELETE", "call", answer, read(answer))
    if isinstance(after.reading, Accepted):
        await conversation.close_session(handshake, bearer)
    return SessionEndObserved(session=True, ended=ended, after=after)


async def ask_parity(question: Question, bench: Bench) -> ParityObserved:
    """Make the same call without a token in one revision of each era."""
    readings = []
    for revision in _one_of_each_era(bench.revisions):
        asked = Question("call", revision=revision, operation=question.operation, principal=question.principal)
        attempt = effective(await ask_call(asked, bench))
        if attempt is not None:
            readings.append((revision, attempt.answer, attempt.reading))
    return ParityObserved(tuple(readings))


def _one_of_each_era(revisions: Sequence[Revision]) -> list[Revision]:
    eras: dict[bool, Revision] = {}
    for revision in revisions:
        eras.setdefault(revision.stateless, revision)
    return list(eras.values())


async def ask_preflight(question: Question, bench: Bench) -> PreflightObserved:
    """Send the preflight of a browser client, then its call without a token."""
    revision = question.revision
    if revision is None:
        raise ValueError("a preflight needs a revision")
    names = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-session-id"
    preflight = await bench.conversation.door.send(
        Request(
            "OPTIONS",
            bench.endpoint,
            (
                ("Origin", BROWSER_ORIGIN),
                ("Access-Control-Request-Method", "POST"),
                ("Access-Control-Request-Headers", names),
            ),
        )
    )
    call = Call("tools/list", {})
    if bench.minter is not None and question.operation is not None:
        operation = question.operation
        call = operation_call(operation.kind, operation.name, operation.arguments)
    challenged = await bench.conversation.call(revision, call, (("Origin", BROWSER_ORIGIN),), note="from a browser")
    return PreflightObserved(BROWSER_ORIGIN, preflight, challenged)
