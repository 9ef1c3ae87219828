"""What a careless verifier may take for a shared secret: a public key in each of its encodings, or a guess."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract.tokens.defects.defect import Bench
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, b64url
from mcp_auth_contract.tokens.spec import compact_json

__all__ = ["GUESSES", "SECRETS", "Guess", "Secret", "key_set", "spki_der", "spki_pem"]

Secret: TypeAlias = Callable[[SigningKey], bytes | None]
"""Makes octets of a public key; None for a key that has no such encoding."""

Guess: TypeAlias = Callable[[Bench], str]


def spki_pem(key: SigningKey) -> bytes:
    """Return the public key as openssl prints it."""
    return key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def spki_der(key: SigningKey) -> bytes:
    """Return the SubjectPublicKeyInfo (RFC 5280 §4.1)."""
    return key.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _pkcs1(encoding: Encoding, strip: bytes = b"") -> Secret:
    def made(key: SigningKey) -> bytes | None:
        if not isinstance(key.private, rsa.RSAPrivateKey):
            return None
        written = key.private.public_key().public_bytes(encoding, PublicFormat.PKCS1)
        return written.rstrip(strip) if strip else written

    return made


def _modulus(key: SigningKey) -> bytes | None:
    if not isinstance(key.private, rsa.RSAPrivateKey):
        return None
    number = key.private.public_key().public_numbers().n
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _modulus_text(key: SigningKey) -> bytes | None:
    modulus = _modulus(key)
    return None if modulus is None else b64url(modulus).encode()


def _point(key: SigningKey) -> bytes | None:
    if not isinstance(key.private, ec.EllipticCurvePrivateKey):
        return None
    return key.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _x(key: SigningKey) -> bytes | None:
    match key.private:
        case ec.EllipticCurvePrivateKey():
            return key.private.public_key().public_numbers().x.to_bytes(32, "big")
        case ed25519.Ed25519PrivateKey():
            return key.private.public_key().public_bytes_raw()
        case _:
            return None


def _required_members(key: SigningKey) -> bytes:
    members = {name: value for name, value in key.public_jwk().items() if name not in {"kid", "alg", "use"}}
    return compact_json(dict(sorted(members.items())))


SECRETS: Mapping[str, Secret] = MappingProxyType(
    {
        "pem": spki_pem,
        "pem_without_newline": lambda key: spki_pem(key).rstrip(b"\n"),
        "pem_with_crlf": lambda key: spki_pem(key).replace(b"\n", b"\r\n"),
        "pem_behind_newline": lambda key: b"\n" + spki_pem(key),
        "pem_behind_space": lambda key: b" " + spki_pem(key),
        "pkcs1_pem": _pkcs1(Encoding.PEM),
        "pkcs1_pem_without_newline": _pkcs1(Encoding.PEM, b"\n"),
        "der": spki_der,
        "pkcs1_der": _pkcs1(Encoding.DER),
        "modulus": _modulus,
        "modulus_text": _modulus_text,
        "point": _point,
        "x": _x,
        "jwk": lambda key: compact_json(key.public_jwk()),
        "thumbprint_input": _required_members,
        "empty": lambda _: b"",
    }
)
"""The encodings of a public key, and no key at all."""


def key_set(bench: Bench) -> bytes | None:
    """Return the JWKS of the issuer as it is served; None where the order of three or more keys is not known."""
    good = bench.good
    others = good.profile.algorithms - {good.key.alg}
    if len(others) > 1:
        return None
    published = [good.key, *(bench.keys(Role.ISSUER, alg) for alg in others)]
    encryption = {**bench.keys(Role.ENCRYPTION, Algorithm.RS256).public_jwk(), "use": "enc", "alg": "RSA-OAEP-256"}
    return compact_json({"keys": [*(key.public_jwk() for key in published), encryption]})


def _word(text: str) -> Guess:
    return lambda _: text


GUESSES: Mapping[str, Guess] = MappingProxyType(
    {
        "secret": _word("secret"),
        "password": _word("password"),
        "changeme": _word("changeme"),
        "jwt_secret": _word("jwt-secret"),
        "your_256_bit_secret": _word("your-256-bit-secret"),
        "dev": _word("dev"),
        "test": _word("test"),
        "key_id": lambda bench: bench.good.key.kid,
        "client": lambda bench: str(bench.good.claims.get(bench.good.profile.client_claim, "client")),
        "issuer": lambda bench: bench.good.profile.issuer,
        "audience": lambda bench: bench.good.profile.audience,
    }
)
"""Secrets that need no search: what tutorials leave in place, and names that stand in the token itself."""
