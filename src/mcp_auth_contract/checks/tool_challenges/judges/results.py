"""Do tools tell hosts in their results and descriptions when a sign-in is needed? (OpenAI Apps SDK, authentication)"""

from collections.abc import Sequence

from mcp_auth_contract.answers import Accepted, Answer, Attempt, Refusal, Refused, describe
from mcp_auth_contract.checks.deciding import judge_on
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.scopes.observation import result_of
from mcp_auth_contract.checks.tokens.judges import unsettled
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tool_challenges.observation import challenged_in_result, result_challenges, result_texts
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge import Challenges, scopes_of

_EXPECTED = 'status 200 with isError and _meta["mcp/www_authenticate"]'


_RAN = "the operation ran; challenge-missing-token-401, scope-missing-denied or a token check reports it"


_BY_STATUS = frozenset({Refused(Refusal.UNAUTHORIZED), Refused(Refusal.FORBIDDEN)})


@judge
def in_band_refusal(observed: CallObserved, facts: Facts) -> Verdict:
    """The refused call is answered with an error result that holds the challenge, at status 200.

    Where the contract says "either", a 401 or 403 is as right; to a token that is invalid MCP demands a 401, whatever
    the contract says. A handshake may be refused by its status, for no tool was called yet, and a session that is
    another principal's by 404.
    """
    if doubt := unsettled(observed):
        return doubt
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
                return Fail(_EXPECTED, _seen(attempt))
    if not called and not _right_statuses(observed, facts):
        return Inconclusive(f"no tool was called: the handshake got {describe(observed.attempts[0].answer)}")
    return Pass()


def _right_statuses(observed: CallObserved, facts: Facts) -> frozenset[Refused]:
    """Return how the status may refuse in the place of a result (MCP authorization, token handling: 401 if invalid)."""
    if facts.challenge == "either":
        return _BY_STATUS
    invalid = observed.token is not None and bool(observed.token.change)
    return frozenset({Refused(Refusal.UNAUTHORIZED)}) if invalid else frozenset()


def _seen(attempt: Attempt) -> str:
    answer = attempt.answer
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


def _bearers(observed: CallObserved, facts: Facts) -> Sequence[Challenges] | Verdict:
    answers = _told(observed, facts)
    if isinstance(answers, Verdict):
        return answers
    read = [result_challenges(answer) for answer in answers]
    found = [challenges for challenges in read if challenges.bearer is not None]
    return found or Inconclusive("no Bearer challenge can be read; tool-challenge-syntax reports it")


def _parameter(challenges: Challenges, name: str) -> str | None:
    values = (each.get(name) for each in challenges.challenges if each.is_bearer)
    return next((value for value in values if value is not None), None)


def _having(bearers: Sequence[Challenges], name: str) -> Verdict:
    for challenges in bearers:
        value = _parameter(challenges, name)
        if not (value or "").strip():
            return Fail(f"a challenge with {name}", "none" if value is None else "an empty one")
    return Pass()


@judge_on(_bearers)
def in_band_error(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """The challenge has an `error`; which one is right without a token the Apps SDK leaves open."""
    return _having(bearers, "error")


@judge_on(_bearers)
def in_band_description(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """The challenge has an `error_description`, which the host shows."""
    return _having(bearers, "error_description")


@judge_on(_bearers)
def in_band_pointer(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """The challenge has a `resource_metadata`, as every example of the Apps SDK has."""
    return _having(bearers, "resource_metadata")


def _named(bearers: Sequence[Challenges], error: str) -> Verdict:
    named = [said for said in (_parameter(challenges, "error") for challenges in bearers) if said]
    for said in named:
        if said != error:
            return Fail(f'error="{error}"', f'error="{said}"')
    return Pass() if named else Inconclusive("the challenge has no error; tool-challenge-error reports it")


@judge_on(_bearers)
def in_band_invalid_token(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """A token that fails validation is called invalid_token, in a result as in a header (RFC 6750 §3.1)."""
    return _named(bearers, "invalid_token")


@judge_on(_bearers)
def in_band_insufficient_scope(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """A valid token that lacks a scope is told insufficient_scope (RFC 6750 §3.1)."""
    return _named(bearers, "insufficient_scope")


@judge_on(_bearers)
def in_band_names_missing(bearers: Sequence[Challenges], facts: Facts) -> Verdict:
    """`scope` names the scope that the token lacks."""
    for challenges in bearers:
        named = _parameter(challenges, "scope")
        if facts.missing not in scopes_of(named or ""):
            seen = "no scope parameter" if named is None else f'scope="{named}"'
            return Fail(f'scope naming "{facts.missing}"', seen)
    return Pass()


@judge_on(_told)
def in_band_text(answers: Sequence[Answer], facts: Facts) -> Verdict:
    """The result has text content: hosts that do not read the challenge, and the model, see only that."""
    for answer in answers:
        content = result_of(answer).get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = [block.get("text") for block in blocks if block.get("type") == "text"]
        if not any(isinstance(text, str) and text.strip() for text in texts):
            return Fail("content with a text", f"{len(blocks)} content blocks, none with a text")
    return Pass()


@judge_on(_told)
def no_data_beside_challenge(answers: Sequence[Answer], facts: Facts) -> Verdict:
    """A result that refuses brings nothing of what it refuses (MCP token handling: validated before processing)."""
    for answer in answers:
        if any(canary in answer.text for canary in facts.canaries):
            return Fail("a challenge and no protected data", "the record of the principal beside the challenge")
    if any("structuredContent" in result_of(answer) for answer in answers):
        return Pass("structuredContent stands beside the challenge; hosts hand it to the model")
    return Pass() if facts.canaries else NotApplicable("the contract has no record that only this call would bring")


@judge
def no_challenge_in_success(observed: CallObserved, facts: Facts) -> Verdict:
    """A call that ran brings no challenge: the host would start a sign-in for nothing."""
    if doubt := unsettled(observed):
        return doubt
    accepted = [attempt.answer for attempt in observed.attempts if isinstance(attempt.reading, Accepted)]
    if any(challenged_in_result(answer) for answer in accepted):
        return Fail("a result without a challenge", "a result with one", Impact.INTEROP)
    return Pass() if accepted else Inconclusive("the operation was refused; scope-exact-accepted reports it")
