"""Time, seen from the server: tokens that expire or begin while they are used."""

from collections.abc import Mapping

from mcp_auth_contract.checks.time_and_keys.timeline import Script, Timeline

_SHORT_LIFE_S = 3
_USES = 3


async def expires_in_use(t: Timeline) -> None:
    """A token is used, expires, and is used again: in the same session and on the same connection."""
    t.need(_SHORT_LIFE_S + t.policy.leeway + 2)
    short = t.token(claims={"exp": int(t.minter.clock()) + _SHORT_LIFE_S})
    for _ in range(_USES):
        await t.call("before", short, "a token with three seconds to live")
    await t.passes(_SHORT_LIFE_S + t.policy.leeway + 2)
    await t.call("expired", short, "the same token")
    await t.call("good", t.token(), "a fresh token in the same session")


async def begins_in_use(t: Timeline) -> None:
    """A token is used before its time has come, and again when it has."""
    t.need(t.policy.leeway + 2 * _SHORT_LIFE_S)
    begins = int(t.minter.clock() + t.policy.leeway) + _SHORT_LIFE_S
    early = t.token(claims={"nbf": begins})
    await t.call("early", early, "a token before its nbf")
    await t.passes(t.policy.leeway + _SHORT_LIFE_S + 2)
    await t.call("good", early, "the same token")


TIME_TIMELINES: Mapping[str, tuple[str, Script]] = {
    "expires_in_use": ("a token expires while it is used", expires_in_use),
    "begins_in_use": ("a token becomes valid while it is used", begins_in_use),
}
"""What happens in each timeline, in words, and its script."""
