"""The authorization server's keys: fetched off the event loop, cached, refetched for an unknown kid."""

import asyncio
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import IO, Any

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from mcp_auth_contract.clock import Clock
from mcp_auth_contract.lab.refusal import KeysUnavailable
from mcp_auth_contract.lab.settings import LabSettings

__all__ = ["KEY_TYPES", "KeySet", "KeySource", "fetch_jwks", "usable"]

KEY_TYPES: Mapping[str, tuple[str, str | None]] = {
    "RS256": ("RSA", None),
    "RS384": ("RSA", None),
    "RS512": ("RSA", None),
    "PS256": ("RSA", None),
    "PS384": ("RSA", None),
    "PS512": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "ES256K": ("EC", "secp256k1"),
    "EdDSA": ("OKP", None),
}
"""The key type and curve that each algorithm is used with (RFC 7518 §3.1, RFC 8037 §3.1)."""

_TIMEOUT_S = 5.0
_SIZE_CAP = 1_000_000


class KeySet:
    """A JWK set; members that cannot be used are left out (RFC 7517 §5)."""

    def __init__(self, jwks: Mapping[str, Any]) -> None:
        members = jwks.get("keys")
        self.members = [jwk for jwk in members if isinstance(jwk, dict)] if isinstance(members, list) else []
        self._ready: dict[tuple[object, str], tuple[PyJWK, ...]] = {}

    def find(self, kid: object, algorithm: object) -> tuple[PyJWK, ...]:
        """Return the keys that have the kid and are made for the algorithm."""
        if not isinstance(kid, str) or not isinstance(algorithm, str):
            return ()
        found = self._ready.get((kid, algorithm))
        if found is None:
            if not self.knows(kid):
                return ()
            candidates = (usable(jwk, algorithm) for jwk in self.members if jwk.get("kid") == kid)
            found = tuple(key for key in candidates if key is not None)
            self._ready[(kid, algorithm)] = found
        return found

    def knows(self, kid: object) -> bool:
        """Whether any member has the kid."""
        return any(jwk.get("kid") == kid for jwk in self.members)


def usable(jwk: Mapping[str, Any], algorithm: str) -> PyJWK | None:
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


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _read(answer: IO[bytes], deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := answer.read(65_536):
        size += len(part)
        if size > _SIZE_CAP or time.monotonic() > deadline:
            raise KeysUnavailable
        parts.append(part)
    return b"".join(parts)


def fetch_jwks(settings: LabSettings) -> Mapping[str, Any]:
    """Fetch `jwks_uri` without following redirects; blocks up to some seconds. Raises KeysUnavailable."""
    url = settings.jwks_uri
    if url is None or not url.startswith(("http://", "https://")):
        raise KeysUnavailable
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _NoRedirect()]
    if url.startswith("https://"):
        context = ssl.create_default_context(cafile=str(settings.ca_file) if settings.ca_file else None)
        handlers.append(urllib.request.HTTPSHandler(context=context))
    deadline = time.monotonic() + _TIMEOUT_S
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=_TIMEOUT_S) as answer:
            if answer.status != 200:
                raise KeysUnavailable
            value = json.loads(_read(answer, deadline))
    except urllib.error.HTTPError as error:
        error.close()
        raise KeysUnavailable from None
    except (OSError, HTTPException, ValueError, RecursionError):
        raise KeysUnavailable from None
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        raise KeysUnavailable
    return value


class KeySource:
    """The current key set. One fetch runs at a time, and an unknown kid causes one per cooldown."""

    def __init__(self, settings: LabSettings, fetch: Callable[[LabSettings], Mapping[str, Any]] = fetch_jwks) -> None:
        self._settings = settings
        self._fetch = fetch
        self._clock: Clock = settings.clock
        self._fixed = KeySet(settings.keys) if settings.keys is not None else None
        self._cached: KeySet | None = None
        self._fetched = 0.0
        self._tried: float | None = None
        self._lock = asyncio.Lock()

    async def current(self) -> KeySet:
        """Return the keys, fetched if the cache is older than its time to live. Raises KeysUnavailable."""
        if self._fixed is not None:
            return self._fixed
        if self._cached is None or not self._within(self._fetched, self._settings.jwks_ttl):
            async with self._lock:
                if self._cached is None or not self._within(self._fetched, self._settings.jwks_ttl):
                    return await self._refresh()
        return self._cached

    async def knowing(self, kid: object) -> KeySet:
        """Return the keys, refetched if none has the kid and the cooldown is over. Raises KeysUnavailable."""
        keys = await self.current()
        if self._fixed is not None or keys.knows(kid):
            return keys
        async with self._lock:
            latest = self._cached
            if latest is None or latest.knows(kid):
                return latest or keys
            if self._tried is not None and self._within(self._tried, self._settings.jwks_cooldown):
                return latest
            try:
                return await self._refresh()
            except KeysUnavailable:
                # The cached keys are still in date: an outage must not turn a stranger's token into a 503.
                return latest

    def _within(self, since: float, seconds: float) -> bool:
        return 0 <= self._clock() - since < seconds

    async def _refresh(self) -> KeySet:
        self._tried = self._clock()
        fetched = KeySet(await asyncio.to_thread(self._fetch, self._settings))
        self._cached, self._fetched = fetched, self._clock()
        return fetched
