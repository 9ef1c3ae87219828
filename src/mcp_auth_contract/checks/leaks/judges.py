"""What holds in every exchange of a run: no secret comes back, and each refusal says what it has to.

A fault of all refusals has a check of its own. Judged here are the exceptions, worse than most of their kind.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from http import HTTPStatus

from mcp_auth_contract.answers import Accepted, Answer, Refused, describe, read
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, proves_nothing
from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    ErrorObserved,
    Exchanged,
    ExchangesObserved,
    UpstreamObserved,
)
from mcp_auth_contract.checks.leaks.signs import credential_in, internals_in, program_in
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.challenge_syntax import FaultKind

_Predicate = Callable[[Exchanged], bool]
_MOST_EVIDENCE = 10
_HONEST = (CredentialKind.GOOD, CredentialKind.WEAK)
_OPERATIONS = frozenset({"tools/call", "resources/read", "prompts/get", "tasks/get", "tasks/result", "tasks/cancel"})
"""Calls, and the methods that bring what a call ended in."""


def _named(one: Exchanged) -> str:
    """Say which request it was."""
    what = f"{one.verb} {one.rpc}" if one.rpc else one.verb
    return f"{one.answer.status} to {what} with {one.credential.value}"


def _told(found: Sequence[Exchanged], say: Callable[[Exchanged], str] = _named) -> str:
    """Say what was seen in few words, the most frequent first."""
    kinds = Counter(map(say, found)).most_common()
    more = f", and {len(kinds) - 3} more kinds of answers" if len(kinds) > 3 else ""
    return "; ".join(f"{kind}, {count} times" if count > 1 else kind for kind, count in kinds[:3]) + more


def _fail(expected: str, observed: str, found: Sequence[Exchanged]) -> Fail:
    return Fail(expected, observed, evidence=tuple(one.answer.exchange for one in found[:_MOST_EVIDENCE]))


def _silence(observed: ExchangesObserved) -> Verdict:
    """Decide where nothing was found: it proves something only about a server that has served a caller."""
    good = (one for one in _calls(observed) if one.credential is CredentialKind.GOOD)
    served = any(isinstance(_reading(one), Accepted) for one in good)
    return Pass() if served else Inconclusive("no call with a good token was accepted in this run")


def _calls(observed: ExchangesObserved, *statuses: int) -> list[Exchanged]:
    """What was sent to the endpoint, and answered with one of the statuses, if there are any."""
    return [one for one in observed.exchanges if one.at_endpoint and (not statuses or one.answer.status in statuses)]


def _reading(one: Exchanged) -> object:
    return read(one.answer, expects_reply=False)


@judge
def no_token_in_answers(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No token comes back, whole or in part, in headers, bodies, events or redirects (OAuth 2.1 §7.1.1)."""
    found = [one for one in observed.exchanges if one.leaked]
    said = _told(found, lambda one: f"{_kind(one.leaked[0])} in {_named(one)}")
    return _fail("answers without any token", said, found) if found else _silence(observed)


@judge
def no_environment_in_answers(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No answer holds a secret that the contract gives the server by its environment or a header (CWE-209)."""
    if not observed.environment:
        return NotApplicable("the contract gives the server no secret (target.env, target.headers)")
    found = [one for one in observed.exchanges if one.environment]
    said = _told(found, lambda one: f"{_kind(one.environment[0]).removeprefix('environment:')} in {_named(one)}")
    return _fail("answers without any secret of the server", said, found) if found else _silence(observed)


def _kind(label: str) -> str:
    """The label of a token without its number."""
    return label.rsplit("#", 1)[0]


@judge
def no_token_written(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Neither the server's output nor its log files hold a token."""
    if not observed.written:
        return NotApplicable("the kit cannot read what the server writes: start it with target.start or target.app")
    found = [one for one in observed.written if one.labels]
    if found:
        said = (f"{len(one.labels)} in {one.place}, {_kind(one.labels[0])} for one" for one in found)
        return Fail("no token in what the server writes", "; ".join(said))
    missing = [one.place for one in observed.written if not one.readable]
    return Inconclusive(f"{', '.join(missing)} cannot be read") if missing else _silence(observed)


@judge
def no_token_passed_on(observed: UpstreamObserved, facts: Facts) -> Verdict:
    """The token that the server received does not go to the service behind it (MCP, token passthrough)."""
    found = [one for one in observed.passed if one.tokens]
    if found:
        place, label = found[0].tokens[0]
        said = f"{found[0].request} with {_kind(label)} in its {place}"
        return Fail("requests to the upstream without the caller's token", said)
    if not observed.calls:
        return NotApplicable("the contract names no tool that calls an upstream (tools.upstream) and may be called")
    if not observed.passed:
        return NotApplicable("no tool called the upstream: is the server told to use ${upstream.url}?")
    if not any(attempt.accepted for attempt in observed.calls):
        return Inconclusive("no call of a tool that uses the upstream was accepted")
    return Pass()


@judge
def no_canary_in_refusals(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """A refusal holds nothing of a record (MCP token handling: validated before processing).

    Who may read a record may be told about it in an error of another kind than 401 and 403.
    """

    def gives(one: Exchanged) -> bool:
        if not isinstance(_reading(one), Refused):
            return one.answer.status is not None and one.answer.status >= 500 and _unread(one)
        return one.answer.status in (401, 403) or _unread(one)

    return _records_kept(observed, gives, "refusals without anything of a record")


def _records_kept(observed: ExchangesObserved, gives: _Predicate, expected: str) -> Verdict:
    found = [one for one in observed.exchanges if one.secrets and gives(one)]
    return _fail(expected, _told(found, _with_record), found) if found else _silence(observed)


def _unread(one: Exchanged) -> bool:
    """Whether the answer holds a record that its sender may not read."""
    holds = one.credential is CredentialKind.GOOD
    return any(not holds or one.sender not in secret.readers for secret in one.secrets)


def _with_record(one: Exchanged) -> str:
    return f'"{one.secrets[0].record}" in {_named(one)}'


@judge
def no_foreign_canary(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Lists, descriptions and documents hold nothing of a record that the caller may not read.

    Calls of operations are the business of other checks, and so is a bad token that is taken for a good one.
    """

    def gives(one: Exchanged) -> bool:
        operation = one.rpc.lower() in _OPERATIONS or (one.verb == "POST" and not one.rpc)
        unknown = one.sender is None and one.credential is not CredentialKind.NONE
        foreign = any(one.sender not in secret.readers for secret in one.secrets)
        return not operation and not unknown and foreign and isinstance(_reading(one), Accepted)

    return _records_kept(observed, gives, "records in the answers to their readers alone")


@judge
def no_trace_in_errors(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """An error does not show the program behind it (CWE-209)."""
    errors = [one for one in observed.exchanges if (one.answer.status or 0) >= 400]
    for reading in (program_in, internals_in):
        found = [(what, one) for one in errors if (what := reading(one.answer.text))]
        if not found:
            continue
        telling = [one for what, one in found if what == found[0][0]]
        if reading is internals_in:
            return Pass(f"{found[0][0]} stands in {_told(telling)}")
        return _fail("errors without the program behind them", f"{found[0][0]} in {_told(telling)}", telling)
    return Pass() if errors else Inconclusive("no error was answered in this run")


@judge
def no_trace_provoked(observed: ErrorObserved, facts: Facts) -> Verdict:
    """What a caller can provoke does not show the program behind it (CWE-209)."""
    if doubt := _unsaid(observed):
        return doubt
    texts = _texts(observed.answer)
    if what := next(filter(None, map(program_in, texts)), None):
        return Fail("an answer without the program behind it", f"{what} in {_provoked(observed)}")
    if what := next(filter(None, map(internals_in, texts)), None):
        return Pass(f"{what} stands in {_provoked(observed)}")
    return Pass()


@judge
def no_credential_provoked(observed: ErrorObserved, facts: Facts) -> Verdict:
    """What a caller can provoke holds no password, key or token of the server's own (CWE-209)."""
    if doubt := _unsaid(observed):
        return doubt
    if what := next(filter(None, map(credential_in, _texts(observed.answer))), None):
        return Fail("an answer without credentials", f"{what} in {_provoked(observed)}")
    return Pass()


def _unsaid(observed: ErrorObserved) -> Verdict | None:
    if observed.large and observed.answer.status is None:
        return NotApplicable(f"nothing is said to a body that is too large: {describe(observed.answer)}")
    return Inconclusive(describe(observed.answer)) if proves_nothing(observed.answer) else None


def _texts(answer: Answer) -> list[str]:
    return [answer.text, *(value for _, value in answer.headers)]


def _provoked(observed: ErrorObserved) -> str:
    return f"{describe(observed.answer)} to {observed.way}"


@judge
def no_public_cache(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No shared cache is allowed to keep the answer to a request with a token (RFC 9111 §3.5)."""

    def public(one: Exchanged) -> bool:
        lines = ",".join(one.answer.header_lines("cache-control")).lower()
        words = {word.strip().partition("=")[0] for word in lines.split(",")}
        return bool(words & {"public", "s-maxage"}) and not words & {"no-store", "private"}

    answered = [
        one
        for one in _calls(observed)
        if one.credential in _HONEST and one.rpc not in facts.public and isinstance(_reading(one), Accepted)
    ]
    if found := [one for one in answered if public(one)]:
        lines = ", ".join(found[0].answer.header_lines("cache-control"))
        return _fail("answers that no shared cache may keep", f"Cache-Control: {lines} in {_told(found)}", found)
    return Pass() if answered else Inconclusive("no call with a good token was accepted in this run")


def _exceptions(answers: Sequence[Exchanged], lacks: _Predicate, judged: int) -> tuple[list[Exchanged], bool]:
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
    answers: Sequence[Exchanged], lacks: _Predicate, expected: str, reported_by: str, judged: int = 401
) -> Verdict:
    if not answers:
        return NotApplicable("nothing was refused in this way")
    found, usual = _exceptions(answers, lacks, judged)
    if usual and any(map(lacks, answers)):
        return Inconclusive(f"most refusals are wrong in this; {reported_by} reports it")
    return _fail(expected, _told(found), found) if found else Pass()


@judge
def every_refusal_challenged(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each 401 of the endpoint has a challenge that can be read (RFC 9110 §15.5.2; OAuth 2.1 §5.3.1)."""

    def lacks(one: Exchanged) -> bool:
        return not {scheme.lower() for scheme in one.answer.challenges.schemes} & {"bearer", "dpop"}

    reported_by = "challenge-www-authenticate or challenge-bearer-scheme"
    return _everywhere(_calls(observed, 401), lacks, "a Bearer challenge in every 401", reported_by)


@judge
def every_challenge_parses(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each challenge of each 401 and 403 of the endpoint parses (RFC 9110 §11.6.1; RFC 6750 §3)."""

    def faulty(one: Exchanged) -> bool:
        return any(fault.kind is not FaultKind.UNQUOTED_REALM for fault in one.answer.challenges.faults)

    having = [one for one in _calls(observed, 401, 403) if one.answer.challenges.lines]
    expected = "challenges that parse in every 401 and 403"
    return _everywhere(having, faulty, expected, "challenge-header-syntax or one beside it")


def _pointers(one: Exchanged) -> list[str]:
    """Return what each challenge of an answer points to."""
    found = (each.get("resource_metadata") for each in one.answer.challenges.challenges)
    return [pointer for pointer in found if pointer]


@judge
def every_challenge_points(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Each challenge of the endpoint leads to the same metadata document (RFC 9728 §5.1)."""
    having = [one for one in _calls(observed, 401) if not one.origin and one.answer.challenges.bearer is not None]
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
    own = (one for one in _calls(observed, 403) if not one.origin and not one.foreign)
    denied = [one for one in own if one.credential in _HONEST]

    def lacks(one: Exchanged) -> bool:
        challenged = any(each.is_bearer and each.get("error") for each in one.answer.challenges.challenges)
        return not challenged and '"error"' not in one.answer.text

    return _everywhere(denied, lacks, "an error that says why in every 403", "scope-challenge-error", judged=403)


@judge
def no_session_ids_in_refusals(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No 401 or 403 hands out a session id (MCP security best practices, session hijacking)."""
    refusals, expected = _calls(observed, 401, 403), "refusals without a session id"
    return _everywhere(refusals, lambda one: one.session, expected, "challenge-no-session-id")


@judge
def no_results_in_refusals(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No 401 or 403 carries a JSON-RPC result (MCP token handling: validated before processing)."""

    def holds(one: Exchanged) -> bool:
        return any("result" in message for message in one.answer.messages)

    refusals = [one for one in _calls(observed, 401, 403) if one.rpc]
    return _everywhere(refusals, holds, "refusals without a result", "challenge-no-data")


@judge
def no_server_errors(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No request without a token, with a forged one or with too few scopes ends in a 5xx (RFC 9110 §15.6).

    Tokens with a fault of another kind have checks of their own. 503 is left out: a server that cannot reach its issuer
    says so with it.
    """
    plain = (CredentialKind.NONE, CredentialKind.FORGED, CredentialKind.WEAK)
    asked = [one for one in _calls(observed) if one.credential in plain and one.answer.status is not None]
    found = [one for one in asked if (one.answer.status or 0) >= 500 and one.answer.status != 503]
    if found:
        return _fail("answers below 500 to every request without a good token", _told(found), found)
    return Pass() if asked else Inconclusive("no request of this run was without a good token")
