"""Defects of the signature and of the JOSE header: what the token says is right, the proof of it is not.

RFC 9068 §4: the server "MUST validate the signature of all incoming JWT access tokens according to [RFC7515]", "MUST
use the keys provided by the authorization server" and "MUST reject any JWT in which the value of 'alg' is 'none'";
RFC 8725 §3.10: what a token says of itself is not to be trusted.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from mcp_auth_contract.tokens.defects.defect import (
    Break,
    Capability,
    Defects,
    by_party,
    claim,
    form,
    header,
    saying,
    signed,
)
from mcp_auth_contract.tokens.defects.secrets import SECRETS, key_set
from mcp_auth_contract.tokens.keys import Algorithm, Role
from mcp_auth_contract.tokens.spec import Sign, TokenSpec, keyed, unsigned


def signature_of(other: TokenSpec) -> Sign:
    """Return what borrows the honest signature of another token by the same key."""
    return lambda key, _message: key.sign(other.signing_input)


def _edited(edit: Callable[[bytes], bytes]) -> Break:
    return signed(lambda key, message: edit(key.sign(message)))


def _bit_flipped(honest: bytes) -> bytes:
    middle = len(honest) // 2
    return honest[:middle] + bytes([honest[middle] ^ 0x10]) + honest[middle + 1 :]


DEFECTS = Defects()
_signature = partial(DEFECTS.table, _edited)

_signature("signature_bit_flipped", "One bit in the middle of the signature is turned.", {"": _bit_flipped})
DEFECTS.add("signature_removed", "The signature is empty: the token ends with its second dot.", {"": signed(unsigned)})
# RFC 7515 §7.1: the compact serialization is of three segments, with two dots between them.
DEFECTS.table(
    form,
    "signature_segment_missing",
    "The token has two segments only, without a signature.",
    {"": "{header}.{payload}"},
)
_signature(
    "signature_truncated",
    "The signature lacks its last bytes.",
    {
        "one_byte": lambda honest: honest[:-1],
        "eight_bytes": lambda honest: honest[:-8],
        "half": lambda honest: honest[: len(honest) // 2],
    },
)
_signature(
    "signature_zeroed",
    "The signature has the right length and a constant for its content.",
    {"zeros": lambda honest: bytes(len(honest)), "ones": lambda honest: b"\xff" * len(honest)},
)


@DEFECTS.single()
def signature_of_other_token(good: TokenSpec) -> TokenSpec:
    """The signature is that of another token by the same key."""
    return replace(good, signature=signature_of(good.with_claim("jti", f"{good.claims.get('jti', '')}-other")))


def _more_scope(good: TokenSpec) -> object:
    granted = good.claims.get(good.profile.scope_claim)
    return [*granted, "admin"] if isinstance(granted, list) else f"{granted or ''} admin".strip()


@DEFECTS.each(
    {
        "subject": claim("{subject}")("somebody-else"),
        "expiry": claim("exp")(lambda good: int(good.now) + 365 * 86400),
        "scope": claim("{scope}")(_more_scope),
    }
)
def payload_swapped(good: TokenSpec, edit: Break) -> TokenSpec | None:
    """A claim was edited after signing and the signature kept."""
    edited = edit(good)
    return edited and replace(edited, signature=signature_of(good))


@DEFECTS.single()
def header_swapped(good: TokenSpec) -> TokenSpec:
    """The header was rewritten after signing and the signature kept.

    RFC 7515 §4.1.9: a media type may stand there with or without its prefix, so only the signature can tell.
    """
    typ = good.header.get("typ")
    return replace(good.with_header(typ=f"application/{typ}" if typ else "JWT"), signature=signature_of(good))


@DEFECTS.single(needs={Capability.RSA_KEY})
def algorithm_mismatch(good: TokenSpec) -> TokenSpec:
    """The signature was made with another algorithm than the header says, by the same RSA key."""
    sister = Algorithm.PS256 if good.key.alg is Algorithm.RS256 else Algorithm.RS256
    return replace(good, key=replace(good.key, alg=sister))


DEFECTS.add(
    "signed_by_stranger",
    "A stranger signed the token under the key id of the trusted key.",
    {"": lambda good: replace(good, key=good.key_of(Role.STRANGER))},
)
DEFECTS.add(
    "signed_by_stranger_unknown_kid",
    "A stranger signed the token under a key id that nobody published.",
    {"": lambda good: by_party(good, Role.STRANGER)},
)
DEFECTS.add(
    "signed_by_second_issuer",
    "Another issuer's key signed a token that claims to be the trusted issuer's.",
    {"": lambda good: by_party(good, Role.SECOND)},
)


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


def _in_escapes(good: TokenSpec) -> TokenSpec:
    faulty = good.with_header(alg="none")
    return replace(faulty, raw_header=faulty.header_bytes.replace(b'"none"', b'"n\\u006fne"'))


@DEFECTS.each(
    {
        **{name: header("alg")(alg) for name, alg in _NONE_SPELLINGS.items()},
        "missing": lambda good: good.without_header("alg"),
        "escaped": _in_escapes,
        "without_kid": lambda good: good.with_header(alg="none").without_header("kid"),
        "two_segments": lambda good: replace(good.with_header(alg="none"), form="{header}.{payload}"),
    }
)
def alg_none(good: TokenSpec, edit: Break) -> TokenSpec | None:
    """The token is unsigned and says so in some spelling of alg none."""
    edited = edit(good)
    return edited and replace(edited, signature=unsigned)


def _random(good: TokenSpec) -> Sign:
    return lambda _key, _message: hashlib.sha256(good.payload_bytes).digest()


@DEFECTS.each({"kept": signature_of, "random": _random})
def alg_none_with_signature(good: TokenSpec, sign: Callable[[TokenSpec], Sign]) -> TokenSpec:
    """The token says alg none and carries a signature nevertheless."""
    return replace(good.with_header(alg="none"), signature=sign(good))


@DEFECTS.each({name: name for name in ("XX999", "RS257", "HS1", "__proto__", "constructor", "toString")})
def alg_unknown_unsigned(good: TokenSpec, alg: str) -> TokenSpec:
    """The token is unsigned and names an algorithm that does not exist."""
    return replace(good.with_header(alg=alg), signature=unsigned)


class _Hmac(NamedTuple):
    """Where the secret comes from, which hash is used, and whether the token names the key."""

    secret: Callable[[TokenSpec], bytes | None]
    size: int = 256
    kid: bool = True


def _secret(name: str) -> Callable[[TokenSpec], bytes | None]:
    return lambda good: SECRETS[name](good.key)


@DEFECTS.each(
    {
        **{name: _Hmac(_secret(name)) for name in SECRETS},
        "key_set": _Hmac(key_set),
        "empty_without_kid": _Hmac(_secret("empty"), kid=False),
        **{f"hs{size}_{name}": _Hmac(_secret(name), size) for size in (384, 512) for name in ("pem", "empty")},
    }
)
def hmac_with_public_key(good: TokenSpec, how: _Hmac) -> TokenSpec | None:
    """The token is signed with HS256, the issuer's public key being the secret.

    RFC 8725 §2.1: where HS256 is taken too, the public key that everybody knows becomes the shared secret.
    """
    secret = how.secret(good)
    if secret is None:
        return None
    faulty = (good if how.kid else good.without_header("kid")).with_header(alg=f"HS{how.size}")
    return replace(faulty, signature=keyed(secret, f"sha{how.size}"))


@DEFECTS.each({"trusted_kid": False, "own_kid": True, "dpop_proof": None})
def embedded_jwk(good: TokenSpec, own_kid: bool | None) -> TokenSpec:
    """A stranger signed the token and put the key to verify it with into the header."""
    stranger = good.key_of(Role.STRANGER)
    jwk: dict[str, object] = dict(stranger.public_jwk())
    if own_kid is None:
        members = {name: value for name, value in jwk.items() if name not in {"kid", "alg", "use"}}
        faulty = good.without_header("kid").with_header(typ="dpop+jwt", jwk=members)
    else:
        kid = stranger.kid if own_kid else good.header["kid"]
        faulty = good.with_header(kid=kid, jwk=jwk | {"kid": kid})
    return replace(faulty, key=stranger)


DEFECTS.table(
    header("kid"),
    "hostile_text",
    "The token names a key in characters that no header value may repeat.",
    {"": '"\\r\\n<script>\u00e9\u202e"'},
)
DEFECTS.table(
    saying,
    "unknown_critical_extension",
    "The token marks an extension as critical that no server understands (RFC 7515 §4.1.11).",
    {"": {"crit": ["unknown-extension"], "unknown-extension": True}},
)
