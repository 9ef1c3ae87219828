"""Sessions: who may use one, what its id looks like, and when it ends."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from mcp_auth_contract.answers import Accepted, Attempt, read
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import FormQuestion, OperationQuestion
from mcp_auth_contract.checks.sessions.observation import SessionEndObserved, SessionIdsObserved, SessionObserved
from mcp_auth_contract.checks.sessions.scene import Cut, Scene
from mcp_auth_contract.tokens.spec import fresh_id
from mcp_auth_contract.wire.mcp import initialize
from mcp_auth_contract.wire.session import handshake_of

_IDS = 10


async def _bad_token(s: Scene, verb: str) -> None:
    async with s.kept() as live:
        for words, minted in s.bad():
            await s.bodiless(verb, "stranger", f"{verb} with {words}", live, minted)


async def _bad_token_resume(s: Scene) -> None:
    live = await s.open()
    last = await s.event_id(live)
    for words, minted in (("no token", None), *s.bad()):
        await s.bodiless("GET", "stranger", f"GET with Last-Event-ID and {words}", live, minted, last or "1")
    await s.owner(live, "after")


async def _namesake(s: Scene) -> None:
    await _intrusion(s, s.namesake())


async def _other_user(s: Scene, *, same_tenant: bool = True) -> None:
    await _intrusion(s, s.another(same_tenant=same_tenant))


async def _intrusion(s: Scene, other: str) -> None:
    theirs = await s.open_other(other)
    if theirs is not None:
        await s.post("apart", f"the call of {other} in a session of their own", theirs)
    async with s.kept() as live:
        await s.post("intruder", f"the call in the session with the token of {other}", live, s.good(other))


async def _other_user_delete(s: Scene) -> None:
    other = s.another()
    async with s.kept() as live:
        await s.bodiless("DELETE", "intruder", f"DELETE with the token of {other}", live, s.good(other))


async def _other_user_stream(s: Scene) -> None:
    other = s.another()
    live = await s.open()
    last = await s.event_id(live)
    await s.heard(
        live, s.bodiless("GET", "intruder", f"GET in the session with the token of {other}", live, s.good(other))
    )
    if last is not None:
        words = f"GET with Last-Event-ID in the session with the token of {other}"
        await s.bodiless("GET", "intruder", words, live, s.good(other), last)


async def _streams_apart(s: Scene) -> None:
    other = s.another()
    theirs = await s.open_other(other)
    if theirs is None:
        raise Cut(f"{other} opens no session")
    live = await s.open()
    await s.heard(
        live,
        s.bodiless("GET", "witness", "the owner's own event stream", live),
        s.bodiless("GET", "own", f"the stream of {other} in a session of their own", theirs),
    )
    last = s.first_event()
    if last is not None:
        words = f"GET by {other} in a session of their own, with an event id of the first session"
        await s.bodiless("GET", "own", words, theirs, last=last)


async def _weaker_resume(s: Scene) -> None:
    weak = s.weak()
    live = await s.open()
    last = await s.event_id(live)
    if last is None:
        raise Cut("the server numbers no events, so no stream can be resumed")
    await s.bodiless(
        "GET", "own", "GET with Last-Event-ID and a token of the owner without the scope", live, weak, last
    )
    await s.post("allowed", "the call itself with a token of the owner without the scope", live, weak)


async def _fresh_token(s: Scene) -> None:
    fresh = s.later()
    await s.post("good", "the call in the session with another token of the owner", await s.used(), fresh)


async def _stronger_token(s: Scene) -> None:
    beyond = s.beyond()
    opener = s.weak(frozenset() if beyond is None else frozenset(s.question.operation.scopes))
    stronger = s.later()
    await s.post("owner", "the call in a session of the stronger token", await s.open(), operation=beyond)
    try:
        live = await s.open(token=opener)
    except Cut:
        s.steps.clear()
        raise Cut("a token without the scope opens no session") from None
    words = "the call with a token that has the scope, in the session that was opened with one that lacks it"
    await s.post("good", words, live, stronger, operation=beyond)


async def _other_client(s: Scene) -> None:
    s.need_issuer()
    async with s.kept() as live:
        claim = s.minter.profile.client_claim
        minted = s.minter.fresh(s.principal, claims={claim: "mcp-auth-contract-second"})
        await s.post("good", "the call in the session with the owner's token of another client", live, minted)


async def _ended(s: Scene) -> None:
    live = await s.used()
    await s.bodiless("DELETE", "ended", "DELETE by the owner", live)
    await s.post("gone", "the owner's call in the session that has ended", live)


async def _unknown(s: Scene) -> None:
    unknown = _with_id(await s.used(), f"unknown-{fresh_id()}")
    await s.post("unknown", "a call with an id that was never handed out", unknown)


async def _missing(s: Scene) -> None:
    await s.post("missing", "a call without a session id", _with_id(await s.used(), None))


def _with_id(live: PrincipalSession, ident: str | None) -> PrincipalSession:
    return replace(live, opened=live.opened and replace(live.opened, session=ident))


async def _header_lends_nothing(s: Scene) -> None:
    stateful = next((one for one in s.context.revisions if not one.stateless), None)
    if stateful is None:
        raise Cut("the server speaks no revision with sessions")
    live = await s.open(revision=stateful)
    ident = (live.opened and live.opened.session) or ""
    await s.stateless("stranger", "the call with the id of a live session and no token", ident, None)
    for words, minted in s.bad():
        await s.stateless("stranger", f"the call with the id of a live session and {words}", ident, minted)
    await s.owner(live, "after")
    try:
        other = s.another()
    except Cut:  # the strangers have told enough
        return
    await s.stateless("apart", f"the call with the token of {other}", None, s.good(other))
    words = f"the call with the id of a live session and the token of {other}"
    await s.stateless("intruder", words, ident, s.good(other))


_Script: TypeAlias = Callable[[Scene], Awaitable[None]]

_SCENES: Mapping[str, tuple[str, _Script]] = {
    "bad_token_stream": ("GET for the stream with bad tokens", partial(_bad_token, verb="GET")),
    "bad_token_delete": ("DELETE with bad tokens", partial(_bad_token, verb="DELETE")),
    "bad_token_resume": ("resuming the stream without a good token", _bad_token_resume),
    "namesake": ("a call with the token of a user of the same name in another tenant", _namesake),
    "other_user": ("a call with the token of another user of the same tenant", _other_user),
    "other_tenant": ("a call with the token of a user of another tenant", partial(_other_user, same_tenant=False)),
    "other_user_delete": ("DELETE with the token of another user", _other_user_delete),
    "other_user_stream": ("the session's stream with the token of another user", _other_user_stream),
    "streams_apart": ("the streams of two users, each in a session of their own", _streams_apart),
    "weaker_resume": ("resuming the stream with a token of fewer scopes", _weaker_resume),
    "fresh_token": ("a call with another token of the owner", _fresh_token),
    "stronger_token": ("a call with more scopes than the session was opened with", _stronger_token),
    "other_client": ("a call with the owner's token of another client", _other_client),
    "ended": ("a call after the owner has ended the session", _ended),
    "unknown": ("a call with an id that was never handed out", _unknown),
    "header_ignored": (
        "a stateless call with a session header",
        lambda s: s.stateless("good", "the call with a session header", f"unknown-{fresh_id()}"),
    ),
    "header_lends_nothing": ("a stateless call with the id of a live session", _header_lends_nothing),
    "missing": ("a call without a session id", _missing),
}


@probe("Whom does a session serve, and when does it end?", forms=_SCENES)
async def ask_session(question: FormQuestion, context: Context) -> SessionObserved:
    """Play a scene, in sessions of its own."""
    return await _played(question, context, _SCENES[question.form][1])


async def _played(question: FormQuestion, context: Context, play: _Script) -> SessionObserved:
    scene = Scene(question, context)
    absent: str | None = None
    try:
        await play(scene)
    except Cut as reason:
        absent = str(reason) or None
    finally:
        await scene.close()
    return SessionObserved(tuple(scene.steps), absent)


async def _lone(s: Scene) -> None:
    other = s.another() if s.context.issuer is not None else None
    await s.context.close()
    async with s.kept() as live:
        without = _with_id(live, None)
        await s.post("stranger", "a call with neither a token nor a session id", without, None)
        if other is not None:
            await s.post("intruder", f"a call of {other} without a session id", without, s.good(other))


@probe(
    "Does a call without a session id join the only session there is?",
    forms={"lone": "a call without a session id, while one session is open"},
    alone=True,
)
async def ask_lone_session(question: FormQuestion, context: Context) -> SessionObserved:
    """End the sessions that the kit has open, open one, and call without its id."""
    return await _played(question, context, _lone)


@probe("What do the ids of several sessions look like?")
async def ask_session_ids(question: OperationQuestion, context: Context) -> SessionIdsObserved:
    """Open ten sessions one after another, and end them all."""
    own = PrincipalSession(context, question.revision, question.principal)
    attempts: list[Attempt] = []
    ids: list[str] = []
    opened: list[PrincipalSession] = []
    for number in range(1, _IDS + 1):
        opening = initialize(question.revision, next(context.conversation.ids), context.capabilities)
        received = await own.send(opening, note=f"session {number} of {_IDS}")
        reading = read(received.answer)
        attempts.append(Attempt(f"handshake {number}", "initialize", received.answer, reading))
        ident = received.raw_header("mcp-session-id")
        if not isinstance(reading, Accepted) or ident is None:
            break
        ids.append(ident)
        opened.append(replace(own, opened=handshake_of(received, question.revision)))
    for one in opened:
        await one.end()
    return SessionIdsObserved(tuple(attempts), tuple(ids))


@probe("Can a stranger end a live session?", alone=True)
async def ask_session_end(question: OperationQuestion, context: Context) -> SessionEndObserved:
    """Open a session, DELETE it without a token, and use it once more with one."""
    if question.revision.stateless:
        return SessionEndObserved()
    own = PrincipalSession(context, question.revision, question.principal)
    live = await own.open(note="a session to be ended")
    if live.opened is None or live.opened.session is None:
        return SessionEndObserved()
    ended = (await live.bodiless("DELETE", accept="*/*", token=None)).answer
    after = await live.call(question.operation, "in the session after DELETE", note="")
    if after.accepted:
        await live.end()
    return SessionEndObserved(ended, after)
