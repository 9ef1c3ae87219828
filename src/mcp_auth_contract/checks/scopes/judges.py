"""Scopes: does the challenge suffice and stay the same, is the surface declared, does nothing get past a check?"""

from collections.abc import Mapping, Sequence

from mcp_auth_contract.answers import Accepted, Ambiguous, Attempt, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, judge_on, unanswered
from mcp_auth_contract.checks.scopes.observation import (
    BypassObserved,
    RoundsObserved,
    Surface,
    SurfaceObserved,
    challenge_scopes,
    challenges_told,
)
from mcp_auth_contract.checks.tokens.judges import milder
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge import scopes_of

_SHOWN = 5


def _challenged(observed: RoundsObserved, facts: Facts) -> RoundsObserved | Verdict:
    """The rounds, or why there is no challenge with scopes to look at."""
    if not observed.asked:
        return Inconclusive("nothing was sent")
    if doubt := unanswered(*observed.asked):
        return doubt
    if any(one.accepted for one in observed.asked):
        return Inconclusive("the operation ran; scope-missing-denied reports it")
    if all(challenge_scopes(one.answer) is None for one in observed.asked):
        return NotApplicable("no challenge names a scope; scope-challenge-names-missing reports it")
    return observed


def _words(scopes: frozenset[str] | None) -> str:
    return "no scope" if scopes is None else f'scope="{" ".join(sorted(scopes))}"'


@judge_on(_challenged)
def rounds_complete(observed: RoundsObserved, facts: Facts) -> Verdict:
    """One Bearer challenge names all scopes that the operation needs and the token lacks (MCP insufficient scope)."""
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


@judge_on(_challenged)
def rounds_consistent(observed: RoundsObserved, facts: Facts) -> Verdict:
    """The same call with the same token is challenged for the same scopes (MCP insufficient scope)."""
    first, *others = (challenge_scopes(one.answer) for one in observed.asked)
    for other in others:
        if other != first:
            return Fail(f"{_words(first)} each time", f"{_words(other)} for the same call with the same token")
    return Pass()


@judge_on(_challenged)
def rounds_satisfiable(observed: RoundsObserved, facts: Facts) -> Verdict:
    """A token with the scopes held and those challenged gets through (MCP scope selection)."""
    expected = "a result with the scopes that were asked for"
    if not observed.rounds:
        named = _words(challenge_scopes(observed.asked[-1].answer))
        return Fail(expected, f"a challenge for what the token holds: {named}")
    last = observed.rounds[-1]
    if doubt := unanswered(last.attempt):
        return doubt
    if last.attempt.accepted:
        return Pass()
    return Fail(expected, f"{describe(last.attempt.answer)} with {_words(last.scopes)} in the token")


@judge_on(_challenged)
def rounds_single(observed: RoundsObserved, facts: Facts) -> Verdict:
    """The first challenge asks for everything: no second, different one follows (MCP runtime insufficient scope)."""
    if doubt := unanswered(*(one.attempt for one in observed.rounds)):
        return doubt
    if len(observed.rounds) < 2:
        return Pass()
    further = challenge_scopes(observed.rounds[0].attempt.answer)
    return Fail("one challenge for everything", f"another one, {_words(further)}, to a token with what the first named")


def _listed(observed: SurfaceObserved, facts: Facts) -> Sequence[Surface] | Verdict:
    for kind in observed.kinds:
        if not kind.complete:
            return Inconclusive(f"no complete list of {kind.kind}: {describe(kind.answers[-1])}")
    return observed.kinds or Inconclusive("nothing was listed")


@judge_on(_listed, "every listed primitive in the contract")
def surface_declared(kinds: Sequence[Surface], facts: Facts) -> str | None:
    """Everything that the server lists is in the contract, so that everything is tested."""
    strange = [f"{kind.kind}: {_some(kind.undeclared)}" for kind in kinds if kind.undeclared]
    return f"not in the contract: {'; '.join(strange)}" if strange else None


@judge_on(_listed)
def surface_offered(kinds: Sequence[Surface], facts: Facts) -> Verdict:
    """Everything in the contract is there: the server lists it, or at least answers its call."""
    gone, quiet = [], []
    for name, attempt in (each for kind in kinds for each in kind.unlisted):
        match attempt.reading:
            case Accepted():
                quiet.append(name)
            case Refused():
                gone.append(f"{name} ({describe(attempt.answer)})")
            case Ambiguous():
                return unanswered(attempt) or Fail(f"{name} listed, or answered", describe(attempt.answer))
    if gone:
        return Fail("every primitive of the contract on the server", f"neither listed nor answered: {_some(gone)}")
    return Pass(f"answered, and not listed: {_some(quiet)}") if quiet else Pass()


def _some(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


@judge
def not_past_scopes(observed: BypassObserved, facts: Facts) -> Verdict:
    """No way of writing a message takes a weak token past the scopes of the operation (OAuth 2.1 §5.2)."""
    if doubt := unanswered(observed.control, *([observed.attempt] if observed.attempt else [])):
        return doubt
    if observed.attempt is None:
        said = describe(observed.control.answer)
        return NotApplicable(f"{observed.control.way}: not taken from a token with the scopes either ({said})")
    attempt, expected = observed.attempt, "a refusal"
    if attempt.accepted:
        return _through(observed, attempt, expected)
    seen = f"{describe(attempt.answer)} ({attempt.way})"
    return Pass() if isinstance(attempt.reading, Refused) else Fail(expected, seen, milder(attempt.reading))


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
