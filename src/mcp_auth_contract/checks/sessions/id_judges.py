"""Are session ids such that nobody can guess one, and everybody can send one?"""

import re

from mcp_auth_contract.answers import Accepted, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.checks.sessions.observation import SessionIdsObserved
from mcp_auth_contract.checks.unpredictable import predictable
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

_VISIBLE = re.compile(r"[\x21-\x7e]+")


def _no_ids(observed: SessionIdsObserved) -> Verdict | None:
    if observed.ids:
        return None
    for attempt in observed.handshakes:
        if not isinstance(attempt.reading, Accepted):
            return Inconclusive(f"no session was opened: {describe(attempt.answer)}")
    return NotApplicable("the server keeps no sessions") if observed.handshakes else Inconclusive("nothing was sent")


@judge
def session_ids_visible_ascii(observed: SessionIdsObserved, facts: Facts) -> Verdict:
    """A session id consists of the characters 0x21 to 0x7E (MCP session management)."""
    if doubt := _no_ids(observed):
        return doubt
    for ident in observed.ids:
        if not _VISIBLE.fullmatch(ident):
            odd = sorted({f"U+{ord(one):04X}" for one in ident if not "\x21" <= one <= "\x7e"})
            return Fail("visible ASCII characters", f"an id with {', '.join(odd) or 'nothing in it'}")
    return Pass()


@judge
def session_ids_unpredictable(observed: SessionIdsObserved, facts: Facts) -> Verdict:
    """Session ids do not repeat, and do not count or tell the time (MCP session hijacking). More cannot be shown."""
    if doubt := _no_ids(observed):
        return doubt
    expected = "ids from a secure random generator"
    ids = observed.ids
    if len(set(ids)) < len(ids):
        return Fail(expected, f"the same id for {len(ids) - len(set(ids)) + 1} of {len(ids)} sessions")
    if len(ids) < 3:
        return Inconclusive(f"only {len(ids)} sessions could be opened")
    if predictable(ids):
        return Fail(expected, f"{len(ids)} ids that differ in a number that counts up, or tells the time")
    return Pass()
