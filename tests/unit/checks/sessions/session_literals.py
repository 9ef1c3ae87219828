"""Scenes around a session as a judge sees them, and for each of its judges one that it fails."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.unit.checks.literals import answer, facts, result

from mcp_auth_contract.answers import Accepted, Answer, Attempt, read
from mcp_auth_contract.answers.answer import JsonObject
from mcp_auth_contract.checks.caching.observation import CacheMark, CacheScopeObserved
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.sessions.observation import NewsObserved, SessionIdsObserved, SessionObserved, SessionStep

__all__ = ["FAILING_SESSIONS", "SOUND_SESSIONS", "cached", "ids", "listed", "news", "scene", "stream", "updated"]

RANDOM = ("Zk3-_x81", "b0Q9rt5L", "7aGG2mnP")


def stream(text: str = "", status: int = 200) -> Answer:
    """What GET brings: an event stream with that text."""
    media = (("content-type", "text/event-stream"),)
    return replace(answer(status), method="GET", headers=media, text=text, stream=status == 200)


def scene(*steps: tuple[str, Answer], absent: str | None = None) -> SessionObserved:
    """A scene whose steps were answered like this."""
    return SessionObserved(
        tuple(
            SessionStep(name, Attempt(name, "call", each, read(each, expects_reply=each.method == "POST")))
            for name, each in steps
        ),
        absent,
    )


def ids(*each: str, opened: Answer | None = None) -> SessionIdsObserved:
    """Sessions with these ids."""
    handshake = opened or result()
    return SessionIdsObserved((Attempt("handshake 1", "initialize", handshake, read(handshake)),), each)


def updated(uri: str) -> JsonObject:
    """The message by which a server tells that a resource has changed."""
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def news(heard: tuple[JsonObject, ...] = (), witness: tuple[JsonObject, ...] = (), text: str = "") -> NewsObserved:
    """What bob and alice hear on their streams while alice writes her invoice."""
    streams = {"bob": replace(stream(text), messages=heard), "alice": replace(stream(), messages=witness)}
    bob, alice = (Attempt(f"the stream of {name}", "call", each, Accepted()) for name, each in streams.items())
    written = Attempt("a write of alice", "call", result(), Accepted())
    uris, canaries = frozenset({"invoice://INV-1"}), frozenset({"7f3a"})
    return NewsObserved("alice", "bob", "INV-1", uris, canaries, written, bob, alice)


def listed(scope: str, *names: str) -> Answer:
    """A list of tools with a mark for caches."""
    return result(tools=[{"name": name} for name in names], cacheScope=scope, ttlMs=60_000)


def cached(first: Answer, others: Answer, again: Answer | None = None) -> CacheScopeObserved:
    """One method as alice gets it, twice, and as bob does."""
    attempts = [Attempt("", "call", each, read(each)) for each in (first, again or first, others)]
    return CacheScopeObserved(
        (
            CacheMark("tools/list", "alice", attempts[0], attempts[1]),
            CacheMark("tools/list", "bob", attempts[2], attempts[2]),
        )
    )


SOUND_SESSIONS: Mapping[type[object], Any] = {
    SessionObserved: scene(
        ("owner", result()),
        ("stranger", answer(401)),
        ("intruder", answer(404)),
        ("good", result()),
        ("after", result()),
        ("missing", answer(400)),
        ("unknown", answer(404)),
        ("ended", replace(answer(204), method="DELETE")),
        ("gone", answer(404)),
    ),
    SessionIdsObserved: ids(*RANDOM),
    NewsObserved: news(witness=(updated("invoice://INV-1"),)),
    CacheScopeObserved: cached(listed("public", "a", "b"), listed("public", "b", "a")),
}

FAILING_SESSIONS: Mapping[str, tuple[Any, Facts]] = {
    "news_to_own_user": (news((updated("invoice://INV-1"),), (updated("invoice://INV-1"),)), facts()),
    "cache_scope_truthful": (cached(listed("public", "a"), listed("public", "b")), facts()),
    "session_ended_404": (
        scene(("owner", result()), ("ended", replace(answer(204), method="DELETE")), ("gone", result())),
        facts(),
    ),
    "session_guarded": (scene(("owner", result()), ("stranger", result())), facts()),
    "session_header_ignored": (scene(("good", answer(404))), facts()),
    "session_ids_unpredictable": (ids("session-8", "session-9", "session-10"), facts()),
    "session_ids_visible_ascii": (ids("a b", *RANDOM), facts()),
    "session_missing_id": (scene(("owner", result()), ("missing", answer(401))), facts()),
    "session_serves_owner": (scene(("owner", result()), ("good", answer(404))), facts()),
    "session_serves_owner_or_advice": (scene(("owner", result()), ("good", answer(500))), facts()),
    "session_unknown_id": (scene(("owner", result()), ("unknown", result())), facts()),
}
