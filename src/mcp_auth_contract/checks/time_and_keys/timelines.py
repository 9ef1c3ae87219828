"""The life of keys and tokens, seen from the server: rotation, odd key sets, an issuer that fails, expiry in use."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from mcp_auth_contract.checks.issuer_control import Member
from mcp_auth_contract.checks.time_and_keys.timeline import Script, Timeline
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.tokens import TokenSpec
from mcp_auth_contract.tokens.spec import keyed

_FLOOD = 16
_SHORT_LIFE_S = 3
_USES = 3
_MANY_KEYS = 999
_HANGING_S = 2.0
_HEAD_START_S = 0.1

_FAILURES = {
    "outage_503": "the keys are answered with 503",
    "not_found": "the keys are answered with 404",
    "too_many_requests": "the keys are answered with 429",
    "no_content": "the keys are answered with 204",
    "html_page": "a login page is in the place of the keys",
    "invalid_json": "the key set is broken off JSON",
    "empty_body": "the key set is an empty body",
    "null": "the key set is null",
    "top_level_list": "the key set is a list",
}
"""Ways in which an issuer fails, and what then is in the place of its key set."""


async def rotate_in(t: Timeline) -> None:
    """A new key is published beside the old one, and signs once the window for it is over."""
    t.need(2 * t.refresh)
    await t.passes(t.refresh)
    await t.call("old", t.token(), "a token by the old key")
    new = t.new_key()
    t.change.publish(new)
    await t.passes(t.refresh)
    await t.call("new", t.token(key=new), "a token by the new key")
    await t.call("old", t.token(), "a token by the old key")


async def rotate_out(t: Timeline) -> None:
    """The old key is withdrawn after the server has come to know the new one."""
    t.need(2 * t.refresh + t.cache)
    new = t.new_key()
    t.change.publish(new)
    await t.passes(t.refresh)
    await t.call("before", t.token(), "a token by the key that is withdrawn later")
    t.issuer.replace(new)
    await t.passes(t.cache)
    await t.call("kept", t.token(key=new), "a token by the key that stayed")
    await t.call("withdrawn", t.token(), "a token by the withdrawn key")


async def withdrawn_at_once(t: Timeline) -> None:
    """All keys are withdrawn: the answer to a key that was stolen."""
    t.need(2 * t.cache)
    await t.call("before", t.token(), "a token by the key that is withdrawn later")
    t.change.replace()
    await t.passes(t.cache)
    await t.call("withdrawn", t.token(), "a token by a key that was withdrawn when all were")


async def same_kid(t: Timeline) -> None:
    """Another key takes the place of the old one under the same key id."""
    t.need(2 * t.cache)
    await t.call("before", t.token(), "a token by the old key")
    new = t.new_key(t.key.kid)
    t.change.replace(new)
    await t.passes(t.cache)
    await t.call("new", t.token(key=new), "a token by the new key of the same kid")
    await t.call("withdrawn", t.token(), "a token by the old key of the same kid")


async def _good_in(t: Timeline, words: str, members: Iterable[Member]) -> None:
    t.need(2 * t.cache)
    t.change.replace(*members)
    await t.passes(t.cache)
    await t.call("good", t.token(), f"an honest token, {words}")


def _among(words: str, members: Callable[[Timeline], Iterable[Member]]) -> Script:
    return lambda t: _good_in(t, words, members(t))


def _odd(*names: str) -> Callable[[Timeline], Iterable[Member]]:
    return lambda t: [t.issuer.odd(name, t.key) for name in names]


def _unusable(t: Timeline) -> Iterable[Member]:
    names = ("unsupported_kty", "ml_dsa", "x25519", "ec_off_curve", "rsa_n_not_base64", "rsa_n_zero", "rsa_n_missing")
    return [*_odd(*names)(t), t.key]


async def without_alg(t: Timeline) -> None:
    """The key does not say its algorithm; nobody may take it for a shared secret."""
    await _good_in(t, "its key without alg", _odd("alg_missing")(t))
    for words, secret in (("its key's PEM", t.key.public_pem()), ("nothing", b"")):
        await t.call("forged", t.token(change=_hmac(secret)), f"a token signed with HS256 and {words} as the secret")


async def media_type(t: Timeline) -> None:
    """The key set has the media type that is registered for it (RFC 7517 §8.5.1)."""
    t.need(2 * t.cache)
    t.change.behave("jwk_set_media_type")
    await t.passes(t.cache)
    await t.call("good", t.token(), "an honest token, the keys served as application/jwk-set+json")


async def _published(t: Timeline, member: Member) -> None:
    t.need(2 * t.refresh)
    await t.passes(t.refresh)
    t.change.publish(member)
    await t.passes(t.refresh)


async def weak_rsa(t: Timeline) -> None:
    """The issuer publishes an RSA key of 1024 bits (RFC 7518 §3.3)."""
    await _published(t, t.issuer.weak_key())
    await t.call("weak", t.token(key=t.issuer.weak_key()), "a token by an RSA key of 1024 bits")


async def symmetric(t: Timeline) -> None:
    """The issuer publishes a shared secret by mistake; whoever reads the key set can sign with it."""
    await _published(t, t.issuer.odd("symmetric", t.key))
    forged = t.token(change=_hmac(t.issuer.symmetric_secret(), kid="odd-symmetric"))
    await t.call("forged", forged, "a token signed with HS256 and a secret from the key set")


async def redirect(t: Timeline) -> None:
    """The key set is answered with a redirect to keys of a stranger."""
    await t.chill()
    t.fail("redirect_to_stranger")
    await t.call("forged", t.token(key=t.stranger()), "a token by a key to which the key set redirects")


def _failure(name: str) -> Script:
    async def script(t: Timeline) -> None:
        await t.chill()
        t.fail(name)
        await t.call("forged", t.token(key=t.stranger()), f"a stranger's token while {_FAILURES[name]}")
        await t.call("during", t.token(), f"an honest token while {_FAILURES[name]}")
        t.issuer.restore()
        if t.cold:
            await t.passes(t.cache)
            await t.call("after", t.token(), "an honest token after the issuer came back")

    return script


async def outage_warm(t: Timeline) -> None:
    """The issuer is down for a while; the server knows its keys, and a stranger makes it ask for another one."""
    await t.refreshed()
    await t.call("before", t.token(), "an honest token before the outage")
    t.fail("outage_503")
    await t.call("forged", t.token(key=t.stranger()), "a stranger's token during the outage")
    await t.call("good", t.token(), "an honest token during the outage")


async def flood(t: Timeline) -> None:
    """Forged tokens come with a new key id each: the server must not pass the flood on to the issuer."""
    await t.refreshed()
    await t.call("before", t.token(), "an honest token before the flood")
    for number in range(_FLOOD):
        stranger = t.stranger(f"flood-{number}-{t.new_key().kid}")
        await t.call("forged", t.token(key=stranger), "a stranger's token under a new kid")
    await t.call("good", t.token(), "an honest token after the flood")


async def same_kid_flood(t: Timeline) -> None:
    """Forged tokens come under the known key id: nothing is to be fetched for them."""
    await t.call("before", t.token(), "an honest token before the flood")
    for _ in range(_FLOOD):
        await t.call("forged", t.token(key=t.stranger(t.key.kid)), "a stranger's token under the known kid")
    await t.call("good", t.token(), "an honest token after the flood")


async def many_calls(t: Timeline) -> None:
    """Honest tokens by one key: it is fetched once, not for each of them."""
    for _ in range(_FLOOD):
        await t.call("good", t.token(), "an honest token by the same key")


async def hanging(t: Timeline) -> None:
    """The issuer never answers while a token names an unknown key id; others must not wait for that."""
    await t.refreshed()
    await t.call("before", t.token(), "an honest token before the issuer hangs")
    t.fail("hang")
    stranger = t.token(key=t.stranger(f"hang-{t.new_key().kid}"))
    words = "a stranger's token while the issuer hangs"
    begun = stopwatch()  # a fetch on the event loop of a server in this process holds up the kit too
    async with asyncio.TaskGroup() as group:
        group.create_task(t.call("forged", stranger, words, limit=2 * _HANGING_S))
        await asyncio.sleep(_HEAD_START_S)
        words = "an honest token while the server waits for the issuer"
        await t.call("good", t.token(), words, limit=_HANGING_S, since=begun)
        t.issuer.restore()


def _hmac(secret: bytes, kid: str | None = None) -> Callable[[TokenSpec], TokenSpec]:
    def change(spec: TokenSpec) -> TokenSpec:
        named = spec.with_header(alg="HS256", kid=kid or spec.header.get("kid"))
        return replace(named, signature=keyed(secret))

    return change


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


TIMELINES: Mapping[str, tuple[str, Script]] = {
    "rotate_in": ("a new key is published and used", rotate_in),
    "rotate_out": ("a key is withdrawn, another one stays", rotate_out),
    "withdrawn_at_once": ("all keys are withdrawn", withdrawn_at_once),
    "same_kid": ("another key is published under the same kid", same_kid),
    "odd_members": (
        "keys that nobody can use stand before the good one",
        _among("odd keys before the good one", _unusable),
    ),
    "no_keys_among": (
        "members that are no objects stand before the good key",
        _among("a string and null before the good key", lambda t: ["not a key", None, t.key]),
    ),
    "last_of_many": (
        "the good key is the last of a thousand",
        _among("its key the last of a thousand", lambda t: [*t.issuer.others(_MANY_KEYS), t.key]),
    ),
    "duplicate_kid": (
        "two keys have the same kid",
        _among("another key of the same kid before its own", lambda t: [t.new_key(t.key.kid), t.key]),
    ),
    "without_alg": ("the key does not name its algorithm", without_alg),
    "bare": (
        "the key names neither its algorithm nor its use",
        _among("its key without alg and use", _odd("bare")),
    ),
    "for_encryption": (
        "the key's key_ops allow encryption only",
        _among("its key with key_ops encrypt only", _odd("key_ops_encrypt")),
    ),
    "other_alg": (
        "the key is published for another algorithm",
        _among("its key published for another algorithm", _odd("alg_other")),
    ),
    "media_type": ("the keys are served as application/jwk-set+json", media_type),
    "weak_rsa": ("an RSA key of 1024 bits is published", weak_rsa),
    "symmetric": ("a shared secret is published", symmetric),
    "redirect": ("the key set redirects to a stranger's keys", redirect),
    **{name: (words, _failure(name)) for name, words in _FAILURES.items()},
    "outage_warm": ("the issuer is down while the server knows its keys", outage_warm),
    "flood": ("forged tokens come with a new kid each", flood),
    "same_kid_flood": ("forged tokens come under the known kid", same_kid_flood),
    "many_calls": ("many honest tokens come by one key", many_calls),
    "hanging": ("the issuer never answers", hanging),
    "expires_in_use": ("a token expires while it is used", expires_in_use),
    "begins_in_use": ("a token becomes valid while it is used", begins_in_use),
}
"""What happens in each timeline, in words, and its script (keys: RFC 7517 §4.3 to §5)."""
