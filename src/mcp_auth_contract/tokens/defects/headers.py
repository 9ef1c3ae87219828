"""Defects of the JOSE header: the token tells the server how it would like to be verified."""

import hashlib
import hmac
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Kind, Variant, one
from mcp_auth_contract.tokens.defects.secrets import SECRETS, key_set
from mcp_auth_contract.tokens.keys import Role
from mcp_auth_contract.tokens.spec import Absent, Borrowed, Crafted, Keyed, Literal, TokenSpec

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
    "trailing_newline": "none\n",
    "full_width": "ｎｏｎｅ",
    "compatibility_form": "ⁿone",
    "soft_hyphen": "no\u00adne",
    "empty": "",
    "null": None,
    "false": False,
    "zero": 0,
    "list": ["none"],
    "empty_list": [],
}

_UNKNOWN_NAMES = ("XX999", "RS257", "HS1", "__proto__", "constructor", "toString")


def _unsigned(alg: object) -> Break:
    return lambda bench: replace(bench.good.with_header(alg=alg), signature=Absent())


def _unsigned_without_alg(bench: Bench) -> TokenSpec:
    return replace(bench.good.without_header("alg"), signature=Absent())


def _unsigned_in_escapes(bench: Bench) -> TokenSpec:
    twin = bench.good.with_header(alg="none")
    return replace(twin, raw_header=twin.header_bytes.replace(b'"none"', b'"n\\u006fne"'), signature=Absent())


def _unsigned_without_kid(bench: Bench) -> TokenSpec:
    return replace(bench.good.with_header(alg="none").without_header("kid"), signature=Absent())


def _unsigned_in_two_segments(bench: Bench) -> TokenSpec:
    return replace(bench.good.with_header(alg="none"), signature=Absent(), form="{header}.{payload}")


def _none_with_kept(bench: Bench) -> TokenSpec:
    good = bench.good
    return replace(good.with_header(alg="none"), signature=Borrowed(good.header_bytes, good.payload_bytes))


def _none_with_random(bench: Bench) -> TokenSpec:
    return replace(
        bench.good.with_header(alg="none"),
        signature=Literal(hashlib.sha256(bench.good.payload_bytes).digest()),
    )


def _keyed(name: str) -> Variant:
    def apply(bench: Bench) -> TokenSpec | None:
        made = SECRETS[name](bench.good.key)
        return None if made is None else replace(bench.good.with_header(alg="HS256"), signature=Keyed(made))

    return Variant(name, apply)


def _keyed_with_nothing(bench: Bench) -> TokenSpec:
    return replace(bench.good.with_header(alg="HS256").without_header("kid"), signature=Keyed(b""))


def _keyed_with(digest: str, name: str) -> Variant:
    def apply(bench: Bench) -> TokenSpec | None:
        made = SECRETS[name](bench.good.key)
        if made is None:
            return None
        crafted = Crafted(f"hs{digest[3:]}-{name}", lambda _key, message: hmac.digest(made, message, digest))
        return replace(bench.good.with_header(alg=f"HS{digest[3:]}"), signature=crafted)

    return Variant(f"hs{digest[3:]}_{name}", apply)


def _keyed_with_set() -> Variant:
    def apply(bench: Bench) -> TokenSpec | None:
        made = key_set(bench)
        return None if made is None else replace(bench.good.with_header(alg="HS256"), signature=Keyed(made))

    return Variant("key_set", apply)


def _embedded(*, own_kid: bool) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        stranger = bench.keys(Role.STRANGER, bench.good.key.alg)
        kid = stranger.kid if own_kid else bench.good.header.get("kid")
        jwk = {**stranger.public_jwk(), "kid": kid}
        return replace(bench.good.with_header(kid=kid, jwk=jwk), key=stranger)

    return apply


def _as_proof(bench: Bench) -> TokenSpec:
    stranger = bench.keys(Role.STRANGER, bench.good.key.alg)
    members = {name: value for name, value in stranger.public_jwk().items() if name not in {"kid", "alg", "use"}}
    twin = bench.good.without_header("kid").with_header(typ="dpop+jwt", jwk=members)
    return replace(twin, key=stranger)


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
            Variant("escaped", _unsigned_in_escapes, ("header", "header.alg", "signature")),
            Variant("without_kid", _unsigned_without_kid, ("header.alg", "header.kid", "signature")),
            Variant("two_segments", _unsigned_in_two_segments, ("header.alg", "serialization", "signature")),
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
            *(_keyed(name) for name in SECRETS),
            _keyed_with_set(),
            Variant("empty_without_kid", _keyed_with_nothing, ("header.alg", "header.kid", "signature")),
            *(_keyed_with(digest, name) for digest in ("sha384", "sha512") for name in ("pem", "empty")),
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
            Variant("dpop_proof", _as_proof, ("header.jwk", "header.kid", "header.typ", "signature")),
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
