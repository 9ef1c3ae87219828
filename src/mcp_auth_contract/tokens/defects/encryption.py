"""Defects of encryption: a JWE where a signed token belongs; and tokens of other families."""

import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Variant, one
from mcp_auth_contract.tokens.defects.secrets import spki_der
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, b64url
from mcp_auth_contract.tokens.mint import mint
from mcp_auth_contract.tokens.spec import Absent, TokenSpec, compact_json

__all__ = ["ENCRYPTION_DEFECTS"]

_Plaintext: TypeAlias = Callable[[Bench], bytes]
_PASSWORD_ROUNDS = 10_000_000
_BOMB = 2_000_000
"""Octets of the plaintext of a token that unpacks to far more than it weighs."""


def _unsigned(bench: Bench) -> bytes:
    return mint(replace(bench.good.with_header(alg="none"), signature=Absent())).encode()


def _claims(bench: Bench) -> bytes:
    return bench.good.payload_bytes


def _honest(bench: Bench) -> bytes:
    return mint(bench.good).encode()


def _forged(bench: Bench) -> bytes:
    return mint(replace(bench.good, key=bench.keys(Role.STRANGER, bench.good.key.alg))).encode()


def _bomb(bench: Bench) -> bytes:
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return packer.compress(compact_json({**bench.good.claims, "padding": "0" * _BOMB})) + packer.flush()


def _encryption_key(bench: Bench) -> SigningKey:
    return bench.keys(Role.ENCRYPTION, Algorithm.RS256)


def _signing_key(bench: Bench) -> SigningKey:
    return bench.good.key


def _sealed(header: dict[str, object], encrypted_key: bytes, content_key: bytes, plaintext: bytes) -> str:
    """Return a JWE in compact serialization, encrypted with AES-GCM (RFC 7516 §7.1, RFC 7518 §5.3)."""
    protected = b64url(compact_json(header))
    vector = os.urandom(12)
    sealed = AESGCM(content_key).encrypt(vector, plaintext, protected.encode())
    parts = (encrypted_key, vector, sealed[:-16], sealed[-16:])
    return ".".join((protected, *(b64url(part) for part in parts)))


def _typed(bench: Bench, **members: object) -> dict[str, object]:
    typ = bench.good.header.get("typ")
    return {**members, **({} if typ is None else {"typ": typ})}


def _to(recipient: Callable[[Bench], SigningKey], plaintext: _Plaintext, **members: object) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        key = recipient(bench)
        if not isinstance(key.private, rsa.RSAPrivateKey):
            return None
        content_key = os.urandom(32)
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        header = _typed(bench, alg="RSA-OAEP-256", enc="A256GCM", kid=key.kid, **members)
        wrapped = key.private.public_key().encrypt(content_key, oaep)
        return replace(bench.good, form=_sealed(header, wrapped, content_key, plaintext(bench)))

    return apply


def _to_both(plaintext: _Plaintext, **members: object) -> tuple[Variant, ...]:
    return (
        Variant("encryption_key", _to(_encryption_key, plaintext, **members)),
        Variant("signing_key", _to(_signing_key, plaintext, **members)),
    )


def _directly(recipient: Callable[[Bench], SigningKey]) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        key = recipient(bench)
        header = _typed(bench, alg="dir", enc="A256GCM", kid=key.kid)
        return replace(bench.good, form=_sealed(header, b"", spki_der(key)[:32], _claims(bench)))

    return apply


def _by_password(bench: Bench) -> TokenSpec:
    header = _typed(
        bench, alg="PBES2-HS256+A128KW", enc="A128GCM", p2s=b64url(bytes(16)), p2c=_PASSWORD_ROUNDS, cty="JWT"
    )
    # The key is never unwrapped: what counts is how long a server works before it finds that out.
    return replace(bench.good, form=_sealed(header, os.urandom(24), os.urandom(16), _claims(bench)))


def _jwe(name: str, sentence: str, forms: tuple[Variant, ...], expectation: Expectation) -> Defect:
    return Defect(
        name=name,
        sentence=sentence,
        kind=Kind.FORM,
        changes=("serialization",),
        forms=forms,
        expectation=expectation,
    )


ENCRYPTION_DEFECTS = (
    _jwe(
        "encrypted_unsigned",
        "The token is encrypted to a published key, and inside is an unsigned token.",
        _to_both(_unsigned, cty="JWT"),
        Expectation.REFUSED,
    ),
    _jwe(
        "encrypted_claims",
        "The token is encrypted to a published key, and inside are the claims, signed by nobody.",
        _to_both(_claims),
        Expectation.REFUSED,
    ),
    _jwe(
        "encrypted_forgery",
        "The token is encrypted to a published key, and inside is a token signed by a stranger.",
        _to_both(_forged, cty="JWT"),
        Expectation.REFUSED,
    ),
    _jwe(
        "encrypted_honest",
        "The token is encrypted to a published key, and inside is an honest token.",
        (Variant("encryption_key", _to(_encryption_key, _honest, cty="JWT")),),
        Expectation.DISPUTED,
    ),
    _jwe(
        "encrypted_with_public_key",
        "The token is encrypted with octets of a public key, as if they were a shared secret.",
        (Variant("encryption_key", _directly(_encryption_key)), Variant("signing_key", _directly(_signing_key))),
        Expectation.REFUSED,
    ),
    _jwe(
        "encrypted_by_costly_password",
        f"The token asks for {_PASSWORD_ROUNDS} rounds of key derivation before anything can be verified.",
        one(_by_password),
        Expectation.REFUSED,
    ),
    _jwe(
        "encrypted_bomb",
        f"The token is encrypted to a published key, and unpacks to {_BOMB} octets.",
        (Variant("encryption_key", _to(_encryption_key, _bomb, zip="DEF")),),
        Expectation.REFUSED,
    ),
    _jwe(
        "other_token_family",
        "What is sent is a token of another family than JWT: an SD-JWT, a PASETO or a macaroon.",
        (
            Variant("sd_jwt", lambda bench: replace(bench.good, form="{header}.{payload}.{signature}~")),
            Variant(
                "sd_jwt_with_disclosure",
                lambda bench: replace(bench.good, form="{header}.{payload}.{signature}~WyJzYWx0Iiwic3ViIiwieCJd~"),
            ),
            Variant("paseto", lambda bench: replace(bench.good, form="v4.public.{payload}{signature}")),
            Variant("macaroon", lambda bench: replace(bench.good, form="MDAxY2xvY2F0aW9uIG1jcC50ZXN0Cg{payload}")),
        ),
        Expectation.REFUSED,
    ),
)
