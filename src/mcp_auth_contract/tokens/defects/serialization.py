"""Defects of serialization: what is no JWT at all, and segments, base64url and JSON forms that no compact JWS has.

RFC 7519 §7.2: a JWT has a period, and each of its parts is decoded "following the restriction that no line breaks,
whitespace, or other additional characters have been used"; RFC 7515 §7.1 makes it three parts, §2 base64url unpadded.
"""

import hashlib
import string
from base64 import b64encode
from dataclasses import replace
from functools import partial

from mcp_auth_contract.tokens.defects.defect import DISPUTED, Break, Defects, form
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.spec import COMPACT, Encode, Spellings, TokenSpec, compact_json

DEFECTS = Defects()
_form = partial(DEFECTS.table, form)


def _malformed(text: str) -> Break:
    return lambda good: replace(good, form=text or hashlib.sha256(good.payload_bytes).hexdigest())


DEFECTS.table(
    _malformed,
    "malformed",
    "What is sent as the token is not a well-formed JWT.",
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
    },
)
_form(
    "oversized",
    "What is sent as the token is one character, many thousand times.",
    {"letters": "A" * (16 * 1024), "eight_thousand_dots": "." * 8000},
)
_form(
    "extra_segments",
    "The token has more than the three segments of a JWS.",
    {"dot_after": f"{COMPACT}.", "dot_before": f".{COMPACT}", "four": f"{COMPACT}.x", "five": f"{COMPACT}.x.y"},
)


def _inside(character: str) -> Encode:
    def encode(octets: bytes) -> str:
        text = b64url(octets)
        return f"{text[: len(text) // 2]}{character}{text[len(text) // 2 :]}"

    return encode


def _spelled(spelled: Spellings) -> Break:
    return lambda good: replace(good, spelled=spelled)


DEFECTS.add(
    "stray_characters",
    "The token holds a character that base64url does not have.",
    {
        "exclamation_mark_after": form(f"{COMPACT}!"),
        "percent_sign_after": form(f"{COMPACT}%"),
        "tilde_after": form(f"{COMPACT}~"),
        "question_mark_in_signature": _spelled(Spellings(signature=_inside("?"))),
        "space_in_signature": _spelled(Spellings(signature=_inside(" "))),
        "tilde_in_signed_payload": _spelled(Spellings(payload=_inside("~"))),
    },
)

_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_SPARE = {2: 16, 3: 4}
"""How many spellings the last character of a segment has, by the segment's length modulo four."""


def _padded(octets: bytes) -> str:
    text = b64url(octets)
    return text + "=" * (-len(text) % 4)


def _other_tail(octets: bytes) -> str:
    """Write the last character with other unused bits (RFC 4648 §3.5)."""
    text = b64url(octets)
    step = _SPARE.get(len(text) % 4)
    if step is None:
        return text
    place = _ALPHABET.index(text[-1])
    return text[:-1] + _ALPHABET[place - place % step + (place + 1) % step]


def _padded_throughout(good: TokenSpec) -> TokenSpec:
    probed = good.with_claim("kit_probe", "")
    if len(probed.payload_bytes) % 3 == 0:
        probed = good.with_claim("kit_probe", "x")
    return replace(probed, spelled=Spellings(_padded, _padded, _padded))


def _standard_alphabet(good: TokenSpec) -> TokenSpec:
    # Five question marks in a row make a slash at any offset, so that the two alphabets differ.
    standard = Spellings(payload=lambda octets: b64encode(octets).decode().rstrip("="))
    return replace(good.with_claim("kit_probe", "?????"), spelled=standard)


DEFECTS.add(
    "odd_base64url",
    "The token is spelled with padding, unused bits, a space or the other alphabet of base64.",
    {
        "one_padding_character": _spelled(Spellings(signature=lambda octets: f"{b64url(octets)}=")),
        "padded_signature": _spelled(Spellings(signature=_padded)),
        "padded_throughout": _padded_throughout,
        "other_unused_bits": _spelled(Spellings(signature=_other_tail)),
        "space_in_signed_payload": _spelled(Spellings(payload=_inside(" "))),
        "standard_alphabet": _standard_alphabet,
    },
    DISPUTED,
)


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
