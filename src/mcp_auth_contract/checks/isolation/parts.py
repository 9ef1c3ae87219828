"""What judges of isolation have in common: canaries in answers, and answers whose emptiness proves nothing."""

from mcp_auth_contract.answers import Accepted, Ambiguous, Refusal, Refused
from mcp_auth_contract.checks.isolation.observation import Asked, Canary
from mcp_auth_contract.model import Fail, Inconclusive


def leak(call: Asked, canary: Canary, expected: str) -> Fail | None:
    """A canary in somebody's answers, who is no reader."""
    where = call.shows(canary)
    return None if where is None else Fail(expected, f"{call.said}, {canary.record} in {where} for {call.principal}")


def unproved(*calls: Asked) -> Inconclusive | None:
    """Answers that hold no canary for a reason that has nothing to do with whose record it is."""
    for call in calls:
        match call.reading:
            case Ambiguous():
                return Inconclusive(f"{call.principal}: {call.said}")
            case Refused(how=Refusal.UNAUTHORIZED):
                return Inconclusive(f"the token of {call.principal} is refused altogether: {call.said}")
            case Refused() if any(_for_scope(call, index) for index in range(len(call.answers))):
                return Inconclusive(f"{call.principal} is refused for a scope, not for the record: {call.said}")
            case Accepted() | Refused() if call.cut:
                return Inconclusive(f"{call.principal}: the answer was longer than is read")
    return None if calls else Inconclusive("nothing was sent")


def _for_scope(call: Asked, index: int) -> bool:
    bearer = call.answers[index].challenges.bearer
    return bearer is not None and bearer.get("error") == "insufficient_scope"
