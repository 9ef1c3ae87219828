"""Whose records came back: the verified token alone says who calls, on its own request and on no other."""

from collections.abc import Iterable

from mcp_auth_contract.answers import AmbiguityReason, Ambiguous, Refusal, Refused, describe, read
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.identity.observation import CallerCall, IdentityObserved, Listed, ListingsObserved
from mcp_auth_contract.checks.judging import judge, judge_on, narrowing
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict

_OWN_ONLY = "each caller's own records and nobody else's"


def _played(observed: IdentityObserved, facts: Facts) -> IdentityObserved | Verdict:
    if observed.missing is not None:
        return NotApplicable(observed.missing)
    return observed if observed.calls else Inconclusive("nothing was sent")


@narrowing(_played)
def _played_alone(played: IdentityObserved, facts: Facts) -> IdentityObserved | Verdict:
    """The scene, where each plain call was as it should be."""
    return _unplain(played.named("alone")) or played


@judge_on(_played_alone)
def foreign_identity_ignored(observed: IdentityObserved, facts: Facts) -> Verdict:
    """A name in arguments, header fields, the query or `_meta` does not replace the token's user.

    The caller's own record, an answer without it and a refusal are all right; another user's record is not.
    """
    overrides = tuple(observed.named("override"))
    for call in overrides:
        if call.has_foreign:
            return Fail(_OWN_ONLY, f"{_said(call)}, another principal's record in it")
    if doubt := _unanswered(overrides):
        return doubt
    for call in overrides:
        if call.attempt.accepted and call.own and not call.has_own:
            return Pass(f"answered without the caller's own record: {call.words}")
    return Pass()


@judge_on(_played_alone)
def callers_kept_apart(observed: IdentityObserved, facts: Facts) -> Verdict:
    """Callers who call at the same time, or with tokens that look alike, each get their own records.

    Refusals are no mix-up: a server may take a second token of the same `jti` for a replay.
    """
    together = tuple(observed.named("together"))
    tries = f" ({len(together)} calls of {', '.join(observed.callers)} were tried)"
    for call in observed.named("in turn", "together"):
        # Another's record in place of the own one: a plain leak would bring both.
        if call.own and call.has_foreign and not call.has_own:
            return Fail(_OWN_ONLY, f"{_said(call)}, another principal's record in it{tries}")
    if doubt := _unplain(observed.named("in turn")):
        return doubt
    for call in together:
        if call.has_foreign:
            return Fail(_OWN_ONLY, f"{_said(call)}, another principal's record in it{tries}")
    if doubt := _unanswered(together):
        return doubt
    for call in together:
        if call.own and call.attempt.accepted and not call.has_own:
            seen = f"{_said(call)}, without it{tries}"
            return Fail("each caller's own record", seen, Impact.AVAILABILITY)
    expected = [call for call in together if call.own]
    if expected and not any(call.attempt.accepted for call in together):
        return Inconclusive(f"every call was refused: {_said(expected[0])}")
    refused = sum(1 for call in expected if not call.attempt.accepted)
    return Pass(f"{refused} of {len(expected)} calls were refused" if refused else None)


@judge_on(_played)
def each_token_decides(observed: IdentityObserved, facts: Facts) -> Verdict:
    """Behind a good token, on its connection or in its session, every other one is judged by itself (MCP 2026-07-28).

    A token that is let in by itself too is another check's question.
    """
    rich = tuple(observed.named("rich"))
    if not rich[0].attempt.accepted:
        return Inconclusive(f"the good token was not accepted: {describe(rich[0].attempt.answer)}")
    expected = "each request judged by its own token"
    let_in: list[CallerCall] = []
    for part, impact in _IMPACTS.items():
        alone, behind = tuple(observed.named(f"{part} alone")), tuple(observed.named(part))
        if any(_through(call) for call in alone):
            let_in += alone
            continue
        for call in behind:
            if _through(call):
                return Fail(expected, _said(call), impact)
    if doubt := _unanswered(observed.calls):
        return doubt
    if let_in:
        return Inconclusive(f"{let_in[0].words} is served by itself too, which other checks report")
    for call in rich[1:]:
        if isinstance(call.attempt.reading, Refused):
            if call.attempt.reading.how is Refusal.NOT_SERVED:
                return Pass(f"the session ended when another token came: {describe(call.attempt.answer)}")
            return Fail(expected, f"{_said(call)}, which was good before", Impact.AVAILABILITY)
    return Pass()


_IMPACTS = {
    "other": Impact.TENANT_LEAK,
    "none": Impact.AUTH_BYPASS,
    "bad": Impact.AUTH_BYPASS,
    "poor": Impact.PRIVILEGE_ESCALATION,
}
"""What it means if a token of this part gets through."""


def _through(call: CallerCall) -> bool:
    """Whether a call got what its token does not give: another's record, or any result for a weak token."""
    if call.name.startswith("other"):
        return call.has_foreign
    return call.attempt.accepted


@judge
def list_depends_on_token_only(observed: ListingsObserved, facts: Facts) -> Verdict:
    """A list may vary by the token, not by the connection or what went before (MCP 2026-07-28, tools, capabilities).

    It may change over time, so only a difference that shows in both turns counts.
    """
    if not observed.lists:
        return Inconclusive("nothing was sent")
    for one in observed.lists:
        if one.names is None:
            return _unread(observed, one)
    first, second = _differing(observed.turn(1)), _differing(observed.turn(2))
    for place, words in first.items():
        if place in second:
            return Fail("the same list for the same token", f"{observed.method} {place}: {words}, twice in two turns")
    return Pass(f"{observed.method} changed in between, once" if first or second else None)


def _unread(observed: ListingsObserved, one: Listed) -> Verdict:
    last = one.answers[-1]
    match read(last):
        case Ambiguous():
            return Inconclusive(f"{observed.method} {one.words}: {describe(last)}")
        case Refused() if one is observed.lists[0]:
            return NotApplicable(f"{observed.method} is not served: {describe(last)}")
        case Refused():
            return Fail("the same list for the same token", f"{observed.method} {one.words}: {describe(last)}")
        case _:
            return Inconclusive(f"{observed.method} {one.words}: the list has no end")


def _differing(lists: tuple[Listed, ...]) -> dict[str, str]:
    """Say by place how a list differs from the first one of its turn."""
    found: dict[str, str] = {}
    for one in lists[1:]:
        before, now = lists[0].names or frozenset(), one.names or frozenset()
        if before != now:
            parts = [f"without {', '.join(sorted(before - now))}"] if before - now else []
            parts += [f"with {', '.join(sorted(now - before))} besides"] if now - before else []
            found[one.words] = " and ".join(parts)
    return found


def _said(call: CallerCall) -> str:
    return f"{describe(call.attempt.answer)} for {call.caller}, {call.words}"


def _unplain(calls: Iterable[CallerCall]) -> Inconclusive | None:
    """A plain call that is not as it should be: what goes wrong besides proves nothing."""
    for call in calls:
        if call.has_foreign:
            return Inconclusive(f"{call.caller} gets foreign records by a plain call, which other checks report")
        if call.own and not call.has_own:
            said = describe(call.attempt.answer)
            return Inconclusive(f"{call.caller} did not get their own record by {call.operation}: {said}")
    return None


def _unanswered(calls: tuple[CallerCall, ...]) -> Inconclusive | None:
    """An answer that says neither yes nor no is no proof of anything."""
    for call in calls:
        reading = call.attempt.reading
        if isinstance(reading, Ambiguous) and reading.why is not AmbiguityReason.REDIRECT:
            return Inconclusive(_said(call))
    return None
