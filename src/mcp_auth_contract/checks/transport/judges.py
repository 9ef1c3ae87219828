"""Is every way into the endpoint closed without a token, in every era?"""

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Answer, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, open_and_silent, proves_nothing
from mcp_auth_contract.checks.tokens.judges import answered, milder, unsettled
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.transport.observation import (
    EndpointObserved,
    MirrorObserved,
    ParityObserved,
    PreflightObserved,
)
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict

_METHOD_NOT_FOUND = -32601


@judge
def endpoint_closed(observed: EndpointObserved, facts: Facts) -> Verdict:
    """A request without a token is served in no form (MCP security best practices: verify all inbound requests).

    Which 4xx or redirect refuses it is the server's choice: a form that is not served at all is closed as well.
    """
    expected = "401, or nothing served there"
    match observed.reading:
        case Ambiguous(why=AmbiguityReason.NO_ANSWER | AmbiguityReason.RATE_LIMITED):
            return Inconclusive(describe(observed.answer))
        case Ambiguous(why=AmbiguityReason.SERVER_ERROR):
            return Fail(expected, describe(observed.answer), Impact.AVAILABILITY)
        case Accepted() if "initialize" in facts.public and observed.form in ("notification", "client_response"):
            return Pass("served without a token; policy.public opens the handshake")
        case Accepted() if open_and_silent(observed.answer, facts):
            return Pass("open without a token, and nothing came; policy.public opens the handshake")
        case Accepted():
            return Fail(expected, _opened(observed.answer))
        case Ambiguous(why=AmbiguityReason.UNREADABLE) if observed.answer.stream or _has_result(observed.answer):
            return Fail(expected, _opened(observed.answer))
        case _:
            return Pass()


def _opened(answer: Answer) -> str:
    said = describe(answer)
    if answer.stream:
        said += " with an open event stream"
    return f"{said} without a token, for {answer.method} {answer.url}"


def _has_result(answer: Answer) -> bool:
    return any("result" in message for message in answer.messages)


@judge
def discovery_gated(observed: CallObserved, facts: Facts) -> Verdict:
    """A discovery method is answered without a token only where the contract says so (policy.public)."""
    if observed.operation in facts.public:
        return NotApplicable(f'policy.public opens "{observed.operation}"')
    if doubt := unsettled(observed):
        return doubt
    attempt = observed.accepted
    if attempt and not facts.has_contract:
        return Pass(f'"{observed.operation}" is answered without a token, which may be meant')
    if attempt:
        expected = f'401, or "{observed.operation}" listed in policy.public'
        return Fail(expected, f"{describe(attempt.answer)} without a token")
    for attempt in observed.attempts:
        # A login page gives nothing away; that it is no 401 is challenge-missing-token-401's question.
        if attempt.reading == Ambiguous(AmbiguityReason.SERVER_ERROR):
            return Fail("401", describe(attempt.answer), Impact.AVAILABILITY)
    return Pass()


@judge_on(answered, "a result with supportedVersions")
def discover_answers(observed: CallObserved, facts: Facts) -> str | None:
    """`server/discover` with a good token names the supported versions (MCP 2026-07-28, server/discover)."""
    for attempt in observed.attempts:
        if not attempt.accepted or attempt.answer.reply is None:
            return describe(attempt.answer)
        if not isinstance(attempt.answer.result.get("supportedVersions"), list):
            return "a result without supportedVersions"
    return None


@judge
def same_in_each_era(observed: ParityObserved, facts: Facts) -> Verdict:
    """A protected operation is closed in the stateful and the stateless era alike (MCP 2026-07-28, versioning)."""
    if len({revision.stateless for revision, _, _ in observed.readings}) < 2:
        return NotApplicable("the server speaks one era only")
    for revision, answer, reading in observed.readings:
        if isinstance(reading, Ambiguous):
            return Inconclusive(f"{revision}: {describe(answer)}")
    served = [(revision, answer) for revision, answer, reading in observed.readings if isinstance(reading, Accepted)]
    if len(served) == len(observed.readings):
        return Inconclusive("open in every era; challenge-missing-token-401 reports it")
    return Fail("401 in every era", f"{describe(served[0][1])} in {served[0][0]}") if served else Pass()


@judge
def mirror_refused(observed: MirrorObserved, facts: Facts) -> Verdict:
    """Header fields that do not match the body are answered 400 (MCP 2026-07-28, server validation).

    A server that speaks the older revision of the header may serve the call as one of that revision.
    """
    attempt, expected = observed.attempt, "400"
    if attempt is None:
        return NotApplicable("the call has no such header field")
    said = f"{describe(attempt.answer)} to the call with {attempt.way}"
    match attempt.reading:
        case Ambiguous() if proves_nothing(attempt.answer):
            return Inconclusive(said)
        case Accepted() if observed.older in facts.revisions and "resultType" not in attempt.answer.result:
            return Pass(f"served as a call of {observed.older}, which the header names")
        case Accepted():
            return Fail(expected, said)
        case Refused(how=Refusal.MALFORMED):
            return Pass()
        case _:
            return Fail(expected, said, milder(attempt.reading))


@judge_on(answered, "404 with JSON-RPC error -32601")
def unknown_method_not_found(observed: CallObserved, facts: Facts) -> Finding:
    """A method that is not implemented is answered 404 with -32601, whatever the token may do (MCP 2026-07-28)."""
    for attempt in observed.attempts:
        if attempt.accepted:
            return NotApplicable("the server answers a method that the kit has made up")
        error = (attempt.answer.reply or {}).get("error")
        if attempt.answer.status != 404 or not isinstance(error, dict) or error.get("code") != _METHOD_NOT_FOUND:
            return describe(attempt.answer)
    return None


@judge
def preflight_harmless(observed: PreflightObserved, facts: Facts) -> Verdict:
    """A CORS preflight is answered or refused, without running anything and without a fault (Fetch standard)."""
    answer = observed.preflight
    if proves_nothing(answer):
        return Inconclusive(describe(answer))
    if (answer.status or 0) >= 500 and answer.status != 501:
        return Fail("2xx, or a refusal", describe(answer), Impact.AVAILABILITY)
    if _has_result(answer):
        return Fail("2xx, or a refusal", f"{answer.status} with a JSON-RPC result")
    if answer.header("access-control-allow-credentials") == "true" and _allows(observed, "*"):
        return Fail("credentials allowed to named origins only", 'Access-Control-Allow-Origin "*" with credentials')
    return Pass()


def _allows(observed: PreflightObserved, *origins: str) -> bool:
    return (observed.preflight.header("access-control-allow-origin") or "") in origins


@judge
def challenge_readable_by_browsers(observed: PreflightObserved, facts: Facts) -> Verdict:
    """A server that admits a browser's origin lets it read the challenge too (Fetch standard, exposed headers)."""
    answer = observed.preflight
    if answer.status is None or not 200 <= answer.status < 300 or not _allows(observed, "*", observed.origin):
        return NotApplicable("the preflight admits no browser origin")
    challenged = observed.challenged
    if proves_nothing(challenged):
        return Inconclusive(f"the call after the preflight: {describe(challenged)}")
    if challenged.status != 401:
        return NotApplicable(f"no 401 to read: {describe(challenged)}")
    if (challenged.header("access-control-allow-origin") or "") not in ("*", observed.origin):
        return Fail("a 401 with Access-Control-Allow-Origin", "none: browsers hide the whole answer")
    exposed = {name.strip().lower() for name in (challenged.header("access-control-expose-headers") or "").split(",")}
    if "www-authenticate" not in exposed and "*" not in exposed:
        return Fail("Access-Control-Expose-Headers with WWW-Authenticate", "a challenge that browsers hide")
    return Pass()
