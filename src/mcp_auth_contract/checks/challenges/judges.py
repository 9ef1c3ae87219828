"""Does the refusal's challenge say what a client needs? WWW-Authenticate of 401 and 403 answers."""

from mcp_auth_contract.answers import Accepted, Answer, Attempt, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.tokens.judges import unsettled
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tool_challenges.observation import challenged_in_result
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge import Challenges, FaultKind, scopes_of

_CHARACTER_FAULTS = frozenset({FaultKind.CHARACTERS})


_SCOPE_FAULTS = frozenset({FaultKind.SCOPE_FORM, FaultKind.EMPTY_SCOPE})


_SYNTAX_FAULTS = frozenset(kind for kind in FaultKind if kind.is_syntax) - {FaultKind.DUPLICATE}


def _refusals(observed: CallObserved, facts: Facts, *statuses: int) -> list[Answer] | Verdict:
    """The answers with one of the statuses, or why there is none to judge."""
    answers = [each.answer for each in observed.attempts if each.answer.status in statuses]
    if answers:
        return answers
    if doubt := unsettled(observed):
        return doubt
    wanted = " or ".join(map(str, statuses))
    if facts.in_band and any(each.reading == Refused(Refusal.TOOL_CHALLENGE) for each in observed.attempts):
        return NotApplicable("this refusal came in a tool result, as policy.challenge allows")
    if not facts.has_contract and all(_served(each) for each in observed.attempts):
        return NotApplicable(f"nothing here was answered with {wanted}: the server asks for no token")
    return Inconclusive(f"no {wanted} was answered to read a challenge from: {describe(observed.attempts[0].answer)}")


def _served(attempt: Attempt) -> bool:
    """Whether the server took up the message, be it with a result or with an error of JSON-RPC."""
    return attempt.answer.status is not None and 200 <= attempt.answer.status < 300 and attempt.answer.reply is not None


def _unauthorized(observed: CallObserved, facts: Facts) -> list[Answer] | Verdict:
    if facts.challenge == "tool":
        return NotApplicable('challenges come in tool results here (policy.challenge = "tool")')
    return _refusals(observed, facts, 401)


def _has_challenge(answer: Answer) -> bool:
    return any(line.strip() for line in answer.header_lines("www-authenticate"))


@judge
def has_www_authenticate(observed: CallObserved, facts: Facts) -> Verdict:
    """Each 401 carries at least one challenge (RFC 9110 §15.5.2; OAuth 2.1 §5.3)."""
    answers = _unauthorized(observed, facts)
    if not isinstance(answers, list):
        return answers
    for answer in answers:
        if not _has_challenge(answer):
            empty = bool(answer.header_lines("www-authenticate"))
            return Fail("401 with a WWW-Authenticate header", "401 with an empty one" if empty else "401 without one")
    return Pass()


def _challenged(observed: CallObserved, facts: Facts) -> list[Answer] | Verdict:
    answers = _unauthorized(observed, facts)
    if not isinstance(answers, list):
        return answers
    having = [answer for answer in answers if _has_challenge(answer)]
    return having or Inconclusive("the 401 has no WWW-Authenticate header; challenge-www-authenticate reports it")


@judge
def has_bearer_challenge(observed: CallObserved, facts: Facts) -> Verdict:
    """One of the challenges uses the Bearer scheme, in any case and any place (OAuth 2.1 §5.3)."""
    answers = _challenged(observed, facts)
    if not isinstance(answers, list):
        return answers
    for answer in answers:
        schemes = {scheme.lower() for scheme in answer.challenges.schemes}
        if not schemes & {"bearer", "dpop"}:
            return Fail("a Bearer challenge", f"only {', '.join(answer.challenges.schemes) or 'unreadable ones'}")
    return Pass()


def _bearer(observed: CallObserved, facts: Facts) -> list[Challenges] | Verdict:
    """The challenges of those answers that offer Bearer."""
    answers = _challenged(observed, facts)
    if not isinstance(answers, list):
        return answers
    read = [answer.challenges for answer in answers]
    found = [challenges for challenges in read if challenges.bearer is not None]
    if not found and any("dpop" in challenges.schemes for challenges in read):
        return NotApplicable("the 401 offers DPoP only")
    return found or Inconclusive("the 401 has no Bearer challenge; challenge-bearer-scheme reports it")


def _of_bearer(challenges: Challenges, name: str) -> str | None:
    """The first value of a parameter in any Bearer challenge: gateways add a second one of their own."""
    values = (each.get(name) for each in challenges.challenges if each.is_bearer)
    return next((value for value in values if value is not None), None)


@judge
def challenge_has_parameter(observed: CallObserved, facts: Facts) -> Verdict:
    """The Bearer scheme is followed by at least one parameter (RFC 6750 §3)."""
    bearers = _bearer(observed, facts)
    if not isinstance(bearers, list):
        return bearers
    if any(one.is_bearer and not one.params for each in bearers for one in each.challenges):
        return Fail("Bearer with at least one parameter", "a bare Bearer challenge")
    return Pass()


def _without_faults(observed: CallObserved, facts: Facts, kinds: frozenset[FaultKind], expected: str) -> Verdict:
    answers = _challenged(observed, facts)
    if not isinstance(answers, list):
        return answers
    for answer in answers:
        faults = [fault for fault in answer.challenges.faults if fault.kind in kinds]
        if faults:
            return Fail(expected, "; ".join(dict.fromkeys(f"{fault.kind.value}: {fault.detail}" for fault in faults)))
    return Pass()


@judge
def challenge_syntax(observed: CallObserved, facts: Facts) -> Verdict:
    """The header parses as a list of challenges (RFC 9110 §11.6.1, §5.6.4)."""
    verdict = _without_faults(observed, facts, _SYNTAX_FAULTS, "a header that parses as RFC 9110 §11.6.1 says")
    bare = _without_faults(observed, facts, frozenset({FaultKind.UNQUOTED_REALM}), "")
    if verdict == Pass() and isinstance(bare, Fail):
        return Pass(f"{bare.observed} (RFC 9110 §11.5); clients read it all the same")
    return verdict


@judge
def challenge_unique_parameters(observed: CallObserved, facts: Facts) -> Verdict:
    """A parameter occurs at most once in a challenge (RFC 6750 §3; RFC 9110 §11.2)."""
    return _without_faults(observed, facts, frozenset({FaultKind.DUPLICATE}), "each parameter at most once")


@judge
def challenge_characters(observed: CallObserved, facts: Facts) -> Verdict:
    """`error`, `error_description` and `scope` keep to the characters of RFC 6750 §3."""
    return _without_faults(observed, facts, _CHARACTER_FAULTS, "values in the characters that RFC 6750 §3 allows")


@judge
def challenge_scope_form(observed: CallObserved, facts: Facts) -> Verdict:
    """`scope` is one string of space-separated tokens, and not empty (RFC 6750 §3)."""
    return _without_faults(observed, facts, _SCOPE_FAULTS, "scope as a list separated by spaces")


@judge
def has_resource_metadata(observed: CallObserved, facts: Facts) -> Verdict:
    """The 401 names `resource_metadata` in one of its challenges (RFC 9728 §5.1)."""
    answers = _challenged(observed, facts)
    if not isinstance(answers, list):
        return answers
    for answer in answers:
        if not answer.challenges.get("resource_metadata"):
            return Fail("a challenge with resource_metadata", "none")
    return Pass()


@judge
def challenge_has_scope(observed: CallObserved, facts: Facts) -> Verdict:
    """The 401 tells which scopes the resource needs (MCP authorization, scope selection)."""
    answers = _challenged(observed, facts)
    if not isinstance(answers, list):
        return answers
    if facts.has_contract and not facts.needed:
        return NotApplicable("the contract names no scope for this operation")
    for answer in answers:
        if answer.challenges.get("scope") is None:
            return Fail("a challenge with scope", "none")
    return Pass()


@judge
def error_is_invalid_token(observed: CallObserved, facts: Facts) -> Verdict:
    """A token that fails validation is reported as error="invalid_token" (RFC 6750 §3.1)."""
    bearers = _bearer(observed, facts)
    if not isinstance(bearers, list):
        return bearers
    for challenges in bearers:
        said = _of_bearer(challenges, "error")
        if said != "invalid_token":
            return Fail('error="invalid_token"', f'error="{said}"' if said else "no error parameter")
    return Pass()


@judge
def no_error_without_token(observed: CallObserved, facts: Facts) -> Verdict:
    """Where no credentials were sent, there is no error to report (RFC 6750 §3.1)."""
    bearers = _bearer(observed, facts)
    if not isinstance(bearers, list):
        return bearers
    said = [one.get("error") for challenges in bearers for one in challenges.challenges if one.is_bearer]
    found = [error for error in said if error is not None]
    return Fail("a challenge without error", f'error="{found[0]}"') if found else Pass()


@judge
def no_result_in_refusal(observed: CallObserved, facts: Facts) -> Verdict:
    """A 401 or 403 carries no JSON-RPC result (MCP token handling: validated before processing)."""
    answers = _refusals(observed, facts, 401, 403)
    if not isinstance(answers, list):
        return answers
    for answer in answers:
        if facts.in_band and challenged_in_result(answer):  # the challenge again; tool-challenge-no-data looks for data
            continue
        if any("result" in message for message in answer.messages):
            return Fail("a refusal without a result", f"{answer.status} whose body holds a JSON-RPC result")
    return Pass()


@judge
def no_session_id_in_refusal(observed: CallObserved, facts: Facts) -> Verdict:
    """A refusal hands out no session id (MCP security best practices, session hijacking)."""
    answers = _refusals(observed, facts, 401, 403)
    if not isinstance(answers, list):
        return answers
    for answer in answers:
        if answer.header("mcp-session-id") is not None:
            return Fail("a refusal without a session id", f"{answer.status} with an Mcp-Session-Id")
    return Pass()


def _insufficient(observed: CallObserved, facts: Facts) -> list[Answer] | Verdict:
    if any(isinstance(attempt.reading, Accepted) for attempt in observed.attempts):
        return Inconclusive("the operation ran; scope-missing-denied reports it")
    if facts.challenge == "tool":
        return NotApplicable('challenges come in tool results here (policy.challenge = "tool")')
    if observed.hidden and not any(attempt.answer.status == 403 for attempt in observed.attempts):
        return NotApplicable("hidden from a token without the scope, and refused as unknown")
    answers = _refusals(observed, facts, 403)
    if isinstance(answers, Inconclusive):
        return unsettled(observed) or Inconclusive("no 403 was answered; scope-missing-403 reports it")
    return answers


@judge
def scope_challenge_error(observed: CallObserved, facts: Facts) -> Verdict:
    """The 403 has a Bearer challenge with error="insufficient_scope" (RFC 6750 §3.1; MCP insufficient scope)."""
    answers = _insufficient(observed, facts)
    if not isinstance(answers, list):
        return answers
    expected = '403 with error="insufficient_scope"'
    for answer in answers:
        challenges = answer.challenges
        if challenges.bearer is None:
            schemes = ", ".join(challenges.schemes)
            return Fail(expected, f"403 with a challenge of scheme {schemes} only" if schemes else describe(answer))
        said = _of_bearer(challenges, "error")
        if said != "insufficient_scope":
            return Fail(expected, f'403 with error="{said}"' if said else "403 without error")
    return Pass()


def _scope_challenge(observed: CallObserved, facts: Facts) -> list[Challenges] | Verdict:
    answers = _insufficient(observed, facts)
    if not isinstance(answers, list):
        return answers
    found = [answer.challenges for answer in answers if answer.challenges.bearer is not None]
    return found or Inconclusive("the 403 has no Bearer challenge; scope-challenge-error reports it")


@judge
def scope_challenge_names_missing(observed: CallObserved, facts: Facts) -> Verdict:
    """The 403's `scope` names the scope that the token lacks, or one that implies it (MCP insufficient scope)."""
    bearers = _scope_challenge(observed, facts)
    if not isinstance(bearers, list):
        return bearers
    for challenges in bearers:
        named = _of_bearer(challenges, "scope")
        if named is None:
            return Fail(f'scope naming "{facts.missing}"', "no scope parameter")
        if not facts.covers(scopes_of(named), facts.missing or ""):
            return Fail(f'scope naming "{facts.missing}"', f'scope="{named}"')
    return Pass()


@judge
def scope_challenge_metadata(observed: CallObserved, facts: Facts) -> Verdict:
    """The 403 repeats `resource_metadata` (MCP insufficient scope)."""
    bearers = _scope_challenge(observed, facts)
    if not isinstance(bearers, list):
        return bearers
    if any(not challenges.get("resource_metadata") for challenges in bearers):
        return Fail("a challenge with resource_metadata", "none")
    return Pass()
