"""Do the marks for caches tell the truth (MCP 2026-07-28, caching)?"""

import json

from mcp_auth_contract.answers import Attempt, Refusal, Refused, describe
from mcp_auth_contract.checks.caching.observation import CacheMark, CacheScopeObserved
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, proves_nothing
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

_MARKS = frozenset({"ttlMs", "cacheScope", "_meta", "resultType", "nextCursor"})


@judge
def cache_scope_truthful(observed: CacheScopeObserved, facts: Facts) -> Verdict:
    """What differs between users is not marked for everybody's cache (MCP 2026-07-28, caching)."""
    if not observed.marks:
        return Inconclusive("nothing was sent")
    for mark in observed.marks:
        if proves_nothing(mark.first.answer):
            return Inconclusive(f"{mark.method}: {describe(mark.first.answer)}")
    if len({mark.principal for mark in observed.marks}) < 2:
        return NotApplicable("needs a second user, whose results could differ")
    for method in dict.fromkeys(mark.method for mark in observed.marks):
        marks = [mark for mark in observed.marks if mark.method == method]
        public = any(mark.first.answer.result.get("cacheScope") == "public" for mark in marks)
        if not public or _content(marks[0].first) != _content(marks[0].second):
            continue
        expected = 'cacheScope "private"'
        if len({_content(mark.first) for mark in marks if mark.first.accepted}) > 1:
            return Fail(expected, f'{method} differs between users, with cacheScope "public"')
        for mark in filter(_denied, marks):
            said = describe(mark.first.answer)
            return Fail(expected, f'{method} with cacheScope "public", while {mark.principal} gets {said}')
    return Pass()


def _denied(mark: CacheMark) -> bool:
    reading = mark.first.reading
    return isinstance(reading, Refused) and (
        reading.how in (Refusal.FORBIDDEN, Refusal.RPC_ERROR)
        or (reading.how in (Refusal.MALFORMED, Refusal.NOT_SERVED) and mark.first.answer.reply is not None)
    )


def _content(attempt: Attempt) -> str:
    """Return what a result says apart from its marks; lists are compared without regard to their order."""
    said = {
        key: sorted(json.dumps(one, sort_keys=True) for one in value) if isinstance(value, list) else value
        for key, value in attempt.answer.result.items()
        if key not in _MARKS
    }
    return json.dumps(said, sort_keys=True)
