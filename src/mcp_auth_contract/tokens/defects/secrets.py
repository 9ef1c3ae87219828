"""What a careless verifier may take for a shared secret: a public key in each of its encodings, or a guess."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, unb64url
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json

Secret: TypeAlias = Callable[[SigningKey], bytes | None]
"""Makes octets of a public key; None for a key that has no such encoding."""

Guess: TypeAlias = Callable[[TokenSpec], str]


def spki_der(key: SigningKey) -> bytes:
    """Return the SubjectPublicKeyInfo (RFC 5280 §4.1)."""
    return key.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _pkcs1(key: SigningKey, encoding: Encoding) -> bytes | None:
    if not isinstance(key.private, rsa.RSAPrivateKey):
        return None
    return key.private.public_key().public_bytes(encoding, PublicFormat.PKCS1)


def _point(key: SigningKey) -> bytes | None:
    if not isinstance(key.private, ec.EllipticCurvePrivateKey):
        return None
    return key.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _member(name: str) -> Secret:
    return lambda key: unb64url(text) if (text := key.public_jwk().get(name)) else None


SECRETS: Mapping[str, Secret] = MappingProxyType(
    {
        "pem": lambda key: key.public_pem(),
        "pem_without_newline": lambda key: key.public_pem().rstrip(b"\n"),
        "pem_with_crlf": lambda key: key.public_pem().replace(b"\n", b"\r\n"),
        "pem_behind_newline": lambda key: b"\n" + key.public_pem(),
        "pem_behind_space": lambda key: b" " + key.public_pem(),
        "pkcs1_pem": lambda key: _pkcs1(key, Encoding.PEM),
        "pkcs1_pem_without_newline": lambda key: (pem := _pkcs1(key, Encoding.PEM)) and pem.rstrip(b"\n"),
        "der": spki_der,
        "pkcs1_der": lambda key: _pkcs1(key, Encoding.DER),
        "modulus": _member("n"),
        "modulus_text": lambda key: text.encode() if (text := key.public_jwk().get("n")) else None,
        "point": _point,
        "x": _member("x"),
        "jwk": lambda key: compact_json(key.public_jwk()),
        "thumbprint_input": lambda key: key.thumbprint_input,
        "empty": lambda _: b"",
    }
)
"""The encodings of a public key, and no key at all."""


def key_set(good: TokenSpec) -> bytes | None:
    """Return the JWKS of the issuer as it is served; None where the order of three or more keys is not known."""
    others = good.profile.algorithms - {good.key.alg}
    if len(others) > 1:
        return None
    published = [good.key, *(good.key_of(Role.ISSUER, alg) for alg in others)]
    encryption = {**good.key_of(Role.ENCRYPTION, Algorithm.RS256).public_jwk(), "use": "enc", "alg": "RSA-OAEP-256"}
    return compact_json({"keys": [*(key.public_jwk() for key in published), encryption]})


_WORDS = ("secret", "password", "changeme", "jwt-secret", "your-256-bit-secret", "dev", "test")


def _word(text: str) -> Guess:
    return lambda _: text


GUESSES: Mapping[str, Guess] = MappingProxyType(
    {
        **{word.replace("-", "_"): _word(word) for word in _WORDS},
        "key_id": lambda good: good.key.kid,
        "client": lambda good: str(good.claims.get(good.profile.client_claim, "client")),
        "issuer": lambda good: good.profile.issuer,
        "audience": lambda good: good.profile.audience,
    }
)
"""Secrets that need no search: what tutorials leave in place, and names that stand in the token itself."""
