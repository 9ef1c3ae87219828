"""Defects of the numbers inside a signature: what a careless implementation of RSA, ECDSA or EdDSA lets pass."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

from mcp_auth_contract.tokens.defects.defect import Bench, Defect, Expectation, Kind, Need, Variant
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey
from mcp_auth_contract.tokens.spec import Crafted, Honest, SignatureTreatment, TokenSpec

__all__ = ["ARITHMETIC_DEFECTS", "pkcs1_signature", "signed_by_own"]

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the group of P-256 (FIPS 186-5)."""

_ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_SHA256_INFO_LONG_FORM = bytes.fromhex("308131300d060960864801650304020105000420")


def signed_by_own(alg: Algorithm, name: str, treatment: SignatureTreatment) -> tuple[Variant, ...]:
    """Return the forms of a token by the issuer's key for an algorithm; two, for its header may change or not."""

    def with_its_key(bench: Bench) -> TokenSpec | None:
        if bench.good.key.alg is alg:
            return None
        key = bench.keys(Role.ISSUER, alg)
        return replace(bench.good.with_header(alg=str(alg), kid=key.kid), key=key, signature=treatment)

    def already_its_key(bench: Bench) -> TokenSpec | None:
        if bench.good.key.alg is not alg:
            return None
        return replace(bench.good, signature=_SIGNED_AGAIN if treatment == Honest() else treatment)

    return (
        Variant(name, with_its_key, ("header.alg", "header.kid", "signature")),
        Variant(name, already_its_key, ("signature",)),
    )


_SIGNED_AGAIN = Crafted("signed again", lambda key, message: key.sign(message), verifies=True)


def pkcs1_signature(key: SigningKey, digest_info: bytes) -> bytes:
    """Return the RSASSA-PKCS1-v1_5 signature over a DigestInfo, right or not (RFC 8017 §9.2)."""
    return _padded(key, digest_info, len(digest_info))


def _padded(key: SigningKey, digest_info: bytes, occupied: int, block_type: int = 1) -> bytes:
    """Pad so that `occupied` octets are left for the DigestInfo, and zeros follow it."""
    if not isinstance(key.private, rsa.RSAPrivateKey):
        raise TypeError("the key is no RSA key")
    numbers = key.private.private_numbers()
    modulus = numbers.public_numbers.n
    size = (modulus.bit_length() + 7) // 8
    encoded = bytes([0, block_type]) + b"\xff" * (size - 3 - occupied) + b"\x00" + digest_info
    encoded += bytes(size - len(encoded))
    return pow(int.from_bytes(encoded, "big"), numbers.d, modulus).to_bytes(size, "big")


def _padding_variant(name: str, info: bytes = _SHA256_INFO, *, behind: int = 0, block_type: int = 1) -> Variant:
    def make(key: SigningKey, message: bytes) -> bytes:
        digest_info = info + hashlib.sha256(message).digest()
        return _padded(key, digest_info, len(digest_info) + behind, block_type)

    def apply(bench: Bench) -> TokenSpec | None:
        good = bench.good
        return replace(good, signature=Crafted(name, make)) if good.key.alg is Algorithm.RS256 else None

    return Variant(name, apply)


def _pair(r: int, s: int) -> bytes:
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def _honest_r(key: SigningKey, message: bytes) -> bytes:
    return key.sign(message)[:32] + bytes(32)


def _der(key: SigningKey, message: bytes) -> bytes:
    r, s = _halves(key.sign(message))
    return utils.encode_dss_signature(r, s)


def _halves(signature: bytes) -> tuple[int, int]:
    return int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")


def _wider(key: SigningKey, message: bytes) -> bytes:
    signature = key.sign(message)
    return b"\x00" + signature[:32] + b"\x00" + signature[32:]


def _above_order(key: SigningKey, message: bytes) -> bytes:
    signature = key.sign(message)
    s = int.from_bytes(signature[32:], "little") + _ED25519_ORDER
    return signature[:32] + s.to_bytes(32, "little")


def _salted(name: str, length: int, mask: hashes.HashAlgorithm) -> tuple[Variant, ...]:
    def make(key: SigningKey, message: bytes) -> bytes:
        if not isinstance(key.private, rsa.RSAPrivateKey):
            raise TypeError("the key is no RSA key")
        return key.private.sign(message, padding.PSS(padding.MGF1(mask), length), hashes.SHA256())

    return signed_by_own(Algorithm.PS256, name, Crafted(name, make))


def _es256(name: str, make: Callable[[SigningKey, bytes], bytes]) -> tuple[Variant, ...]:
    return signed_by_own(Algorithm.ES256, name, Crafted(name, make))


def _constant(r: int, s: int) -> Callable[[SigningKey, bytes], bytes]:
    return lambda _key, _message: _pair(r, s)


_BY_OWN = ("header.alg", "header.kid", "signature")

ARITHMETIC_DEFECTS = (
    Defect(
        name="pkcs1_padding_edited",
        sentence="The padding of the RSA signature is not the one that RFC 8017 §9.2 prescribes.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=(
            _padding_variant("cut_short", behind=160),
            _padding_variant("hash_not_last", behind=16),
            _padding_variant("block_type_two", block_type=2),
            _padding_variant("length_in_long_form", _SHA256_INFO_LONG_FORM),
        ),
        needs=frozenset({Need.RSA_KEY}),
    ),
    Defect(
        name="pss_salt_length",
        sentence="The PS256 signature is right but for its parameters: salt length, or the hash of the mask.",
        kind=Kind.SIGNATURE,
        changes=_BY_OWN,
        forms=(
            *_salted("none", 0, hashes.SHA256()),
            *_salted("twenty", 20, hashes.SHA256()),
            *_salted("sixty_four", 64, hashes.SHA256()),
            *_salted("mask_by_sha1", 32, hashes.SHA1()),  # noqa: S303  the fault that the token is to have
        ),
        expectation=Expectation.DISPUTED,
        needs=frozenset({Need.PS256}),
    ),
    Defect(
        name="es256_degenerate",
        sentence="The ES256 signature consists of numbers outside the range that ECDSA allows.",
        kind=Kind.SIGNATURE,
        changes=_BY_OWN,
        forms=(
            *_es256("zero_zero", _constant(0, 0)),
            *_es256("zero_one", _constant(0, 1)),
            *_es256("one_zero", _constant(1, 0)),
            *_es256("order_order", _constant(_P256_ORDER, _P256_ORDER)),
            *_es256("zero_order", _constant(0, _P256_ORDER)),
            *_es256("order_zero", _constant(_P256_ORDER, 0)),
            *_es256("honest_zero", _honest_r),
        ),
        needs=frozenset({Need.ES256}),
    ),
    Defect(
        name="es256_encoding",
        sentence="The ES256 signature is right, and not written as two numbers of 32 octets.",
        kind=Kind.SIGNATURE,
        changes=_BY_OWN,
        forms=(
            *_es256("der", _der),
            *_es256("wider", _wider),
            *_es256("trailing_zeros", lambda key, message: key.sign(message) + bytes(2)),
            *_es256("one_octet_short", lambda key, message: key.sign(message)[:-1]),
        ),
        needs=frozenset({Need.ES256}),
    ),
    Defect(
        name="ed25519_above_order",
        sentence="The second half of the Ed25519 signature is larger than the order of the group.",
        kind=Kind.SIGNATURE,
        changes=_BY_OWN,
        forms=signed_by_own(Algorithm.EDDSA, "", Crafted("above order", _above_order)),
        expectation=Expectation.DISPUTED,
        needs=frozenset({Need.EDDSA}),
    ),
)
