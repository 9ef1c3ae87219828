"""Does the refusal's challenge say what a client needs? WWW-Authenticate of 401 and 403 answers."""

from collections.abc import Callable, Sequence

from mcp_auth_contract.answers import Answer, Attempt, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge_each, judge_on, narrowing
from mcp_auth_contract.checks.tokens.judges import unsettled
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tool_challenges.observation import challenged_in_result
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge import Challenges, scopes_of
from mcp_auth_contract.oauth.challenge_syntax import FaultKind

_SYNTAX_FAULTS = frozenset(kind for kind in FaultKind if kind.is_syntax) - {FaultKind.DUPLICATE}
_IN_RESULTS = 'challenges come in tool results here (policy.challenge = "tool")'


def _with_status(*statuses: int) -> Callable[[CallObserved, Facts], Sequence[Answer] | Verdict]:
    """The answers with one of the statuses, or why there is none to judge."""
    wanted = " or ".join(map(str, statuses))

    def part(observed: CallObserved, facts: Facts) -> Sequence[Answer] | Verdict:
        answers = [each.answer for each in observed.attempts if each.answer.status in statuses]
        if answers:
            return answers
        if doubt := unsettled(observed):
            return doubt
        if facts.in_band and any(each.reading == Refused(Refusal.TOOL_CHALLENGE) for each in observed.attempts):
            return NotApplicable("this refusal came in a tool result, as policy.challenge allows")
        if not facts.has_contract and all(_served(each) for each in observed.attempts):
            return NotApplicable(f"nothing here was answered with {wanted}: the server asks for no token")
        said = describe(observed.attempts[0].answer)
        return Inconclusive(f"no {wanted} was answered to read a challenge from: {said}")

    return part


_refusals = _with_status(401, 403)


def _served(attempt: Attempt) -> bool:
    """Whether the server took up the message, be it with a result or with an error of JSON-RPC."""
    return attempt.answer.status is not None and 200 <= attempt.answer.status < 300 and attempt.answer.reply is not None


def _unauthorized(observed: CallObserved, facts: Facts) -> Sequence[Answer] | Verdict:
    return NotApplicable(_IN_RESULTS) if facts.challenge == "tool" else _with_status(401)(observed, facts)


def _has_challenge(answer: Answer) -> bool:
    return any(line.strip() for line in answer.header_lines("www-authenticate"))


@judge_each(_unauthorized, "401 with a WWW-Authenticate header")
def has_www_authenticate(answer: Answer, facts: Facts) -> str | None:
    """Each 401 carries at least one challenge (RFC 9110 §15.5.2; OAuth 2.1 §5.3)."""
    if _has_challenge(answer):
        return None
    return "401 with an empty one" if answer.header_lines("www-authenticate") else "401 without one"


@narrowing(_unauthorized)
def _challenged(answers: Sequence[Answer], facts: Facts) -> Sequence[Answer] | Verdict:
    having = [answer for answer in answers if _has_challenge(answer)]
    return having or Inconclusive.lacking("the 401 has no WWW-Authenticate header", "challenge-www-authenticate")


@judge_each(_challenged, "a Bearer challenge")
def has_bearer_challenge(answer: Answer, facts: Facts) -> str | None:
    """One of the challenges uses the Bearer scheme, in any case and any place (OAuth 2.1 §5.3)."""
    schemes = answer.challenges.schemes
    bearer = {scheme.lower() for scheme in schemes} & {"bearer", "dpop"}
    return None if bearer else f"only {', '.join(schemes) or 'unreadable ones'}"


@narrowing(_challenged)
def _bearer(answers: Sequence[Answer], facts: Facts) -> Sequence[Challenges] | Verdict:
    """The challenges of those answers that offer Bearer."""
    read = [answer.challenges for answer in answers]
    found = [challenges for challenges in read if challenges.bearer is not None]
    if not found and any("dpop" in challenges.schemes for challenges in read):
        return NotApplicable("the 401 offers DPoP only")
    return found or Inconclusive.lacking("the 401 has no Bearer challenge", "challenge-bearer-scheme")


@judge_each(_bearer, "Bearer with at least one parameter")
def challenge_has_parameter(challenges: Challenges, facts: Facts) -> str | None:
    """The Bearer scheme is followed by at least one parameter (RFC 6750 §3)."""
    bare = any(one.is_bearer and not one.params for one in challenges.challenges)
    return "a bare Bearer challenge" if bare else None


def _faults(answer: Answer, *kinds: FaultKind) -> str | None:
    found = [fault for fault in answer.challenges.faults if fault.kind in kinds]
    return "; ".join(dict.fromkeys(f"{fault.kind.value}: {fault.detail}" for fault in found)) or None


@judge_on(_challenged, "a header that parses as RFC 9110 §11.6.1 says")
def challenge_syntax(answers: Sequence[Answer], facts: Facts) -> Finding:
    """The header parses as a list of challenges (RFC 9110 §11.6.1, §5.6.4)."""
    if broken := next(filter(None, (_faults(answer, *_SYNTAX_FAULTS) for answer in answers)), None):
        return broken
    bare = next(filter(None, (_faults(answer, FaultKind.UNQUOTED_REALM) for answer in answers)), None)
    return Pass(f"{bare} (RFC 9110 §11.5); clients read it all the same") if bare else None


@judge_each(_challenged, "each parameter at most once")
def challenge_unique_parameters(answer: Answer, facts: Facts) -> str | None:
    """A parameter occurs at most once in a challenge (RFC 6750 §3; RFC 9110 §11.2)."""
    return _faults(answer, FaultKind.DUPLICATE)


@judge_each(_challenged, "values in the characters that RFC 6750 §3 allows")
def challenge_characters(answer: Answer, facts: Facts) -> str | None:
    """`error`, `error_description` and `scope` keep to the characters of RFC 6750 §3."""
    return _faults(answer, FaultKind.CHARACTERS)


@judge_each(_challenged, "scope as a list separated by spaces")
def challenge_scope_form(answer: Answer, facts: Facts) -> str | None:
    """`scope` is one string of space-separated tokens, and not empty (RFC 6750 §3)."""
    return _faults(answer, FaultKind.SCOPE_FORM, FaultKind.EMPTY_SCOPE)


@judge_each(_challenged, "a challenge with resource_metadata")
def has_resource_metadata(answer: Answer, facts: Facts) -> str | None:
    """The 401 names `resource_metadata` in one of its challenges (RFC 9728 §5.1)."""
    return None if answer.challenges.get("resource_metadata") else "none"


@judge_each(_challenged, "a challenge with scope")
def challenge_has_scope(answer: Answer, facts: Facts) -> Finding:
    """The 401 tells which scopes the resource needs (MCP authorization, scope selection)."""
    if facts.has_contract and not facts.needed:
        return NotApplicable("the contract names no scope for this operation")
    return "none" if answer.challenges.get("scope") is None else None


@judge_each(_bearer, 'error="invalid_token"')
def error_is_invalid_token(challenges: Challenges, facts: Facts) -> str | None:
    """A token that fails validation is reported as error="invalid_token" (RFC 6750 §3.1)."""
    said = challenges.of_bearer("error")
    if said == "invalid_token":
        return None
    return f'error="{said}"' if said else "no error parameter"


@judge_each(_bearer, "a challenge without error")
def no_error_without_token(challenges: Challenges, facts: Facts) -> str | None:
    """Where no credentials were sent, there is no error to report (RFC 6750 §3.1)."""
    said = challenges.of_bearer("error")
    return None if said is None else f'error="{said}"'


@judge_each(_refusals, "a refusal without a result")
def no_result_in_refusal(answer: Answer, facts: Facts) -> str | None:
    """A 401 or 403 carries no JSON-RPC result (MCP token handling: validated before processing)."""
    if facts.in_band and challenged_in_result(answer):  # the challenge again; tool-challenge-no-data looks for data
        return None
    held = any("result" in message for message in answer.messages)
    return f"{answer.status} whose body holds a JSON-RPC result" if held else None


@judge_each(_refusals, "a refusal without a session id")
def no_session_id_in_refusal(answer: Answer, facts: Facts) -> str | None:
    """A refusal hands out no session id (MCP security best practices, session hijacking)."""
    return None if answer.header("mcp-session-id") is None else f"{answer.status} with an Mcp-Session-Id"


def _insufficient(observed: CallObserved, facts: Facts) -> Sequence[Answer] | Verdict:
    if observed.accepted:
        return Inconclusive("the operation ran; scope-missing-denied reports it")
    if facts.challenge == "tool":
        return NotApplicable(_IN_RESULTS)
    if observed.hidden and not any(attempt.answer.status == 403 for attempt in observed.attempts):
        return NotApplicable("hidden from a token without the scope, and refused as unknown")
    answers = _with_status(403)(observed, facts)
    if isinstance(answers, Inconclusive):
        return unsettled(observed) or Inconclusive("no 403 was answered; scope-missing-403 reports it")
    return answers


@judge_each(_insufficient, '403 with error="insufficient_scope"')
def scope_challenge_error(answer: Answer, facts: Facts) -> str | None:
    """The 403 has a Bearer challenge with error="insufficient_scope" (RFC 6750 §3.1; MCP insufficient scope)."""
    challenges = answer.challenges
    if challenges.bearer is None:
        schemes = ", ".join(challenges.schemes)
        return f"403 with a challenge of scheme {schemes} only" if schemes else describe(answer)
    said = challenges.of_bearer("error")
    if said == "insufficient_scope":
        return None
    return f'403 with error="{said}"' if said else "403 without error"


@narrowing(_insufficient)
def _scope_challenge(answers: Sequence[Answer], facts: Facts) -> Sequence[Challenges] | Verdict:
    found = [answer.challenges for answer in answers if answer.challenges.bearer is not None]
    return found or Inconclusive.lacking("the 403 has no Bearer challenge", "scope-challenge-error")


@judge_each(_scope_challenge)
def scope_challenge_names_missing(challenges: Challenges, facts: Facts) -> Fail | None:
    """The 403's `scope` names the scope that the token lacks, or one that implies it (MCP insufficient scope)."""
    named = challenges.of_bearer("scope")
    if named is not None and facts.covers(scopes_of(named), facts.missing or ""):
        return None
    return Fail(f'scope naming "{facts.missing}"', "no scope parameter" if named is None else f'scope="{named}"')


@judge_each(_scope_challenge, "a challenge with resource_metadata")
def scope_challenge_metadata(challenges: Challenges, facts: Facts) -> str | None:
    """The 403 repeats `resource_metadata` (MCP insufficient scope)."""
    return None if challenges.get("resource_metadata") else "none"
