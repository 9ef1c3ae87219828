"""Questions about time and keys: timelines are played, and the leeway is measured."""

import math

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.introspection.timelines import INTROSPECTION_TIMELINES
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import FormQuestion
from mcp_auth_contract.checks.time_and_keys.observation import LeewayObserved, LeewayProbe, TimelineObserved
from mcp_auth_contract.checks.time_and_keys.timeline import Timeline, play
from mcp_auth_contract.checks.time_and_keys.timelines import TIMELINES

_TIMELINES = {**TIMELINES, **INTROSPECTION_TIMELINES}

_FURTHEST_S = 3600
_EXACT_S = 1.0
_BY_DATE_S = 2.0
_IN_TIME_S = 3


@probe("What happens while keys, clocks or the issuer change?", forms=_TIMELINES, alone=True)
async def ask_timeline(question: FormQuestion, context: Context) -> TimelineObserved:
    """Play the timeline of the question's form."""
    _, script = _TIMELINES[question.form]
    return await play(question, context, script)


@probe(
    "How many seconds beyond exp or nbf does the server really grant?",
    forms={"exp": "how long after its exp a token still works", "nbf": "how long before its nbf a token works already"},
)
async def ask_leeway(question: FormQuestion, context: Context) -> LeewayObserved:
    """Search for the leeway at one claim by halving the interval between what is accepted and what is refused."""
    claim, declared = question.form, context.contract.policy.leeway
    probes: list[LeewayProbe] = []
    # Only a clock that can be moved at will is known to the second; another one was read from a Date header.
    tolerance = _EXACT_S if context.time.affords(math.inf) else _BY_DATE_S

    async def search(t: Timeline) -> None:
        async def accepted(beyond: int) -> bool:
            now = int(t.minter.clock())
            shifted = t.token(claims={claim: now - beyond if claim == "exp" else now + beyond})
            step = await t.call("probe", shifted, f"a token {beyond} s beyond its {claim}")
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

    await play(question, context, search)
    return LeewayObserved(claim, declared, tolerance, tuple(probes))
