"""Defects of the numbers inside a signature: what a careless implementation of RSA, ECDSA or EdDSA lets pass."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

from mcp_auth_contract.tokens.defects.defect import DISPUTED, Capability, Defects
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey
from mcp_auth_contract.tokens.spec import Sign, TokenSpec

DEFECTS = Defects()

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the group of P-256 (FIPS 186-5)."""

_ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_SHA256_INFO_LONG_FORM = bytes.fromhex("308131300d060960864801650304020105000420")
_ES256 = {Capability.ES256}


def signed_by_own(good: TokenSpec, alg: Algorithm, sign: Sign) -> TokenSpec:
    """Return a token by the issuer's key for an algorithm: the one that signs the good token, or another one."""
    if good.key.alg is alg:
        return replace(good, signature=sign)
    key = good.key_of(Role.ISSUER, alg)
    return replace(good.with_header(alg=str(alg), kid=key.kid), key=key, signature=sign)


def rsa_key(key: SigningKey) -> rsa.RSAPrivateKey:
    """Return the private half of an RSA key; raises TypeError for another one."""
    if not isinstance(key.private, rsa.RSAPrivateKey):
        raise TypeError("the key is no RSA key")
    return key.private


def pkcs1_signature(key: SigningKey, digest_info: bytes, behind: int = 0, block_type: int = 1) -> bytes:
    """Return the RSASSA-PKCS1-v1_5 signature over a DigestInfo, right or with octets `behind` it (RFC 8017 §9.2)."""
    numbers = rsa_key(key).private_numbers()
    modulus = numbers.public_numbers.n
    size = (modulus.bit_length() + 7) // 8
    filling = b"\xff" * (size - 3 - len(digest_info) - behind)
    encoded = bytes([0, block_type]) + filling + b"\x00" + digest_info + bytes(behind)
    return pow(int.from_bytes(encoded, "big"), numbers.d, modulus).to_bytes(size, "big")


@DEFECTS.each(
    {
        "cut_short": (_SHA256_INFO, 160, 1),
        "hash_not_last": (_SHA256_INFO, 16, 1),
        "block_type_two": (_SHA256_INFO, 0, 2),
        "length_in_long_form": (_SHA256_INFO_LONG_FORM, 0, 1),
    },
    needs={Capability.RSA_KEY},
)
def pkcs1_padding_edited(good: TokenSpec, written: tuple[bytes, int, int]) -> TokenSpec | None:
    """The padding of the RSA signature is not the one that RFC 8017 §9.2 prescribes.

    RFC 8017 §8.2.2 has a verifier encode the message anew and compare; one that parses the padding can be fooled
    (CVE-2006-4339).
    """
    info, behind, block_type = written

    def sign(key: SigningKey, message: bytes) -> bytes:
        return pkcs1_signature(key, info + hashlib.sha256(message).digest(), behind, block_type)

    return replace(good, signature=sign) if good.key.alg is Algorithm.RS256 else None


@DEFECTS.each(
    {
        "none": (0, hashes.SHA256()),
        "twenty": (20, hashes.SHA256()),
        "sixty_four": (64, hashes.SHA256()),
        "mask_by_sha1": (32, hashes.SHA1()),  # noqa: S303  the fault that the token is to have
    },
    DISPUTED,
    needs={Capability.PS256},
)
def pss_salt_length(good: TokenSpec, parameters: tuple[int, hashes.HashAlgorithm]) -> TokenSpec:
    """The PS256 signature is right but for its parameters: salt length, or the hash of the mask.

    RFC 7518 §3.5: "The size of the salt value is the same size as the hash function output."
    """
    length, mask = parameters

    def sign(key: SigningKey, message: bytes) -> bytes:
        return rsa_key(key).sign(message, padding.PSS(padding.MGF1(mask), length), hashes.SHA256())

    return signed_by_own(good, Algorithm.PS256, sign)


@DEFECTS.each(
    {
        "zero_zero": (0, 0),
        "zero_one": (0, 1),
        "one_zero": (1, 0),
        "order_order": (_P256_ORDER, _P256_ORDER),
        "zero_order": (0, _P256_ORDER),
        "order_zero": (_P256_ORDER, 0),
        "honest_zero": (None, 0),
    },
    needs=_ES256,
)
def es256_degenerate(good: TokenSpec, pair: tuple[int | None, int]) -> TokenSpec:
    """The ES256 signature consists of numbers outside the range that ECDSA allows.

    FIPS 186-5 §6.4.2: a signature is rejected unless r and s lie between 1 and the order less one (CVE-2022-21449).
    """
    r, s = pair

    def sign(key: SigningKey, message: bytes) -> bytes:
        return (key.sign(message)[:32] if r is None else r.to_bytes(32, "big")) + s.to_bytes(32, "big")

    return signed_by_own(good, Algorithm.ES256, sign)


def _der(honest: bytes) -> bytes:
    return utils.encode_dss_signature(int.from_bytes(honest[:32], "big"), int.from_bytes(honest[32:], "big"))


@DEFECTS.each(
    {
        "der": _der,
        "wider": lambda honest: b"\x00" + honest[:32] + b"\x00" + honest[32:],
        "trailing_zeros": lambda honest: honest + bytes(2),
        "one_octet_short": lambda honest: honest[:-1],
    },
    needs=_ES256,
)
def es256_encoding(good: TokenSpec, edit: Callable[[bytes], bytes]) -> TokenSpec:
    """The ES256 signature is right, and not written as two numbers of 32 octets.

    RFC 7518 §3.4: "The JWS Signature value MUST be a 64-octet sequence. If it is not a 64-octet sequence, the
    validation has failed."
    """
    return signed_by_own(good, Algorithm.ES256, lambda key, message: edit(key.sign(message)))


@DEFECTS.single(DISPUTED, needs={Capability.EDDSA})
def ed25519_above_order(good: TokenSpec) -> TokenSpec:
    """The second half of the Ed25519 signature is larger than the order of the group.

    RFC 8032 §5.1.7: a second half outside the range from 0 to the order makes the signature invalid.
    """

    def sign(key: SigningKey, message: bytes) -> bytes:
        honest = key.sign(message)
        return honest[:32] + (int.from_bytes(honest[32:], "little") + _ED25519_ORDER).to_bytes(32, "little")

    return signed_by_own(good, Algorithm.EDDSA, sign)
