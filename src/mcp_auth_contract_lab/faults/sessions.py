"""Faults of sessions: an id that stands for a token, a user who is kept, streams that mix, ids that can be guessed."""

import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.sessions import News, Session, owner_alone

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS"]

_Identity: TypeAlias = "Callable[[Lab, Incoming], Awaitable[Principal | None]]"

_HEADER = "mcp-session-id"


def _rules(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, sessions=replace(behaviour.sessions, **steps))


def _vouching(identity: _Identity) -> Change:
    """Let a step say who calls before the token is looked at."""
    return lambda behaviour: replace(
        behaviour,
        credentials=replace(behaviour.credentials, identities=(identity, *behaviour.credentials.identities)),
    )


def _owner_of(lab: "Lab", incoming: Incoming) -> Principal | None:
    session = lab.sessions.peek(incoming.header(_HEADER))
    return None if session is None else session.owner


async def _is_modern(incoming: Incoming) -> bool:
    message: Any = await incoming.message() if incoming.method == "POST" else None
    return isinstance(message, dict) and META_VERSION in meta_of(message)


async def _session_for_token(lab: "Lab", incoming: Incoming) -> Principal | None:
    if incoming.header("authorization") is not None or await _is_modern(incoming):
        return None
    return _owner_of(lab, incoming)


def _unverified(method: str) -> _Identity:
    async def identity(lab: "Lab", incoming: Incoming) -> Principal | None:
        if incoming.method != method or incoming.header("authorization") is None:
            return None
        return _owner_of(lab, incoming)

    return identity


async def _resuming(lab: "Lab", incoming: Incoming) -> Principal | None:
    return None if incoming.header("last-event-id") is None else _owner_of(lab, incoming)


async def _session_in_the_stateless_era(lab: "Lab", incoming: Incoming) -> Principal | None:
    return _owner_of(lab, incoming) if await _is_modern(incoming) else None


async def _unknown_in_the_stateless_era(lab: "Lab", incoming: Incoming) -> Principal | None:
    ident = incoming.header(_HEADER)
    if ident is not None and lab.sessions.peek(ident) is None and await _is_modern(incoming):
        raise HttpRefused(404, "no such session")
    return None


def _by_anybody(_session: Session, _principal: Principal) -> bool:
    return True


def _as_the_first(session: Session, principal: Principal) -> Principal:
    return replace(session.owner, scopes=principal.scopes, expires=principal.expires)


def _with_the_first_scopes(session: Session, principal: Principal) -> Principal:
    return replace(principal, scopes=session.owner.scopes)


def _by_the_same_token(session: Session, principal: Principal) -> bool:
    return owner_alone(session, principal) and session.owner.expires == principal.expires


def _breaking_down_for_other_clients(session: Session, principal: Principal) -> bool:
    if session.owner.key[:2] == principal.key[:2] and session.owner.client != principal.client:
        raise HttpRefused(500, "the session's client is another one")
    return owner_alone(session, principal)


def _everybody(_session: Session, live: Sequence[Session]) -> Iterable[Session]:
    return live


def _every_log(_session: Session, live: Sequence[Session]) -> Iterable[News]:
    """One store for all; what several sessions heard stands in it once."""
    every = {int(news.ident): news for session in live for news in session.news}
    return [every[number] for number in sorted(every)]


def _by_the_clock(_count: int) -> str:
    return f"{time.time_ns():016x}"


def _adopting(ident: str, principal: Principal) -> Session:
    return Session(ident, principal, Revision.R2025_11_25)


_AS_TOKEN = (
    Fault("session-for-token", "A session id stands for a token that is missing.",
          _vouching(_session_for_token)),
    Fault("session-stream-unverified", "On GET any token will do, as long as the session is alive.",
          _vouching(_unverified("GET"))),
    Fault("session-delete-unverified", "On DELETE any token will do, as long as the session is alive.",
          _vouching(_unverified("DELETE"))),
    Fault("session-resume-open", "Who resumes a stream needs no token.",
          _vouching(_resuming)),
    Fault("session-lent-to-stateless", "In the stateless revision the id of a live session stands for a token.",
          _vouching(_session_in_the_stateless_era)),
    Fault("session-header-in-stateless", "The stateless revision looks sessions up.",
          _vouching(_unknown_in_the_stateless_era)),
)  # fmt: skip

_BINDING = (
    Fault("session-unbound", "Anybody with a valid token uses, hears and ends a session.",
          _rules(usable_by=_by_anybody)),
    Fault("session-keeps-first-user", "Whoever uses a session acts as the one who opened it.",
          _rules(usable_by=_by_anybody, acting=_as_the_first)),
    Fault("session-keeps-first-scopes", "The scopes of the token that opened a session hold for all of it.",
          _rules(acting=_with_the_first_scopes)),
    Fault("session-bound-to-token", "A session takes only the token that opened it.",
          _rules(usable_by=_by_the_same_token)),
    Fault("session-other-client-breaks", "Another client of the same user brings the session down.",
          _rules(usable_by=_breaking_down_for_other_clients)),
)  # fmt: skip

_STREAMS = (
    Fault("session-stream-broadcast", "What one session has to say goes to all streams.",
          _rules(audience=_everybody)),
    Fault("session-resume-anywhere", "A stream is resumed from the events of all sessions.",
          _rules(log=_every_log)),
    Fault("session-resume-unscoped", "A stream is replayed to tokens that could not have asked for it.",
          _rules(readable=lambda _principal, _news: True)),
)  # fmt: skip

_IDS = (
    Fault("session-ids-counting", "Session ids are numbered.",
          _rules(new_id=lambda number: f"session-{number}")),
    Fault("session-ids-by-clock", "Session ids are the time of day.",
          _rules(new_id=_by_the_clock)),
    Fault("session-ids-with-space", "Session ids have a space in them.",
          _rules(new_id=lambda _number: f"session {secrets.token_urlsafe(24)}")),
    Fault("session-ids-beyond-ascii", "Session ids have a letter beyond ASCII in them, as UTF-8.",
          _rules(new_id=lambda _number: "ß".encode().decode("latin-1") + secrets.token_urlsafe(24))),
)  # fmt: skip

_LIFE = (
    Fault("session-survives-its-end", "A session goes on after its owner has ended it.",
          _rules(forgotten=lambda _session: False)),
    Fault("session-id-adopted", "Any id that a client comes up with is a session.",
          _rules(adopted=_adopting)),
    Fault("session-missing-as-404", "A call without a session id is answered 404.",
          _rules(missing=404)),
)  # fmt: skip

_CACHES = (
    Fault("cache-scope-public", "Everything is marked for public caches.",
          lambda behaviour: replace(behaviour, protocol=replace(behaviour.protocol, cache_scope="public"))),
)  # fmt: skip

FAULTS = (*_AS_TOKEN, *_BINDING, *_STREAMS, *_IDS, *_LIFE, *_CACHES)
