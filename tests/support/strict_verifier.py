"""A strict verifier of access tokens, the yardstick that shows which tokens are good."""

import json
import math
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NoReturn

import jwt
from jwt import PyJWK, PyJWKClient

from mcp_auth_contract.tokens.keys import Algorithm, SigningKey, b64url, unb64url

__all__ = ["Reason", "Refused", "StrictVerifier"]


class Reason(StrEnum):
    """Why a token is refused."""

    MALFORMED = "malformed"
    ALGORITHM = "algorithm"
    CRITICAL = "critical"
    KIND = "kind"
    KEY = "key"
    KEYS_UNAVAILABLE = "keys-unavailable"
    SIGNATURE = "signature"
    EXPIRED = "expired"
    NOT_YET_VALID = "not-yet-valid"
    ISSUER = "issuer"
    AUDIENCE = "audience"
    CLAIM = "claim"


class Refused(Exception):
    """The token must not be accepted; the message is the reason and holds nothing of the token."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


_DEPTH = 100
_REPLICABLE = ("iss", "sub", "aud")


@dataclass(frozen=True, slots=True)
class _Jws:
    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    message: bytes = field(repr=False)
    signature: bytes = field(repr=False)


class StrictVerifier:
    """Accepts a token only with a published key, an allowed algorithm, and each claim exactly right.

    `keys` is the URL of a JWKS, fetched and cached as PyJWKClient does, or the keys themselves. `leeway` is
    seconds. `required` claims are non-blank strings. `typ`, where given, is the media type that the header must
    name, with or without "application/" (RFC 7515 §4.1.9). Time is the system's, so freezegun moves it.
    """

    def __init__(
        self,
        keys: str | Iterable[SigningKey],
        *,
        issuer: str,
        audience: str,
        algorithms: Iterable[Algorithm] = (Algorithm.RS256,),
        leeway: float = 0,
        required: Iterable[str] = ("sub",),
        typ: str | None = None,
        scope_claim: str = "scope",
        ca_file: str | None = None,
        jwks_cache: float = 300,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._algorithms = frozenset(str(alg) for alg in algorithms)
        self._leeway = leeway
        self._required = tuple(required)
        self._typ = None if typ is None else _media_type(typ)
        self._scope_claim = scope_claim
        self._client: PyJWKClient | None = None
        self._keys: dict[str, PyJWK] = {}
        if isinstance(keys, str):
            trust = None if ca_file is None else ssl.create_default_context(cafile=ca_file)
            self._client = PyJWKClient(keys, lifespan=jwks_cache, timeout=5, ssl_context=trust)
        else:
            self._keys = {key.kid: PyJWK.from_dict(key.public_jwk()) for key in keys}

    def verify(self, token: str) -> Mapping[str, object]:
        """Return the claims; raises Refused with the first reason found.

        Form comes first, then the header, the key, the signature and the claims (RFC 7515 §5.2, RFC 7519 §7.2,
        RFC 9068 §4). What the header says about keys is never used (RFC 8725 §3.10).
        """
        jws = _parse(token)
        self._judge_header(jws.header)
        key = self._key(jws.header)
        if not _verifies(key, jws):
            raise Refused(Reason.SIGNATURE)
        self._judge_claims(jws.claims)
        for name in _REPLICABLE:
            if name in jws.header and not _same(jws.header[name], jws.claims.get(name)):
                raise Refused(Reason.CLAIM)
        return jws.claims

    def _judge_header(self, header: Mapping[str, Any]) -> None:
        alg, typ = header.get("alg"), header.get("typ", "")
        if not isinstance(alg, str) or alg not in self._algorithms:
            raise Refused(Reason.ALGORITHM)
        # A crit, a b64 other than true and a zip all ask for another reading of the token than this one.
        if "crit" in header or header.get("b64", True) is not True or "zip" in header:
            raise Refused(Reason.CRITICAL)
        if not isinstance(typ, str) or (self._typ is not None and _media_type(typ) != self._typ):
            raise Refused(Reason.KIND)

    def _key(self, header: Mapping[str, Any]) -> PyJWK:
        kid = header.get("kid")
        if not isinstance(kid, str):
            raise Refused(Reason.KEY)
        key = self._keys.get(kid) if self._client is None else _fetched(self._client, kid)
        if key is None or key.algorithm_name != header["alg"] or key.public_key_use not in (None, "sig"):
            raise Refused(Reason.KEY)
        if key.Algorithm.check_key_length(key.key):
            raise Refused(Reason.KEY)
        return key

    def _judge_claims(self, claims: Mapping[str, Any]) -> None:
        now = time.time()
        if claims.get("iss") != self._issuer:
            raise Refused(Reason.ISSUER)
        audience = claims.get("aud")
        named = audience if isinstance(audience, list) else [audience]
        if not all(isinstance(one, str) for one in named) or self._audience not in named:
            raise Refused(Reason.AUDIENCE)
        if not _is_date(claims.get("exp")):
            raise Refused(Reason.CLAIM)
        # A sum would overflow for whole numbers beyond the range of a float; a comparison does not.
        if now - self._leeway >= claims["exp"]:
            raise Refused(Reason.EXPIRED)
        if any(name in claims and not _is_date(claims[name]) for name in ("nbf", "iat")):
            raise Refused(Reason.CLAIM)
        if "nbf" in claims and claims["nbf"] > now + self._leeway:
            raise Refused(Reason.NOT_YET_VALID)
        if not all(isinstance(claims.get(name), str) and claims[name].strip() for name in self._required):
            raise Refused(Reason.CLAIM)
        scope = claims.get(self._scope_claim, "")
        scopes = scope if isinstance(scope, list) else [scope]
        if not all(isinstance(one, str) for one in scopes):
            raise Refused(Reason.CLAIM)


def _parse(token: str) -> _Jws:
    """Take a compact JWS apart (RFC 7515 §7.1); an empty signature is left to the algorithm and the key to refuse."""
    segments = token.split(".")
    if len(segments) != 3:
        raise Refused(Reason.MALFORMED)
    header, payload, signature = (_decoded(segment) for segment in segments)
    message = token.rpartition(".")[0].encode()
    return _Jws(_object(header), _object(payload), message, signature)


def _decoded(segment: str) -> bytes:
    try:
        octets = unb64url(segment)
    except ValueError:
        raise Refused(Reason.MALFORMED) from None
    if b64url(octets) != segment:
        raise Refused(Reason.MALFORMED)
    return octets


def _object(octets: bytes) -> Mapping[str, Any]:
    """Parse one JSON object in UTF-8 (RFC 7519 §7.2), of unique members, Unicode text and finite numbers."""
    try:
        value = json.loads(
            octets.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_number,
            parse_float=_finite,
        )
        # A lone surrogate cannot be encoded again.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refused(Reason.MALFORMED) from None
    if not isinstance(value, dict) or _too_deep(value):
        raise Refused(Reason.MALFORMED)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not inner:
            return False
        level = inner
    return True


def _media_type(typ: str) -> str:
    return typ.lower().removeprefix("application/")


def _is_date(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _fetched(client: PyJWKClient, kid: str) -> PyJWK:
    try:
        return client.get_signing_key(kid)
    except (jwt.PyJWKClientConnectionError, jwt.PyJWKSetError):
        raise Refused(Reason.KEYS_UNAVAILABLE) from None
    except jwt.PyJWKClientError:
        raise Refused(Reason.KEY) from None


def _verifies(key: PyJWK, jws: _Jws) -> bool:
    try:
        return key.Algorithm.verify(jws.message, key.key, jws.signature)
    except (jwt.PyJWTError, ValueError, TypeError):
        return False
