"""What the registration endpoint answers (RFC 7591)."""

from mcp_auth_contract.answers import describe
from mcp_auth_contract.answers.authorization import Issued
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.grants.judges.reading import answered_request, words
from mcp_auth_contract.checks.grants.observation import (
    ClientRequestObserved,
)
from mcp_auth_contract.checks.judging import Finding, judge_on
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Verdict


@judge_on(answered_request, "201 with a client_id")
def client_registered(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """A sound client is registered (RFC 7591 §3.2.1)."""
    issued = found[1]
    if not issued.text("client_id"):
        return f"{describe(issued.answer)}{f' with error {issued.error}' if issued.error else ''}"
    return None if issued.answer.status == 201 else describe(issued.answer)


def _new_client(observed: ClientRequestObserved, facts: Facts) -> Issued | Verdict:
    found = answered_request(observed, facts)
    if isinstance(found, Verdict):
        return found
    if not found[1].text("client_id"):
        return Inconclusive("no client was registered; registration-public-client reports it")
    return found[1]


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


@judge_on(answered_request, "400 with a fitting error, and no client")
def registration_refused(found: tuple[ClientRequestObserved, Issued], facts: Facts) -> Finding:
    """Dangerous redirect URIs are refused (RFC 7591 §5)."""
    observed, issued = found
    if issued.text("client_id"):
        return "a new client"
    if issued.answer.status != 400 or issued.document is None:
        return Fail("400 with a JSON object", describe(issued.answer), Impact.INTEROP)
    if issued.error not in observed.expects:
        return Fail(f"error {words(observed.expects)}", f'"{issued.error}"', Impact.INTEROP)
    return None
