"""The listening post: key URLs that a token names, serving the keys of a stranger to whoever fetches them."""

import secrets
import time
from base64 import encodebytes
from collections.abc import Sequence
from urllib.parse import quote

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract.tokens.keys import SigningKey
from mcp_auth_contract.tokens.spec import compact_json

LISTENING_PATH = "/heard"
CERTIFICATE = "cert.pem"
"""The last segment of the URL where the stranger's certificate is, for `x5u` (RFC 7515 §4.1.5)."""


def listening_path(name: str) -> str:
    """Return the path of a listening URL; raises ValueError for a name that is no single segment."""
    if not name or "/" in name or name in {".", ".."}:
        raise ValueError("a listening URL is named by one path segment")
    return f"{LISTENING_PATH}/{quote(name, safe='')}"


def strangers_jwks(keys: Sequence[SigningKey]) -> bytes:
    """Return the JWK set of keys that nobody may trust."""
    return compact_json({"keys": [key.public_jwk() for key in keys]})


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
