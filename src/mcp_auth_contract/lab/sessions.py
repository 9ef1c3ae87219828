"""Sessions of the revisions before 2026-07-28, bound to the caller who opened them."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from mcp_auth_contract.lab.principal import ANONYMOUS, Principal
from mcp_auth_contract.lab.refusal import HttpRefused
from mcp_auth_contract.model import Revision

__all__ = ["SOUND", "Session", "SessionRules", "Sessions"]

_MOST_SESSIONS = 10_000


@dataclass(slots=True)
class Session:
    """One session. `owner` is ANONYMOUS until a caller with a token uses a session opened without one."""

    ident: str
    owner: Principal
    revision: Revision


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Steps: how ids are made, who may use a session, and as whom a request in it acts.

    Without `kept` the server is stateless: no id is handed out and the header is ignored. `foreign` is the
    status for another caller's session. Without `stream` GET is 405.
    """

    new_id: Callable[[int], str]
    usable_by: Callable[[Session, Principal], bool]
    acting: Callable[[Session, Principal], Principal]
    kept: bool = True
    stream: bool = True
    foreign: int = 404


def random_id(_count: int) -> str:
    """192 bits from the secure generator, in visible ASCII."""
    return secrets.token_urlsafe(24)


def owner_alone(session: Session, principal: Principal) -> bool:
    """Only the same subject, tenant and client use a session; the token may be a newer one."""
    return session.owner.key == principal.key


def as_the_token_says(_session: Session, principal: Principal) -> Principal:
    """A request acts as its own token says, whoever opened the session."""
    return principal


SOUND = SessionRules(new_id=random_id, usable_by=owner_alone, acting=as_the_token_says)


class Sessions:
    """The live sessions of one server; the oldest gives way when there are too many."""

    def __init__(self, rules: SessionRules) -> None:
        self._rules = rules
        self._live: dict[str, Session] = {}
        self._opened = 0

    def open(self, owner: Principal, revision: Revision) -> Session:
        """Open a session."""
        self._opened += 1
        session = Session(self._rules.new_id(self._opened), owner, revision)
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
            raise HttpRefused(400, "Mcp-Session-Id is missing")
        session = self._live.get(ident)
        if session is None:
            raise HttpRefused(404, "no such session")
        if session.owner is ANONYMOUS and principal is not ANONYMOUS:
            session.owner = principal
        if not self._rules.usable_by(session, principal):
            raise HttpRefused(self._rules.foreign, "no such session")
        return session

    def end(self, session: Session) -> None:
        """End a session; its id is unknown from now on."""
        self._live.pop(session.ident, None)
