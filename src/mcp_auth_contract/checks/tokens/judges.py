"""Was a bad credential refused, and in the right way? 401 for a bad token, 403 for a weak one; the rest is neither."""

from dataclasses import replace

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Attempt, Reading, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, judge_on, unanswered
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Revision, Verdict

UNAVAILABLE = frozenset({502, 503, 504})
"""Statuses by which a server says that something behind it is missing."""


def seen(observed: CallObserved, attempt: Attempt) -> str:
    """Complete "observed …": the answer, the step it came at, and the token's change."""
    said = describe(attempt.answer)
    if attempt.reading == Ambiguous(AmbiguityReason.UNREADABLE):
        said += f" that is no MCP answer ({attempt.answer.media_type or 'no Content-Type'})"
    step = f"at {attempt.step}" if attempt.step != "call" else ""
    where = " ".join(word for word in (attempt.way, step) if word)
    if where and (step or len(observed.attempts) > 1):
        said += f", {where}"
    change = observed.token.change if observed.token else ""
    return f"{said} ({change})" if change else said


def unsettled(observed: CallObserved) -> Inconclusive | None:
    """Answers that prove nothing about the server: no answer at all, or a rate limit (design: no observation)."""
    return unanswered(*observed.attempts) if observed.attempts else Inconclusive("nothing was sent")


def answered(observed: CallObserved, facts: Facts) -> CallObserved | Verdict:
    """What was observed, where every attempt was answered."""
    return unsettled(observed) or observed


def milder(reading: Reading) -> Impact:
    """The impact of an operation that did not run, yet was not refused as it should be."""
    return Impact.AVAILABILITY if reading == Ambiguous(AmbiguityReason.SERVER_ERROR) else Impact.INTEROP


def _wrong(observed: CallObserved, attempt: Attempt, expected: str) -> Fail:
    return Fail(expected, seen(observed, attempt), milder(attempt.reading))


def _effect_or_silence(observed: CallObserved, expected: str) -> Verdict | None:
    """Why a refusal is out of the question: the operation ran, or an attempt was not answered."""
    attempt = observed.accepted
    return Fail(expected, seen(observed, attempt)) if attempt else unsettled(observed)


def _while_the_issuer_fails(observed: CallObserved) -> CallObserved:
    """Leave out what is answered 502 to 504: while the issuer fails that is an answer, with Retry-After too."""
    others = tuple(one for one in observed.attempts if one.answer.status not in UNAVAILABLE)
    return replace(observed, attempts=others)


def _unclear(observed: CallObserved, expected: str) -> Verdict | None:
    """The first answer that says neither yes nor no, if there is one."""
    doubtful = (attempt for attempt in observed.attempts if isinstance(attempt.reading, Ambiguous))
    wrong = (_wrong(observed, one, expected) for one in doubtful)
    return unsettled(observed) or next(wrong, None)


def _refused(observed: CallObserved, expected: str, *allowed: Refusal) -> Verdict:
    """Demand that each attempt was refused in one of the allowed ways.

    A live session answered with 404 to a request whose credential is refused elsewhere with a challenge is legal:
    servers may hide foreign sessions (MCP 2025-11-25 transports, session management).
    """
    if why := _effect_or_silence(observed, expected):
        return why
    ways = {attempt.reading.how for attempt in observed.attempts if isinstance(attempt.reading, Refused)}
    settled = bool(ways & set(allowed))
    for attempt in observed.attempts:
        match attempt.reading:
            case Refused(how=how) if how in allowed:
                continue
            case Refused(how=Refusal.NOT_SERVED) if settled and attempt.step == "call" and attempt.answer.status == 404:
                continue
            case _:
                return _wrong(observed, attempt, expected)
    return Pass()


def _refused_or_in_band(observed: CallObserved, facts: Facts, expected: str, *allowed: Refusal) -> Verdict:
    """Allow the tool result with a challenge as well, where the contract lets it stand for a status."""
    if not facts.in_band:
        return _refused(observed, expected, *allowed)
    expected = f'{expected}, or a tool result with _meta["mcp/www_authenticate"]'
    return _refused(observed, expected, *allowed, Refusal.TOOL_CHALLENGE)


@judge
def refused_as_invalid_token(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that fails validation is answered 401 (RFC 6750 §3.1; MCP authorization, token handling)."""
    return _refused_or_in_band(observed, facts, '401 with error="invalid_token"', Refusal.UNAUTHORIZED)


@judge
def refused_for_missing_token(observed: CallObserved, facts: Facts) -> Verdict:
    """A request without credentials in the right place is answered 401 (RFC 6750 §3; MCP error handling)."""
    allowed = [Refusal.UNAUTHORIZED]
    if observed.offered:  # a token in the wrong place may also be called a malformed request
        allowed.append(Refusal.MALFORMED)
    expected = "401 with a challenge, or 400" if observed.offered else "401 with a challenge"
    return _refused_or_in_band(observed, facts, expected, *allowed)


@judge
def refused_as_malformed(observed: CallObserved, facts: Facts) -> Verdict:
    """Broken credentials are answered 400 or 401 (RFC 6750 §3.1, invalid_request)."""
    return _refused_or_in_band(observed, facts, "401, or 400", Refusal.UNAUTHORIZED, Refusal.MALFORMED)


@judge
def refused_without_fault(observed: CallObserved, facts: Facts) -> Verdict:
    """An unreasonable request is refused by any 4xx status, and never by a fault of the server."""
    return _effect_or_silence(observed, "a 4xx status") or _unclear(observed, "a 4xx status") or Pass()


@judge
def denied(observed: CallObserved, facts: Facts) -> Verdict:
    """The operation had no effect, whatever the form of the refusal; the form is another check's question."""
    expected = "a refusal"
    if why := _effect_or_silence(observed, expected) or _unclear(observed, expected):
        return why
    ways = [attempt.reading.how for attempt in observed.attempts if isinstance(attempt.reading, Refused)]
    inside = [how for how in ways if how in (Refusal.TOOL_ERROR, Refusal.RPC_ERROR)]
    if inside and not facts.in_band:
        return Pass(f"refused inside a 200 ({inside[-1].value}): a host cannot tell it from a failed tool")
    return Pass()


@judge
def scope_lookalike_denied(observed: CallObserved, facts: Facts) -> Verdict:
    """A token with lookalikes of the needed scopes has no effect; an operation that needs none shows nothing."""
    if not facts.needed:
        return NotApplicable("the control operation needs no scope")
    return denied(observed, facts)


@judge
def refused_without_fetching(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that names a URL to find its key at is refused, and nobody goes there (RFC 8725 §3.10)."""
    verdict = refused_as_invalid_token(observed, facts)
    if observed.accepted:
        return verdict
    if fetched := _fetched(observed):
        return fetched
    if isinstance(verdict, Pass) and (observed.heard is None or not observed.heard.audible):
        return NotApplicable("the server fetches no keys from the issuer, so its silence proves nothing")
    return verdict


@judge
def not_fetched(observed: CallObserved, facts: Facts) -> Verdict:
    """An honest token that also names a URL for its key works or is refused, and nobody goes there (RFC 8725 §3.10)."""
    return _fetched(observed) or accepted_or_advice(observed, facts)


def _fetched(observed: CallObserved) -> Fail | None:
    if observed.heard is None or not observed.heard.requests:
        return None
    change = f" ({observed.token.change})" if observed.token else ""
    seen_there = f"{observed.heard.requests[0]} at the kit's listening post{change}"
    return Fail("no request to the URL that the token names", seen_there, Impact.SECRET_DISCLOSURE)


@judge
def refused_or_advice(observed: CallObserved, facts: Facts) -> Verdict:
    """Better refused, but the specifications allow acceptance too; only a breakdown of the server is a failure."""
    return _disputed(observed, "accepted where refusing is safer", advise_if_accepted=True)


@judge
def accepted_or_advice(observed: CallObserved, facts: Facts) -> Verdict:
    """Better accepted, but a strict server may refuse it; only a breakdown of the server is a failure."""
    return _disputed(observed, "refused, though the specifications allow it", advise_if_accepted=False)


@judge_on(answered)
def not_mistaken(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that names somebody else, or nobody, never brings the records of the principal it resembles.

    Whether the server knows somebody of that name is its own affair, so an answer without those records passes.
    """
    expected = "a refusal, or an answer without the principal's records"
    advice: str | None = None
    for attempt in observed.attempts:
        match attempt.reading:
            case Ambiguous():
                return _wrong(observed, attempt, expected)
            case Accepted() if not facts.canaries:
                return NotApplicable("accepted, and no record of this user alone would show whose data came back")
            case Accepted() if any(canary in attempt.answer.text for canary in facts.canaries):
                return Fail(expected, f"{seen(observed, attempt)}, the principal's record in it")
            case Accepted():
                advice = "accepted as somebody without those records"
            case _:
                continue
    return Pass(advice)


@judge
def not_served(observed: CallObserved, facts: Facts) -> Verdict:
    """The operation does not run; whether the server says 401, 503 or breaks down is another check's question."""
    if observed.accepted is None and observed.attempts:
        observed = _while_the_issuer_fails(observed)
        return unanswered(*observed.attempts) or Pass()
    return _effect_or_silence(observed, "401, or 503") or Pass()


@judge
def trouble_told(observed: CallObserved, facts: Facts) -> Verdict:
    """Failure to reach the issuer is answered 401 or 503, and is no fault of the server (RFC 9110 §15.6.4)."""
    expected = "a result, a 4xx status or 503"
    if not observed.attempts:
        return Inconclusive("nothing was sent")
    others = _while_the_issuer_fails(observed).attempts
    doubtful = (_wrong(observed, one, expected) for one in others if isinstance(one.reading, Ambiguous))
    return unanswered(*others) or next(doubtful, None) or Pass()


@judge
def redirect_preferably_refused(observed: CallObserved, facts: Facts) -> Verdict:
    """A request that holds a token had better not follow a redirect; on the same origin it may."""
    verdict = trouble_told(observed, facts)
    if verdict == Pass() and observed.accepted:
        return Pass("the introspection endpoint's redirect was followed, with the token")
    return verdict


def _disputed(observed: CallObserved, advice: str, *, advise_if_accepted: bool) -> Verdict:
    if why := _unclear(observed, "a result, or a refusal"):
        return why
    if (observed.accepted is not None) is not advise_if_accepted:
        return Pass()
    change = f" ({observed.token.change})" if observed.token and observed.token.change else ""
    return Pass(f"{advice}{change}")


@judge_on(answered, "a result")
def accepted(observed: CallObserved, facts: Facts) -> str | None:
    """The operation runs: a legal variation must not be refused."""
    others = (attempt for attempt in observed.attempts if not attempt.accepted)
    return next((seen(observed, attempt) for attempt in others), None)


@judge
def refused_for_scope(observed: CallObserved, facts: Facts) -> Verdict:
    """A valid token that lacks a scope is answered 403 (RFC 6750 §3.1, insufficient_scope; MCP error handling)."""
    expected = '403 with error="insufficient_scope"'
    if observed.accepted:
        return Inconclusive("the operation ran; scope-missing-denied reports it")
    if observed.hidden and all(isinstance(attempt.reading, Refused) for attempt in observed.attempts):
        return Pass("hidden from a token without the scope, and refused as unknown: no host can ask for more rights")
    return _refused_or_in_band(observed, facts, expected, Refusal.FORBIDDEN)


@judge
def invalid_before_insufficient(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that is invalid and also too weak is invalid first: 401 (MCP token handling)."""
    return _refused_or_in_band(observed, facts, "401, for the token is no longer valid", Refusal.UNAUTHORIZED)


@judge
def one_order_only(observed: CallObserved, facts: Facts) -> Verdict:
    """Of two Authorization lines at most one order is accepted (RFC 9110 §5.3; OAuth 2.1 §5.1)."""
    if why := _unclear(observed, "400, 401, or the first line alone read"):
        return why
    if len(observed.attempts) > 1 and all(attempt.accepted for attempt in observed.attempts):
        return Fail("at most one order accepted", "the good token accepted behind a forged one, and before it")
    return Pass()


@judge_on(answered)
def foreign_origin_refused(observed: CallObserved, facts: Facts) -> Verdict:
    """A foreign Origin is refused (MCP transports, security warning): browsers reach loopback by DNS rebinding."""
    advice: str | None = None
    demands_403 = facts.revision is not None and facts.revision >= Revision.R2025_11_25
    for attempt in observed.attempts:
        match attempt.reading:
            case Refused(how=how):
                if how is not Refusal.FORBIDDEN and demands_403:
                    advice = f"a foreign Origin is refused with {describe(attempt.answer)}; newer revisions say 403"
            case Ambiguous():
                return _wrong(observed, attempt, "403")
            case Accepted() if facts.loopback or facts.endpoint.lower().startswith("http:"):
                return Fail("403", seen(observed, attempt))
            case Accepted():
                advice = "a foreign Origin is served; a public server may choose to"
    return Pass(advice)


@judge
def refused_as_bad_request(observed: CallObserved, facts: Facts) -> Verdict:
    """A protocol version that does not exist is answered 400 (MCP transports, protocol version header)."""
    return _refused(observed, "400", Refusal.MALFORMED)
