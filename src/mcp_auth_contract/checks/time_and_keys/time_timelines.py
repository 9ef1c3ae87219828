"""Time, seen from the server: tokens that expire or begin while they are used, and the leeway it really grants."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.time_and_keys.observation import LeewayObserved, LeewayProbe
from mcp_auth_contract.checks.time_and_keys.timeline import Script, Timeline, play
from mcp_auth_contract.tokens import Minted

_SHORT_LIFE_S = 3


_USES = 3


_FURTHEST_S = 3600


_EXACT_S = 1.0


_BY_DATE_S = 2.0


_IN_TIME_S = 3


async def expires_in_use(t: Timeline) -> None:
    """A token is used, expires, and is used again: in the same session and on the same connection."""
    t.need(_SHORT_LIFE_S + t.policy.leeway + 2)
    short = t.claiming(exp=int(t.minter.clock()) + _SHORT_LIFE_S)
    for _ in range(_USES):
        await t.call("before", short, "a token with three seconds to live")
    await t.passes(_SHORT_LIFE_S + t.policy.leeway + 2)
    await t.call("expired", short, "the same token")
    await t.call("good", t.good(), "a fresh token in the same session")


async def begins_in_use(t: Timeline) -> None:
    """A token is used before its time has come, and again when it has."""
    t.need(t.policy.leeway + 2 * _SHORT_LIFE_S)
    begins = int(t.minter.clock() + t.policy.leeway) + _SHORT_LIFE_S
    early = t.claiming(nbf=begins)
    await t.call("early", early, "a token before its nbf")
    await t.passes(t.policy.leeway + _SHORT_LIFE_S + 2)
    await t.call("good", early, "the same token")


TIME_TIMELINES: Mapping[str, tuple[str, Script]] = MappingProxyType(
    {
        "expires_in_use": ("a token expires while it is used", expires_in_use),
        "begins_in_use": ("a token becomes valid while it is used", begins_in_use),
    }
)
"""What happens in each timeline, in words, and its script."""


LEEWAY_CLAIMS: Mapping[str, str] = MappingProxyType(
    {"exp": "how long after its exp a token still works", "nbf": "how long before its nbf a token works already"}
)


async def ask_leeway(question: Question, context: Context) -> LeewayObserved:
    """Search for the leeway at one claim by halving the interval between what is accepted and what is refused."""
    claim = question.word
    probes: list[LeewayProbe] = []
    declared = context.minter.contract.policy.leeway if context.minter else 0.0
    # Only a clock that can be moved at will is known to the second; another one was read from a Date header.
    tolerance = _EXACT_S if context.time.affords(math.inf) else _BY_DATE_S

    async def script(t: Timeline) -> None:
        async def accepted(beyond: int) -> bool:
            step = await t.call("probe", _shifted(t, claim, beyond), f"a token {beyond} s beyond its {claim}")
            probes.append(LeewayProbe(beyond, step.attempt))
            return step.accepted

        if not await accepted(-_IN_TIME_S) or not await accepted(1):
            return
        low, high = 1, int(declared + tolerance) + 1
        if await accepted(high):
            low, high = high, _FURTHEST_S
            if await accepted(high):
                return
        while high - low > 1:
            middle = (low + high) // 2
            if await accepted(middle):
                low = middle
            else:
                high = middle

    await play(question, context, {claim: script})
    return LeewayObserved(claim, declared, tolerance, tuple(probes))


def _shifted(t: Timeline, claim: str, beyond: int) -> Minted:
    now = int(t.minter.clock())
    return t.claiming(**{claim: now - beyond if claim == "exp" else now + beyond})
