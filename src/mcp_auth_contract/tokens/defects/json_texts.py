"""Defects of the JSON inside a token: what it says depends on who reads it.

RFC 7519 §7.2: header and claims are each "a UTF-8-encoded representation of a completely valid JSON object"; §4: claim
names "MUST be unique", and parsers "MUST either reject JWTs with duplicate Claim Names or use a JSON parser that
returns only the lexically last duplicate member name"; RFC 7515 §4 says so of headers.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from mcp_auth_contract.tokens.defects.defect import ACCEPTED, DISPUTED, Break, Capability, Defects
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json, unsigned

DEFECTS = Defects()


def _members(first: bytes, value: object, last: bytes) -> bytes:
    """Return a JSON object with raw text before and behind its members."""
    return b"{" + first + compact_json(value)[1:-1] + last + b"}"


def _as_string(text: bytes) -> bytes:
    return json.dumps(text.decode()).encode()


_Edit = Callable[[bytes], bytes]


def _written(edit: _Edit) -> Break:
    return lambda good: replace(good, raw_payload=edit(compact_json(good.claims)))


_payload = partial(DEFECTS.table, _written)
_payload(
    "payload_not_object",
    "The signed payload is no JSON object (RFC 7519 §7.2).",
    {
        "object_in_list": lambda text: b"[" + text + b"]",
        "null": lambda _: b"null",
        "true": lambda _: b"true",
        "string": _as_string,
        "no_json": lambda _: b"not json",
        "no_bytes": lambda _: b"",
    },
)
_payload("payload_empty_object", "The signed payload is an object without a single claim.", {"": lambda _: b"{}"})


@DEFECTS.each({"object_in_list": lambda text: b"[" + text + b"]", "null": lambda _: b"null", "string": _as_string})
def header_not_object(good: TokenSpec, edit: _Edit) -> TokenSpec:
    """The header is no JSON object (RFC 7515 §5.2)."""
    return replace(good, raw_header=edit(compact_json(good.header)))


_payload(
    "trailing_json",
    "The signed payload is not one JSON text: something stands before, behind or in it.",
    {
        "second_object": lambda text: text + b'{"a":1}',
        "null_character": lambda text: text + b"\0",
        "comment": lambda text: b"/*c*/" + text,
        "comma": lambda text: text[:-1] + b",}",
        "single_quotes": lambda text: text.replace(b'"', b"'"),
    },
)
_payload(
    "payload_not_utf8",
    "The signed payload is JSON in an encoding other than plain UTF-8.",
    {
        "byte_order_mark": lambda text: b"\xef\xbb\xbf" + text,
        "utf16": lambda text: text.decode().encode("utf-16-le"),
        "utf16_with_mark": lambda text: text.decode().encode("utf-16"),
        "utf32": lambda text: text.decode().encode("utf-32-be"),
    },
    DISPUTED,
)


@DEFECTS.each({"octets": b"\xff\xfe", "surrogate": b"\\ud800"}, DISPUTED, needs={Capability.SUBJECT_REQUIRED})
def subject_not_unicode(good: TokenSpec, appended: bytes) -> TokenSpec | None:
    """The signed subject is a principal's with octets or a surrogate behind it that no text has."""
    name = good.profile.subject_claim
    if not isinstance(good.claims.get(name), str):
        return None
    subject = b"," + compact_json({name: good.claims[name]})[1:-2] + appended + b'"'
    return replace(good, raw_payload=_members(b"", good.without_claim(name).claims, subject))


def _escaped(value: dict[str, object]) -> bytes:
    """Write the first letter of each name, and each slash, as an escape (RFC 8259 §7)."""
    written = (
        f'"\\u{ord(name[0]):04x}{json.dumps(name[1:])[1:-1]}":' + compact_json(one).decode().replace("/", "\\/")
        for name, one in value.items()
    )
    return ("{" + ",".join(written) + "}").encode()


@DEFECTS.single(ACCEPTED)
def escaped_json(good: TokenSpec) -> TokenSpec:
    """Names and slashes are written as JSON escapes, which is legal (RFC 8259 §7)."""
    return replace(good, raw_header=_escaped(dict(good.header)), raw_payload=_escaped(dict(good.claims)))


def _spaced(value: dict[str, object]) -> bytes:
    return b" \t" + json.dumps(value, indent="\t", separators=(" ,", " :\r ")).encode() + b"\n"


@DEFECTS.single(ACCEPTED)
def spaced_json(good: TokenSpec) -> TokenSpec:
    """Header and payload hold white space between their parts, which is legal (RFC 8259 §2)."""
    return replace(good, raw_header=_spaced(dict(good.header)), raw_payload=_spaced(dict(good.claims)))


_OTHER = "urn:mcp-auth-contract:somebody-else"
_NONE = b'"alg":"none"'
_WRONG: dict[str, dict[str, object]] = {"expiry": {"exp": 1}, "audience": {"aud": _OTHER}, "issuer": {"iss": _OTHER}}


def _twice_wrong_last(good: TokenSpec, wrong: dict[str, object]) -> TokenSpec | None:
    if not wrong.keys() <= good.claims.keys():
        return None
    return replace(good, raw_payload=_members(b"", good.claims, b"," + compact_json(wrong)[1:-1]))


@DEFECTS.each(_WRONG)
def claim_twice_wrong_last(good: TokenSpec, wrong: dict[str, object]) -> TokenSpec | None:
    """A claim stands there twice, the wrong value last (RFC 7519 §4)."""
    return _twice_wrong_last(good, wrong)


@DEFECTS.each({name: _WRONG[name] for name in ("expiry", "audience")}, DISPUTED)
def claim_twice_wrong_first(good: TokenSpec, wrong: dict[str, object]) -> TokenSpec:
    """A claim stands there twice, the wrong value first, which a reader may refuse (RFC 7519 §4)."""
    return replace(good, raw_payload=_members(compact_json(wrong)[1:-1] + b",", good.claims, b""))


@DEFECTS.single(DISPUTED, needs={Capability.SUBJECT_REQUIRED})
def subject_twice(good: TokenSpec) -> TokenSpec | None:
    """The subject stands there twice, a stranger's last (RFC 7519 §4)."""
    return _twice_wrong_last(good, {good.profile.subject_claim: _OTHER})


@DEFECTS.each({"none_last": (b"", b"," + _NONE), "none_first": (_NONE + b",", b"")})
def alg_twice(good: TokenSpec, around: tuple[bytes, bytes]) -> TokenSpec:
    """The header names two algorithms, one of them none, and the signature is empty."""
    first, last = around
    return replace(good, raw_header=_members(first, good.header, last), signature=unsigned)


@DEFECTS.single(DISPUTED)
def alg_twice_signed(good: TokenSpec) -> TokenSpec:
    """The header names two algorithms, none first, and the signature is honest."""
    return replace(good, raw_header=_members(_NONE + b",", good.header, b""))


class _Named(NamedTuple):
    """A claim, the name that only a sloppy reader takes for it, and the value that is wrong."""

    name: str
    other: str
    wrong: object = _OTHER
    first: bool = False


@DEFECTS.each(
    {
        "audience": _Named("aud", "AUD"),
        "audience_first": _Named("aud", "AUD", first=True),
        "expiry": _Named("exp", "Exp", 1),
        "issuer": _Named("iss", "Iss"),
        "issuer_with_long_s": _Named("iss", "is\u017f"),
    }
)
def claim_in_other_case(good: TokenSpec, claim: _Named) -> TokenSpec:
    """A claim is wrong, and right under a name that differs in case or by a long s.

    RFC 7519 §10.1.1 keeps claim names case-sensitive.
    """
    right = {claim.other: good.claims[claim.name]}
    broken = {**good.claims, claim.name: claim.wrong}
    return replace(good, claims={**right, **broken} if claim.first else {**broken, **right})


@DEFECTS.each({"audience": "aud", "issuer": "iss", "algorithm": ""})
def members_in_prototype(good: TokenSpec, claim: str) -> TokenSpec:
    """What is required is missing, and stands in a member named __proto__."""
    if claim:
        hidden_claim = {claim: good.claims[claim]}
        return good.without_claim(claim).with_claim("__proto__", hidden_claim)
    hidden = good.without_header("alg").with_header(__proto__={"alg": "none"})
    return replace(hidden, signature=unsigned)


@DEFECTS.each({"issuer": "iss", "audience": "aud"})
def hostile_claim(good: TokenSpec, claim: str) -> TokenSpec:
    """The token is of an issuer, or for an audience, in characters that no header value may repeat."""
    return good.with_claim(claim, 'https://\r\n"\\<script>\u00e9\u202e.invalid')


def _number(good: TokenSpec, name: str, text: str) -> TokenSpec:
    """Write the value of a claim as it stands, whether it is a number or not."""
    rest = {member: value for member, value in good.claims.items() if member != name}
    return replace(good, raw_payload=_members(b"", rest, f',"{name}":{text}'.encode()))


@DEFECTS.each(
    {
        "not_a_number": "NaN",
        "infinity": "Infinity",
        "plus_sign": "+{0[exp]}",
        "leading_zero": "0{0[exp]}",
        "hexadecimal": "{0[exp]:#x}",
    }
)
def number_not_json(good: TokenSpec, text: str) -> TokenSpec:
    """The expiry is written as a number that JSON does not have (RFC 8259 §6)."""
    return _number(good, "exp", text.format(good.claims))


@DEFECTS.each(
    {"expiry": ("exp", "1" + "0" * 400), "issued_at": ("iat", "1" + "0" * 4400), "overflowing": ("exp", "1e999")},
    DISPUTED,
)
def number_huge(good: TokenSpec, written: tuple[str, str]) -> TokenSpec:
    """A claim is a number that no machine word holds: of hundreds or thousands of digits, or infinite once it is read.

    RFC 8259 §6: an implementation may "set limits on the range and precision of numbers accepted".
    """
    return _number(good, *written)


def _nested(depth: int) -> bytes:
    return b',"nested":' + b"[" * depth + b"]" * depth


@DEFECTS.each({"header_thousand": 1000, "header_two_thousand": 2000, "payload_two_thousand": 0})
def deep_json(good: TokenSpec, depth: int) -> TokenSpec:
    """The unsigned token nests arrays a thousand levels deep and more."""
    deep = replace(good, raw_header=_members(b"", good.header, _nested(depth))) if depth else deep_json_signed(good)
    return replace(deep, signature=unsigned)


@DEFECTS.single(DISPUTED)
def deep_json_signed(good: TokenSpec) -> TokenSpec:
    """The token is honest, and an unknown claim in it nests arrays two thousand levels deep.

    RFC 8259 §9: an implementation may "set limits on the maximum depth of nesting".
    """
    return replace(good, raw_payload=_members(b"", good.claims, _nested(2000)))


_OTHERS = tuple(f"a{number}" for number in range(999))


def _long(octets: int) -> Callable[[TokenSpec], TokenSpec]:
    """Pad the claims until the whole token is about this long; base64url makes four characters of three octets."""
    return lambda good: good.with_claim("kit_padding", "x" * ((octets - 700) * 3 // 4 - len(good.payload_bytes)))


@DEFECTS.each(
    {
        "eight_kilobytes": _long(8 * 1024 - 16),
        "sixteen_kilobytes": _long(16 * 1024 - 16),
        "sixty_four_kilobytes": _long(64 * 1024 - 16),
        "five_hundred_claims": lambda good: good.with_claims(**{f"c{number}": 0 for number in range(500)}),
        "thousand_audiences": lambda good: good.with_claim("aud", [*_OTHERS, good.profile.audience]),
    },
    DISPUTED,
)
def long_token(good: TokenSpec, lengthen: Callable[[TokenSpec], TokenSpec]) -> TokenSpec:
    """The token is honest and unusually long."""
    return lengthen(good)
