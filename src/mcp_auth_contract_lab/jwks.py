"""A JWK set and the keys in it that may verify a signature (RFC 7517)."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from mcp_auth_contract_lab.fetching import Reply, Unreachable, exchange
from mcp_auth_contract_lab.refusal import KeysUnavailable
from mcp_auth_contract_lab.settings import LabSettings

JWK: TypeAlias = Mapping[str, Any]

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
