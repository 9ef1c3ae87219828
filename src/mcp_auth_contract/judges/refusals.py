"""Was a bad credential refused, and in the right way? 401 for a bad token, 403 for a weak one; the rest is neither."""

from collections.abc import Callable

from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.model import Fail, Impact, Inconclusive, Pass, Verdict
from mcp_auth_contract.observations import (
    Accepted,
    Ambiguous,
    Attempt,
    CallObserved,
    Doubt,
    Refusal,
    Refused,
    describe,
)

__all__ = [
    "accepted",
    "denied",
    "foreign_origin_refused",
    "invalid_before_insufficient",
    "one_order_only",
    "refused_as_bad_request",
    "refused_as_invalid_token",
    "refused_as_malformed",
    "refused_for_missing_token",
    "refused_for_scope",
    "refused_without_fault",
    "unsettled",
]


def seen(observed: CallObserved, attempt: Attempt) -> str:
    """Complete "observed …": the answer, the step it came at, and the token's change."""
    said = describe(attempt.answer)
    if len(observed.attempts) > 1 or attempt.step != "call":
        said += f", {attempt.way}" + (f" at {attempt.step}" if attempt.step != "call" else "")
    change = observed.token.change if observed.token else ""
    return f"{said} ({change})" if change else said


def unsettled(observed: CallObserved) -> Inconclusive | None:
    """Answers that prove nothing about the server: no answer at all, or a rate limit (design: no observation)."""
    for attempt in observed.attempts:
        match attempt.reading:
            case Ambiguous(why=Doubt.NO_ANSWER | Doubt.RATE_LIMITED):
                return Inconclusive(f"{attempt.way}: {describe(attempt.answer)}")
            case _:
                continue
    return None if observed.attempts else Inconclusive("nothing was sent")


def _bypass(observed: CallObserved, expected: str) -> Fail | None:
    attempt = observed.accepted
    return Fail(expected, seen(observed, attempt)) if attempt else None


def _refused(
    observed: CallObserved, expected: str, *allowed: Refusal, facts: Facts, wrong: Impact = Impact.INTEROP
) -> Verdict:
    """Demand that each attempt was refused in one of the allowed ways.

    A live session answered with 404 to a request whose credential is refused elsewhere with a challenge is legal:
    servers may hide foreign sessions (MCP 2025-11-25 transports, session management).
    """
    if broken := _bypass(observed, expected):
        return broken
    if doubt := unsettled(observed):
        return doubt
    ways = {attempt.reading.how for attempt in observed.attempts if isinstance(attempt.reading, Refused)}
    settled = bool(ways & set(allowed))
    for attempt in observed.attempts:
        match attempt.reading:
            case Refused(how=how) if how in allowed or (facts.in_band and how is Refusal.TOOL_CHALLENGE):
                continue
            case Refused(how=Refusal.NOT_SERVED) if settled and attempt.answer.status == 404:
                continue
            case Ambiguous(why=Doubt.SERVER_ERROR):
                return Fail(expected, seen(observed, attempt), Impact.AVAILABILITY)
            case _:
                return Fail(expected, seen(observed, attempt), wrong)
    return Pass()


def refused_as_invalid_token(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that fails validation is answered 401 (RFC 6750 §3.1; MCP authorization, token handling)."""
    return _refused(observed, '401 with error="invalid_token"', Refusal.UNAUTHORIZED, facts=facts)


def refused_for_missing_token(observed: CallObserved, facts: Facts) -> Verdict:
    """A request without credentials in the right place is answered 401 (RFC 6750 §3; MCP error handling)."""
    allowed = [Refusal.UNAUTHORIZED]
    if observed.offered:  # a token in the wrong place may also be called a malformed request
        allowed.append(Refusal.MALFORMED)
    return _refused(observed, "401 with a challenge", *allowed, facts=facts)


def refused_as_malformed(observed: CallObserved, facts: Facts) -> Verdict:
    """Broken credentials are answered 400 or 401 (RFC 6750 §3.1, invalid_request)."""
    return _refused(observed, "401, or 400", Refusal.UNAUTHORIZED, Refusal.MALFORMED, facts=facts)


def refused_without_fault(observed: CallObserved, facts: Facts) -> Verdict:
    """An unreasonable request is refused by any 4xx status, and never by a fault of the server."""
    expected = "a 4xx status"
    if broken := _bypass(observed, expected):
        return broken
    if doubt := unsettled(observed):
        return doubt
    for attempt in observed.attempts:
        if not isinstance(attempt.reading, Refused):
            return Fail(expected, seen(observed, attempt), Impact.AVAILABILITY)
    return Pass()


def denied(observed: CallObserved, facts: Facts) -> Verdict:
    """The operation had no effect, whatever the form of the refusal; the form is another check's question."""
    expected = "a refusal"
    if broken := _bypass(observed, expected):
        return broken
    if doubt := unsettled(observed):
        return doubt
    for attempt in observed.attempts:
        match attempt.reading:
            case Ambiguous(why=Doubt.SERVER_ERROR):
                return Fail(expected, seen(observed, attempt), Impact.AVAILABILITY)
            case Ambiguous():
                return Fail(expected, seen(observed, attempt), Impact.INTEROP)
            case Refused(how=Refusal.TOOL_ERROR | Refusal.RPC_ERROR as how) if not facts.in_band:
                return Pass(f"refused inside a 200 ({how.value}): a host cannot tell it from a failed tool")
            case _:
                continue
    return Pass()


def accepted(observed: CallObserved, facts: Facts) -> Verdict:
    """The operation runs: a legal variation must not be refused."""
    if doubt := unsettled(observed):
        return doubt
    for attempt in observed.attempts:
        if not isinstance(attempt.reading, Accepted):
            return Fail("a result", seen(observed, attempt))
    return Pass()


def refused_for_scope(observed: CallObserved, facts: Facts) -> Verdict:
    """A valid token that lacks a scope is answered 403 (RFC 6750 §3.1, insufficient_scope; MCP error handling)."""
    expected = '403 with error="insufficient_scope"'
    if observed.accepted:
        return Inconclusive("the operation ran; scope-missing-denied reports it")
    return _refused(observed, expected, Refusal.FORBIDDEN, facts=facts)


def invalid_before_insufficient(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that is invalid and also too weak is invalid first: 401 (MCP token handling)."""
    return _refused(observed, "401, for the token is no longer valid", Refusal.UNAUTHORIZED, facts=facts)


def one_order_only(observed: CallObserved, facts: Facts) -> Verdict:
    """Of two Authorization lines at most one order is accepted (RFC 9110 §5.3; OAuth 2.1 §5.1)."""
    if doubt := unsettled(observed):
        return doubt
    for attempt in observed.attempts:
        if isinstance(attempt.reading, Ambiguous):
            return Fail("400, 401, or the first line alone read", seen(observed, attempt), Impact.AVAILABILITY)
    if all(isinstance(attempt.reading, Accepted) for attempt in observed.attempts):
        return Fail("at most one order accepted", "the good token accepted behind a forged one, and before it")
    return Pass()


def foreign_origin_refused(observed: CallObserved, facts: Facts) -> Verdict:
    """A foreign Origin is refused (MCP transports, security warning): browsers reach loopback by DNS rebinding."""
    if doubt := unsettled(observed):
        return doubt
    attempt = observed.accepted
    if attempt is None:
        return Pass()
    if not facts.loopback:
        return Pass("a foreign Origin is served; a public server may choose to")
    return Fail("403", seen(observed, attempt))


def refused_as_bad_request(observed: CallObserved, facts: Facts) -> Verdict:
    """A protocol version that does not exist is answered 400 (MCP transports, protocol version header)."""
    return _refused(observed, "400", Refusal.MALFORMED, facts=facts)


Predicate = Callable[[CallObserved, Facts], Verdict]
