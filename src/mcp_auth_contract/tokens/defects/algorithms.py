"""Defects of the algorithm: the header names one, the signature is made with another, or with odd numbers.

RFC 8725 §3.1: a caller states a set of algorithms, no other one is used, and "each key MUST be used with exactly one
algorithm, and this MUST be checked when the cryptographic operation is performed".
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, DISPUTED, Capability, Defects, header
from mcp_auth_contract.tokens.defects.secrets import GUESSES, SECRETS, Guess, Secret
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey
from mcp_auth_contract.tokens.spec import Sign, TokenSpec, keyed, signed_again

DEFECTS = Defects()
_named = partial(DEFECTS.table, header("alg"))

_RSA = {Capability.RSA_KEY}
_ES256 = {Capability.ES256}
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the group of P-256 (FIPS 186-5)."""

_ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_SHA256_INFO_LONG_FORM = bytes.fromhex("308131300d060960864801650304020105000420")
_SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")


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


for _alg in (Algorithm.ES256, Algorithm.PS256, Algorithm.EDDSA):
    DEFECTS.add(
        f"signed_with_{_alg.lower()}",
        f"The token is signed with the issuer's key for {_alg}, as the contract allows.",
        {"": partial(signed_by_own, alg=_alg, sign=signed_again)},
        ACCEPTED,
        needs={Capability(_alg.lower())},
    )

_named(
    "algorithm_of_wrong_type",
    "The token does not name its algorithm, or not by a string; the signature is honest.",
    {
        "missing": ABSENT,
        "number": 256,
        "true": True,
        "object": lambda good: {"name": str(good.key.alg)},
        "list": lambda good: [str(good.key.alg)],
    },
)
_named(
    "algorithm_in_other_case",
    "The token's algorithm is written in other letters, or with a space; the signature is honest.",
    {
        "lower": lambda good: good.key.alg.lower(),
        "mixed": lambda good: good.key.alg.capitalize(),
        "trailing_space": lambda good: f"{good.key.alg} ",
    },
    DISPUTED,
)


@DEFECTS.each({"ps256": None, "rs384": hashes.SHA384(), "rs512": hashes.SHA512()}, DISPUTED, needs=_RSA)
def other_algorithm_of_key(good: TokenSpec, digest: hashes.HashAlgorithm | None) -> TokenSpec | None:
    """The RSA key signed honestly with another algorithm than the one it is published for."""
    if digest is not None:
        longer = good.with_header(alg=f"RS{digest.digest_size * 8}")
        return replace(longer, signature=lambda key, text: rsa_key(key).sign(text, padding.PKCS1v15(), digest))
    if good.key.alg is not Algorithm.RS256:
        return None
    return replace(good.with_header(alg="PS256"), key=replace(good.key, alg=Algorithm.PS256))


@DEFECTS.single(needs={Capability.PS256})
def pss_key_with_pkcs1_signature(good: TokenSpec) -> TokenSpec:
    """The header says PS256, the signature of that key is one of RS256."""
    return signed_by_own(good, Algorithm.PS256, lambda key, message: replace(key, alg=Algorithm.RS256).sign(message))


@DEFECTS.each({"es256": Algorithm.ES256, "eddsa": Algorithm.EDDSA}, needs=_RSA)
def algorithm_of_other_key_type(good: TokenSpec, alg: Algorithm) -> TokenSpec:
    """A stranger signed on a curve, under the key id of the issuer's RSA key."""
    return replace(good.with_header(alg=str(alg)), key=good.key_of(Role.STRANGER, alg))


def _sha1(key: SigningKey, message: bytes) -> bytes:
    return pkcs1_signature(key, _SHA1_INFO + hashlib.sha1(message, usedforsecurity=False).digest())


@DEFECTS.each({"unnamed": {}, "rs1": {"alg": "RS1"}}, needs=_RSA)
def sha1_signature(good: TokenSpec, header: dict[str, str]) -> TokenSpec:
    """The RSA key signed with SHA-1."""
    return replace(good.with_header(**header), signature=_sha1)


def _keyed_with(alg: Algorithm, secret: Secret) -> Callable[[TokenSpec], TokenSpec | None]:
    def apply(good: TokenSpec) -> TokenSpec | None:
        if good.key.alg is alg:
            return None
        key = good.key_of(Role.ISSUER, alg)
        return replace(good.with_header(alg="HS256", kid=key.kid), key=key, signature=keyed(secret(key) or b""))

    return apply


for _alg, _encodings in (
    (Algorithm.ES256, ("pem", "der", "point", "x", "jwk")),
    (Algorithm.EDDSA, ("pem", "der", "x", "jwk")),
):
    DEFECTS.add(
        f"hmac_with_{_alg.lower()}_key",
        f"The token is signed with HS256, the issuer's public key for {_alg} being the secret.",
        {name: _keyed_with(_alg, SECRETS[name]) for name in _encodings},
        needs={Capability(_alg.lower())},
    )


@DEFECTS.each(GUESSES)
def hmac_with_weak_secret(good: TokenSpec, guess: Guess) -> TokenSpec:
    """The token is signed with HS256, and the secret is easily guessed.

    RFC 7518 §3.2: "A key of the same size as the hash output [...] or larger MUST be used with this algorithm."
    """
    return replace(good.with_header(alg="HS256"), signature=keyed(guess(good).encode()))


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
