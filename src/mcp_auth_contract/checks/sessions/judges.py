"""Does a session lend its owner's rights, and are its id and its end as they should be?"""

from collections.abc import Callable, Sequence

from mcp_auth_contract.answers import (
    Accepted,
    AmbiguityReason,
    Ambiguous,
    Answer,
    JsonObject,
    Refusal,
    Refused,
    describe,
)
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import (
    Finding,
    judge,
    judge_each,
    judge_on,
    narrowing,
    open_and_silent,
    proves_nothing,
)
from mcp_auth_contract.checks.sessions.observation import (
    NewsObserved,
    SessionEndObserved,
    SessionIdsObserved,
    SessionObserved,
    SessionStep,
)
from mcp_auth_contract.checks.tokens.judges import milder
from mcp_auth_contract.checks.unpredictable import predictable
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict


def _seen(step: SessionStep) -> str:
    return f"{describe(step.attempt.answer)} to {step.attempt.way}"


def _played(observed: SessionObserved, facts: Facts) -> SessionObserved | Verdict:
    """Nothing to see, nothing sent, no answer, or an owner who is not served: none of it proves anything."""
    if observed.absent is not None:
        return NotApplicable(observed.absent)
    if not observed.steps:
        return Inconclusive("nothing was sent")
    for step in observed.steps:
        if proves_nothing(step.attempt.answer):
            return Inconclusive(_seen(step))
        if step.name == "owner" and not step.accepted:
            return Inconclusive(f"the owner is not served in the session: {_seen(step)}")
    return observed


def _leaked(step: SessionStep, facts: Facts) -> bool:
    text = step.attempt.answer.text
    return any(canary in text for canary in facts.canaries)


@judge
def session_guarded(observed: SessionObserved, facts: Facts) -> Verdict:
    """A session opens for its owner's tokens alone, and lends its owner's name to nobody (MCP session hijacking).

    Who has no valid token is refused. Who has another user's may be served, as that user; the owner's records reach
    nobody else, on no stream. And the owner's session lives on.
    """
    for name, report in (("apart", "the isolation checks report it"), ("allowed", "scope-missing-denied reports it")):
        for step in observed.named(name):
            if _leaked(step, facts):
                return Inconclusive(f"{_seen(step)}, the owner's record in it; {report}")
    for step in observed.steps:
        if step.name == "stranger" and step.accepted and step.attempt.answer.method != "DELETE":
            if open_and_silent(step.attempt.answer, facts):
                continue
            opened = " with an open event stream" if step.attempt.answer.stream else ""
            return Fail("401", f"{_seen(step)}{opened}")
        if step.name in ("stranger", "intruder", "own") and _leaked(step, facts):
            return Fail("a refusal, or nothing of the owner's", f"{_seen(step)}, the owner's record in it")
    if isinstance(played := _played(observed, facts), Verdict):
        return played
    for step in observed.named("stranger", "intruder", "own"):
        # A login page or a redirect gives nothing away; that it is no 401 is another check's question.
        if step.attempt.reading == Ambiguous(AmbiguityReason.SERVER_ERROR):
            return Fail("a refusal", _seen(step), Impact.AVAILABILITY)
    for step in observed.named("after"):
        if not step.accepted:
            return Fail("the owner's session lives on", _seen(step))
    return _silence(observed, facts) or Pass(_advice(observed))


def _silence(observed: SessionObserved, facts: Facts) -> NotApplicable | None:
    """Whether that nothing was seen of the owner's means something."""
    tried = list(observed.named("stranger", "intruder", "own"))
    if tried and all(step.attempt.answer.method == "GET" and step.attempt.answer.status == 405 for step in tried):
        return NotApplicable("the server offers no event stream")
    served = [step for step in observed.named("intruder", "own") if step.accepted]
    if not served or all(step.attempt.answer.method == "DELETE" for step in served):
        return None
    if not facts.canaries:
        return NotApplicable("another user was served, and no record of the owner alone would show whose data came")
    if any(step.attempt.answer.method == "GET" for step in served):
        heard = [step for step in observed.named("witness") if _leaked(step, facts)]
        return None if heard else NotApplicable("nothing came on the owner's own event stream either")
    if not all(_leaked(step, facts) for step in observed.named("owner")):
        return NotApplicable("the owner's own record did not come back, so its absence shows nothing")
    return None


def _advice(observed: SessionObserved) -> str | None:
    for step in (one for name in ("stranger", "intruder") for one in observed.named(name) if one.accepted):
        if step.name == "stranger":
            return f"{_seen(step)}, but the session lives on"
        return f"the session is not bound to its user: {_seen(step)}"
    for step in observed.named("intruder"):
        if step.attempt.reading == Refused(Refusal.UNAUTHORIZED):
            return f"{_seen(step)}: a client would sign in again and again; 404 makes it open a session of its own"
    return None


def _steps(*names: str) -> Callable[[SessionObserved, Facts], Sequence[SessionStep] | Verdict]:
    """The steps of these parts, where the scene proves something."""
    return narrowing(_played)(lambda played, _: tuple(played.named(*names)))


def _wrong(expected: str, step: SessionStep) -> Fail:
    return Fail(expected, _seen(step), milder(step.attempt.reading))


@judge_each(_steps("good"), "a result")
def session_serves_owner(step: SessionStep, facts: Facts) -> str | None:
    """Any valid token of the owner works in the session, for what that token allows (MCP token handling)."""
    return None if step.accepted else _seen(step)


@judge_each(_steps("good"))
def session_serves_owner_or_advice(step: SessionStep, facts: Facts) -> Verdict | None:
    """The owner's token of another client may be served or refused; only a breakdown of the server is a failure."""
    if isinstance(step.attempt.reading, Ambiguous):
        return _wrong("a result, or a refusal", step)
    return None if step.accepted else Pass(f"the session is bound to the client too: {_seen(step)}")


@judge_each(_steps("ended", "gone"), "404")
def session_ended_404(step: SessionStep, facts: Facts) -> Finding:
    """After its end a session is answered 404, so that clients open another one (MCP session management)."""
    if step.name == "ended":
        return None if step.accepted else NotApplicable(f"the owner cannot end a session: {_seen(step)}")
    if step.accepted:
        return _seen(step)
    if step.attempt.answer.status == 401:
        return Pass(f"{_seen(step)}: the client would sign in again instead of opening a session")
    return None if step.attempt.answer.status == 404 else _wrong("404", step)


@judge_each(_steps("unknown"), "404")
def session_unknown_id(step: SessionStep, facts: Facts) -> Finding:
    """An id that was never handed out is no session: whoever could choose one could also plant it on a victim."""
    if step.accepted:
        return _seen(step)
    if isinstance(step.attempt.reading, Ambiguous):
        return _wrong("404", step)
    return None if step.attempt.answer.status == 404 else Pass(f"{_seen(step)}; 404 tells clients to open a session")


@judge_each(_steps("missing"))
def session_missing_id(step: SessionStep, facts: Facts) -> Fail | None:
    """A call without a session id is answered 400, or served without a session (MCP session management)."""
    return None if step.accepted or step.attempt.answer.status == 400 else _wrong("400, or a result", step)


@judge_each(_steps("good"), "a result")
def session_header_ignored(step: SessionStep, facts: Facts) -> Finding:
    """Where there are no sessions, their header means nothing, and none is handed out (MCP 2026-07-28)."""
    if not step.accepted:
        return _seen(step)
    if step.attempt.answer.header("mcp-session-id") is None:
        return None
    return Fail("a result without a session id", f"{_seen(step)}, which hands out a session id")


@judge
def news_to_own_user(observed: NewsObserved, facts: Facts) -> Verdict:
    """What an owner does with a record is told to nobody who may not read it (OAuth 2.1 §5.2)."""
    heard, witness, written = observed.heard, observed.witness, observed.written
    if observed.absent is not None or heard is None or witness is None or written is None:
        return NotApplicable(observed.absent or "nothing was sent")
    expected = f"nothing about {observed.record} for {observed.listener}"
    if any(canary in heard.answer.text for canary in observed.canaries):
        return Fail(expected, f"{describe(heard.answer)} to {heard.way}, a record of another user in it")
    if told := _updated(heard.answer) & observed.uris:
        return Fail(expected, f"notifications/resources/updated for {min(told)} on {heard.way}")
    if proves_nothing(heard.answer) or not written.accepted:
        seen = heard if written.accepted else written
        return Inconclusive(f"{describe(seen.answer)} to {seen.way}")
    if not heard.accepted:
        return NotApplicable(f"{observed.listener} cannot listen: {describe(heard.answer)}")
    if not any("method" in message for message in _news(witness.answer)):
        return NotApplicable("a write is told to its own user neither")
    return Pass()


def _news(answer: Answer) -> list[JsonObject]:
    """Return what came on a stream by itself: all but the acknowledgement of a subscription."""
    return [one for one in answer.messages if one.get("method") != "notifications/subscriptions/acknowledged"]


def _updated(answer: Answer) -> set[str]:
    told = [one.get("params") for one in _news(answer) if one.get("method") == "notifications/resources/updated"]
    return {str(params.get("uri")) for params in told if isinstance(params, dict)}


def _ids(observed: SessionIdsObserved, facts: Facts) -> Sequence[str] | Verdict:
    if observed.ids:
        return observed.ids
    for attempt in observed.handshakes:
        if not attempt.accepted:
            return Inconclusive(f"no session was opened: {describe(attempt.answer)}")
    return NotApplicable("the server keeps no sessions") if observed.handshakes else Inconclusive("nothing was sent")


@judge_each(_ids, "visible ASCII characters")
def session_ids_visible_ascii(ident: str, facts: Facts) -> str | None:
    """A session id consists of the characters 0x21 to 0x7E (MCP session management)."""
    odd = sorted({f"U+{ord(one):04X}" for one in ident if not "\x21" <= one <= "\x7e"})
    return None if ident and not odd else f"an id with {', '.join(odd) or 'nothing in it'}"


@judge_on(_ids, "ids from a secure random generator")
def session_ids_unpredictable(ids: Sequence[str], facts: Facts) -> Finding:
    """Session ids do not repeat, and do not count or tell the time (MCP session hijacking). More cannot be shown."""
    if len(set(ids)) < len(ids):
        return f"the same id for {len(ids) - len(set(ids)) + 1} of {len(ids)} sessions"
    if len(ids) < 3:
        return Inconclusive(f"only {len(ids)} sessions could be opened")
    counting = f"{len(ids)} ids that differ in a number that counts up, or tells the time"
    return counting if predictable(ids) else None


@judge
def session_survives(observed: SessionEndObserved, facts: Facts) -> Verdict:
    """DELETE without a token does not end a session (MCP transports, session management)."""
    if observed.ended is None or observed.after is None:
        return NotApplicable("the server hands out no session ids")
    said, status = describe(observed.ended), observed.ended.status or 0
    if proves_nothing(observed.ended):
        return Inconclusive(f"DELETE: {said}")
    if status >= 500 and status != 501:
        return Fail("401 or 405", said, Impact.AVAILABILITY)
    match observed.after.reading:
        case Accepted() if 200 <= status < 300:
            return Pass(f"DELETE without a token was answered {status}, but the session lives on")
        case Accepted():
            return Pass()
        case Refused(how=Refusal.NOT_SERVED | Refusal.MALFORMED):
            return Fail("the session lives on", f"{said} to DELETE, then {describe(observed.after.answer)}")
        case _:
            return Inconclusive(f"the session could not be used afterwards: {describe(observed.after.answer)}")
