"""Conversations with an MCP server: handshake, sessions, paginated lists, and which revisions it speaks."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.answers import Accepted, Answer, Reading, describe, read
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.model import Revision
from mcp_auth_contract.wire.conversation import Received
from mcp_auth_contract.wire.http import HttpClient
from mcp_auth_contract.wire.mcp import ACCEPT, Call, Message, initialize, notification, read_headers, request
from mcp_auth_contract.wire.request import HeaderPair, Request

_MOST_PAGES = 1000
_MOST_ENTRIES = 100_000
_MOST_SECONDS = 60.0
_PAGES_OF_THE_ENDLESS = 20


@dataclass(slots=True)
class Paging:
    """The lists of one run. One that had no end within the limits is not read that far a second time."""

    endless: set[str] = field(default_factory=set)

    def begin(self, name: str) -> "Pages":
        """Return the limits for a list that is about to be read."""
        return Pages(self, name)


@dataclass(slots=True)
class Pages:
    """The pages of one list, read so far."""

    paging: Paging
    name: str
    _seen: set[object] = field(default_factory=set)
    _pages: int = 0
    _entries: int = 0
    _begun: float = field(default_factory=stopwatch)

    def stop(self, cursor: object, entries: int = 0) -> str | None:
        """Count a page with that many entries; return why the one behind `cursor` is not read, None where it is."""
        self._pages += 1
        self._entries += entries
        if cursor in self._seen:
            return f"page {self._pages} leads back to a page that was read already, so the list has no end"
        self._seen.add(cursor)
        limit = _PAGES_OF_THE_ENDLESS if self.name in self.paging.endless else _MOST_PAGES
        took = stopwatch() - self._begun
        if self._pages < limit and self._entries < _MOST_ENTRIES and took < _MOST_SECONDS:
            return None
        self.paging.endless.add(self.name)
        return (
            f"the list goes on behind page {self._pages}, where reading stopped "
            f"({limit:,} pages, {_MOST_ENTRIES:,} entries or {_MOST_SECONDS:g} s are read at most)"
        )


Credentials = Sequence[HeaderPair]
"""Header fields that the caller decides on."""

_MODERN_ERRORS = frozenset({-32020, -32021, -32022})
# A server may hand out what cannot be sent back (MCP demands visible ASCII); an id like that is none.
_SENDABLE = re.compile(r"[\t\x20-\x7e\x80-\U0010ffff]+")


@dataclass(frozen=True, slots=True)
class Handshake:
    """An `initialize` and what came of it. `session` is the raw id, None when the server hands none out.

    `revision` is what the server chose, or what was asked for if it chose one that is not known (`known`).
    """

    answer: Answer
    reading: Reading
    revision: Revision
    session: str | None = field(default=None, repr=False)
    server: Mapping[str, Any] = field(default_factory=dict)
    known: bool = False
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether the handshake was accepted."""
        return isinstance(self.reading, Accepted)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Sends MCP messages to one endpoint. Credentials are header fields that the caller decides on."""

    http: HttpClient
    endpoint: str
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    paging: Paging = field(default_factory=Paging)

    async def send(
        self, message: Message, credentials: Credentials = (), *, note: str = "", fresh: bool = False
    ) -> Answer:
        """POST one message."""
        return (await self.receive(message, credentials, note=note, fresh=fresh)).answer

    async def receive(
        self, message: Message, credentials: Credentials = (), *, note: str = "", fresh: bool = False
    ) -> Received:
        """POST one message and keep the raw values."""
        headers, awaited = (*credentials, *message.headers), message.id
        sent = Request("POST", self.endpoint, headers, message.body, expects_id=awaited, note=note, fresh=fresh)
        return await self.http.receive(sent)

    async def call(
        self,
        revision: Revision,
        call: Call,
        credentials: Credentials = (),
        *,
        session: str | None = None,
        note: str = "",
    ) -> Answer:
        """Send one request in a revision and return its answer."""
        return await self.send(request(revision, call, next(self.ids), session=session), credentials, note=note)

    async def open_session(
        self,
        revision: Revision,
        credentials: Credentials = (),
        *,
        capabilities: Mapping[str, Any] | None = None,
        note: str = "",
    ) -> Handshake:
        """Shake hands in a stateful revision: `initialize`, and `notifications/initialized` if that is accepted."""
        received = await self.receive(initialize(revision, next(self.ids), capabilities), credentials, note=note)
        handshake = handshake_of(received, revision)
        if not handshake.open:
            return handshake
        initialized = notification(handshake.revision, Call("notifications/initialized", {}), session=handshake.session)
        await self.send(initialized, credentials, note=note)
        return handshake

    async def close_session(self, handshake: Handshake, credentials: Credentials = ()) -> Answer | None:
        """End a session with DELETE, which a server may refuse with 405. None without a session."""
        if handshake.session is None:
            return None
        headers = (*credentials, *read_headers(handshake.revision, handshake.session, accept=ACCEPT))
        return await self.http.send(Request("DELETE", self.endpoint, headers, note="closing the session"))


def handshake_of(received: Received, revision: Revision) -> Handshake:
    """Read the answer to an `initialize` that asked for a revision."""
    reading = read(received.answer)
    if not isinstance(reading, Accepted):
        return Handshake(received.answer, reading, revision)
    result = (received.raw_reply or {}).get("result")
    result = result if isinstance(result, dict) else {}
    # What the server calls itself is for reports: never as received, for it may repeat the token.
    server = _parts(received.answer)[0].get("serverInfo")
    capabilities = result.get("capabilities")
    chosen = _revision(result.get("protocolVersion"))
    session = received.raw_header("mcp-session-id")
    return Handshake(
        received.answer,
        reading,
        chosen or revision,
        session if session is not None and _SENDABLE.fullmatch(session) else None,
        server if isinstance(server, dict) else {},
        known=chosen is not None,
        capabilities=capabilities if isinstance(capabilities, dict) else {},
    )


def _revision(value: object) -> Revision | None:
    return Revision(value) if isinstance(value, str) and value in set(Revision) else None


@dataclass(frozen=True, slots=True)
class Detected:
    """The revisions a server speaks, newest first, what it calls itself, and the answers that told."""

    revisions: tuple[Revision, ...]
    name: str | None
    version: str | None
    answers: tuple[Answer, ...]


async def detect_revisions(conversation: Conversation, credentials: Credentials = ()) -> Detected:
    """Find out which revisions a server speaks (MCP 2026-07-28, versioning: `server/discover`, then `initialize`).

    A 401 is neutral: it says nothing about the era, so neither era is excluded by it. An error that only the
    stateless era knows (-32020 to -32022) proves that era.
    """
    found: set[Revision] = set()
    server: dict[str, Any] = {}
    answers: list[Answer] = []

    discover, note = Call("server/discover", {}), "which revisions"
    discovered = await conversation.call(Revision.R2026_07_28, discover, credentials, note=note)
    answers.append(discovered)
    result, error = _parts(discovered)
    supported = result.get("supportedVersions")
    if not isinstance(supported, list):
        data = error.get("data")
        supported = data.get("supported") if isinstance(data, dict) and error.get("code") == -32022 else []
    if isinstance(supported, list):
        found |= {revision for each in supported if (revision := _revision(each)) is not None}
    code = error.get("code")
    if ((isinstance(code, int) and code in _MODERN_ERRORS) or "resultType" in result) and not found:
        found.add(Revision.R2026_07_28)
    meta = result.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get("io.modelcontextprotocol/serverInfo"), dict):
        server.update(meta["io.modelcontextprotocol/serverInfo"])

    handshake = await conversation.open_session(Revision.R2025_11_25, credentials, note=note)
    answers.append(handshake.answer)
    if handshake.open:
        if handshake.known:
            found.add(handshake.revision)
        server.update(handshake.server)
        await conversation.close_session(handshake, credentials)
    name, version = server.get("name"), server.get("version")
    return Detected(
        tuple(sorted(found, reverse=True)),
        name if isinstance(name, str) else None,
        version if isinstance(version, str) else None,
        tuple(answers),
    )


def _parts(answer: Answer) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    reply = answer.reply or {}
    result, error = reply.get("result"), reply.get("error")
    return result if isinstance(result, dict) else {}, error if isinstance(error, dict) else {}


@dataclass(frozen=True, slots=True)
class ListKind:
    """One kind of list: the method, the member of the result that holds it, and what tells its entries apart."""

    method: str
    member: str
    key: str


LISTS: Mapping[str, ListKind] = {
    "tools": ListKind("tools/list", "tools", "name"),
    "resources": ListKind("resources/list", "resources", "uri"),
    "templates": ListKind("resources/templates/list", "resourceTemplates", "uriTemplate"),
    "prompts": ListKind("prompts/list", "prompts", "name"),
}
"""Every kind of list that a server may have."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A paginated list, as far as the server gave it. `unread` is why that is not all of it, empty where it is."""

    entries: tuple[Mapping[str, Any], ...]
    answers: tuple[Answer, ...]
    unread: str = ""

    @property
    def complete(self) -> bool:
        """Whether it was read to its end."""
        return not self.unread


async def list_all(
    conversation: Conversation,
    revision: Revision,
    kind: ListKind,
    credentials: Credentials = (),
    *,
    session: str | None = None,
    fresh: bool = False,
    note: str = "",
    capabilities: Mapping[str, Any] | None = None,
) -> Listing:
    """Return every entry of a paginated list, as far as the limits of `Paging` let it be read."""
    entries: list[Mapping[str, Any]] = []
    answers: list[Answer] = []
    pages = conversation.paging.begin(kind.method)
    params: dict[str, Any] = {}
    while True:
        call, number = Call(kind.method, params), next(conversation.ids)
        message = request(revision, call, number, session=session, capabilities=capabilities)
        received = await conversation.receive(message, credentials, note=note, fresh=fresh)
        answers.append(received.answer)
        result, _ = _parts(received.answer)
        listed = result.get(kind.member)
        if isinstance(listed, list):
            entries += [entry for entry in listed if isinstance(entry, dict)]
        # A cursor goes back as it came, even where it looks like a token.
        raw = (received.raw_reply or {}).get("result")
        cursor = raw.get("nextCursor") if isinstance(raw, dict) else None
        page = f"page {len(answers)}: {describe(received.answer)}"
        if not isinstance(listed, list):
            unread = f"{page}, without {kind.member}" if isinstance(read(received.answer), Accepted) else page
        elif cursor is not None and not isinstance(cursor, str):
            unread = f"{page}, with a nextCursor that is no text"
        elif cursor is None:
            unread = ""
        elif (stop := pages.stop(cursor, len(listed))) is None:
            params = {"cursor": cursor}
            continue
        else:
            unread = stop
        return Listing(tuple(entries), tuple(answers), unread)
