"""Is every way into the endpoint closed without a token, in every era?"""

from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.judges.refusals import unsettled
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.observations import (
    Accepted,
    Ambiguous,
    Answer,
    CallObserved,
    DoorObserved,
    Doubt,
    ParityObserved,
    PreflightObserved,
    Reading,
    Refusal,
    Refused,
    SessionEndObserved,
    describe,
)

__all__ = [
    "challenge_readable_by_browsers",
    "discover_answers",
    "discovery_gated",
    "door_closed",
    "preflight_harmless",
    "same_in_each_era",
    "session_survives",
]


def door_closed(observed: DoorObserved, facts: Facts) -> Verdict:
    """A request without a token is served at no door (MCP security best practices: verify all inbound requests).

    Which 4xx or redirect closes it is the server's choice: a door that does not exist is closed as well.
    """
    expected = "401, or no such door"
    match observed.reading:
        case Ambiguous(why=Doubt.NO_ANSWER | Doubt.RATE_LIMITED):
            return Inconclusive(describe(observed.answer))
        case Ambiguous(why=Doubt.SERVER_ERROR):
            return Fail(expected, describe(observed.answer), Impact.AVAILABILITY)
        case Accepted() if "initialize" in facts.public and observed.door in (
            "notification",
            "client_response",
        ):
            return Pass("served without a token; policy.public opens the handshake")
        case Accepted():
            return Fail(expected, _opened(observed.answer))
        case Ambiguous(why=Doubt.UNREADABLE) if observed.answer.stream or _has_result(observed.answer):
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
        return Fail(
            f'401, or "{observed.operation}" listed in policy.public',
            f"{describe(attempt.answer)} without a token",
        )
    for attempt in observed.attempts:
        match attempt.reading:
            case Ambiguous(why=Doubt.SERVER_ERROR):
                return Fail("401", describe(attempt.answer), Impact.AVAILABILITY)
            case _:  # a login page gives nothing away; that it is no 401 is challenge-missing-token-401's question
                continue
    return Pass()


def discover_answers(observed: CallObserved, facts: Facts) -> Verdict:
    """`server/discover` with a good token names the supported versions (MCP 2026-07-28, server/discover)."""
    if doubt := unsettled(observed):
        return doubt
    expected = "a result with supportedVersions"
    for attempt in observed.attempts:
        reply = attempt.answer.reply or {}
        result = reply.get("result")
        if not isinstance(attempt.reading, Accepted) or not isinstance(result, dict):
            return Fail(expected, describe(attempt.answer))
        if not isinstance(result.get("supportedVersions"), list):
            return Fail(expected, "a result without supportedVersions")
    return Pass()


def session_survives(observed: SessionEndObserved, facts: Facts) -> Verdict:
    """DELETE without a token does not end a session (MCP transports, session management)."""
    if not observed.session or observed.ended is None or observed.after is None:
        return NotApplicable("the server hands out no session ids")
    if observed.ended.status is None or observed.ended.limits_rate:
        return Inconclusive(f"DELETE: {describe(observed.ended)}")
    if observed.ended.status >= 500 and observed.ended.status != 501:
        return Fail("401 or 405", describe(observed.ended), Impact.AVAILABILITY)
    match observed.after.reading:
        case Accepted() if 200 <= observed.ended.status < 300:
            return Pass(f"DELETE without a token was answered {observed.ended.status}, but the session lives on")
        case Accepted():
            return Pass()
        case Refused(how=Refusal.NOT_SERVED | Refusal.MALFORMED):
            return Fail(
                "the session lives on",
                f"{describe(observed.ended)} to DELETE, then {describe(observed.after.answer)}",
            )
        case _:
            return Inconclusive(f"the session could not be used afterwards: {describe(observed.after.answer)}")


def same_in_each_era(observed: ParityObserved, facts: Facts) -> Verdict:
    """A protected operation is closed in the stateful and the stateless era alike (MCP 2026-07-28, versioning)."""
    if len({revision.stateless for revision, _, _ in observed.readings}) < 2:
        return NotApplicable("the server speaks one era only")
    doors = [(revision, answer, _open(reading)) for revision, answer, reading in observed.readings]
    for revision, answer, state in doors:
        if state is None:
            return Inconclusive(f"{revision}: {describe(answer)}")
    if all(state for _, _, state in doors):
        return Inconclusive("open in every era; challenge-missing-token-401 reports it")
    for revision, answer, state in doors:
        if state:
            return Fail("401 in every era", f"{describe(answer)} in {revision}")
    return Pass()


def _open(reading: Reading) -> bool | None:
    match reading:
        case Accepted():
            return True
        case Refused():
            return False
        case _:
            return None


def preflight_harmless(observed: PreflightObserved, facts: Facts) -> Verdict:
    """A CORS preflight is answered or refused, without running anything and without a fault (Fetch standard)."""
    answer = observed.preflight
    if answer.status is None or answer.limits_rate:
        return Inconclusive(describe(answer))
    if answer.status >= 500 and answer.status != 501:
        return Fail("2xx, or a refusal", describe(answer), Impact.AVAILABILITY)
    if _has_result(answer):
        return Fail("2xx, or a refusal", f"{answer.status} with a JSON-RPC result")
    if answer.header("access-control-allow-credentials") == "true" and _allows(observed, "*"):
        return Fail("credentials allowed to named origins only", 'Access-Control-Allow-Origin "*" with credentials')
    return Pass()


def _allows(observed: PreflightObserved, *origins: str) -> bool:
    return (observed.preflight.header("access-control-allow-origin") or "") in origins


def challenge_readable_by_browsers(observed: PreflightObserved, facts: Facts) -> Verdict:
    """A server that admits a browser's origin lets it read the challenge too (Fetch standard, exposed headers)."""
    answer = observed.preflight
    if answer.status is None or not 200 <= answer.status < 300 or not _allows(observed, "*", observed.origin):
        return NotApplicable("the preflight admits no browser origin")
    challenged = observed.challenged
    if challenged.status is None or challenged.limits_rate:
        return Inconclusive(f"the call after the preflight: {describe(challenged)}")
    if challenged.status != 401:
        return NotApplicable(f"no 401 to read: {describe(challenged)}")
    if (challenged.header("access-control-allow-origin") or "") not in ("*", observed.origin):
        return Fail("a 401 with Access-Control-Allow-Origin", "none: browsers hide the whole answer")
    exposed = {name.strip().lower() for name in (challenged.header("access-control-expose-headers") or "").split(",")}
    if "www-authenticate" not in exposed and "*" not in exposed:
        return Fail("Access-Control-Expose-Headers with WWW-Authenticate", "a challenge that browsers hide")
    return Pass()
