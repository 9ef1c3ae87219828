"""Faults of sessions: an id that stands for a token, a user who is kept, streams that mix, ids that can be guessed."""

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import META_VERSION, meta_of
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.sessions import News, Session, owner_alone
from mcp_auth_contract_lab.steps import Message, always, broken, vouched

FAULTS = Faults()

_HEADER = "mcp-session-id"

_rules = partial(changing, "sessions")


def _owner_if(when: Callable[[Incoming, Message], bool]) -> Change:
    """Let the owner of the session that a request names vouch for its caller."""

    async def vouching(lab: Lab, incoming: Incoming) -> Principal | None:
        session = lab.sessions.peek(incoming.header(_HEADER))
        return session.owner if session is not None and when(incoming, await incoming.posted()) else None

    return vouched(vouching)


def _is_modern(message: Message) -> bool:
    return META_VERSION in meta_of(message)


def _unverified(method: str) -> Change:
    return _owner_if(lambda incoming, _: incoming.method == method and incoming.header("authorization") is not None)


@FAULTS.by(vouched)
async def session_header_in_stateless(lab: Lab, incoming: Incoming) -> Principal | None:
    """The stateless revision looks sessions up."""
    ident = incoming.header(_HEADER)
    if ident is not None and lab.sessions.peek(ident) is None and _is_modern(await incoming.posted()):
        raise HttpRefused(404, "no such session")
    return None


def _only(live: Sequence[Session]) -> Session | None:
    return live[0] if len(live) == 1 else None


async def _in_only_session(lab: Lab, incoming: Incoming) -> Principal | None:
    """Let a POST without a token and a session id, that opens none, act as the owner of the only live session."""
    session = _only(lab.sessions.live())
    if session is None or incoming.method != "POST" or incoming.header("authorization") or incoming.header(_HEADER):
        return None
    opens = (await incoming.posted()).get("method") == "initialize"
    return None if opens or _is_modern(await incoming.posted()) else session.owner


@FAULTS.step("sessions", "usable_by")
def session_other_client_breaks(session: Session, principal: Principal) -> bool:
    """Another client of the same user brings the session down."""
    if session.owner.key[:2] == principal.key[:2] and session.owner.client != principal.client:
        raise broken()
    return owner_alone(session, principal)


@FAULTS.step("sessions", "log")
def session_resume_anywhere(_session: Session, live: Sequence[Session]) -> Iterable[News]:
    """A stream is resumed from the events of all sessions."""
    every = {int(news.ident): news for session in live for news in session.news}  # heard by several, kept once
    return [every[number] for number in sorted(every)]


FAULTS.rows(
    ("session-for-token", "A session id stands for a token that is missing.",
     _owner_if(lambda incoming, message: incoming.header("authorization") is None and not _is_modern(message))),
    ("session-joined-without-id", "Without a token and a session id, a call joins the only live session.",
     all_of(vouched(_in_only_session), _rules(unnamed=_only))),
    ("session-lent-to-stateless", "In the stateless revision the id of a live session stands for a token.",
     _owner_if(lambda _incoming, message: _is_modern(message))),
    ("session-stream-unverified", "On GET any token will do, as long as the session is alive.",
     _unverified("GET")),
    ("session-delete-unverified", "On DELETE any token will do, as long as the session is alive.",
     _unverified("DELETE")),
    ("session-resume-open", "Who resumes a stream needs no token.",
     _owner_if(lambda incoming, _message: incoming.header("last-event-id") is not None)),
    ("session-unbound", "Anybody with a valid token uses, hears and ends a session.", _rules(usable_by=always)),
    ("session-keeps-first-user", "Whoever uses a session acts as the one who opened it.",
     _rules(usable_by=always, acting=lambda session, principal: replace(
         session.owner, scopes=principal.scopes, expires=principal.expires))),
    ("session-bound-to-subject-and-client", "A namesake in another tenant uses a session, and acts as its owner.",
     _rules(usable_by=lambda session, principal: (
         (session.owner.subject, session.owner.client) == (principal.subject, principal.client)),
         acting=lambda session, principal: replace(session.owner, scopes=principal.scopes))),
    ("session-bound-to-token", "A session takes only the token that opened it.",
     _rules(usable_by=lambda session, principal: (
         owner_alone(session, principal) and session.owner.expires == principal.expires))),
    ("session-keeps-first-scopes", "The scopes of the token that opened a session hold for all of it.",
     _rules(acting=lambda session, principal: replace(principal, scopes=session.owner.scopes))),
    ("session-stream-broadcast", "What one session has to say goes to all streams.",
     _rules(audience=lambda _session, live: live)),
    ("session-resume-unscoped", "A stream is replayed to tokens that could not have asked for it.",
     _rules(readable=always)),
    ("session-ids-counting", "Session ids are numbered.", _rules(new_id=lambda number: f"session-{number}")),
    ("session-ids-by-clock", "Session ids are the time of day.",
     _rules(new_id=lambda _number: f"{time.time_ns():016x}")),
    ("session-ids-with-space", "Session ids have a space in them.",
     _rules(new_id=lambda _number: f"session {secrets.token_urlsafe(24)}")),
    ("session-ids-beyond-ascii", "Session ids have a letter beyond ASCII in them, as UTF-8.",
     _rules(new_id=lambda _number: "ß".encode().decode("latin-1") + secrets.token_urlsafe(24))),
    ("session-survives-its-end", "A session goes on after its owner has ended it.",
     _rules(forgotten=lambda _session: False)),
    ("session-id-adopted", "Any id that a client comes up with is a session.",
     _rules(adopted=lambda ident, principal: Session(ident, principal, Revision.R2025_11_25))),
    ("session-missing-as-404", "A call without a session id is answered 404.", _rules(missing=404)),
    ("cache-scope-public", "Everything is marked for public caches.", changing("protocol", cache_scope="public")),
)  # fmt: skip
