"""No exchange of a run brings a secret back, or what belongs to somebody else."""

from mcp_auth_contract.answers import Accepted, Answer, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, proves_nothing
from mcp_auth_contract.checks.leaks.judges.exchanges import (
    HONEST,
    OPERATIONS,
    Predicate,
    calls,
    fail,
    named,
    reading_of,
    told,
)
from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    ErrorObserved,
    Exchanged,
    ExchangesObserved,
    UpstreamObserved,
)
from mcp_auth_contract.checks.leaks.signs import credential_in, internals_in, program_in
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict


def _silence(observed: ExchangesObserved) -> Verdict:
    """Decide where nothing was found: it proves something only about a server that has served a caller."""
    good = (one for one in calls(observed) if one.credential is CredentialKind.GOOD)
    served = any(isinstance(reading_of(one), Accepted) for one in good)
    return Pass() if served else Inconclusive("no call with a good token was accepted in this run")


@judge
def no_token_in_answers(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No token comes back, whole or in part, in headers, bodies, events or redirects (OAuth 2.1 §7.1.1)."""
    found = [one for one in observed.exchanges if one.leaked]
    said = told(found, lambda one: f"{_kind(one.leaked[0])} in {named(one)}")
    return fail("answers without any token", said, found) if found else _silence(observed)


@judge
def no_environment_in_answers(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """No answer holds a secret that the contract gives the server by its environment or a header (CWE-209)."""
    if not observed.environment:
        return NotApplicable("the contract gives the server no secret (target.env, target.headers)")
    found = [one for one in observed.exchanges if one.environment]
    said = told(found, lambda one: f"{_kind(one.environment[0]).removeprefix('environment:')} in {named(one)}")
    return fail("answers without any secret of the server", said, found) if found else _silence(observed)


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
        if not isinstance(reading_of(one), Refused):
            return one.answer.status is not None and one.answer.status >= 500 and _unread(one)
        return one.answer.status in (401, 403) or _unread(one)

    return _records_kept(observed, gives, "refusals without anything of a record")


def _records_kept(observed: ExchangesObserved, gives: Predicate, expected: str) -> Verdict:
    found = [one for one in observed.exchanges if one.secrets and gives(one)]
    return fail(expected, told(found, _with_record), found) if found else _silence(observed)


def _unread(one: Exchanged) -> bool:
    """Whether the answer holds a record that its sender may not read."""
    holds = one.credential is CredentialKind.GOOD
    return any(not holds or one.sender not in secret.readers for secret in one.secrets)


def _with_record(one: Exchanged) -> str:
    return f'"{one.secrets[0].record}" in {named(one)}'


@judge
def no_foreign_canary(observed: ExchangesObserved, facts: Facts) -> Verdict:
    """Lists, descriptions and documents hold nothing of a record that the caller may not read.

    Calls of operations are the business of other checks, and so is a bad token that is taken for a good one.
    """

    def gives(one: Exchanged) -> bool:
        operation = one.rpc.lower() in OPERATIONS or (one.verb == "POST" and not one.rpc)
        unknown = one.sender is None and one.credential is not CredentialKind.NONE
        foreign = any(one.sender not in secret.readers for secret in one.secrets)
        return not operation and not unknown and foreign and isinstance(reading_of(one), Accepted)

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
            return Pass(f"{found[0][0]} stands in {told(telling)}")
        return fail("errors without the program behind them", f"{found[0][0]} in {told(telling)}", telling)
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
        for one in calls(observed)
        if one.credential in HONEST and one.rpc not in facts.public and isinstance(reading_of(one), Accepted)
    ]
    if found := [one for one in answered if public(one)]:
        lines = ", ".join(found[0].answer.header_lines("cache-control"))
        return fail("answers that no shared cache may keep", f"Cache-Control: {lines} in {told(found)}", found)
    return Pass() if answered else Inconclusive("no call with a good token was accepted in this run")
