"""Introspection, seen from the issuer: who asks about tokens."""

from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.time_and_keys.observation import TimelineObserved
from mcp_auth_contract.model import Fail, Inconclusive, Pass, Verdict


@judge
def introspecting_client_known(observed: TimelineObserved, facts: Facts) -> Verdict:
    """Whoever introspects says who it is (RFC 7662 §2.1): else anybody could try out tokens."""
    if not observed.introspections:
        return Inconclusive("the server did not introspect the token")
    if observed.anonymous:
        return Fail("client credentials with the introspection request", "an introspection request without any")
    return Pass()
