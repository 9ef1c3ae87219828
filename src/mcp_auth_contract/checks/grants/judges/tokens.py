"""What a token response grants, and what it says of that (OAuth 2.1 §3.2.3, RFC 8707, RFC 9068)."""

from mcp_auth_contract.answers import describe
from mcp_auth_contract.answers.authorization import Issued
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.grants.judges.reading import words
from mcp_auth_contract.checks.grants.observation import (
    TokensObserved,
)
from mcp_auth_contract.checks.judging import Finding, judge_on, proves_nothing
from mcp_auth_contract.model import Inconclusive, NotApplicable, Pass, Verdict

_DAY_S = 24 * 3600


_PROFILE = ("iss", "exp", "aud", "sub", "client_id", "iat", "jti")


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
    return f"{words(issued.scopes)} in the place of {words(before)}"


@judge_on(_given, "the audience of the token before")
def refresh_keeps_audience(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """A refresh without resource keeps the resource (RFC 8707 §2.2)."""
    observed, issued = found
    before = observed.before
    if before is None or before.claims is None or issued.claims is None:
        return NotApplicable("the tokens are opaque")
    return None if issued.audiences == before.audiences else words(issued.audiences)


@judge_on(_given, "no refresh token, since the client can always ask again")
def no_refresh_for_clients(found: tuple[TokensObserved, Issued], facts: Facts) -> Finding:
    """Client credentials get no refresh token (OAuth 2.1 §4.2)."""
    return "a refresh token" if found[1].refresh_token else None
