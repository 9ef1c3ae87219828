"""Defects of the JOSE header: the token tells the server how it would like to be verified."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Kind, Variant, one
from mcp_auth_contract.tokens.keys import Role, SigningKey
from mcp_auth_contract.tokens.spec import Absent, Borrowed, Keyed, Literal, TokenSpec, compact_json

__all__ = ["HEADER_DEFECTS"]

_NONE_SPELLINGS: dict[str, object] = {
    "none": "none",
    "capitalised": "None",
    "upper": "NONE",
    "mixed": "nOnE",
    "trailing_space": "none ",
    "leading_space": " none",
    "trailing_tab": "none\t",
    "trailing_null_character": "none\u0000",
    "full_width": "ｎｏｎｅ",
    "empty": "",
    "null": None,
    "false": False,
    "list": ["none"],
}

_UNKNOWN_NAMES = ("XX999", "RS257", "HS1", "__proto__", "constructor", "toString")


def _unsigned(alg: object) -> Break:
    return lambda bench: replace(bench.good.with_header(alg=alg), signature=Absent())


def _unsigned_without_alg(bench: Bench) -> TokenSpec:
    return replace(bench.good.without_header("alg"), signature=Absent())


def _none_with_kept(bench: Bench) -> TokenSpec:
    good = bench.good
    return replace(good.with_header(alg="none"), signature=Borrowed(good.header_bytes, good.payload_bytes))


def _none_with_random(bench: Bench) -> TokenSpec:
    return replace(
        bench.good.with_header(alg="none"),
        signature=Literal(hashlib.sha256(bench.good.payload_bytes).digest()),
    )


def _pem(key: SigningKey) -> bytes:
    return key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _pkcs1_pem(key: SigningKey) -> bytes | None:
    if not isinstance(key.private, rsa.RSAPrivateKey):
        return None
    return key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1)


def _der(key: SigningKey) -> bytes:
    return key.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _keyed(secret: Callable[[SigningKey], bytes | None]) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        made = secret(bench.good.key)
        return None if made is None else replace(bench.good.with_header(alg="HS256"), signature=Keyed(made))

    return apply


def _embedded(*, own_kid: bool) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        stranger = bench.keys(Role.STRANGER, bench.good.key.alg)
        kid = stranger.kid if own_kid else bench.good.header.get("kid")
        jwk = {**stranger.public_jwk(), "kid": kid}
        return replace(bench.good.with_header(kid=kid, jwk=jwk), key=stranger)

    return apply


def _hostile(bench: Bench) -> TokenSpec:
    return bench.good.with_header(kid='"\\r\\n<script>\u00e9\u202e"')


def _critical(bench: Bench) -> TokenSpec:
    return bench.good.with_header(**{"crit": ["unknown-extension"], "unknown-extension": True})


HEADER_DEFECTS = (
    Defect(
        name="alg_none",
        sentence="The token is unsigned and says so in some spelling of alg none.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=(
            *(Variant(name, _unsigned(alg)) for name, alg in _NONE_SPELLINGS.items()),
            Variant("missing", _unsigned_without_alg),
        ),
    ),
    Defect(
        name="alg_none_with_signature",
        sentence="The token says alg none and carries a signature nevertheless.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=(Variant("kept", _none_with_kept), Variant("random", _none_with_random)),
    ),
    Defect(
        name="alg_unknown_unsigned",
        sentence="The token is unsigned and names an algorithm that does not exist.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=tuple(Variant(name, _unsigned(name)) for name in _UNKNOWN_NAMES),
    ),
    Defect(
        name="hmac_with_public_key",
        sentence="The token is signed with HS256, the issuer's public key being the secret.",
        kind=Kind.HEADER,
        changes=("header.alg", "signature"),
        forms=(
            Variant("pem", _keyed(_pem)),
            Variant("pem_without_newline", _keyed(lambda key: _pem(key).rstrip(b"\n"))),
            Variant("pem_with_crlf", _keyed(lambda key: _pem(key).replace(b"\n", b"\r\n"))),
            Variant("pkcs1_pem", _keyed(_pkcs1_pem)),
            Variant("der", _keyed(_der)),
            Variant("jwk", _keyed(lambda key: compact_json(key.public_jwk()))),
            Variant("empty", _keyed(lambda _: b"")),
        ),
    ),
    Defect(
        name="embedded_jwk",
        sentence="A stranger signed the token and put the key to verify it with into the header.",
        kind=Kind.HEADER,
        changes=("header.jwk", "signature"),
        forms=(
            Variant("trusted_kid", _embedded(own_kid=False)),
            Variant("own_kid", _embedded(own_kid=True), ("header.jwk", "header.kid", "signature")),
        ),
    ),
    Defect(
        name="hostile_text",
        sentence="The token names a key in characters that no header value may repeat.",
        kind=Kind.HEADER,
        changes=("header.kid",),
        forms=one(_hostile),
    ),
    Defect(
        name="unknown_critical_extension",
        sentence="The token marks an extension as critical that no server understands (RFC 7515 §4.1.11).",
        kind=Kind.HEADER,
        changes=("header.crit", "header.unknown-extension"),
        forms=one(_critical),
    ),
)
