"""Scopes: does the challenge suffice and stay the same, is the surface declared, does nothing get past a check?"""

from collections.abc import Mapping

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Attempt, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.scopes.observation import (
    BypassObserved,
    RoundsObserved,
    SurfaceObserved,
    challenge_scopes,
    challenges_told,
)
from mcp_auth_contract.checks.tokens.judges import milder
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge import scopes_of

_SHOWN = 5


def _unanswered(*attempts: Attempt) -> Inconclusive | None:
    for attempt in attempts:
        match attempt.reading:
            case Ambiguous(why=AmbiguityReason.NO_ANSWER | AmbiguityReason.RATE_LIMITED):
                return Inconclusive(f"{attempt.way}: {describe(attempt.answer)}")
            case _:
                continue
    return None


def _challenged(observed: RoundsObserved) -> Verdict | None:
    """Why there is no challenge with scopes to look at, if there is none."""
    if not observed.asked:
        return Inconclusive("nothing was sent")
    if doubt := _unanswered(*observed.asked):
        return doubt
    if any(one.accepted for one in observed.asked):
        return Inconclusive("the operation ran; scope-missing-denied reports it")
    if all(challenge_scopes(one.answer) is None for one in observed.asked):
        return NotApplicable("no challenge names a scope; scope-challenge-names-missing reports it")
    return None


def _words(scopes: frozenset[str] | None) -> str:
    return "no scope" if scopes is None else f'scope="{" ".join(sorted(scopes))}"'


@judge
def rounds_complete(observed: RoundsObserved, facts: Facts) -> Verdict:
    """One Bearer challenge names all scopes that the operation needs and the token lacks (MCP insufficient scope)."""
    if unseen := _challenged(observed):
        return unseen
    lacking = [scope for scope in sorted(facts.needed) if not facts.covers(observed.held, scope)]
    if len(lacking) < 2:
        return NotApplicable("the operation needs one scope; scope-challenge-names-missing looks for it")
    expected = f'one challenge with scope="{" ".join(lacking)}"'
    for attempt in observed.asked:
        told = [one.get("scope") for one in challenges_told(attempt.answer).challenges if one.is_bearer]
        named = [frozenset(scopes_of(scope)) for scope in told if scope is not None]
        if not any(all(facts.covers(one, scope) for scope in lacking) for one in named):
            return Fail(expected, " and ".join(_words(one) for one in named) or "no scope")
    return Pass()


@judge
def rounds_consistent(observed: RoundsObserved, facts: Facts) -> Verdict:
    """The same call with the same token is challenged for the same scopes (MCP insufficient scope)."""
    if unseen := _challenged(observed):
        return unseen
    told = [challenge_scopes(one.answer) for one in observed.asked]
    other = next((one for one in told if one != told[0]), told[0])
    if other != told[0]:
        return Fail(f"{_words(told[0])} each time", f"{_words(other)} for the same call with the same token")
    return Pass()


@judge
def rounds_satisfiable(observed: RoundsObserved, facts: Facts) -> Verdict:
    """A token with the scopes held and those challenged gets through (MCP scope selection)."""
    if unseen := _challenged(observed):
        return unseen
    expected = "a result with the scopes that were asked for"
    if not observed.rounds:
        named = _words(challenge_scopes(observed.asked[-1].answer))
        return Fail(expected, f"a challenge for what the token holds: {named}")
    last = observed.rounds[-1]
    if doubt := _unanswered(last.attempt):
        return doubt
    if last.attempt.accepted:
        return Pass()
    return Fail(expected, f"{describe(last.attempt.answer)} with {_words(last.scopes)} in the token")


@judge
def rounds_single(observed: RoundsObserved, facts: Facts) -> Verdict:
    """The first challenge asks for everything: no second, different one follows (MCP runtime insufficient scope)."""
    if unseen := _challenged(observed):
        return unseen
    if doubt := _unanswered(*(one.attempt for one in observed.rounds)):
        return doubt
    if len(observed.rounds) < 2:
        return Pass()
    further = challenge_scopes(observed.rounds[0].attempt.answer)
    return Fail("one challenge for everything", f"another one, {_words(further)}, to a token with what the first named")


@judge
def surface_declared(observed: SurfaceObserved, facts: Facts) -> Verdict:
    """Everything that the server lists is in the contract, so that everything is tested."""
    if doubt := _unlisted(observed):
        return doubt
    strange = [f"{kind.kind}: {_some(kind.undeclared)}" for kind in observed.kinds if kind.undeclared]
    if strange:
        return Fail("every listed primitive in the contract", f"not in the contract: {'; '.join(strange)}")
    return Pass()


@judge
def surface_offered(observed: SurfaceObserved, facts: Facts) -> Verdict:
    """Everything in the contract is there: the server lists it, or at least answers its call."""
    if doubt := _unlisted(observed):
        return doubt
    gone, quiet = [], []
    for name, attempt in (each for kind in observed.kinds for each in kind.unlisted):
        match attempt.reading:
            case Accepted():
                quiet.append(name)
            case Refused():
                gone.append(f"{name} ({describe(attempt.answer)})")
            case Ambiguous():
                return _unanswered(attempt) or Fail(f"{name} listed, or answered", describe(attempt.answer))
    if gone:
        return Fail("every primitive of the contract on the server", f"neither listed nor answered: {_some(gone)}")
    return Pass(f"answered, and not listed: {_some(quiet)}") if quiet else Pass()


def _unlisted(observed: SurfaceObserved) -> Inconclusive | None:
    for kind in observed.kinds:
        if not kind.complete:
            return Inconclusive(f"no complete list of {kind.kind}: {describe(kind.answers[-1])}")
    return None if observed.kinds else Inconclusive("nothing was listed")


def _some(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


@judge
def not_past_scopes(observed: BypassObserved, facts: Facts) -> Verdict:
    """No way of writing a message takes a weak token past the scopes of the operation (OAuth 2.1 §5.2)."""
    if doubt := _unanswered(observed.control, *([observed.attempt] if observed.attempt else [])):
        return doubt
    if observed.attempt is None:
        said = describe(observed.control.answer)
        return NotApplicable(f"{observed.control.way}: not taken from a token with the scopes either ({said})")
    attempt, expected = observed.attempt, "a refusal"
    match attempt.reading:
        case Refused():
            return Pass()
        case Ambiguous():
            return Fail(expected, f"{describe(attempt.answer)} ({attempt.way})", milder(attempt.reading))
        case Accepted():
            return _through(observed, attempt, expected)


def _through(observed: BypassObserved, attempt: Attempt, expected: str) -> Verdict:
    """Tell whether the forbidden call had the effect, or the permitted one that the message names as well."""
    if observed.plain is not None and observed.plain.accepted:
        return NotApplicable("the plain call runs without the scopes too; scope-missing-denied reports it")
    failure = Fail(expected, f"{describe(attempt.answer)} of {observed.operation} ({attempt.way})")
    permitted = observed.permitted
    if permitted is None or not permitted.accepted:
        return failure
    got, forbidden, allowed = (one.answer.result for one in (attempt, observed.control, permitted))
    if got == allowed:
        return Pass()
    if got == forbidden or (_shape(got) == _shape(forbidden) != _shape(allowed)):
        return failure
    return Pass(f"{attempt.way}: the answer is neither that of {observed.operation} nor that of {observed.decoy}")


def _shape(value: object) -> object:
    """The structure of a result without its values."""
    if isinstance(value, Mapping):
        return tuple(sorted((name, _shape(member)) for name, member in value.items()))
    if isinstance(value, list | tuple):
        return tuple(_shape(member) for member in value[:1])
    return type(value).__name__
