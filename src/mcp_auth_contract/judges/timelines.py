"""What a timeline shows: whether keys and tokens stop working when they must, and go on working while they may."""

from collections.abc import Iterable

from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.judges.refusals import UNAVAILABLE, milder
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.observations import (
    Ambiguous,
    Doubt,
    LeewayObserved,
    Refused,
    Step,
    TimelineObserved,
    describe,
)

__all__ = [
    "answered_promptly",
    "forgeries_refused",
    "good_accepted",
    "introspecting_client_known",
    "keys_fetched_rarely",
    "leeway_within_declared",
    "new_accepted",
    "no_breakdown",
    "recovered",
    "weak_preferably_refused",
    "withdrawn_refused",
]

_NO_TIME = "time has to pass for it: run with --wait SECONDS, or in process with target.app"
_PROMPT_S = 2.0
_FETCHES = 10
"""How often the keys may be fetched within one timeline: some libraries limit themselves to ten a minute."""


def forgeries_refused(observed: TimelineObserved, facts: Facts) -> Verdict:
    """No token by a key that nobody trusts has an effect, whatever state the issuer is in (RFC 8725 §3.10)."""
    verdict = _none_accepted(observed, ("forged",), "a refusal")
    return _unasked(observed) or verdict if verdict == Pass() else verdict


def withdrawn_refused(observed: TimelineObserved, facts: Facts) -> Verdict:
    """What has ended does not work any more: a withdrawn key after the declared window, a token after its exp."""
    for step in observed.named("before"):
        if not step.accepted:
            return _doubt(step, "it was not accepted before either")
    for step in observed.named("kept"):
        if not step.accepted:
            return _doubt(step, "the key that stayed is not accepted, so a refusal of the other proves nothing")
    return _none_accepted(observed, ("withdrawn", "expired", "early"), "a refusal")


def new_accepted(observed: TimelineObserved, facts: Facts) -> Verdict:
    """A key that was published works once the declared window for it is over."""
    return _all_accepted(observed, ("new",))


def good_accepted(observed: TimelineObserved, facts: Facts) -> Verdict:
    """An honest token goes on working."""
    return _all_accepted(observed, ("good", "old"))


def weak_preferably_refused(observed: TimelineObserved, facts: Facts) -> Verdict:
    """A weak key had better not be trusted; whether the server refuses it is its operator's choice."""
    if observed.cut:
        return NotApplicable(observed.cut)
    for step in observed.named("weak"):
        if step.accepted:
            return Pass(f"accepted: {step.token}")
        if isinstance(step.attempt.reading, Ambiguous):
            return _wrong(step, "a refusal")
    return Pass() if observed.steps else Inconclusive("nothing was sent")


def answered_promptly(observed: TimelineObserved, facts: Facts) -> Verdict:
    """Nobody whose key is known waits for the issuer, while the server asks it about a stranger's key."""
    verdict = _all_accepted(observed, ("good",))
    if verdict == Pass() and (unasked := _unasked(observed)):
        return unasked
    for step in observed.named("good"):
        if verdict == Pass() and step.took > _PROMPT_S:
            return Fail(f"a result within {_PROMPT_S:g} s", f"{_seen(step)}, after {step.took:.1f} s")
    return verdict


def recovered(observed: TimelineObserved, facts: Facts) -> Verdict:
    """When the issuer is back, honest tokens work again."""
    if not observed.cold and not observed.cut:
        return NotApplicable(_NO_TIME)
    return _all_accepted(observed, ("after",))


def no_breakdown(observed: TimelineObserved, facts: Facts) -> Verdict:
    """Trouble with the keys is told with 401 or 503, not with a fault of the server (RFC 9110 §15.6.1)."""
    if observed.cut and not observed.steps:
        return NotApplicable(observed.cut)
    expected = "a result, a 4xx status or 503"
    for step in observed.steps:
        match step.attempt.reading:
            case Ambiguous() if step.attempt.answer.status in UNAVAILABLE:
                continue
            case Ambiguous():
                return _wrong(step, expected)
            case _:
                continue
    if not observed.steps:
        return Inconclusive("nothing was sent")
    return _unasked(observed) or Pass()


def keys_fetched_rarely(observed: TimelineObserved, facts: Facts) -> Verdict:
    """The keys are fetched for a while, not for a token: nobody can drive the server against its issuer."""
    if observed.cut and not observed.steps:
        return NotApplicable(observed.cut)
    if not observed.steps:
        return Inconclusive("nothing was sent")
    for step in observed.steps:
        if isinstance(step.attempt.reading, Ambiguous):
            return _doubt(step)
    if observed.fetches > _FETCHES:
        calls = len(observed.steps)
        return Fail(f"at most {_FETCHES} fetches of the keys", f"{observed.fetches} fetches in {calls} calls")
    return Pass()


def introspecting_client_known(observed: TimelineObserved, facts: Facts) -> Verdict:
    """Whoever introspects says who it is (RFC 7662 §2.1): else anybody could try out tokens."""
    if not observed.introspections:
        return Inconclusive("the server did not introspect the token")
    if observed.anonymous:
        return Fail("client credentials with the introspection request", "an introspection request without any")
    return Pass()


def leeway_within_declared(observed: LeewayObserved, facts: Facts) -> Verdict:
    """The leeway that the server grants is not longer than declared (RFC 7519 §4.1.4: a few minutes at most)."""
    for probe in observed.probes:
        if isinstance(probe.attempt.reading, Ambiguous):
            return Inconclusive(describe(probe.attempt.answer))
    granted = observed.granted
    if granted is None:
        return Inconclusive("a token in time was not accepted" if observed.probes else "nothing was sent")
    said = f"{max(granted, 0)} s at {observed.claim}"
    if granted > observed.declared + observed.tolerance:
        more = " or more" if all(probe.beyond <= granted for probe in observed.probes) else ""
        return Fail(f"a leeway of {observed.declared:g} s at most, as declared", f"{said}{more}")
    return Pass(f"leeway measured: {said}, declared {observed.declared:g} s")


def _unasked(observed: TimelineObserved) -> NotApplicable | None:
    """A server that did not ask the issuer in its trouble has not shown how it takes that."""
    if not observed.troubled or observed.asked_in_trouble:
        return None
    return NotApplicable(_NO_TIME)


def _none_accepted(observed: TimelineObserved, names: Iterable[str], expected: str) -> Verdict:
    steps = [step for name in names for step in observed.named(name)]
    for step in steps:
        if step.accepted:
            return Fail(expected, _seen(step))
    if observed.cut:
        return NotApplicable(observed.cut)
    for step in steps:
        match step.attempt.reading:
            case Refused():
                continue
            case Ambiguous(why=why) if why is Doubt.SERVER_ERROR or step.attempt.answer.status in UNAVAILABLE:
                # No effect; how trouble is told is another check's question.
                continue
            case _:
                return _doubt(step)
    return Pass() if steps else Inconclusive("nothing was sent")


def _all_accepted(observed: TimelineObserved, names: Iterable[str]) -> Verdict:
    steps = [step for name in names for step in observed.named(name)]
    for step in steps:
        match step.attempt.reading:
            case Ambiguous(why=Doubt.NO_ANSWER | Doubt.RATE_LIMITED) if (
                step.attempt.answer.trouble is None and step.attempt.answer.status not in UNAVAILABLE
            ):
                return _doubt(step)
            case _ if not step.accepted:
                return Fail("a result", _seen(step))
            case _:
                continue
    if observed.cut:
        return NotApplicable(observed.cut)
    return Pass() if steps else Inconclusive("nothing was sent")


def _wrong(step: Step, expected: str) -> Fail | Inconclusive:
    match step.attempt.reading:
        case Ambiguous(why=Doubt.NO_ANSWER | Doubt.RATE_LIMITED) if step.attempt.answer.status not in UNAVAILABLE:
            return _doubt(step)
        case reading:
            return Fail(expected, _seen(step), milder(reading))


def _seen(step: Step) -> str:
    return f"{describe(step.attempt.answer)} for {step.attempt.way}"


def _doubt(step: Step, why: str = "") -> Inconclusive:
    return Inconclusive(f"{_seen(step)}{f': {why}' if why else ''}")
