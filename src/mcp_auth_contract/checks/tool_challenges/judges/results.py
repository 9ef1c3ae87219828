"""Do tools tell hosts in their results and descriptions when a sign-in is needed? (OpenAI Apps SDK, authentication)"""

from collections.abc import Sequence

from mcp_auth_contract.answers import Accepted, Answer, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge_each, judge_on, narrowing
from mcp_auth_contract.checks.tokens.judges import answered, unsettled
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tool_challenges.observation import challenged_in_result, result_challenges, result_texts
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge import Challenges, scopes_of

_RAN = "the operation ran; challenge-missing-token-401, scope-missing-denied or a token check reports it"
_BY_STATUS = frozenset({Refused(Refusal.UNAUTHORIZED), Refused(Refusal.FORBIDDEN)})


@judge_on(answered, 'status 200 with isError and _meta["mcp/www_authenticate"]')
def in_band_refusal(observed: CallObserved, facts: Facts) -> Finding:
    """The refused call is answered with an error result that holds the challenge, at status 200.

    Where the contract says "either", a 401 or 403 is as right; to a token that is invalid MCP demands a 401, whatever
    the contract says. A handshake may be refused by its status, for no tool was called yet, and a session that is
    another principal's by 404.
    """
    called = [attempt for attempt in observed.attempts if attempt.step == "call"]
    told = any(challenged_in_result(attempt.answer) for attempt in called)
    for attempt in called:
        match attempt.reading:
            case Refused(how=Refusal.TOOL_CHALLENGE):
                continue
            case Refused(how=Refusal.NOT_SERVED) if told and attempt.answer.status == 404:
                continue
            case reading if reading in _right_statuses(observed, facts):
                continue
            case Accepted() if not challenged_in_result(attempt.answer):
                return Inconclusive(_RAN)
            case _:
                return _seen(attempt.answer)
    if not called and not _right_statuses(observed, facts):
        return Inconclusive(f"no tool was called: the handshake got {describe(observed.attempts[0].answer)}")
    return None


def _right_statuses(observed: CallObserved, facts: Facts) -> frozenset[Refused]:
    """Return how the status may refuse in the place of a result (MCP authorization, token handling: 401 if invalid)."""
    if facts.challenge == "either":
        return _BY_STATUS
    invalid = observed.token is not None and bool(observed.token.change)
    return frozenset({Refused(Refusal.UNAUTHORIZED)}) if invalid else frozenset()


def _seen(answer: Answer) -> str:
    if not challenged_in_result(answer):
        return describe(answer)
    if answer.status != 200:
        return f"{answer.status} whose body holds the result with the challenge"
    return "a result with a challenge, but without isError"


def _told(observed: CallObserved, facts: Facts) -> Sequence[Answer] | Verdict:
    """The answers whose result holds a challenge, or why there is none to judge."""
    answers = [attempt.answer for attempt in observed.attempts if challenged_in_result(attempt.answer)]
    if answers:
        return answers
    if doubt := unsettled(observed):
        return doubt
    if observed.accepted:
        return Inconclusive(_RAN)
    right = _right_statuses(observed, facts)
    if right and all(attempt.reading in right for attempt in observed.attempts):
        why = "MCP demands of an invalid token" if facts.challenge == "tool" else 'policy.challenge = "either" allows'
        return NotApplicable(f"refused by the HTTP status, as {why}")
    return Inconclusive("no result holds a challenge to read; tool-challenge-on-missing-token or its like reports it")


@judge_on(_told)
def in_band_bearer(answers: Sequence[Answer], facts: Facts) -> Verdict:
    """The value is a string or a list of strings, each a well-formed challenge, one of them Bearer."""
    advice: str | None = None
    for answer in answers:
        texts = result_texts(answer)
        if texts is None:
            return Fail("a string or a list of strings", "another kind of value")
        challenges = result_challenges(answer)
        if faults := [fault for fault in challenges.faults if fault.kind.is_syntax]:
            said = "; ".join(dict.fromkeys(f"{fault.kind.value}: {fault.detail}" for fault in faults))
            return Fail("challenges that parse as RFC 9110 §11.6.1 says", said)
        if challenges.bearer is None or not challenges.bearer.params:
            return Fail("a Bearer challenge with parameters", ", ".join(challenges.schemes) or "no challenge")
        if challenges.lines != texts:
            advice = "the challenge stands in single quotes, which are no part of it"
    return Pass(advice)


@narrowing(_told)
def _bearers(answers: Sequence[Answer], facts: Facts) -> Sequence[Challenges] | Verdict:
    read = [result_challenges(answer) for answer in answers]
    found = [challenges for challenges in read if challenges.bearer is not None]
    return found or Inconclusive.lacking("no Bearer challenge can be read", "tool-challenge-syntax")


def _having(challenges: Challenges, name: str) -> Fail | None:
    value = challenges.of_bearer(name)
    if (value or "").strip():
        return None
    return Fail(f"a challenge with {name}", "none" if value is None else "an empty one")


@judge_each(_bearers)
def in_band_error(challenges: Challenges, facts: Facts) -> Fail | None:
    """The challenge has an `error`; which one is right without a token the Apps SDK leaves open."""
    return _having(challenges, "error")


@judge_each(_bearers)
def in_band_description(challenges: Challenges, facts: Facts) -> Fail | None:
    """The challenge has an `error_description`, which the host shows."""
    return _having(challenges, "error_description")


@judge_each(_bearers)
def in_band_pointer(challenges: Challenges, facts: Facts) -> Fail | None:
    """The challenge has a `resource_metadata`, as every example of the Apps SDK has."""
    return _having(challenges, "resource_metadata")


def _named(bearers: Sequence[Challenges], error: str) -> Verdict:
    named = [said for said in (challenges.of_bearer("error") for challenges in bearers) if said]
    if other := next((said for said in named if said != error), None):
        return Fail(f'error="{error}"', f'error="{other}"')
    return Pass() if named else Inconclusive.lacking("the challenge has no error", "tool-challenge-error")


@judge_on(_bearers)
def in_band_invalid_token(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """A token that fails validation is called invalid_token, in a result as in a header (RFC 6750 §3.1)."""
    return _named(bearers, "invalid_token")


@judge_on(_bearers)
def in_band_insufficient_scope(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """A valid token that lacks a scope is told insufficient_scope (RFC 6750 §3.1)."""
    return _named(bearers, "insufficient_scope")


@judge_each(_bearers)
def in_band_names_missing(challenges: Challenges, facts: Facts) -> Fail | None:
    """`scope` names the scope that the token lacks."""
    named = challenges.of_bearer("scope")
    if facts.missing in scopes_of(named or ""):
        return None
    return Fail(f'scope naming "{facts.missing}"', "no scope parameter" if named is None else f'scope="{named}"')


@judge_each(_told, "content with a text")
def in_band_text(answer: Answer, facts: Facts) -> str | None:
    """The result has text content: hosts that do not read the challenge, and the model, see only that."""
    content = answer.result.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    readable = any(isinstance(text, str) and text.strip() for text in texts)
    return None if readable else f"{len(blocks)} content blocks, none with a text"


@judge_on(_told, "a challenge and no protected data")
def no_data_beside_challenge(answers: Sequence[Answer], facts: Facts) -> Finding:
    """A result that refuses brings nothing of what it refuses (MCP token handling: validated before processing)."""
    if any(canary in answer.text for answer in answers for canary in facts.canaries):
        return "the record of the principal beside the challenge"
    if any("structuredContent" in answer.result for answer in answers):
        return Pass("structuredContent stands beside the challenge; hosts hand it to the model")
    return None if facts.canaries else NotApplicable("the contract has no record that only this call would bring")


@judge_on(answered)
def no_challenge_in_success(observed: CallObserved, facts: Facts) -> Verdict:
    """A call that ran brings no challenge: the host would start a sign-in for nothing."""
    accepted = [attempt.answer for attempt in observed.attempts if attempt.accepted]
    if any(map(challenged_in_result, accepted)):
        return Fail("a result without a challenge", "a result with one", Impact.INTEROP)
    return Pass() if accepted else Inconclusive("the operation was refused; scope-exact-accepted reports it")
