"""Defects of the algorithm: the header names one, the signature is made with another, or with none.

RFC 8725 §3.1: a caller states a set of algorithms, no other one is used, and "each key MUST be used with exactly one
algorithm, and this MUST be checked when the cryptographic operation is performed".
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from mcp_auth_contract.tokens.defects.arithmetic import pkcs1_signature, rsa_key, signed_by_own
from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, DISPUTED, Capability, Defects, header
from mcp_auth_contract.tokens.defects.secrets import GUESSES, SECRETS, Guess, Secret
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey
from mcp_auth_contract.tokens.spec import TokenSpec, keyed, signed_again

DEFECTS = Defects()
_named = partial(DEFECTS.table, header("alg"))

_RSA = {Capability.RSA_KEY}
_SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")


def _honest(alg: Algorithm) -> Callable[[TokenSpec], TokenSpec]:
    return lambda good: signed_by_own(good, alg, signed_again)


for _alg in (Algorithm.ES256, Algorithm.PS256, Algorithm.EDDSA):
    DEFECTS.add(
        f"signed_with_{_alg.lower()}",
        f"The token is signed with the issuer's key for {_alg}, as the contract allows.",
        {"": _honest(_alg)},
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
