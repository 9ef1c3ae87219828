"""Faults of servers that decrypt: whoever encrypted is taken for whoever signed."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.jose import decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import allowing, breaking, unless, verifying
from mcp_auth_contract_lab.verification import Trust

FAULTS = Faults()

_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
_RSA = "RSA-OAEP-256"


def _header_of(token: str) -> Mapping[str, Any]:
    """Return the header of a JWE in compact serialization, empty for anything else (RFC 7516 §7.1)."""
    if token.count(".") != 4:
        return {}
    try:
        return object_of(decode_segment(token.partition(".")[0]))
    except InvalidToken:
        return {}


def _plaintext(token: str, key: RSAPrivateKey) -> bytes | None:
    protected, *segments = token.split(".")
    wrapped, vector, sealed, tag = (decode_segment(segment) for segment in segments)
    try:
        if _header_of(token).get("alg") == "dir":
            content_key = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)[:32]
        else:
            content_key = key.decrypt(wrapped, _OAEP)
        return AESGCM(content_key).decrypt(vector, sealed + tag, protected.encode())
    except (InvalidTag, ValueError):
        return None


def _decrypting(algorithm: str, believed: Callable[[bytes], str | None]) -> Change:
    """Let the plaintext of a JWE stand for the claims of a verified token.

    `believed` picks the payload, still base64url, out of the plaintext; None for one that is not believed.
    """

    def decrypt(token: str, trust: Trust) -> str:
        key = trust.settings.decryption_key
        if key is None or _header_of(token).get("alg") != algorithm:
            return token
        plaintext = _plaintext(token, key)
        payload = None if plaintext is None else believed(plaintext)
        protected, _, rest = token.partition(".")
        return token if payload is None else f"{protected}.{payload}.{rest.rpartition('.')[2]}"

    return verifying(
        decrypt=decrypt,
        algorithm=allowing(lambda name: name == algorithm),
        signature=unless(lambda token, _keys: token.header.get("alg") == algorithm),
    )


def _inner(plaintext: bytes) -> list[str]:
    parts = plaintext.decode("ascii", "replace").split(".")
    return parts if len(parts) == 3 and not plaintext.startswith(b"{") else []


@FAULTS.by(partial(_decrypting, _RSA))
def encrypted_unsigned_believed(plaintext: bytes) -> str | None:
    """An unsigned token is believed if it was encrypted to the server (CVE-2026-29000)."""
    parts = _inner(plaintext)
    return parts[1] if parts and not parts[2] else None


@FAULTS.by(partial(_decrypting, _RSA))
def encrypted_token_not_verified(plaintext: bytes) -> str | None:
    """The signature of a token inside an encrypted one is not verified."""
    parts = _inner(plaintext)
    return parts[1] if parts and parts[2] else None


def _if_claims(plaintext: bytes) -> str | None:
    return urlsafe_b64encode(plaintext).rstrip(b"=").decode() if plaintext.startswith(b"{") else None


def _breaking(when: Callable[[Mapping[str, Any]], bool]) -> Change:
    return breaking("decrypt")(lambda token, _trust: when(_header_of(token)))


FAULTS.rows(
    ("encrypted-claims-believed", "Claims are believed if they were encrypted to the server.",
     _decrypting(_RSA, _if_claims)),
    ("encryption-with-public-key", "Octets of the public key serve as a shared secret of direct encryption.",
     _decrypting("dir", _if_claims)),
    ("encrypted-breaks", "Whatever is encrypted to a key ends in a 500.",
     _breaking(lambda header: header.get("alg") == _RSA)),
    ("costly-password-derived",
     "A key is derived from a password as often as the token asks for, until the worker is killed.",
     _breaking(lambda header: str(header.get("alg")).startswith("PBES2"))),
    ("encrypted-bomb-unpacked", "A compressed token is unpacked to any size, until the memory is gone.",
     _breaking(lambda header: "zip" in header)),
    ("disclosures-ignored", "A token with disclosures behind it is read without them, as if it were no SD-JWT.",
     verifying(parse=lambda token: parse_compact(token.partition("~")[0]))),
)  # fmt: skip
