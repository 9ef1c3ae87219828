"""May a stranger end a session?"""

from mcp_auth_contract.answers import Accepted, Refusal, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.sessions.observation import SessionEndObserved
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Verdict


@judge
def session_survives(observed: SessionEndObserved, facts: Facts) -> Verdict:
    """DELETE without a token does not end a session (MCP transports, session management)."""
    if not observed.session or observed.ended is None or observed.after is None:
        return NotApplicable("the server hands out no session ids")
    if observed.ended.status is None or observed.ended.status == 429:
        return Inconclusive(f"DELETE: {describe(observed.ended)}")
    if observed.ended.status >= 500 and observed.ended.status != 501:
        return Fail("401 or 405", describe(observed.ended), Impact.AVAILABILITY)
    match observed.after.reading:
        case Accepted() if 200 <= observed.ended.status < 300:
            return Pass(f"DELETE without a token was answered {observed.ended.status}, but the session lives on")
        case Accepted():
            return Pass()
        case Refused(how=Refusal.NOT_SERVED | Refusal.MALFORMED):
            return Fail(
                "the session lives on",
                f"{describe(observed.ended)} to DELETE, then {describe(observed.after.answer)}",
            )
        case _:
            return Inconclusive(f"the session could not be used afterwards: {describe(observed.after.answer)}")
