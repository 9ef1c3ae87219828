"""Sessions of the revisions before 2026-07-28, bound to the caller who opened them."""

import asyncio
import itertools
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.principal import ANONYMOUS, Principal
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.streams import PRIMING, event

_MOST_SESSIONS = 10_000
_MOST_NEWS = 20


@dataclass(frozen=True, slots=True)
class News:
    """One message of a session's stream, with the scopes that it takes to read it. Ids are unique in the server."""

    ident: str
    message: Mapping[str, Any]
    needed: frozenset[str]

    @property
    def text(self) -> str:
        """The event as it is written on the stream."""
        return event(self.message, self.ident)


@dataclass(slots=True)
class Listener:
    """An open stream: who listens, and what is still to be sent."""

    principal: Principal
    waiting: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)


@dataclass(slots=True)
class Session:
    """One session. `owner` is ANONYMOUS until a caller with a token uses a session opened without one.

    `apps` is set where the client said that it shows Views.
    """

    ident: str
    owner: Principal
    revision: Revision
    news: "deque[News]" = field(default_factory=lambda: deque(maxlen=_MOST_NEWS))
    listeners: list[Listener] = field(default_factory=list)
    apps: bool = False


def owner_alone(session: Session, principal: Principal) -> bool:
    """Only the same subject, tenant and client use a session; the token may be a newer one."""
    return session.owner.key == principal.key


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Steps: how ids are made, who may use a session, and as whom a request in it acts.

    Without `kept` the server is stateless: no id is handed out and the header is ignored. `foreign` is the
    status for another caller's session, `missing` for a request without an id. Without `stream` GET is 405.

    `audience` are the sessions whose streams a message of one session goes to, `log` what a resumed stream is looked
    for in, and `readable` whether a token may read a message. `unnamed` may pick a live session for a request without
    an id, `adopted` make one of an id that is not known; an ended session stays unless it is `forgotten`.
    """

    # 192 bits from the secure generator, in visible ASCII.
    new_id: Callable[[int], str] = lambda _count: secrets.token_urlsafe(24)
    usable_by: Callable[[Session, Principal], bool] = owner_alone
    acting: Callable[[Session, Principal], Principal] = lambda _session, principal: principal
    audience: Callable[[Session, Sequence[Session]], Iterable[Session]] = lambda session, _live: (session,)
    log: Callable[[Session, Sequence[Session]], Iterable[News]] = lambda session, _live: session.news
    # A message is read by tokens that could have asked for it.
    readable: Callable[[Principal, News], bool] = lambda principal, news: news.needed <= principal.scopes
    forgotten: Callable[[Session], bool] = lambda _session: True
    unnamed: Callable[[Sequence[Session]], Session | None] = lambda _live: None
    adopted: Callable[[str, Principal], Session | None] = lambda _ident, _principal: None
    kept: bool = True
    stream: bool = True
    foreign: int = 404
    missing: int = 400


class Sessions:
    """The live sessions of one server; the oldest gives way when there are too many."""

    def __init__(self, rules: SessionRules) -> None:
        self._rules = rules
        self._live: dict[str, Session] = {}
        self._opened = 0
        self._numbers = itertools.count(1)

    def open(self, owner: Principal, revision: Revision, *, apps: bool = False) -> Session:
        """Open a session."""
        self._opened += 1
        session = Session(self._rules.new_id(self._opened), owner, revision, apps=apps)
        if len(self._live) >= _MOST_SESSIONS:
            del self._live[next(iter(self._live))]
        self._live[session.ident] = session
        return session

    def peek(self, ident: str | None) -> Session | None:
        """Return a live session without asking who wants it."""
        return None if ident is None else self._live.get(ident)

    def enter(self, ident: str | None, principal: Principal) -> Session:
        """Return the caller's session. Raises HttpRefused: 400 without an id, 404 for an unknown one."""
        if ident is None:
            session = self._rules.unnamed(self.live())
            if session is None:
                raise HttpRefused(self._rules.missing, "Mcp-Session-Id is missing")
        else:
            session = self._live.get(ident) or self._rules.adopted(ident, principal)
        if session is None:
            raise HttpRefused(404, "no such session")
        if session.owner is ANONYMOUS and principal is not ANONYMOUS:
            session.owner = principal
        if not self._rules.usable_by(session, principal):
            reason = "no such session" if self._rules.foreign == HTTPStatus.NOT_FOUND else ""
            raise HttpRefused(self._rules.foreign, reason)
        return session

    def live(self) -> tuple[Session, ...]:
        """Return the live sessions."""
        return tuple(self._live.values())

    def end(self, session: Session) -> None:
        """End a session; its id is unknown from now on."""
        if self._rules.forgotten(session):
            self._live.pop(session.ident, None)

    def publish(self, session: Session, message: Mapping[str, Any], needed: frozenset[str]) -> None:
        """Send a message to the streams of a session, and keep it for those that are resumed."""
        news = News(str(next(self._numbers)), message, needed)
        for one in self._rules.audience(session, tuple(self._live.values())):
            one.news.append(news)
            for listener in one.listeners:
                if self._rules.readable(listener.principal, news):
                    listener.waiting.put_nowait(news.text)

    def missed(self, session: Session, principal: Principal, last: str | None) -> list[str]:
        """Return the events after the last one that the caller got; none for an id that is not of this session."""
        if last is None:
            return []
        kept = list(self._rules.log(session, tuple(self._live.values())))
        at = 0 if last == PRIMING else next((after for after, one in enumerate(kept, 1) if one.ident == last), None)
        return [] if at is None else [one.text for one in kept[at:] if self._rules.readable(principal, one)]
