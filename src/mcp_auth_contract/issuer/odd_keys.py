"""Keys that nobody may trust: odd members of a JWK set (RFC 7517 §4 and §5), and a stranger's behind key URLs."""

import secrets
import time
from base64 import encodebytes
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import quote

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract.issuer.control import Member
from mcp_auth_contract.tokens.keys import Algorithm, SigningKey, b64url

JWK: TypeAlias = Mapping[str, object]

_OTHER = {"RS256": "RS512", "PS256": "PS512", "ES256": "ES384", "EdDSA": "ES256"}


class OddKey(StrEnum):
    """The odd members by name. The last group is the good key, described in another way."""

    UNSUPPORTED_KTY = "unsupported_kty"
    ML_DSA = "ml_dsa"
    X25519 = "x25519"
    EC_OFF_CURVE = "ec_off_curve"
    RSA_N_NOT_BASE64 = "rsa_n_not_base64"
    RSA_N_ZERO = "rsa_n_zero"
    RSA_N_MISSING = "rsa_n_missing"
    RSA_1024 = "rsa_1024"
    SYMMETRIC = "symmetric"
    STRING = "string"
    NULL = "null"
    KEY_OPS_ENCRYPT = "key_ops_encrypt"
    USE_ENC = "use_enc"
    ALG_OTHER = "alg_other"
    ALG_MISSING = "alg_missing"
    KID_MISSING = "kid_missing"


def odd_key(name: OddKey, good: JWK) -> Member:
    """Return an odd member; `good` is the public JWK that the last group describes anew."""
    return ODD_KEYS[name](good)


@cache
def weak_key(kid: str = "odd-rsa-1024") -> SigningKey:
    """Return an RSA key of 1024 bits, the same in one process; RFC 7518 §3.3 asks for 2048."""
    return SigningKey(Algorithm.RS256, kid, rsa.generate_private_key(65537, 1024))  # noqa: S505  weak on purpose


@cache
def symmetric_secret() -> bytes:
    """Return the octets of the symmetric key, the same in one process; whoever reads the JWKS can sign with it."""
    return secrets.token_bytes(32)


def other_keys(count: int, kid: str = "other") -> tuple[Member, ...]:
    """Return RSA keys that parse and that nobody has, made without generating any; their ids are numbered."""
    modulus = (1 << 2047) | (secrets.randbits(2040) << 1) | 1
    moduli = ((number, modulus + 2 * number) for number in range(1, count + 1))
    return tuple(_rsa(f"{kid}-{number}", b64url(n.to_bytes(256, "big"))) for number, n in moduli)


def _rsa(kid: str, n: str) -> JWK:
    return {"kty": "RSA", "kid": kid, "alg": "RS256", "use": "sig", "n": n, "e": "AQAB"}


def _alone(**members: object) -> Callable[[JWK], Member]:
    return lambda _good: members


def _without(*names: str, **members: object) -> Callable[[JWK], Member]:
    return lambda good: {name: value for name, value in good.items() if name not in names} | members


def _symmetric(_good: JWK) -> Member:
    return {"kty": "oct", "kid": "odd-symmetric", "alg": "HS256", "use": "sig", "k": b64url(symmetric_secret())}


_ONES = b64url(b"\x01" * 32)

ODD_KEYS: Mapping[OddKey, Callable[[JWK], Member]] = MappingProxyType(
    {
        OddKey.UNSUPPORTED_KTY: _alone(kty="XYZ", kid="odd-unsupported-kty", use="sig", x=_ONES),
        OddKey.ML_DSA: _alone(kty="AKP", kid="odd-ml-dsa", alg="ML-DSA-44", use="sig", pub=b64url(b"\x01" * 1312)),
        OddKey.X25519: _alone(kty="OKP", kid="odd-x25519", crv="X25519", use="sig", x=_ONES),
        OddKey.EC_OFF_CURVE: _alone(kty="EC", kid="odd-ec-off-curve", crv="P-256", use="sig", x=_ONES, y=_ONES),
        OddKey.RSA_N_NOT_BASE64: lambda _good: _rsa("odd-rsa-n-not-base64", "!!"),
        OddKey.RSA_N_ZERO: lambda _good: _rsa("odd-rsa-n-zero", "AA"),
        OddKey.RSA_N_MISSING: _alone(kty="RSA", kid="odd-rsa-n-missing", alg="RS256", use="sig", e="AQAB"),
        OddKey.RSA_1024: lambda _good: dict(weak_key().public_jwk()),
        OddKey.SYMMETRIC: _symmetric,
        OddKey.STRING: lambda _good: "not a key",
        OddKey.NULL: lambda _good: None,
        # `use` and `key_ops` are not to be used together (RFC 7517 §4.3).
        OddKey.KEY_OPS_ENCRYPT: _without("use", key_ops=["encrypt"]),
        OddKey.USE_ENC: lambda good: {**good, "use": "enc"},
        OddKey.ALG_OTHER: lambda good: {**good, "alg": _OTHER.get(str(good.get("alg")), "RS512")},
        OddKey.ALG_MISSING: _without("alg"),
        OddKey.KID_MISSING: _without("kid"),
    }
)
"""How each member is made of the good key; those before KEY_OPS_ENCRYPT have nothing to do with it."""


LISTENING_PATH = "/heard"
CERTIFICATE = "cert.pem"
"""The last segment of the URL where the stranger's certificate is, for `x5u` (RFC 7515 §4.1.5)."""


def listening_path(name: str) -> str:
    """Return the path of a listening URL; raises ValueError for a name that is no single segment."""
    if not name or "/" in name or name in {".", ".."}:
        raise ValueError("a listening URL is named by one path segment")
    return f"{LISTENING_PATH}/{quote(name, safe='')}"


def self_signed(key: SigningKey, now: float) -> bytes:
    """Return a certificate (PEM) of an RSA key, signed by itself and valid for a day on both sides of `now`.

    Written by hand, because cryptography's builder fails for good where it is first used with a frozen clock.
    """
    if not isinstance(key.private, rsa.RSAPrivateKey):
        raise TypeError("the certificate is of an RSA key")
    name = _der(0x30, _der(0x31, _der(0x30, _COMMON_NAME + _der(0x0C, b"stranger.test"))))
    validity = _der(0x30, _utc_time(now - _DAY_S) + _utc_time(now + _DAY_S))
    public = key.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    serial = _der(0x02, b"\x01" + secrets.token_bytes(15))
    signed = _der(0x30, _VERSION_3 + serial + _SHA256_WITH_RSA + name + validity + name + public)
    signature = key.private.sign(signed, PKCS1v15(), SHA256())
    whole = _der(0x30, signed + _SHA256_WITH_RSA + _der(0x03, b"\x00" + signature))
    return b"-----BEGIN CERTIFICATE-----\n" + encodebytes(whole) + b"-----END CERTIFICATE-----\n"


_DAY_S = 86_400


def _der(tag: int, content: bytes) -> bytes:
    """Encode one element (X.690 §8.1)."""
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(octets))) + octets + content


_VERSION_3 = _der(0xA0, _der(0x02, b"\x02"))
_COMMON_NAME = _der(0x06, bytes.fromhex("550403"))
_SHA256_WITH_RSA = _der(0x30, _der(0x06, bytes.fromhex("2a864886f70d01010b")) + _der(0x05, b""))


def _utc_time(seconds: float) -> bytes:
    return _der(0x17, time.strftime("%y%m%d%H%M%SZ", time.gmtime(seconds)).encode())
