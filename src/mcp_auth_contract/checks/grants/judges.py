"""Does a real authorization server protect codes, tokens and clients? (OAuth 2.1, RFC 7009, 7591, 7662, 8707, 9207)"""

import re
from collections.abc import Callable

from mcp_auth_contract.answers import Answer, describe
from mcp_auth_contract.answers.authorization import Ending, How, Issued
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.grants.observation import (
    AuthorizationObserved,
    CapabilityObserved,
    ClientRequestObserved,
    TokensObserved,
)
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, proves_nothing
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict

_DAY_S = 24 * 3600
_FRAMING = re.compile(r"(?:^|;)\s*frame-ancestors\s", re.IGNORECASE)
_PROFILE = ("iss", "exp", "aud", "sub", "client_id", "iat", "jti")


def _ended(observed: AuthorizationObserved, facts: Facts) -> Ending | Verdict:
    """Take the end of an authorization request."""
    if observed.blocked or observed.ending is None:
        return Inconclusive(observed.blocked or "the request was not sent")
    if observed.ending.how in (How.LOGIN, How.NOTHING):
        return Inconclusive(observed.ending.why)
    if proves_nothing(observed.ending.answer):
        return Inconclusive(describe(observed.ending.answer))
    return observed.ending


def _on_ending(expected: str = "") -> Callable[[Callable[[AuthorizationObserved, Ending], Finding]], object]:
    """Register a judge of an authorization request that came to an end."""

    def register(decide: Callable[[AuthorizationObserved, Ending], Finding]) -> object:
        def part(observed: AuthorizationObserved, facts: Facts) -> tuple[AuthorizationObserved, Ending] | Verdict:
            ended = _ended(observed, facts)
            return ended if isinstance(ended, Verdict) else (observed, ended)

        def decided(found: tuple[AuthorizationObserved, Ending], facts: Facts) -> Finding:
            return decide(*found)

        decided.__name__, decided.__doc__, decided.__module__ = decide.__name__, decide.__doc__, decide.__module__
        return judge_on(part, expected)(decided)

    return register


@_on_ending("a redirect with a code")
def authorization_granted(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """A sound authorization request gets a code (OAuth 2.1 §4.1.2)."""
    return None if ending.code else ending.said


@_on_ending("an error page, and no redirect to this URI")
def authorization_never_redirects(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """Nobody is redirected to a URI that is not registered for the client (OAuth 2.1 §4.1.2.1)."""
    if ending.how is not How.REDIRECT:
        return None
    if ending.location == observed.registered and not ending.code and observed.redirect_uri != observed.registered:
        return None
    return ending.said


@_on_ending("an error and no code")
def authorization_refused(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """A faulty authorization request gets an error, by redirect or on a page (OAuth 2.1 §4.1.2.1)."""
    if ending.code or ending.parameters.keys() & {"access_token", "id_token"}:
        return ending.said
    if ending.how is How.PAGE:
        return Pass("the error is shown on a page; the client is not told")
    if not ending.error:
        return Fail("an error in the redirect", ending.said, Impact.INTEROP)
    if observed.expects and ending.error not in observed.expects:
        return Fail(f"error {_words(observed.expects)}", f'"{ending.error}"', Impact.INTEROP)
    return None


@_on_ending("the state, character by character")
def state_returned(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """The response carries the state of the request (OAuth 2.1 §4.1.2)."""
    if ending.how is not How.REDIRECT:
        return NotApplicable("the error was shown on a page")
    if "state" in ending.repeated:
        return "state twice"
    returned = ending.parameters.get("state")
    return None if returned == observed.state else "no state" if returned is None else "another state"


@_on_ending("the issuer of the metadata as iss")
def response_issuer_correct(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """If an authorization response names its issuer, it is the one of the metadata (RFC 9207 §2.4)."""
    if ending.how is not How.REDIRECT:
        return NotApplicable("the error was shown on a page")
    named = ending.parameters.get("iss")
    always = observed.metadata.get("authorization_response_iss_parameter_supported") is True
    if named is None:
        return "no iss, which the metadata promises" if always else NotApplicable("the response has no iss")
    if "iss" in ending.repeated:
        return "iss twice"
    return None if named == observed.metadata.get("issuer") else f'"{named}"'


@_on_ending("authorization_response_iss_parameter_supported as true")
def response_issuer_announced(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """Whoever sends iss says so in the metadata (RFC 9207 §3)."""
    if "iss" not in ending.parameters:
        return NotApplicable("the response has no iss")
    said = observed.metadata.get("authorization_response_iss_parameter_supported")
    return None if said is True else "nothing" if said is None else f"{said!r}"


@_on_ending("the issuer in the response")
def response_issuer_sent(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """Authorization responses name their issuer (MCP 2026-07-28)."""
    if ending.how is not How.REDIRECT:
        return NotApplicable("the error was shown on a page")
    return None if "iss" in ending.parameters else "no iss"


@_on_ending("X-Frame-Options or frame-ancestors on every page")
def pages_not_framed(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """Pages for logging in cannot be framed (OAuth 2.1 §7.10)."""
    if not ending.pages:
        return NotApplicable("no page was shown")
    open_ones = [page for page in ending.pages if not _framing_refused(page)]
    return None if not open_ones else f"neither on {open_ones[0].url.partition('?')[0]}"


def _framing_refused(page: Answer) -> bool:
    policies = page.header_lines("content-security-policy")
    return page.header("x-frame-options") is not None or any(map(_FRAMING.search, policies))


@_on_ending("302 or 303 after the password was entered")
def no_repeated_password(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """Redirects after a login do not carry the password on (OAuth 2.1 §7.5.4)."""
    if not ending.after_login:
        return NotApplicable("no redirect followed upon a password")
    repeats = [one for one in ending.after_login if one.status in (307, 308)]
    if not repeats:
        return None
    if ending.how is How.REDIRECT and repeats[-1] is ending.answer:
        return f"{repeats[-1].status}"
    return Pass(f"a redirect with {repeats[0].status} repeats the password to the provider itself; 303 would not")


@_on_ending("a redirect to the port of the request")
def loopback_port_free(observed: AuthorizationObserved, ending: Ending) -> Finding:
    """A loopback redirect URI may have any port (OAuth 2.1 §8.4.2)."""
    if not observed.registered.startswith(("http://127.0.0.1", "http://[::1]")):
        return NotApplicable("the registered redirect URI is no loopback address")
    return None if ending.code and ending.location == observed.redirect_uri else ending.said


def _answered(observed: TokensObserved, facts: Facts) -> TokensObserved | Verdict:
    if observed.absent:
        return NotApplicable(observed.absent)
    if observed.blocked or observed.issued is None:
        return Inconclusive(observed.blocked or "the request was not sent")
    if proves_nothing(observed.issued.answer):
        return Inconclusive(describe(observed.issued.answer))
    return observed


def _given(observed: TokensObserved, facts: Facts) -> tuple[TokensObserved, Issued] | Verdict:
    """Take tokens that were issued."""
    answered = _answered(observed, facts)
    if isinstance(answered, Verdict):
        return answered
    issued = answered.issued
    if issued is None or not issued.token:
        return Inconclusive("no token was issued; the check of the grant reports it")
    return answered, issued


@judge_on(_answered, "200, application/json, access_token and token_type")
def tokens_issued(observed: TokensObserved, facts: Facts) -> Finding:
    """A sound request gets a token in a JSON object (OAuth 2.1 §3.2.3)."""
    issued = observed.issued
    if issued is None:
        return None
    if issued.answer.status != 200 or not issued.token:
        return f"{describe(issued.answer)}{f' with error {issued.error}' if issued.error else ''}"
    if issued.answer.media_type != "application/json":
        return f"the type {issued.answer.media_type or 'missing'}"
    kind = issued.text("token_type")
    return None if kind.lower() in ("bearer", "dpop") else f'token_type "{kind}"' if kind else "no token_type"


@judge_on(_given, "Cache-Control: no-store")
def tokens_not_stored(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """A response with tokens is not stored (OAuth 2.1 §3.2.3)."""
    lines = found[1].answer.header_lines("cache-control")
    directives = {one.strip().lower() for line in lines for one in line.split(",")}
    return None if "no-store" in directives else ", ".join(lines) or "no Cache-Control"


@judge_on(_given, "expires_in as a number of seconds")
def lifetime_told(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """The response says how long the token lives (OAuth 2.1 §3.2.3)."""
    value = (found[1].document or {}).get("expires_in")
    if value is None:
        return "no expires_in"
    right = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return None if right else "another type or no positive number"


@judge_on(_given, "a life of at most a day")
def tokens_short_lived(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """Access tokens live for a short time (MCP, token theft)."""
    value = (found[1].document or {}).get("expires_in")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return Inconclusive("the response does not say how long the token lives")
    return f"{value:.0f} s" if value > _DAY_S else None


@judge_on(_given, "scope, for less or other scopes than were asked for")
def scope_told(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """The response names the scopes where they differ from those asked for (OAuth 2.1 §3.2.3)."""
    observed, issued = found
    if issued.scopes is not None or not observed.scopes:
        return None
    claim = (issued.claims or {}).get("scope")
    if not isinstance(claim, str):
        return NotApplicable("the response names no scope, and neither does the token")
    return None if observed.scopes <= set(claim.split()) else "no scope, and a token with other ones"


@judge_on(_given, "no scope beyond those asked for")
def scope_not_widened(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """Nobody gets more than was asked for (OAuth 2.1 §1.4.1)."""
    observed, issued = found
    if not observed.scopes:
        return NotApplicable("the contract asks for no scopes")
    claim = (issued.claims or {}).get("scope")
    granted = (issued.scopes or frozenset()) | (frozenset(claim.split()) if isinstance(claim, str) else frozenset())
    more = sorted(granted - observed.scopes)
    return f'"{more[0]}" as well' if more else None


@judge_on(_given, "the resource of the request in aud")
def audience_is_resource(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """The token is for the resource that was asked for (RFC 8707 §2)."""
    observed, issued = found
    if issued.claims is None:
        return NotApplicable("the token is opaque")
    if observed.audience in issued.audiences:
        others = sorted(issued.audiences - {observed.audience})
        return Pass(f"the token is good for others too: {', '.join(others)}") if others else None
    return ", ".join(f'"{one}"' for one in sorted(issued.audiences)) or "no aud"


@judge_on(_given, f"the claims {', '.join(_PROFILE)} and a signature by a public key")
def token_profile_kept(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """A token of type at+jwt has all that RFC 9068 §2.2 demands."""
    header, claims = found[1].header or {}, found[1].claims
    if claims is None or str(header.get("typ")).lower() not in ("at+jwt", "application/at+jwt"):
        return NotApplicable("the token is not of type at+jwt")
    missing = [name for name in _PROFILE if name not in claims]
    if missing:
        return f"no {missing[0]}"
    algorithm = str(header.get("alg"))
    return f"the algorithm {algorithm}" if algorithm == "none" or algorithm.startswith("HS") else None


@judge_on(_given, "the scopes of the token before")
def refresh_keeps_scope(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """A refresh without scope keeps the scopes (OAuth 2.1 §4.3.1)."""
    observed, issued = found
    before = None if observed.before is None else observed.before.scopes
    if before is None or issued.scopes is None:
        return NotApplicable("the responses name no scopes")
    if issued.scopes == before:
        return None
    return f"{_words(issued.scopes)} in the place of {_words(before)}"


@judge_on(_given, "the audience of the token before")
def refresh_keeps_audience(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """A refresh without resource keeps the resource (RFC 8707 §2.2)."""
    observed, issued = found
    before = observed.before
    if before is None or before.claims is None or issued.claims is None:
        return NotApplicable("the tokens are opaque")
    return None if issued.audiences == before.audiences else _words(issued.audiences)


@judge_on(_given, "no refresh token, since the client can always ask again")
def no_refresh_for_clients(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """Client credentials get no refresh token (OAuth 2.1 §4.2)."""
    return "a refresh token" if found[1].refresh_token else None


def _requested(observed: ClientRequestObserved, facts: Facts) -> tuple[ClientRequestObserved, Issued] | Verdict:
    """Take what an endpoint answered."""
    if observed.absent:
        return NotApplicable(observed.absent)
    if observed.blocked or observed.issued is None:
        return Inconclusive(observed.blocked or "the request was not sent")
    if proves_nothing(observed.issued.answer):
        return Inconclusive(describe(observed.issued.answer))
    return observed, observed.issued


@judge_on(_requested, "an error and no token")
def token_refused(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """A faulty token request gets no token (OAuth 2.1 §3.2.4)."""
    return "an access token" if found[1].token else None


@judge
def unknown_scope_not_granted(observed: ClientRequestObserved, facts: Facts) -> Verdict:
    """A scope that does not exist is refused or left out (OAuth 2.1 §1.4.1)."""
    if observed.refused:
        return Pass()
    requested = _requested(observed, facts)
    if isinstance(requested, Verdict):
        return requested
    issued = requested[1]
    claim = (issued.claims or {}).get("scope")
    granted = (issued.scopes or frozenset()) | (frozenset(claim.split()) if isinstance(claim, str) else frozenset())
    named = "mcp-auth-contract:unknown"
    return Fail("an error, or the other scopes alone", f'"{named}" in the token') if named in granted else Pass()


@judge_on(_requested, "400 or 401 with a JSON object that names a fitting error")
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


@judge_on(_requested, "unsupported_grant_type or unauthorized_client")
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


@judge_on(_requested, "401 with a challenge for the scheme that was used")
def client_challenged(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """A client that fails to authenticate by HTTP Basic is challenged (OAuth 2.1 §3.2.4)."""
    answer = found[1].answer
    if answer.status != 401:
        return describe(answer)
    schemes = {one.scheme.lower() for one in answer.challenges.challenges}
    return None if "basic" in schemes else "401 without a challenge for Basic"


@judge_on(_requested, "the tokens of the first use refused from then on")
def later_tokens_dead(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """What a replayed code or refresh token has brought dies with it (OAuth 2.1 §4.1.3, §4.3.1)."""
    observed, issued = found
    if issued.token:
        return Inconclusive("the replay got a token; the check of the refusal reports it")
    if observed.later is None:
        return NotApplicable("no refresh token shows whether tokens still live")
    return "a refresh token that still gets tokens" if observed.later.token else None


@judge_on(_requested, "a token, as for any good refresh token")
def token_kept(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """What another client does has no effect (RFC 7009 §2.1)."""
    issued = found[1]
    return None if issued.token else f"{describe(issued.answer)} with error {issued.error or 'missing'}"


@judge_on(_requested, "200")
def answered_200(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """An unknown token counts as revoked (RFC 7009 §2.2)."""
    return None if found[1].answer.status == 200 else describe(found[1].answer)


@judge_on(_requested, "a refusal, with nothing about the token")
def introspection_gated(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """Introspection needs authorization (RFC 7662 §2.1)."""
    issued = found[1]
    active = (issued.document or {}).get("active")
    if active is True:
        return "active with all that is known of the token" if len(issued.document or {}) > 1 else "active"
    if active is False:
        return Pass("strangers are told that every token is inactive")
    return None if issued.answer.status in (400, 401, 403) else describe(issued.answer)


@judge_on(_requested, 'the object {"active": false}')
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


@judge_on(_requested, "201 with a client_id")
def client_registered(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """A sound client is registered (RFC 7591 §3.2.1)."""
    issued = found[1]
    if not issued.text("client_id"):
        return f"{describe(issued.answer)}{f' with error {issued.error}' if issued.error else ''}"
    return None if issued.answer.status == 201 else describe(issued.answer)


def _new_client(observed: ClientRequestObserved, facts: Facts) -> Issued | Verdict:
    requested = _requested(observed, facts)
    if isinstance(requested, Verdict):
        return requested
    if not requested[1].text("client_id"):
        return Inconclusive("no client was registered; registration-public-client reports it")
    return requested[1]


@judge_on(_new_client, "redirect_uris, grant_types and token_endpoint_auth_method")
def registration_echoed(issued: Issued, facts: Facts) -> Finding:
    """All that was registered is returned (RFC 7591 §3.2.1)."""
    document = issued.document or {}
    wanted = ("redirect_uris", "grant_types", "token_endpoint_auth_method")
    missing = [name for name in wanted if name not in document]
    return f"no {missing[0]}" if missing else None


@judge_on(_new_client, "no null")
def registration_without_null(issued: Issued, facts: Facts) -> Finding:
    """Members without a value are left out, for some hosts cannot read null."""
    empty = [name for name, value in (issued.document or {}).items() if value is None]
    return f"{empty[0]} is null" if empty else None


@judge_on(_new_client, "a client without a secret")
def registered_without_secret(issued: Issued, facts: Facts) -> Finding:
    """A client that wants to be public gets no secret (RFC 7591 §2)."""
    return "a client_secret" if issued.text("client_secret") else None


@judge_on(_new_client, "client_secret_expires_at beside the secret")
def secret_expiry_told(issued: Issued, facts: Facts) -> Finding:
    """A secret comes with its expiry (RFC 7591 §3.2.1)."""
    if not issued.text("client_secret"):
        return NotApplicable("no secret was issued")
    return None if isinstance((issued.document or {}).get("client_secret_expires_at"), int) else "none, or no number"


@judge_on(_requested, "400 with a fitting error, and no client")
def registration_refused(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """Dangerous redirect URIs are refused (RFC 7591 §5)."""
    observed, issued = found
    if issued.text("client_id"):
        return "a new client"
    if issued.answer.status != 400 or issued.document is None:
        return Fail("400 with a JSON object", describe(issued.answer), Impact.INTEROP)
    if issued.error not in observed.expects:
        return Fail(f"error {_words(observed.expects)}", f'"{issued.error}"', Impact.INTEROP)
    return None


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


def _words(names: frozenset[str]) -> str:
    return " or ".join(f'"{one}"' for one in sorted(names)) or "nothing"
