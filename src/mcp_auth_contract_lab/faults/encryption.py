"""Faults of servers that decrypt: whoever encrypted is taken for whoever signed."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK

from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.faults.token_steps import allowing, breaks_down, unless
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.verification import Trust

__all__ = ["FAULTS"]

_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)

_Believed: TypeAlias = Callable[[bytes], str | None]
"""Picks the payload, still base64url, out of the plaintext of a JWE; None for one that is not believed."""


def _header_of(token: str) -> Mapping[str, Any]:
    """Return the header of a JWE in compact serialization, empty for anything else (RFC 7516 §7.1)."""
    if token.count(".") != 4:
        return {}
    try:
        return object_of(decode_segment(token.partition(".")[0]))
    except InvalidToken:
        return {}


def _content_key(header: Mapping[str, Any], wrapped: bytes, key: RSAPrivateKey) -> bytes | None:
    if header.get("alg") == "dir":
        return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)[:32]
    try:
        return key.decrypt(wrapped, _OAEP)
    except ValueError:
        return None


def _plaintext(token: str, key: RSAPrivateKey) -> bytes | None:
    protected, *segments = token.split(".")
    wrapped, vector, sealed, tag = (decode_segment(segment) for segment in segments)
    content_key = _content_key(_header_of(token), wrapped, key)
    if content_key is None:
        return None
    try:
        return AESGCM(content_key).decrypt(vector, sealed + tag, protected.encode())
    except (InvalidTag, ValueError):
        return None


def _decrypting(algorithm: str, believed: _Believed) -> Change:
    """Return the change by which the plaintext of a JWE stands for the claims of a verified token."""

    def decrypt(token: str, trust: Trust) -> str:
        key = trust.settings.decryption_key
        if key is None or _header_of(token).get("alg") != algorithm:
            return token
        plaintext = _plaintext(token, key)
        payload = None if plaintext is None else believed(plaintext)
        protected, _, rest = token.partition(".")
        return token if payload is None else f"{protected}.{payload}.{rest.rpartition('.')[2]}"

    def exempt(token: CompactJws, _keys: Sequence[PyJWK]) -> bool:
        return token.header.get("alg") == algorithm

    return verifying(decrypt=decrypt, algorithm=allowing(lambda name: name == algorithm), signature=unless(exempt))


def _inner(plaintext: bytes) -> list[str]:
    parts = plaintext.decode("ascii", "replace").split(".")
    return parts if len(parts) == 3 and not plaintext.startswith(b"{") else []


def _if_unsigned(plaintext: bytes) -> str | None:
    parts = _inner(plaintext)
    return parts[1] if parts and not parts[2] else None


def _if_signed(plaintext: bytes) -> str | None:
    parts = _inner(plaintext)
    return parts[1] if parts and parts[2] else None


def _if_claims(plaintext: bytes) -> str | None:
    if not plaintext.startswith(b"{"):
        return None
    return urlsafe_b64encode(plaintext).rstrip(b"=").decode()


def _breaking_over(pick: Callable[[Mapping[str, Any]], bool]) -> Change:
    def decrypt(token: str, _trust: Trust) -> str:
        if pick(_header_of(token)):
            raise breaks_down()
        return token

    return verifying(decrypt=decrypt)


def _by_password(header: Mapping[str, Any]) -> bool:
    return str(header.get("alg")).startswith("PBES2")


def _parse_first_part(token: str) -> CompactJws:
    return parse_compact(token.partition("~")[0])


FAULTS = (
    Fault(
        "encrypted-unsigned-believed",
        "An unsigned token is believed if it was encrypted to the server (CVE-2026-29000).",
        _decrypting("RSA-OAEP-256", _if_unsigned),
    ),
    Fault(
        "encrypted-claims-believed",
        "Claims are believed if they were encrypted to the server.",
        _decrypting("RSA-OAEP-256", _if_claims),
    ),
    Fault(
        "encrypted-token-not-verified",
        "The signature of a token inside an encrypted one is not verified.",
        _decrypting("RSA-OAEP-256", _if_signed),
    ),
    Fault(
        "encryption-with-public-key",
        "Octets of the public key serve as a shared secret of direct encryption.",
        _decrypting("dir", _if_claims),
    ),
    Fault(
        "encrypted-breaks",
        "Whatever is encrypted to a key ends in a 500.",
        _breaking_over(lambda header: header.get("alg") == "RSA-OAEP-256"),
    ),
    Fault(
        "costly-password-derived",
        "A key is derived from a password as often as the token asks for, until the worker is killed.",
        _breaking_over(_by_password),
    ),
    Fault(
        "encrypted-bomb-unpacked",
        "A compressed token is unpacked to any size, until the memory is gone.",
        _breaking_over(lambda header: "zip" in header),
    ),
    Fault(
        "disclosures-ignored",
        "A token with disclosures behind it is read without them, as if it were no SD-JWT.",
        verifying(parse=_parse_first_part),
    ),
)
