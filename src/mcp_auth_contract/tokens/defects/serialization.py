"""Defects of serialization: segments, base64url and JSON forms that no compact JWS has (RFC 7515 §7)."""

import string
from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Variant
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.spec import Spelling, Spellings, TokenSpec, compact_json

__all__ = ["SERIALIZATION_DEFECTS"]

_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_SPARE = {2: 16, 3: 4}
"""How many spellings the last character of a segment has, by the segment's length modulo four."""


def _form(form: str) -> Break:
    return lambda bench: replace(bench.good, form=form)


def _spelled(**segments: Spelling) -> Break:
    return lambda bench: replace(bench.good, spelled=Spellings(**segments))


def _inside(character: str) -> Callable[[bytes], str]:
    def encode(octets: bytes) -> str:
        text = b64url(octets)
        return f"{text[: len(text) // 2]}{character}{text[len(text) // 2 :]}"

    return encode


def _padded(octets: bytes) -> str:
    text = b64url(octets)
    return text + "=" * (-len(text) % 4)


def _padded_throughout(bench: Bench) -> TokenSpec:
    padded = Spelling("padded", _padded)
    good = bench.good.with_claim("kit_probe", "")
    # The claim's length is chosen so that the payload needs padding.
    if len(good.payload_bytes) % 3 == 0:
        good = bench.good.with_claim("kit_probe", "x")
    return replace(good, spelled=Spellings(padded, padded, padded))


def _with_one_sign(octets: bytes) -> str:
    return b64url(octets) + "="


def _other_tail(octets: bytes) -> str:
    """Write the last character with other unused bits (RFC 4648 §3.5)."""
    text = b64url(octets)
    step = _SPARE.get(len(text) % 4)
    if step is None:
        return text
    place = _ALPHABET.index(text[-1])
    return text[:-1] + _ALPHABET[place - place % step + (place + 1) % step]


def _standard(octets: bytes) -> str:
    return b64url(octets).replace("-", "+").replace("_", "/")


def _standard_payload(bench: Bench) -> TokenSpec:
    # Five question marks in a row make a slash at any offset, so that the two alphabets differ.
    probed = bench.good.with_claim("kit_probe", "?????")
    return replace(probed, spelled=Spellings(payload=Spelling("standard", _standard)))


def _polyglot(bench: Bench) -> TokenSpec:
    """One honest JWS in its JSON form, and forged claims where a parser of the compact form looks (CVE-2022-39227)."""
    good = bench.good
    forged = b64url(compact_json({**good.claims, "jti": "forged"}))
    return replace(good, form=_POLYGLOT.replace("FORGED", forged))


_POLYGLOT = '{{"{header}.FORGED.":"","protected":"{header}","payload":"{payload}","signature":"{signature}"}}'

_EXTRA = {
    "dot_after": "{header}.{payload}.{signature}.",
    "dot_before": ".{header}.{payload}.{signature}",
    "four": "{header}.{payload}.{signature}.x",
    "five": "{header}.{payload}.{signature}.x.y",
}

_JSON = {
    "flattened": '{{"protected":"{header}","payload":"{payload}","signature":"{signature}"}}',
    "general": '{{"payload":"{payload}","signatures":[{{"protected":"{header}","signature":"{signature}"}}]}}',
    "general_without_signatures": '{{"payload":"{payload}","signatures":[]}}',
}

SERIALIZATION_DEFECTS = (
    Defect(
        name="extra_segments",
        sentence="The token has more than the three segments of a JWS.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=tuple(Variant(name, _form(form)) for name, form in _EXTRA.items()),
    ),
    Defect(
        name="stray_characters",
        sentence="The token holds a character that base64url does not have.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=(
            Variant("exclamation_mark_after", _form("{header}.{payload}.{signature}!")),
            Variant("percent_sign_after", _form("{header}.{payload}.{signature}%")),
            Variant("tilde_after", _form("{header}.{payload}.{signature}~")),
            Variant("question_mark_in_signature", _spelled(signature=Spelling("question mark", _inside("?")))),
            Variant("space_in_signature", _spelled(signature=Spelling("space", _inside(" ")))),
            Variant("tilde_in_signed_payload", _spelled(payload=Spelling("tilde", _inside("~")))),
        ),
    ),
    Defect(
        name="odd_base64url",
        sentence="The token is spelled with padding, unused bits, a space or the other alphabet of base64.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=(
            Variant("one_padding_character", _spelled(signature=Spelling("one sign", _with_one_sign))),
            Variant("padded_signature", _spelled(signature=Spelling("padded", _padded))),
            Variant("padded_throughout", _padded_throughout, ("claims.kit_probe", "serialization")),
            Variant("other_unused_bits", _spelled(signature=Spelling("other tail", _other_tail))),
            Variant("space_in_signed_payload", _spelled(payload=Spelling("space", _inside(" ")))),
            Variant("standard_alphabet", _standard_payload, ("claims.kit_probe", "serialization")),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="json_serialization",
        sentence="The token is a JSON object, a JWS serialization that JWTs do not have (RFC 7519 §1).",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=(*(Variant(name, _form(form)) for name, form in _JSON.items()), Variant("polyglot", _polyglot)),
    ),
)
