"""Do the marks for caches tell the truth (MCP 2026-07-28, caching)?"""

import json
from typing import Any

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Refusal, Refused, describe
from mcp_auth_contract.checks.caching.observation import CacheMark, CacheScopeObserved
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

_MARKS = frozenset({"ttlMs", "cacheScope", "_meta", "resultType", "nextCursor"})


@judge
def cache_scope_truthful(observed: CacheScopeObserved, facts: Facts) -> Verdict:
    """What differs between users is not marked for everybody's cache (MCP 2026-07-28, caching)."""
    if not observed.marks:
        return Inconclusive("nothing was sent")
    for mark in observed.marks:
        if isinstance(mark.first.reading, Ambiguous) and mark.first.reading.why in (
            AmbiguityReason.NO_ANSWER,
            AmbiguityReason.RATE_LIMITED,
        ):
            return Inconclusive(f"{mark.method}: {describe(mark.first.answer)}")
    if len({mark.principal for mark in observed.marks}) < 2:
        return NotApplicable("needs a second user, whose results could differ")
    for method in dict.fromkeys(mark.method for mark in observed.marks):
        marks = [mark for mark in observed.marks if mark.method == method]
        if not any(_public(mark) for mark in marks) or _content(marks[0].first.answer.reply) != _content(
            marks[0].second.answer.reply
        ):
            continue
        answered = [mark for mark in marks if isinstance(mark.first.reading, Accepted)]
        if len({_content(mark.first.answer.reply) for mark in answered}) > 1:
            return Fail('cacheScope "private"', f'{method} differs between users, with cacheScope "public"')
        denied = next((mark for mark in marks if _denied(mark)), None)
        if denied is not None:
            said = describe(denied.first.answer)
            return Fail(
                'cacheScope "private"', f'{method} with cacheScope "public", while {denied.principal} gets {said}'
            )
    return Pass()


def _public(mark: CacheMark) -> bool:
    result = (mark.first.answer.reply or {}).get("result")
    return isinstance(result, dict) and result.get("cacheScope") == "public"


def _denied(mark: CacheMark) -> bool:
    reading = mark.first.reading
    return isinstance(reading, Refused) and (
        reading.how in (Refusal.FORBIDDEN, Refusal.RPC_ERROR)
        or (reading.how in (Refusal.MALFORMED, Refusal.NOT_SERVED) and mark.first.answer.reply is not None)
    )


def _content(reply: Any) -> str:
    """Return what a result says apart from its marks; lists are compared without regard to their order."""
    result = (reply or {}).get("result")
    if not isinstance(result, dict):
        return ""
    said = {
        key: sorted(json.dumps(one, sort_keys=True) for one in value) if isinstance(value, list) else value
        for key, value in result.items()
        if key not in _MARKS
    }
    return json.dumps(said, sort_keys=True)
