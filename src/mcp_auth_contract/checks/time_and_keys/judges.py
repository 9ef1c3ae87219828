"""What a timeline shows: whether keys and tokens stop working when they must, and go on working while they may."""

from mcp_auth_contract.answers import AmbiguityReason, Ambiguous, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, judge_on, proves_nothing
from mcp_auth_contract.checks.time_and_keys.observation import LeewayObserved, Step, TimelineObserved
from mcp_auth_contract.checks.tokens.judges import UNAVAILABLE, milder
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

_NO_TIME = "time has to pass for it: run with --wait SECONDS, or in process with target.app"

_PROMPT_S = 2.0

_CONTROLS = {
    "before": "it was not accepted before either",
    "kept": "the key that stayed is not accepted, so a refusal of the other proves nothing",
}
"""By step that has to work: why the others prove nothing where it does not."""

_FETCHES = 10
"""How often the keys may be fetched within one timeline: some libraries limit themselves to ten a minute."""


@judge
def forgeries_refused(observed: TimelineObserved, facts: Facts) -> Verdict:
    """No token by a key that nobody trusts has an effect, whatever state the issuer is in (RFC 8725 §3.10)."""
    verdict = _none_accepted(observed, "forged")
    return _unasked(observed) or verdict if verdict == Pass() else verdict


@judge
def withdrawn_refused(observed: TimelineObserved, facts: Facts) -> Verdict:
    """What has ended does not work any more: a withdrawn key after the declared window, a token after its exp."""
    for name, why in _CONTROLS.items():
        for step in observed.named(name):
            if not step.accepted:
                return _doubt(step, why)
    return _none_accepted(observed, "withdrawn", "expired", "early")


@judge
def new_accepted(observed: TimelineObserved, facts: Facts) -> Verdict:
    """A key that was published works once the declared window for it is over."""
    return _all_accepted(observed, "new")


@judge
def good_accepted(observed: TimelineObserved, facts: Facts) -> Verdict:
    """An honest token goes on working."""
    return _all_accepted(observed, "good", "old")


@judge
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


@judge
def answered_promptly(observed: TimelineObserved, facts: Facts) -> Verdict:
    """Nobody whose key is known waits for the issuer, while the server asks it about a stranger's key."""
    verdict = _all_accepted(observed, "good")
    if verdict != Pass():
        return verdict
    slow = (step for step in observed.named("good") if step.took > _PROMPT_S)
    late = (Fail(f"a result within {_PROMPT_S:g} s", f"{_seen(one)}, after {one.took:.1f} s") for one in slow)
    return _unasked(observed) or next(late, verdict)


@judge
def recovered(observed: TimelineObserved, facts: Facts) -> Verdict:
    """When the issuer is back, honest tokens work again."""
    if not observed.cold and not observed.cut:
        return NotApplicable(_NO_TIME)
    return _all_accepted(observed, "after")


def _begun(observed: TimelineObserved, facts: Facts) -> TimelineObserved | Verdict:
    return observed if observed.steps else _end(observed)


@judge_on(_begun)
def no_breakdown(observed: TimelineObserved, facts: Facts) -> Verdict:
    """Failure to get the keys is told with 401 or 503, not with a fault of the server (RFC 9110 §15.6.1)."""
    for step in observed.steps:
        unavailable = step.attempt.answer.status in UNAVAILABLE
        if isinstance(step.attempt.reading, Ambiguous) and not unavailable:
            return _wrong(step, "a result, a 4xx status or 503")
    return _unasked(observed) or Pass()


@judge_on(_begun)
def keys_fetched_rarely(observed: TimelineObserved, facts: Facts) -> Verdict:
    """The keys are fetched for a while, not for a token: nobody can drive the server against its issuer."""
    for step in observed.steps:
        if isinstance(step.attempt.reading, Ambiguous):
            return _doubt(step)
    if observed.fetches > _FETCHES:
        calls = len(observed.steps)
        return Fail(f"at most {_FETCHES} fetches of the keys", f"{observed.fetches} fetches in {calls} calls")
    return Pass()


@judge
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
    """A server that did not ask the issuer while it failed has not shown how it takes that."""
    return NotApplicable(_NO_TIME) if observed.failing and not observed.asked_while_failing else None


def _end(observed: TimelineObserved, *steps: Step) -> Verdict:
    """Decide where no step has anything to complain of: a timeline that was cut short has not shown it all."""
    if observed.cut:
        return NotApplicable(observed.cut)
    return Pass() if steps else Inconclusive("nothing was sent")


def _none_accepted(observed: TimelineObserved, *names: str) -> Verdict:
    steps = [step for name in names for step in observed.named(name)]
    for step in steps:
        if step.accepted:
            return Fail("a refusal", _seen(step))
    unclear = None if observed.cut else next((one for one in steps if not _without_effect(one)), None)
    return _end(observed, *steps) if unclear is None else _doubt(unclear)


def _without_effect(step: Step) -> bool:
    """Whether the call surely did nothing: a refusal or a server error; how failure is told is another question."""
    reading, status = step.attempt.reading, step.attempt.answer.status
    failed = reading == Ambiguous(AmbiguityReason.SERVER_ERROR) or status in UNAVAILABLE
    return failed or isinstance(reading, Refused)


def _all_accepted(observed: TimelineObserved, *names: str) -> Verdict:
    steps = [step for name in names for step in observed.named(name)]
    for step in steps:
        if step.attempt.answer.status == 429:
            return _doubt(step)
        if not step.accepted:
            return Fail("a result", _seen(step))
    return _end(observed, *steps)


def _wrong(step: Step, expected: str) -> Fail | Inconclusive:
    # While the issuer fails, 503 is an answer, with Retry-After too.
    if proves_nothing(step.attempt.answer) and step.attempt.answer.status not in UNAVAILABLE:
        return _doubt(step)
    return Fail(expected, _seen(step), milder(step.attempt.reading))


def _seen(step: Step) -> str:
    return f"{describe(step.attempt.answer)} for {step.attempt.way}"


def _doubt(step: Step, why: str = "") -> Inconclusive:
    return Inconclusive(f"{_seen(step)}{f': {why}' if why else ''}")
