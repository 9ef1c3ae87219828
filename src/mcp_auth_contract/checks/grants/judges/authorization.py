"""How an authorization request ends (OAuth 2.1 §4.1, RFC 9207)."""

import re
from collections.abc import Callable

from mcp_auth_contract.answers import Answer, describe
from mcp_auth_contract.answers.authorization import Ending, How
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.grants.judges.reading import words
from mcp_auth_contract.checks.grants.observation import (
    AuthorizationObserved,
)
from mcp_auth_contract.checks.judging import Finding, judge_on, proves_nothing
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict

_FRAMING = re.compile(r"(?:^|;)\s*frame-ancestors\s", re.IGNORECASE)


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
        return Fail(f"error {words(observed.expects)}", f'"{ending.error}"', Impact.INTEROP)
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
