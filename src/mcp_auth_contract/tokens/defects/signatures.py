"""Defects of the signature: what the token says is right, the proof that the issuer said it is not."""

from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import (
    Bench,
    Break,
    Defect,
    Kind,
    Need,
    Variant,
    claim,
    one,
)
from mcp_auth_contract.tokens.keys import Algorithm, Role
from mcp_auth_contract.tokens.spec import (
    Absent,
    Borrowed,
    Edited,
    SignatureEdit,
    SignatureTreatment,
    TokenSpec,
    compact_json,
)

__all__ = ["SIGNATURE_DEFECTS"]


def _treated(treatment: SignatureTreatment) -> Break:
    return lambda bench: replace(bench.good, signature=treatment)


def _edited(edit: SignatureEdit) -> Break:
    return _treated(Edited(edit))


def _of_other_token(bench: Bench) -> TokenSpec:
    good = bench.good
    other = compact_json({**good.claims, "jti": f"{good.claims.get('jti', '')}-other"})
    return replace(good, signature=Borrowed(good.header_bytes, other))


def _kept(change: Break) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        changed = change(bench)
        good = bench.good
        return changed and replace(changed, signature=Borrowed(good.header_bytes, good.payload_bytes))

    return apply


def _longer_life(good: TokenSpec) -> int:
    return int(good.now) + 365 * 86400


def _more_scope(good: TokenSpec) -> object:
    granted = good.claims.get(good.profile.scope_claim)
    return [*granted, "admin"] if isinstance(granted, list) else f"{granted or ''} admin".strip()


def _other_type_name(bench: Bench) -> TokenSpec:
    # The media type may be spelled with or without its prefix (RFC 7515 §4.1.9): only the signature can tell.
    typ = bench.good.header.get("typ")
    return bench.good.with_header(typ=f"application/{typ}" if typ else "JWT")


def _sister_algorithm(bench: Bench) -> TokenSpec:
    key = bench.good.key
    sister = Algorithm.PS256 if key.alg is Algorithm.RS256 else Algorithm.RS256
    return replace(bench.good, key=replace(key, alg=sister))


def _by_stranger(bench: Bench) -> TokenSpec:
    good = bench.good
    return replace(good, key=bench.keys(Role.STRANGER, good.key.alg))


def _by(role: Role) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        key = bench.keys(role, bench.good.key.alg)
        return replace(bench.good.with_header(kid=key.kid), key=key)

    return apply


SIGNATURE_DEFECTS = (
    Defect(
        name="signature_bit_flipped",
        sentence="One bit in the middle of the signature is turned.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=one(_edited(SignatureEdit.FLIPPED)),
    ),
    Defect(
        name="signature_removed",
        sentence="The signature is empty: the token ends with its second dot.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=one(_treated(Absent())),
    ),
    Defect(
        name="signature_segment_missing",
        sentence="The token has two segments only, without a signature.",
        kind=Kind.SIGNATURE,
        changes=("serialization",),
        forms=one(lambda bench: replace(bench.good, form="{header}.{payload}")),
    ),
    Defect(
        name="signature_truncated",
        sentence="The signature lacks its last bytes.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=(
            Variant("one_byte", _edited(SignatureEdit.SHORT_BY_ONE)),
            Variant("eight_bytes", _edited(SignatureEdit.SHORT_BY_EIGHT)),
            Variant("half", _edited(SignatureEdit.HALF)),
        ),
    ),
    Defect(
        name="signature_zeroed",
        sentence="The signature has the right length and a constant for its content.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=(Variant("zeros", _edited(SignatureEdit.ZEROS)), Variant("ones", _edited(SignatureEdit.ONES))),
    ),
    Defect(
        name="signature_of_other_token",
        sentence="The signature is that of another token by the same key.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=one(_of_other_token),
    ),
    Defect(
        name="payload_swapped",
        sentence="A claim was edited after signing and the signature kept.",
        kind=Kind.SIGNATURE,
        changes=("claims.{subject}", "signature"),
        forms=(
            Variant("subject", _kept(claim("{subject}", lambda _: "somebody-else"))),
            Variant("expiry", _kept(claim("exp", _longer_life)), ("claims.exp", "signature")),
            Variant("scope", _kept(claim("{scope}", _more_scope)), ("claims.{scope}", "signature")),
        ),
    ),
    Defect(
        name="header_swapped",
        sentence="The header was rewritten after signing and the signature kept.",
        kind=Kind.SIGNATURE,
        changes=("header.typ", "signature"),
        forms=one(_kept(_other_type_name)),
    ),
    Defect(
        name="algorithm_mismatch",
        sentence="The signature was made with another algorithm than the header says, by the same RSA key.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=one(_sister_algorithm),
        needs=frozenset({Need.RSA_KEY}),
    ),
    Defect(
        name="signed_by_stranger",
        sentence="A stranger signed the token under the key id of the trusted key.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=one(_by_stranger),
    ),
    Defect(
        name="signed_by_stranger_unknown_kid",
        sentence="A stranger signed the token under a key id that nobody published.",
        kind=Kind.SIGNATURE,
        changes=("signature", "header.kid"),
        forms=one(_by(Role.STRANGER)),
    ),
    Defect(
        name="signed_by_second_issuer",
        sentence="Another issuer's key signed a token that claims to be the trusted issuer's.",
        kind=Kind.SIGNATURE,
        changes=("signature", "header.kid"),
        forms=one(_by(Role.SECOND)),
    ),
)
