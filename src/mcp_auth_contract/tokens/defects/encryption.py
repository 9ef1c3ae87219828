"""Defects of encryption: a JWE where a signed token belongs; and tokens of other families.

RFC 8725 §2.3: decrypting proves nothing about who made the token; only the signature inside does.
"""

import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mcp_auth_contract.tokens.defects.defect import DISPUTED, Defects, form
from mcp_auth_contract.tokens.defects.secrets import spki_der
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, b64url
from mcp_auth_contract.tokens.mint import mint
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json, unsigned

DEFECTS = Defects()

_BOMB = 2_000_000
"""Octets of the plaintext of a token that unpacks to far more than it weighs."""

_Recipient: TypeAlias = Callable[[TokenSpec], SigningKey]
_ENCRYPTION_KEY: dict[str, _Recipient] = {"encryption_key": lambda good: good.key_of(Role.ENCRYPTION, Algorithm.RS256)}
_BOTH_KEYS: dict[str, _Recipient] = {**_ENCRYPTION_KEY, "signing_key": lambda good: good.key}


def _sealed(
    good: TokenSpec, header: dict[str, object], encrypted_key: bytes, content_key: bytes, plaintext: bytes
) -> TokenSpec:
    """Return a JWE in compact serialization, encrypted with AES-GCM (RFC 7516 §7.1, RFC 7518 §5.3)."""
    typ = good.header.get("typ")
    protected = b64url(compact_json({**header, **({} if typ is None else {"typ": typ})}))
    vector = os.urandom(12)
    sealed = AESGCM(content_key).encrypt(vector, plaintext, protected.encode())
    parts = (encrypted_key, vector, sealed[:-16], sealed[-16:])
    return replace(good, form=".".join((protected, *(b64url(part) for part in parts))))


def _to(good: TokenSpec, recipient: _Recipient, plaintext: Callable[[], bytes], **members: object) -> TokenSpec | None:
    key = recipient(good)
    if not isinstance(key.private, rsa.RSAPrivateKey):
        return None
    content_key = os.urandom(32)
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    wrapped = key.private.public_key().encrypt(content_key, oaep)
    header = {"alg": "RSA-OAEP-256", "enc": "A256GCM", "kid": key.kid, **members}
    return _sealed(good, header, wrapped, content_key, plaintext())


@DEFECTS.each(_BOTH_KEYS)
def encrypted_unsigned(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside is an unsigned token."""
    inside = replace(good.with_header(alg="none"), signature=unsigned)
    return _to(good, recipient, lambda: mint(inside).encode(), cty="JWT")


@DEFECTS.each(_BOTH_KEYS)
def encrypted_claims(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside are the claims, signed by nobody."""
    return _to(good, recipient, lambda: good.payload_bytes)


@DEFECTS.each(_BOTH_KEYS)
def encrypted_forgery(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside is a token signed by a stranger."""
    return _to(good, recipient, lambda: mint(replace(good, key=good.key_of(Role.STRANGER))).encode(), cty="JWT")


@DEFECTS.each(_ENCRYPTION_KEY, DISPUTED)
def encrypted_honest(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside is an honest token."""
    return _to(good, recipient, lambda: mint(good).encode(), cty="JWT")


@DEFECTS.each(_BOTH_KEYS)
def encrypted_with_public_key(good: TokenSpec, recipient: _Recipient) -> TokenSpec:
    """The token is encrypted with octets of a public key, as if they were a shared secret."""
    key = recipient(good)
    header: dict[str, object] = {"alg": "dir", "enc": "A256GCM", "kid": key.kid}
    return _sealed(good, header, b"", spki_der(key)[:32], good.payload_bytes)


@DEFECTS.single()
def encrypted_by_costly_password(good: TokenSpec) -> TokenSpec:
    """The token asks for 10000000 rounds of key derivation before anything can be verified.

    RFC 7518 §4.8.1.2: the token itself says how often the recipient iterates.
    """
    costly: dict[str, object] = {"p2s": b64url(bytes(16)), "p2c": 10_000_000, "cty": "JWT"}
    # The key is never unwrapped: what counts is how long a server works before it finds that out.
    header = {"alg": "PBES2-HS256+A128KW", "enc": "A128GCM", **costly}
    return _sealed(good, header, os.urandom(24), os.urandom(16), good.payload_bytes)


@DEFECTS.each(_ENCRYPTION_KEY)
def encrypted_bomb(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and unpacks to 2000000 octets."""

    def packed() -> bytes:
        packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        return packer.compress(compact_json({**good.claims, "padding": "0" * _BOMB})) + packer.flush()

    return _to(good, recipient, packed, zip="DEF")


DEFECTS.table(
    form,
    "other_token_family",
    "What is sent is a token of another family than JWT: an SD-JWT, a PASETO or a macaroon.",
    {
        "sd_jwt": "{header}.{payload}.{signature}~",
        "sd_jwt_with_disclosure": "{header}.{payload}.{signature}~WyJzYWx0Iiwic3ViIiwieCJd~",
        "paseto": "v4.public.{payload}{signature}",
        "macaroon": "MDAxY2xvY2F0aW9uIG1jcC50ZXN0Cg{payload}",
    },
)
