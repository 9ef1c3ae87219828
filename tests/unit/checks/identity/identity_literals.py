"""Scenes of several users, and lists that are compared, as a judge sees them."""

from collections.abc import Mapping
from typing import Any

from tests.unit.checks.literals import answer, result

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.identity.observation import CallerCall, IdentityObserved, Listed, ListingsObserved

__all__ = [
    "ALICE",
    "BOB",
    "FAILING_IDENTITY",
    "MINE",
    "REFUSED",
    "SOUND_IDENTITY",
    "SOUND_LISTS",
    "THEIRS",
    "by_alice",
    "by_bob",
    "lists",
    "scene",
]

ALICE, BOB = "alice-t1-INV-1-7f3a", "bob-t1-INV-2-91bd"
MINE, THEIRS = result(note=ALICE), result(note=BOB)
REFUSED = answer(401, 'Bearer error="invalid_token"')


def _by(caller: str, name: str, each: Answer, own: str, foreign: str, words: str) -> CallerCall:
    attempt = Attempt(words, "call", each, read(each))
    return CallerCall(name, caller, "list_invoices {}", words, attempt, frozenset({own}), frozenset({foreign}))


def by_alice(name: str, each: Answer = MINE, words: str = "as it comes") -> CallerCall:
    """A call of alice, who owns the one record."""
    return _by("alice", name, each, ALICE, BOB, words)


def by_bob(name: str, each: Answer = THEIRS, words: str = "as it comes") -> CallerCall:
    """A call of bob, who owns the other one."""
    return _by("bob", name, each, BOB, ALICE, words)


def scene(*calls: CallerCall, missing: str | None = None) -> IdentityObserved:
    """The calls of one scene."""
    return IdentityObserved(calls, missing)


def lists(*turns: tuple[object, ...], last: Answer | None = None) -> ListingsObserved:
    """A list asked for as often as there are names, turn by turn; None where it was not given to its end."""
    places = (
        "on a kept connection",
        "on a new connection",
        "after other calls",
        "after other calls, on a new connection",
    )
    made = [
        Listed(place, number, (last or result(),), None if names is None else frozenset(str(names).split()))
        for number, turn in enumerate(turns, 1)
        for place, names in zip(places, turn, strict=False)
    ]
    return ListingsObserved("tools/list", tuple(made))


FAILING_IDENTITY: Mapping[str, Any] = {
    "callers_kept_apart": scene(by_alice("together"), by_bob("together", MINE)),
    "each_token_decides": scene(by_alice("none alone", REFUSED), by_alice("rich"), by_alice("none")),
    "foreign_identity_ignored": scene(by_alice("alone"), by_bob("alone"), by_alice("override", THEIRS)),
    "list_depends_on_token_only": lists(("get put", "get"), ("get put", "get")),
}

SOUND_IDENTITY = scene(
    by_alice("alone"),
    by_bob("alone"),
    by_alice("override"),
    by_alice("together"),
    by_bob("together"),
    by_alice("none alone", REFUSED),
    by_alice("rich"),
    by_alice("none", REFUSED),
    by_alice("rich"),
)
SOUND_LISTS = lists(("get put", "get put", "put get", "get put"))
