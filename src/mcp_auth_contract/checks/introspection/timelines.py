"""Opaque tokens over time: revocation, cached answers, and an issuer that cannot be asked."""

from collections.abc import Mapping

from mcp_auth_contract.checks.time_and_keys.timeline import Cut, Script, Timeline

_SHORT_LIFE_S = 3


async def revoked_in_use(t: Timeline) -> None:
    """A token is used, revoked, and used again after the declared window."""
    window = t.policy.revocation
    if window == "none":
        raise Cut('the contract declares no time for it (policy.revocation = "none")')
    t.need(window + 1)
    token = t.token()
    await t.call("before", token, "a token that is revoked later")
    t.change.revoke(token.token)
    await t.passes(window + 1)
    await t.call("withdrawn", token, "the revoked token")


async def expires_while_cached(t: Timeline) -> None:
    """A token expires while the server may still remember that it was active."""
    t.need(_SHORT_LIFE_S + t.policy.leeway + 2)
    short = t.token(claims={"exp": int(t.minter.clock()) + _SHORT_LIFE_S})
    await t.call("before", short, "a token with three seconds to live")
    await t.passes(_SHORT_LIFE_S + t.policy.leeway + 2)
    t.change.revoke(short.token)
    await t.call("expired", short, "the same token")


async def lookalike_while_cached(t: Timeline) -> None:
    """Texts that resemble a token come right after it."""
    token = t.token()
    await t.call("before", token, "an honest token")
    for words, text in (
        ("with a character more", f"{token.token}A"),
        ("without its last character", token.token[:-1]),
        ("in the other case", token.token.swapcase()),
        ("with another end", f"{token.token[:-12]}AAAAAAAAAAAA"),
        ("with another beginning", f"AAAAAAAA{token.token[8:]}"),
    ):
        await t.call("forged", t.altered(token, text), f"the token {words}")


async def introspection_outage(t: Timeline) -> None:
    """The issuer cannot be asked for a while."""
    t.change.behave_introspection("outage_503")
    await t.call("forged", t.altered(t.token(), "nobody-ever-issued-this-text"), "an unknown text during the outage")
    await t.call("forged", t.token(), "a token that the server has not seen before, during the outage")
    t.issuer.restore()
    await t.refreshed()
    await t.call("good", t.token(), "an honest token after the issuer came back")


async def introspection_client(t: Timeline) -> None:
    """A token that the server has not seen before makes it ask the issuer."""
    await t.call("good", t.token(), "an honest token that is new to the server")


INTROSPECTION_TIMELINES: Mapping[str, tuple[str, Script]] = {
    "revoked_in_use": ("a token is revoked while it is used", revoked_in_use),
    "expires_while_cached": ("a token expires while its answer may be cached", expires_while_cached),
    "lookalike_while_cached": ("texts that resemble a cached token are sent", lookalike_while_cached),
    "introspection_outage": ("the introspection endpoint is down", introspection_outage),
    "introspection_client": ("the server asks about a new token", introspection_client),
}
"""What happens in each timeline, in words, and its script."""
