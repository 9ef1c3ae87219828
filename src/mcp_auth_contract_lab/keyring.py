"""The authorization server's keys: fetched off the event loop, cached, refetched for an unknown kid."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jwt import PyJWK
from jwt.exceptions import PyJWTError
from starlette.responses import Response

from mcp_auth_contract_lab.fetching import Reply, Unreachable, exchange
from mcp_auth_contract_lab.refusal import KeysUnavailable
from mcp_auth_contract_lab.settings import LabSettings

JWK: TypeAlias = Mapping[str, Any]

KEY_TYPES: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", None)),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "ES256K": ("EC", "secp256k1"),
    "EdDSA": ("OKP", None),
}
"""The key type and curve that each algorithm is used with (RFC 7518 §3.1, RFC 8037 §3.1)."""


def objects_only(jwks: Mapping[str, Any]) -> Sequence[JWK]:
    """Return the members that are objects; others are left out (RFC 7517 §5)."""
    members = jwks.get("keys")
    return [jwk for jwk in members if isinstance(jwk, dict)] if isinstance(members, list) else []


def usable(jwk: JWK, algorithm: str) -> PyJWK | None:
    """Return the key if it is a public signing key of this algorithm, or None (RFC 7517 §4.2-4.4)."""
    key_type = KEY_TYPES.get(algorithm)
    if key_type is None or jwk.get("kty") != key_type[0] or jwk.get("use", "sig") != "sig":
        return None
    if key_type[1] is not None and jwk.get("crv") != key_type[1]:
        return None
    uses = jwk.get("key_ops", ["verify"])
    if jwk.get("alg", algorithm) != algorithm or not isinstance(uses, list) or "verify" not in uses:
        return None
    try:
        key = PyJWK(dict(jwk), algorithm)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
    # A key that PyJWT calls too short could be broken: its signatures prove nothing.
    return None if key.Algorithm.check_key_length(key.key) else key


class KeySet:
    """The members of a JWK set; `fit` tells which of them may be used for an algorithm."""

    def __init__(self, members: Sequence[JWK], fit: Callable[[JWK, str], PyJWK | None] = usable) -> None:
        self.members = members
        self._fit = fit
        self._ready: dict[tuple[object, str], tuple[PyJWK, ...]] = {}

    def find(self, kid: object, algorithm: object) -> tuple[PyJWK, ...]:
        """Return the keys that have the kid and are made for the algorithm."""
        if not isinstance(kid, str) or not isinstance(algorithm, str):
            return ()
        found = self._ready.get((kid, algorithm))
        if found is None:
            if not self.knows(kid):
                return ()
            candidates = (self._fit(jwk, algorithm) for jwk in self.members if jwk.get("kid") == kid)
            found = tuple(key for key in candidates if key is not None)
            self._ready[(kid, algorithm)] = found
        return found

    def knows(self, kid: object) -> bool:
        """Whether any member has the kid."""
        return any(jwk.get("kid") == kid for jwk in self.members)


def fetch_jwks(
    settings: LabSettings, *, follow: bool = False, readable: Callable[[Reply], bool] = lambda _: True
) -> Mapping[str, Any]:
    """Fetch `jwks_uri`, by default without following redirects; blocks up to some seconds. Raises KeysUnavailable."""
    try:
        reply = exchange(settings.jwks_uri, ca_file=settings.ca_file, follow=follow)
        value = json.loads(reply.body) if reply.status == 200 and readable(reply) else None
    except (Unreachable, ValueError, RecursionError):
        raise KeysUnavailable from None
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        raise KeysUnavailable
    return value


Fetch: TypeAlias = Callable[[LabSettings], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Keyring:
    """How keys are had and kept. `fetch` blocks and raises KeysUnavailable; `run` runs it.

    `members` reads a JWK set, `usable` picks the keys for an algorithm, `merged` makes the members to keep out
    of the cached and the fetched ones. `in_date` tells from the cache's age in seconds whether it is good,
    `rested` from the seconds since the last attempt whether an unknown kid may cause another. `after_failure`
    is what stays cached when that one fails, `outage` the answer to a request that cannot be judged.
    """

    fetch: Fetch = fetch_jwks
    # On a thread, so that a slow issuer holds up nobody whose key is known.
    run: Callable[[Fetch, LabSettings], Awaitable[Mapping[str, Any]]] = asyncio.to_thread
    members: Callable[[Mapping[str, Any]], Sequence[JWK]] = objects_only
    usable: Callable[[JWK, str], PyJWK | None] = usable
    # The fetched set is the whole truth: a key that is no longer published is no longer good.
    merged: Callable[[Sequence[JWK], Sequence[JWK]], Sequence[JWK]] = lambda _cached, fetched: fetched
    # Good for its time to live, and for no time if the clock went back.
    in_date: Callable[[float, LabSettings], bool] = lambda age, settings: 0 <= age < settings.jwks_ttl
    # An unknown kid causes one fetch per cooldown, however many strangers knock.
    rested: Callable[[float, LabSettings], bool] = lambda since, settings: not 0 <= since < settings.jwks_cooldown
    # The cached keys are in date: an outage must not turn a stranger's token into a 503.
    after_failure: Callable[[KeySet], KeySet | None] = lambda cached: cached
    # The server cannot tell, and says when to come back (RFC 9110 §15.6.4).
    outage: Callable[[], Response] = lambda: Response(
        "the issuer's keys cannot be had", 503, {"retry-after": "5"}, "text/plain"
    )


class KeySource:
    """The current key set. One fetch runs at a time."""

    def __init__(self, settings: LabSettings, steps: Keyring = Keyring()) -> None:
        self._settings = settings
        self._steps = steps
        self._fixed = self._set_of(steps.members(settings.keys)) if settings.keys is not None else None
        self._cached: KeySet | None = None
        self._fetched = 0.0
        self._tried: float | None = None
        self._lock = asyncio.Lock()

    async def current(self) -> KeySet:
        """Return the keys, fetched if the cache is out of date. Raises KeysUnavailable."""
        if (kept := self._fixed or self._in_date()) is not None:
            return kept
        async with self._lock:
            return self._in_date() or await self._refresh()

    async def knowing(self, kid: object) -> KeySet:
        """Return the keys, refetched if none has the kid and the cooldown is over. Raises KeysUnavailable."""
        keys = await self.current()
        if self._fixed is not None or keys.knows(kid):
            return keys
        async with self._lock:
            latest = self._cached
            if latest is None or latest.knows(kid):
                return latest or keys
            if self._tried is not None and not self._steps.rested(self._since(self._tried), self._settings):
                return latest
            try:
                return await self._refresh()
            except KeysUnavailable:
                self._cached = self._steps.after_failure(latest)
                if self._cached is None:
                    raise
                return self._cached

    def _set_of(self, members: Sequence[JWK]) -> KeySet:
        return KeySet(members, self._steps.usable)

    def _since(self, moment: float) -> float:
        return self._settings.clock() - moment

    def _in_date(self) -> KeySet | None:
        if self._cached is None or not self._steps.in_date(self._since(self._fetched), self._settings):
            return None
        return self._cached

    async def _refresh(self) -> KeySet:
        self._tried = self._settings.clock()
        fetched = self._steps.members(await self._steps.run(self._steps.fetch, self._settings))
        cached = self._cached.members if self._cached is not None else ()
        self._cached, self._fetched = self._set_of(self._steps.merged(cached, fetched)), self._settings.clock()
        return self._cached
