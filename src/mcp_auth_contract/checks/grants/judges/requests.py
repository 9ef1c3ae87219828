"""What the endpoints answer to requests of clients (OAuth 2.1 §3.2, RFC 7009, RFC 7662)."""

from mcp_auth_contract.answers import describe
from mcp_auth_contract.answers.authorization import Issued
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.grants.judges.reading import answered_request
from mcp_auth_contract.checks.grants.observation import (
    CapabilityObserved,
    ClientRequestObserved,
)
from mcp_auth_contract.checks.judging import Finding, judge, judge_on
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict


@judge_on(answered_request, "an error and no token")
def token_refused(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """A faulty token request gets no token (OAuth 2.1 §3.2.4)."""
    return "an access token" if found[1].token else None


@judge
def unknown_scope_not_granted(observed: ClientRequestObserved, facts: Facts) -> Verdict:
    """A scope that does not exist is refused or left out (OAuth 2.1 §1.4.1)."""
    if observed.refused:
        return Pass()
    found = answered_request(observed, facts)
    if isinstance(found, Verdict):
        return found
    issued = found[1]
    claim = (issued.claims or {}).get("scope")
    granted = (issued.scopes or frozenset()) | (frozenset(claim.split()) if isinstance(claim, str) else frozenset())
    named = "mcp-auth-contract:unknown"
    return Fail("an error, or the other scopes alone", f'"{named}" in the token') if named in granted else Pass()


@judge_on(answered_request, "400 or 401 with a JSON object that names a fitting error")
def token_error_well_formed(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """An error is a JSON object with a registered code (OAuth 2.1 §3.2.4)."""
    observed, issued = found
    if issued.token:
        return Inconclusive("a token was issued; the check of the refusal reports it")
    answer = issued.answer
    if answer.status != 400 and not (answer.status == 401 and issued.error == "invalid_client"):
        return f"{describe(answer)}{f' with error {issued.error}' if issued.error else ''}"
    if issued.document is None or answer.media_type != "application/json":
        return f"400 with {answer.media_type or 'no type'}, which is no JSON object"
    if not issued.error:
        return "no error in it"
    return None if not observed.expects or issued.error in observed.expects else f'error "{issued.error}"'


@judge_on(answered_request, "unsupported_grant_type or unauthorized_client")
def password_grant_refused(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """The password grant is as unknown as one that does not exist (OAuth 2.1 §10)."""
    observed, issued = found
    if issued.token:
        return "an access token"
    if issued.error in observed.expects:
        return None
    said = f'error "{issued.error}"' if issued.error else describe(issued.answer)
    if observed.offered:
        return f"{said}, and the grant in grant_types_supported"
    other = observed.later
    if other is not None and (other.answer.status, other.error) == (issued.answer.status, issued.error):
        return Pass("the answer is that to a grant type that does not exist")
    return Inconclusive(
        f"{said}, which a grant that does not exist does not get; without a password nobody can see more"
    )


@judge_on(answered_request, "401 with a challenge for the scheme that was used")
def client_challenged(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """A client that fails to authenticate by HTTP Basic is challenged (OAuth 2.1 §3.2.4)."""
    answer = found[1].answer
    if answer.status != 401:
        return describe(answer)
    schemes = {one.scheme.lower() for one in answer.challenges.challenges}
    return None if "basic" in schemes else "401 without a challenge for Basic"


@judge_on(answered_request, "the tokens of the first use refused from then on")
def later_tokens_dead(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """What a replayed code or refresh token has brought dies with it (OAuth 2.1 §4.1.3, §4.3.1)."""
    observed, issued = found
    if issued.token:
        return Inconclusive("the replay got a token; the check of the refusal reports it")
    if observed.later is None:
        return NotApplicable("no refresh token shows whether tokens still live")
    return "a refresh token that still gets tokens" if observed.later.token else None


@judge_on(answered_request, "a token, as for any good refresh token")
def token_kept(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """What another client does has no effect (RFC 7009 §2.1)."""
    issued = found[1]
    return None if issued.token else f"{describe(issued.answer)} with error {issued.error or 'missing'}"


@judge_on(answered_request, "200")
def answered_200(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """An unknown token counts as revoked (RFC 7009 §2.2)."""
    return None if found[1].answer.status == 200 else describe(found[1].answer)


@judge_on(answered_request, "a refusal, with nothing about the token")
def introspection_gated(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """Introspection needs authorization (RFC 7662 §2.1)."""
    issued = found[1]
    active = (issued.document or {}).get("active")
    if active is True:
        return "active with all that is known of the token" if len(issued.document or {}) > 1 else "active"
    if active is False:
        return Pass("strangers are told that every token is inactive")
    return None if issued.answer.status in (400, 401, 403) else describe(issued.answer)


@judge_on(answered_request, 'the object {"active": false}')
def inactive_only(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """Of an inactive token nothing else is told (RFC 7662 §2.2)."""
    issued = found[1]
    document = issued.document or {}
    if issued.answer.status in (401, 403):
        return Inconclusive("this client may not introspect")
    if issued.answer.status != 200 or "active" not in document:
        return describe(issued.answer)
    if document["active"] is not False:
        return f"active as {document['active']!r}"
    return Fail('{"active": false} alone', "other members too", Impact.HYGIENE) if len(document) > 1 else None


@judge
def capability_as_wanted(observed: CapabilityObserved, facts: Facts) -> Verdict:
    """The provider offers what the contract requires, and not what it forbids."""
    if observed.wanted == "required" and not observed.offered:
        return Fail(f"{observed.where}, which the contract requires", "nothing of it")
    if observed.wanted == "forbidden" and observed.offered:
        return Fail("nothing of it, as the contract wants", observed.where)
    if observed.wanted == "ignore":
        return NotApplicable("the contract says ignore")
    return Pass()
