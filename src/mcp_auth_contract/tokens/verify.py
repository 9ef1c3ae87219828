"""A strict verifier of access tokens, the yardstick that shows which tokens are good."""

import json
import ssl
from collections.abc import Iterable, Mapping
from enum import StrEnum

import jwt
from jwt import PyJWK, PyJWKClient

from mcp_auth_contract.tokens.keys import Algorithm, SigningKey
from mcp_auth_contract.tokens.mint import decode_parts

__all__ = ["Reason", "Refused", "StrictVerifier"]


class Reason(StrEnum):
    """Why a token is refused."""

    MALFORMED = "malformed"
    ALGORITHM = "algorithm"
    CRITICAL = "critical"
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


_REASONS: tuple[tuple[type[jwt.PyJWTError], Reason], ...] = (
    (jwt.ExpiredSignatureError, Reason.EXPIRED),
    (jwt.ImmatureSignatureError, Reason.NOT_YET_VALID),
    (jwt.InvalidIssuerError, Reason.ISSUER),
    (jwt.InvalidAudienceError, Reason.AUDIENCE),
    (jwt.InvalidAlgorithmError, Reason.ALGORITHM),
    (jwt.InvalidSignatureError, Reason.SIGNATURE),
    (jwt.DecodeError, Reason.MALFORMED),
    (jwt.PyJWKClientConnectionError, Reason.KEYS_UNAVAILABLE),
    (jwt.PyJWKClientError, Reason.KEY),
    (jwt.PyJWKSetError, Reason.KEYS_UNAVAILABLE),
)


class StrictVerifier:
    """Accepts a token only with a published key, an allowed algorithm, and each claim exactly right.

    `keys` is the URL of a JWKS, fetched and cached as PyJWKClient does, or the keys themselves. `leeway` is
    seconds. Time is the system's, so freezegun moves it.
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
        ca_file: str | None = None,
        jwks_cache: float = 300,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._algorithms = [str(alg) for alg in algorithms]
        self._leeway = leeway
        self._required = tuple(required)
        self._client: PyJWKClient | None = None
        self._keys: dict[str, PyJWK] = {}
        if isinstance(keys, str):
            trust = None if ca_file is None else ssl.create_default_context(cafile=ca_file)
            self._client = PyJWKClient(keys, lifespan=jwks_cache, timeout=5, ssl_context=trust)
        else:
            self._keys = {key.kid: PyJWK.from_dict(key.public_jwk()) for key in keys}

    def verify(self, token: str) -> Mapping[str, object]:
        """Return the claims; raises Refused with the first reason found."""
        header, _ = decode_parts(token)
        if header is None or token.count(".") != 2:
            raise Refused(Reason.MALFORMED)
        if header.get("alg") not in self._algorithms:
            raise Refused(Reason.ALGORITHM)
        if "crit" in header:
            raise Refused(Reason.CRITICAL)
        try:
            claims = jwt.decode(
                token,
                self._key(header.get("kid")),
                algorithms=self._algorithms,
                issuer=self._issuer,
                audience=self._audience,
                leeway=self._leeway,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.MissingRequiredClaimError as fault:
            by_claim = {"iss": Reason.ISSUER, "aud": Reason.AUDIENCE}
            raise Refused(by_claim.get(fault.claim, Reason.CLAIM)) from None
        except jwt.PyJWTError as fault:
            raise Refused(_reason(fault)) from None
        except json.JSONDecodeError:
            raise Refused(Reason.MALFORMED) from None
        for name in self._required:
            if not claims.get(name):
                raise Refused(Reason.CLAIM)
        return claims

    def _key(self, kid: object) -> PyJWK:
        if not isinstance(kid, str):
            raise Refused(Reason.KEY)
        if self._client is not None:
            return self._client.get_signing_key(kid)
        if kid not in self._keys:
            raise Refused(Reason.KEY)
        return self._keys[kid]


def _reason(fault: jwt.PyJWTError) -> Reason:
    for family, reason in _REASONS:
        if isinstance(fault, family):
            return reason
    return Reason.CLAIM
