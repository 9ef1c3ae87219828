"""Defects of serialization: what is no JWT at all, and segments, base64url and JSON forms that no compact JWS has.

RFC 7519 §7.2: a JWT has a period, and each of its parts is decoded "following the restriction that no line breaks,
whitespace, or other additional characters have been used"; RFC 7515 §7.1 makes it three parts, §2 base64url unpadded.
"""

import hashlib
import string
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcp_auth_contract.tokens.defects.defect import Defects, Expectation
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.spec import COMPACT, Encode, Spellings, TokenSpec, compact_json

__all__ = ["DEFECTS"]

DEFECTS = Defects()


@DEFECTS.each(
    {
        "opaque": "",
        "single_character": "x",
        "three_letters": "a.b.c",
        "dots": "..",
        "null": "null",
        "none": "None",
        "undefined": "undefined",
        "object": "[object Object]",
        "header_empty": ".{payload}.{signature}",
        "payload_empty": "{header}..{signature}",
    }
)
def malformed(good: TokenSpec, form: str) -> TokenSpec:
    """What is sent as the token is not a well-formed JWT."""
    return replace(good, form=form or hashlib.sha256(good.payload_bytes).hexdigest())


@DEFECTS.each({"letters": "A" * (16 * 1024), "eight_thousand_dots": "." * 8000})
def oversized(good: TokenSpec, form: str) -> TokenSpec:
    """What is sent as the token is one character, many thousand times."""
    return replace(good, form=form)


@DEFECTS.each(
    {
        "dot_after": f"{COMPACT}.",
        "dot_before": f".{COMPACT}",
        "four": f"{COMPACT}.x",
        "five": f"{COMPACT}.x.y",
    }
)
def extra_segments(good: TokenSpec, form: str) -> TokenSpec:
    """The token has more than the three segments of a JWS."""
    return replace(good, form=form)


def _inside(character: str) -> Encode:
    def encode(octets: bytes) -> str:
        text = b64url(octets)
        return f"{text[: len(text) // 2]}{character}{text[len(text) // 2 :]}"

    return encode


@DEFECTS.each(
    {
        "exclamation_mark_after": {"form": f"{COMPACT}!"},
        "percent_sign_after": {"form": f"{COMPACT}%"},
        "tilde_after": {"form": f"{COMPACT}~"},
        "question_mark_in_signature": {"spelled": Spellings(signature=_inside("?"))},
        "space_in_signature": {"spelled": Spellings(signature=_inside(" "))},
        "tilde_in_signed_payload": {"spelled": Spellings(payload=_inside("~"))},
    }
)
def stray_characters(good: TokenSpec, changes: dict[str, Any]) -> TokenSpec:
    """The token holds a character that base64url does not have."""
    return replace(good, **changes)


_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_SPARE = {2: 16, 3: 4}
"""How many spellings the last character of a segment has, by the segment's length modulo four."""


def _padded(octets: bytes) -> str:
    text = b64url(octets)
    return text + "=" * (-len(text) % 4)


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


def _needing_padding(good: TokenSpec) -> TokenSpec:
    probed = good.with_claim("kit_probe", "")
    return probed if len(probed.payload_bytes) % 3 else good.with_claim("kit_probe", "x")


def _with_both_alphabets(good: TokenSpec) -> TokenSpec:
    # Five question marks in a row make a slash at any offset, so that the two alphabets differ.
    return good.with_claim("kit_probe", "?????")


def _unprobed(good: TokenSpec) -> TokenSpec:
    return good


@DEFECTS.each(
    {
        "one_padding_character": (_unprobed, Spellings(signature=_with_one_sign)),
        "padded_signature": (_unprobed, Spellings(signature=_padded)),
        "padded_throughout": (_needing_padding, Spellings(_padded, _padded, _padded)),
        "other_unused_bits": (_unprobed, Spellings(signature=_other_tail)),
        "space_in_signed_payload": (_unprobed, Spellings(payload=_inside(" "))),
        "standard_alphabet": (_with_both_alphabets, Spellings(payload=_standard)),
    },
    Expectation.DISPUTED,
)
def odd_base64url(good: TokenSpec, written: tuple[Callable[[TokenSpec], TokenSpec], Spellings]) -> TokenSpec:
    """The token is spelled with padding, unused bits, a space or the other alphabet of base64."""
    prepare, spelled = written
    return replace(prepare(good), spelled=spelled)


@DEFECTS.each(
    {
        "flattened": '{{"protected":"{header}","payload":"{payload}","signature":"{signature}"}}',
        "general": '{{"payload":"{payload}","signatures":[{{"protected":"{header}","signature":"{signature}"}}]}}',
        "general_without_signatures": '{{"payload":"{payload}","signatures":[]}}',
        # One honest JWS, and forged claims where a parser of the compact form looks (CVE-2022-39227).
        "polyglot": '{{"{header}.FORGED.":"","protected":"{header}","payload":"{payload}","signature":"{signature}"}}',
    }
)
def json_serialization(good: TokenSpec, form: str) -> TokenSpec:
    """The token is a JSON object, a JWS serialization that JWTs do not have (RFC 7519 §1)."""
    forged = b64url(compact_json({**good.claims, "jti": "forged"}))
    return replace(good, form=form.replace("FORGED", forged))
