"""Sessions: who may use one, what its id looks like, and when it ends."""

import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from mcp_auth_contract.answers import Accepted, Attempt, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.sessions.observation import SessionIdsObserved, SessionObserved
from mcp_auth_contract.checks.sessions.scene import Cut, Scene
from mcp_auth_contract.tokens.spec import fresh_id
from mcp_auth_contract.wire import Request, read_headers
from mcp_auth_contract.wire.mcp import initialize

_IDS = 10


_SENDABLE = re.compile(r"[\t\x20-\x7e\x80-\U0010ffff]+")


async def _bad_token_stream(s: Scene) -> None:
    live = await s.open()
    await s.owner(live)
    for words, minted in s.bad():
        await s.get("stranger", f"GET with {words}", live, minted)
    await s.owner(live, "after")


async def _bad_token_delete(s: Scene) -> None:
    live = await s.open()
    await s.owner(live)
    for words, minted in s.bad():
        await s.delete("stranger", f"DELETE with {words}", live, minted)
    await s.owner(live, "after")


async def _bad_token_resume(s: Scene) -> None:
    live = await s.open()
    last = await s.event_id(live)
    for words, minted in (("no token", None), *s.bad()):
        await s.get("stranger", f"GET with Last-Event-ID and {words}", live, minted, last or "1")
    await s.owner(live, "after")


async def _other_user(s: Scene, *, same_tenant: bool = True) -> None:
    other = s.somebody(same_tenant=same_tenant)
    theirs = await s.open_other(other)
    if theirs is not None:
        await s.post("apart", f"the call of {other} in a session of their own", theirs, s.good(other))
    live = await s.open()
    await s.owner(live)
    await s.post("intruder", f"the call in the session with the token of {other}", live, s.good(other))
    await s.owner(live, "after")


async def _other_tenant(s: Scene) -> None:
    await _other_user(s, same_tenant=False)


async def _other_user_delete(s: Scene) -> None:
    other = s.somebody(same_tenant=True)
    live = await s.open()
    await s.owner(live)
    await s.delete("intruder", f"DELETE with the token of {other}", live, s.good(other))
    await s.owner(live, "after")


async def _other_user_stream(s: Scene) -> None:
    other = s.somebody(same_tenant=True)
    live = await s.open()
    last = await s.event_id(live)
    await s.heard(live, s.get("intruder", f"GET in the session with the token of {other}", live, s.good(other)))
    if last is not None:
        words = f"GET with Last-Event-ID in the session with the token of {other}"
        await s.get("intruder", words, live, s.good(other), last)


async def _streams_apart(s: Scene) -> None:
    other = s.somebody(same_tenant=True)
    theirs = await s.open_other(other)
    if theirs is None:
        s.cut(f"{other} opens no session")
    live = await s.open()
    await s.heard(
        live,
        s.get("witness", "the owner's own event stream", live, s.good()),
        s.get("own", f"the stream of {other} in a session of their own", theirs, s.good(other)),
    )
    last = s.first_event()
    if last is not None:
        words = f"GET by {other} in a session of their own, with an event id of the first session"
        await s.get("own", words, theirs, s.good(other), last)


async def _weaker_resume(s: Scene) -> None:
    weak = s.weak()
    live = await s.open()
    last = await s.event_id(live)
    if last is None:
        s.cut("the server numbers no events, so no stream can be resumed")
    await s.get("own", "GET with Last-Event-ID and a token of the owner without the scope", live, weak, last)
    await s.post("allowed", "the call itself with a token of the owner without the scope", live, weak)


async def _fresh_token(s: Scene) -> None:
    fresh = s.later()
    live = await s.open()
    await s.owner(live)
    await s.post("good", "the call in the session with another token of the owner", live, fresh)


async def _stronger_token(s: Scene) -> None:
    beyond = s.beyond()
    opener = s.weak(frozenset() if beyond is None else frozenset(s.operation.scopes))
    stronger = s.later()
    first = await s.open()
    await s.post("owner", "the call in a session of the stronger token", first, s.good(), operation=beyond)
    try:
        live = await s.open(opener=opener)
    except Cut:
        s.steps.clear()
        s.cut("a token without the scope opens no session")
    words = "the call with a token that has the scope, in the session that was opened with one that lacks it"
    await s.post("good", words, live, stronger, operation=beyond)


async def _other_client(s: Scene) -> None:
    s.need_issuer()
    live = await s.open()
    await s.owner(live)
    claim = s.minter.profile.client_claim
    minted = s.minter.fresh(s.principal, claims={claim: "mcp-auth-contract-second"})
    await s.post("good", "the call in the session with the owner's token of another client", live, minted)
    await s.owner(live, "after")


async def _ended(s: Scene) -> None:
    live = await s.open()
    await s.owner(live)
    await s.delete("ended", "DELETE by the owner", live, s.good())
    await s.post("gone", "the owner's call in the session that has ended", live, s.good())


async def _unknown(s: Scene) -> None:
    live = await s.open()
    await s.owner(live)
    await s.post("unknown", "a call with an id that was never handed out", live, s.good(), f"unknown-{fresh_id()}")


async def _missing(s: Scene) -> None:
    live = await s.open()
    await s.owner(live)
    await s.post("missing", "a call without a session id", live, s.good(), "")


async def _header_ignored(s: Scene) -> None:
    await s.stateless("good", "the call with a session header", f"unknown-{fresh_id()}", s.good())


async def _header_lends_nothing(s: Scene) -> None:
    stateful = next((one for one in s.context.revisions if not one.stateless), None)
    if stateful is None:
        s.cut("the server speaks no revision with sessions")
    live = await s.open(revision=stateful)
    ident = live.session or ""
    await s.stateless("stranger", "the call with the id of a live session and no token", ident, None)
    for words, minted in s.bad():
        await s.stateless("stranger", f"the call with the id of a live session and {words}", ident, minted)
    await s.owner(live, "after")
    try:
        other = s.somebody(same_tenant=True)
    except Cut:  # the strangers have told enough
        return
    await s.stateless("apart", f"the call with the token of {other}", None, s.good(other))
    words = f"the call with the id of a live session and the token of {other}"
    await s.stateless("intruder", words, ident, s.good(other))


_Script: TypeAlias = Callable[[Scene], Awaitable[None]]


_SCRIPTS: Mapping[str, tuple[str, _Script]] = MappingProxyType(
    {
        "bad_token_stream": ("GET for the stream with bad tokens", _bad_token_stream),
        "bad_token_delete": ("DELETE with bad tokens", _bad_token_delete),
        "bad_token_resume": ("resuming the stream without a good token", _bad_token_resume),
        "other_user": ("a call with the token of another user of the same tenant", _other_user),
        "other_tenant": ("a call with the token of a user of another tenant", _other_tenant),
        "other_user_delete": ("DELETE with the token of another user", _other_user_delete),
        "other_user_stream": ("the session's stream with the token of another user", _other_user_stream),
        "streams_apart": ("the streams of two users, each in a session of their own", _streams_apart),
        "weaker_resume": ("resuming the stream with a token of fewer scopes", _weaker_resume),
        "fresh_token": ("a call with another token of the owner", _fresh_token),
        "stronger_token": ("a call with more scopes than the session was opened with", _stronger_token),
        "other_client": ("a call with the owner's token of another client", _other_client),
        "ended": ("a call after the owner has ended the session", _ended),
        "unknown": ("a call with an id that was never handed out", _unknown),
        "header_ignored": ("a stateless call with a session header", _header_ignored),
        "header_lends_nothing": ("a stateless call with the id of a live session", _header_lends_nothing),
        "missing": ("a call without a session id", _missing),
    }
)


SCENES: Mapping[str, str] = MappingProxyType({word: words for word, (words, _) in _SCRIPTS.items()})
"""What happens in each scene, in words."""


async def ask_session(question: Question, context: Context) -> SessionObserved:
    """Play the scene of the question's word, in sessions of its own."""
    revision, principal, operation = question.revision, question.principal, question.operation
    if revision is None or principal is None or operation is None or context.minter is None:
        raise ValueError("a session needs a revision, a principal, an operation and tokens")
    scene = Scene(question, context, context.minter, revision, operation, principal)
    absent: str | None = None
    try:
        await _SCRIPTS[question.word][1](scene)
    except Cut as reason:
        absent = str(reason) or None
    finally:
        await scene.close()
    return SessionObserved(question.word, tuple(scene.steps), absent)


async def ask_session_ids(question: Question, context: Context) -> SessionIdsObserved:
    """Open ten sessions one after another, and end them all."""
    revision, principal = question.revision, question.principal
    if revision is None or principal is None:
        raise ValueError("session ids need a revision and a principal")
    conversation, bearer = context.conversation, context.bearer(principal)
    attempts: list[Attempt] = []
    ids: list[str] = []
    for number in range(1, _IDS + 1):
        message = initialize(revision, next(conversation.ids))
        received = await conversation.receive(message, bearer, note=f"session {number} of {_IDS}")
        reading = read(received.answer)
        attempts.append(Attempt(f"handshake {number}", "initialize", received.answer, reading))
        ident = received.raw_header("mcp-session-id")
        if not isinstance(reading, Accepted) or ident is None:
            break
        ids.append(ident)
    for ident in filter(_SENDABLE.fullmatch, ids):
        headers = (*bearer, *read_headers(revision, None, accept="*/*"), ("Mcp-Session-Id", ident))
        await conversation.door.send(Request("DELETE", context.endpoint, headers, note="closing the session"))
    return SessionIdsObserved(tuple(attempts), tuple(ids))
