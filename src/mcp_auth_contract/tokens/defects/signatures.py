"""Defects of the signature: what the token says is right, the proof that the issuer said it is not.

RFC 9068 §4: the server "MUST validate the signature of all incoming JWT access tokens according to [RFC7515]" and "MUST
use the keys provided by the authorization server".
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from mcp_auth_contract.tokens.defects.defect import Break, Capability, Defects, by_party, claim, form, signed
from mcp_auth_contract.tokens.keys import Algorithm, Role
from mcp_auth_contract.tokens.spec import Sign, TokenSpec, unsigned


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
