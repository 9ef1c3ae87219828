"""A certificate that a stranger makes out to themselves, for tokens that bring one along."""

from base64 import b64encode
from datetime import UTC, datetime
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from mcp_auth_contract.tokens.keys import SigningKey

__all__ = ["chain_of"]


@cache
def chain_of(key: SigningKey) -> tuple[str, ...]:
    """Return the value of `x5c`: one self-signed certificate in standard base64 (RFC 7515 §4.1.6)."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stranger.test")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.private.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2100, 1, 1, tzinfo=UTC))
    )
    digest = None if isinstance(key.private, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return (b64encode(builder.sign(key.private, digest).public_bytes(Encoding.DER)).decode(),)
