"""Defects of the algorithm: the header names one, the signature is made with another, or with none."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from mcp_auth_contract.tokens.defects.arithmetic import ARITHMETIC_DEFECTS, pkcs1_signature, signed_by_own
from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Need, Variant
from mcp_auth_contract.tokens.defects.secrets import GUESSES, SECRETS, Guess
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey
from mcp_auth_contract.tokens.spec import Crafted, Honest, Keyed, TokenSpec

__all__ = ["ALGORITHM_DEFECTS"]

_RSA = frozenset({Need.RSA_KEY})
_SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")


def _named(alg: Callable[[str], object]) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        right = str(bench.good.key.alg)
        written = alg(right)
        return None if written == right else bench.good.with_header(alg=written)

    return apply


def _mixed(alg: str) -> str:
    return alg[0] + alg[1:].lower()


def _as_pss(bench: Bench) -> TokenSpec | None:
    good = bench.good
    if good.key.alg is not Algorithm.RS256:
        return None
    return replace(good.with_header(alg="PS256"), key=replace(good.key, alg=Algorithm.PS256))


def _longer_hash(name: str, digest: hashes.HashAlgorithm) -> Break:
    def make(key: SigningKey, message: bytes) -> bytes:
        if not isinstance(key.private, rsa.RSAPrivateKey):
            raise TypeError("the key is no RSA key")
        return key.private.sign(message, padding.PKCS1v15(), digest)

    def apply(bench: Bench) -> TokenSpec:
        return replace(bench.good.with_header(alg=name.upper()), signature=Crafted(name, make))

    return apply


def _sha1(key: SigningKey, message: bytes) -> bytes:
    return pkcs1_signature(key, _SHA1_INFO + hashlib.sha1(message, usedforsecurity=False).digest())


def _with_sha1(name: str | None) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        good = bench.good if name is None else bench.good.with_header(alg=name)
        return replace(good, signature=Crafted("sha1", _sha1))

    return apply


def _of_other_type(alg: Algorithm) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        return replace(bench.good.with_header(alg=str(alg)), key=bench.keys(Role.STRANGER, alg))

    return apply


def _guessed(name: str, guess: Guess) -> Variant:
    def apply(bench: Bench) -> TokenSpec:
        return replace(bench.good.with_header(alg="HS256"), signature=Keyed(guess(bench).encode()))

    return Variant(name, apply)


def _keyed_with_curve(alg: Algorithm, name: str) -> Variant:
    def apply(bench: Bench) -> TokenSpec | None:
        if bench.good.key.alg is alg:
            return None
        key = bench.keys(Role.ISSUER, alg)
        secret = SECRETS[name](key) or b""
        crafted = Crafted(f"hs256-{name}", lambda _key, message: hmac.digest(secret, message, "sha256"))
        return replace(bench.good.with_header(alg="HS256", kid=key.kid), key=key, signature=crafted)

    return Variant(name, apply)


def _pkcs1_for_pss(key: SigningKey, message: bytes) -> bytes:
    return replace(key, alg=Algorithm.RS256).sign(message)


_HONEST = tuple(
    Defect(
        name=f"signed_with_{alg.lower()}",
        sentence=f"The token is signed with the issuer's key for {alg}, as the contract allows.",
        kind=Kind.HEADER,
        changes=("header.alg", "header.kid", "signature"),
        forms=signed_by_own(alg, "", Honest()),
        expectation=Expectation.ACCEPTED,
        needs=frozenset({need}),
    )
    for alg, need in (
        (Algorithm.ES256, Need.ES256),
        (Algorithm.PS256, Need.PS256),
        (Algorithm.EDDSA, Need.EDDSA),
    )
)

_CURVES = tuple(
    Defect(
        name=f"hmac_with_{alg.lower()}_key",
        sentence=f"The token is signed with HS256, the issuer's public key for {alg} being the secret.",
        kind=Kind.HEADER,
        changes=("header.alg", "header.kid", "signature"),
        forms=tuple(_keyed_with_curve(alg, name) for name in names),
        needs=frozenset({need}),
    )
    for alg, need, names in (
        (Algorithm.ES256, Need.ES256, ("pem", "der", "point", "x", "jwk")),
        (Algorithm.EDDSA, Need.EDDSA, ("pem", "der", "x", "jwk")),
    )
)

ALGORITHM_DEFECTS = (
    *_HONEST,
    Defect(
        name="algorithm_of_wrong_type",
        sentence="The token does not name its algorithm, or not by a string; the signature is honest.",
        kind=Kind.HEADER,
        changes=("header.alg",),
        forms=(
            Variant("missing", lambda bench: bench.good.without_header("alg")),
            Variant("number", _named(lambda _: 256)),
            Variant("true", _named(lambda _: True)),
            Variant("object", _named(lambda alg: {"name": alg})),
            Variant("list", _named(lambda alg: [alg])),
        ),
    ),
    Defect(
        name="algorithm_in_other_case",
        sentence="The token's algorithm is written in other letters, or with a space; the signature is honest.",
        kind=Kind.HEADER,
        changes=("header.alg",),
        forms=(
            Variant("lower", _named(str.lower)),
            Variant("mixed", _named(_mixed)),
            Variant("trailing_space", _named(lambda alg: f"{alg} ")),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="other_algorithm_of_key",
        sentence="The RSA key signed honestly with another algorithm than the one it is published for.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=(
            Variant("ps256", _as_pss),
            Variant("rs384", _longer_hash("rs384", hashes.SHA384())),
            Variant("rs512", _longer_hash("rs512", hashes.SHA512())),
        ),
        expectation=Expectation.DISPUTED,
        needs=_RSA,
    ),
    Defect(
        name="pss_key_with_pkcs1_signature",
        sentence="The header says PS256, the signature of that key is one of RS256.",
        kind=Kind.SIGNATURE,
        changes=("header.alg", "header.kid", "signature"),
        forms=signed_by_own(Algorithm.PS256, "", Crafted("rs256", _pkcs1_for_pss)),
        needs=frozenset({Need.PS256}),
    ),
    Defect(
        name="algorithm_of_other_key_type",
        sentence="A stranger signed on a curve, under the key id of the issuer's RSA key.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=(
            Variant("es256", _of_other_type(Algorithm.ES256)),
            Variant("eddsa", _of_other_type(Algorithm.EDDSA)),
        ),
        needs=_RSA,
    ),
    Defect(
        name="sha1_signature",
        sentence="The RSA key signed with SHA-1.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=(
            Variant("unnamed", _with_sha1(None)),
            Variant("rs1", _with_sha1("RS1"), ("header.alg", "signature")),
        ),
        needs=_RSA,
    ),
    *_CURVES,
    Defect(
        name="hmac_with_weak_secret",
        sentence="The token is signed with HS256, and the secret is easily guessed.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=tuple(_guessed(name, guess) for name, guess in GUESSES.items()),
    ),
    *ARITHMETIC_DEFECTS,
)
