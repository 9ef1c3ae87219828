"""Does a session lend anybody its owner's rights, and are its id and its end as they should be?"""

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.sessions.observation import SessionObserved, SessionStep
from mcp_auth_contract.checks.tokens.judges import milder
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict


def _seen(step: SessionStep) -> str:
    return f"{describe(step.attempt.answer)} to {step.words}"


def _unsettled(observed: SessionObserved) -> Verdict | None:
    """Nothing to see, nothing sent, no answer, or an owner who is not served: none of it proves anything."""
    if observed.absent is not None:
        return NotApplicable(observed.absent)
    if not observed.steps:
        return Inconclusive("nothing was sent")
    for step in observed.steps:
        match step.attempt.reading:
            case Ambiguous(why=AmbiguityReason.NO_ANSWER | AmbiguityReason.RATE_LIMITED):
                return Inconclusive(_seen(step))
            case Accepted():
                continue
            case _ if step.name == "owner":
                return Inconclusive(f"the owner is not served in the session: {_seen(step)}")
            case _:
                continue
    return None


def _leaked(step: SessionStep, facts: Facts) -> bool:
    text = step.attempt.answer.text
    return any(canary in text for canary in facts.canaries)


@judge
def session_guarded(observed: SessionObserved, facts: Facts) -> Verdict:
    """A session opens for its owner's tokens alone, and lends its owner's name to nobody (MCP session hijacking).

    Who has no valid token is refused. Who has another user's may be served, as that user; the owner's records reach
    nobody else, on no stream. And the owner's session lives on.
    """
    for step in observed.named("apart"):
        if _leaked(step, facts):
            return Inconclusive(f"{_seen(step)}, the owner's record in it; the isolation checks report it")
    for step in observed.named("allowed"):
        if _leaked(step, facts):
            return Inconclusive(f"{_seen(step)}, the owner's record in it; scope-missing-denied reports it")
    for step in observed.steps:
        if step.name == "stranger" and step.accepted and step.attempt.answer.method != "DELETE":
            opened = " with an open event stream" if step.attempt.answer.stream else ""
            return Fail("401", f"{_seen(step)}{opened}")
        if step.name in ("stranger", "intruder", "own") and _leaked(step, facts):
            return Fail("a refusal, or nothing of the owner's", f"{_seen(step)}, the owner's record in it")
    if doubt := _unsettled(observed):
        return doubt
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
        return NotApplicable("somebody else was served, and no record of the owner alone would show whose data came")
    if any(step.attempt.answer.method == "GET" for step in served):
        heard = [step for step in observed.named("witness") if _leaked(step, facts)]
        return None if heard else NotApplicable("nothing came on the owner's own event stream either")
    if not all(_leaked(step, facts) for step in observed.named("owner")):
        return NotApplicable("the owner's own record did not come back, so its absence shows nothing")
    return None


def _advice(observed: SessionObserved) -> str | None:
    for step in observed.named("stranger"):
        if step.accepted:
            return f"{_seen(step)}, but the session lives on"
    for step in observed.named("intruder"):
        if step.accepted:
            return f"the session is not bound to its user: {_seen(step)}"
    for step in observed.named("intruder"):
        if step.attempt.reading == Refused(Refusal.UNAUTHORIZED):
            return f"{_seen(step)}: a client would sign in again and again; 404 makes it open a session of its own"
    return None


@judge
def session_serves_owner(observed: SessionObserved, facts: Facts) -> Verdict:
    """Any valid token of the owner works in the session, for what that token allows (MCP token handling)."""
    if doubt := _unsettled(observed):
        return doubt
    for step in observed.named("good"):
        if not step.accepted:
            return Fail("a result", _seen(step))
    return Pass()


@judge
def session_serves_owner_or_advice(observed: SessionObserved, facts: Facts) -> Verdict:
    """The owner's token of another client may be served or refused; only a breakdown of the server is a failure."""
    if doubt := _unsettled(observed):
        return doubt
    for step in observed.named("good"):
        if isinstance(step.attempt.reading, Ambiguous):
            return Fail("a result, or a refusal", _seen(step), milder(step.attempt.reading))
        if not step.accepted:
            return Pass(f"the session is bound to the client too: {_seen(step)}")
    return Pass()


@judge
def session_ended_404(observed: SessionObserved, facts: Facts) -> Verdict:
    """After its end a session is answered 404, so that clients open another one (MCP session management)."""
    if doubt := _unsettled(observed):
        return doubt
    for step in observed.named("ended"):
        if not step.accepted:
            return NotApplicable(f"the owner cannot end a session: {_seen(step)}")
    for step in observed.named("gone"):
        if step.accepted:
            return Fail("404", _seen(step))
        if step.attempt.answer.status == 401:
            return Pass(f"{_seen(step)}: the client would sign in again instead of opening a session")
        if step.attempt.answer.status != 404:
            return Fail("404", _seen(step), milder(step.attempt.reading))
    return Pass()


@judge
def session_unknown_id(observed: SessionObserved, facts: Facts) -> Verdict:
    """An id that was never handed out is no session: whoever could choose one could also plant it on a victim."""
    if doubt := _unsettled(observed):
        return doubt
    for step in observed.named("unknown"):
        match step.attempt.reading:
            case Accepted():
                return Fail("404", _seen(step))
            case Ambiguous() as reading:
                return Fail("404", _seen(step), milder(reading))
            case _ if step.attempt.answer.status != 404:
                return Pass(f"{_seen(step)}; 404 tells clients to open a session")
            case _:
                continue
    return Pass()


@judge
def session_missing_id(observed: SessionObserved, facts: Facts) -> Verdict:
    """A call without a session id is answered 400, or served without a session (MCP session management)."""
    if doubt := _unsettled(observed):
        return doubt
    for step in observed.named("missing"):
        if not step.accepted and step.attempt.answer.status != 400:
            return Fail("400, or a result", _seen(step), milder(step.attempt.reading))
    return Pass()


@judge
def session_header_ignored(observed: SessionObserved, facts: Facts) -> Verdict:
    """Where there are no sessions, their header means nothing, and none is handed out (MCP 2026-07-28)."""
    if doubt := _unsettled(observed):
        return doubt
    for step in observed.named("good"):
        if not step.accepted:
            return Fail("a result", _seen(step))
        if step.attempt.answer.header("mcp-session-id") is not None:
            return Fail("a result without a session id", f"{_seen(step)}, which hands out a session id")
    return Pass()
