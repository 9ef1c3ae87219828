"""What each refusal of a run has to say, and must not say.

A fault of all refusals has a check of its own. Judged here are the exceptions, worse than most of their kind.
"""

from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus

from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.leaks.judges.exchanges import HONEST, Predicate, calls, fail, told
from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    Exchanged,
    ExchangesObserved,
)
from mcp_auth_contract.model import Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge_syntax import FaultKind


def _exceptions(answers: Sequence[Exchanged], lacks: Predicate, judged: int) -> tuple[list[Exchanged], bool]:
    """Return the answers that lack something which most of their kind have, and whether most of all kinds lack it.

    Answers to requests without a token are one kind, those to requests with a bad one another. What most of a kind lack
    is left to another check, which looks at answers of status `judged` alone, and at no 401 for want of a scope.
    """

    def apart(one: Exchanged) -> bool:
        weak = one.credential is CredentialKind.WEAK
        return one.answer.status != judged or (judged == HTTPStatus.UNAUTHORIZED and weak)

    found = [one for one in answers if apart(one) and lacks(one)]
    usual = not found
    for without in (True, False):
        alike = (one for one in answers if (one.credential is CredentialKind.NONE) is without)
        kind = [one for one in alike if not apart(one)]
        lacking = [one for one in kind if lacks(one)]
        if kind and 2 * len(lacking) <= len(kind):
            found += lacking
            usual = False
    return found, usual


def _everywhere(
    answers: Sequence[Exchanged], lacks: Predicate, expected: str, reported_by: str, judged: int = 401
) -> Verdict:
    if not answers:
        return NotApplicable("nothing was refused in this way")
    found, usual = _exceptions(answers, lacks, judged)
    if usual and any(map(lacks, answers)):
        return Inconclusive(f"most refusals are wrong in this; {reported_by} reports it")
    return fail(expected, told(found), found) if found else Pass()


@judge
def every_refusal_challenged(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each 401 of the endpoint has a challenge that can be read (RFC 9110 §15.5.2; OAuth 2.1 §5.3.1)."""

    def lacks(one: Exchanged) -> bool:
        return not {scheme.lower() for scheme in one.answer.challenges.schemes} & {"bearer", "dpop"}

    reported_by = "challenge-www-authenticate or challenge-bearer-scheme"
    return _everywhere(calls(observed, 401), lacks, "a Bearer challenge in every 401", reported_by)


@judge
def every_challenge_parses(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each challenge of each 401 and 403 of the endpoint parses (RFC 9110 §11.6.1; RFC 6750 §3)."""

    def faulty(one: Exchanged) -> bool:
        return any(fault.kind is not FaultKind.UNQUOTED_REALM for fault in one.answer.challenges.faults)

    having = [one for one in calls(observed, 401, 403) if one.answer.challenges.lines]
    expected = "challenges that parse in every 401 and 403"
    return _everywhere(having, faulty, expected, "challenge-header-syntax or one beside it")


def _pointers(one: Exchanged) -> list[str]:
    """Return what each challenge of an answer points to."""
    found = (each.get("resource_metadata") for each in one.answer.challenges.challenges)
    return [pointer for pointer in found if pointer]


@judge
def every_challenge_points(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each challenge of the endpoint leads to the same metadata document (RFC 9728 §5.1)."""
    having = [one for one in calls(observed, 401) if not one.origin and one.answer.challenges.bearer is not None]
    pointers = Counter(pointer for one in having for pointer in _pointers(one))
    if not pointers:
        return NotApplicable("no challenge of this run has resource_metadata")
    usual = pointers.most_common(1)[0][0]

    def lacks(one: Exchanged) -> bool:
        return set(_pointers(one)) != {usual}

    expected = f"resource_metadata={usual} in every challenge"
    return _everywhere(having, lacks, expected, "challenge-metadata-pointer-on-bad-token")


@judge
def every_denial_explained(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each 403 to a caller with a good token says why: an error in its challenge, or in its body (RFC 6750 §3.1).

    No scope opens another principal's session, so that a 403 there has nothing to say.
    """
    own = (one for one in calls(observed, 403) if not one.origin and not one.foreign)
    denied = [one for one in own if one.credential in HONEST]

    def lacks(one: Exchanged) -> bool:
        challenged = any(each.is_bearer and each.get("error") for each in one.answer.challenges.challenges)
        return not challenged and '"error"' not in one.answer.text

    return _everywhere(denied, lacks, "an error that says why in every 403", "scope-challenge-error", judged=403)


@judge
def no_session_ids_in_refusals(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No 401 or 403 hands out a session id (MCP security best practices, session hijacking)."""
    refusals, expected = calls(observed, 401, 403), "refusals without a session id"
    return _everywhere(refusals, lambda one: one.session, expected, "challenge-no-session-id")


@judge
def no_results_in_refusals(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No 401 or 403 carries a JSON-RPC result (MCP token handling: validated before processing)."""

    def holds(one: Exchanged) -> bool:
        return any("result" in message for message in one.answer.messages)

    refusals = [one for one in calls(observed, 401, 403) if one.rpc]
    return _everywhere(refusals, holds, "refusals without a result", "challenge-no-data")


@judge
def no_server_errors(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No request without a token, with a forged one or with too few scopes ends in a 5xx (RFC 9110 §15.6).

    Tokens with a fault of another kind have checks of their own. 503 is left out: a server that cannot reach its issuer
    says so with it.
    """
    plain = (CredentialKind.NONE, CredentialKind.FORGED, CredentialKind.WEAK)
    asked = [one for one in calls(observed) if one.credential in plain and one.answer.status is not None]
    found = [one for one in asked if (one.answer.status or 0) >= 500 and one.answer.status != 503]
    if found:
        return fail("answers below 500 to every request without a good token", told(found), found)
    return Pass() if asked else Inconclusive("no request of this run was without a good token")
