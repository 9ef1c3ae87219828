"""Defects of the JSON inside a token: what it says depends on who reads it (RFC 8259, RFC 7519 §4, §7.2)."""

import json
from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Need, Variant, one
from mcp_auth_contract.tokens.defects.json_names import JSON_NAME_DEFECTS, members
from mcp_auth_contract.tokens.defects.json_sizes import JSON_SIZE_DEFECTS
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json

__all__ = ["JSON_TEXT_DEFECTS"]

_Text = Callable[[TokenSpec], bytes]


def _payload(text: _Text) -> Break:
    return lambda bench: replace(bench.good, raw_payload=text(bench.good))


def _header(text: _Text) -> Break:
    return lambda bench: replace(bench.good, raw_header=text(bench.good))


def _constant(text: bytes) -> _Text:
    return lambda _: text


def _claims(good: TokenSpec) -> bytes:
    return compact_json(good.claims)


def _escaped(members: object) -> bytes:
    """Write the first letter of each name, and each slash, as an escape (RFC 8259 §7)."""
    if not isinstance(members, dict):
        raise TypeError("only objects have names")
    written = (
        f'"\\u{ord(name[0]):04x}{json.dumps(name[1:])[1:-1]}":' + compact_json(value).decode().replace("/", "\\/")
        for name, value in members.items()
    )
    return ("{" + ",".join(written) + "}").encode()


def _escapes(bench: Bench) -> TokenSpec:
    good = bench.good
    return replace(good, raw_header=_escaped(dict(good.header)), raw_payload=_escaped(dict(good.claims)))


def _spaced(members: object) -> bytes:
    return b" \t" + json.dumps(members, indent="\t", separators=(" ,", " :\r ")).encode() + b"\n"


def _white_space(bench: Bench) -> TokenSpec:
    good = bench.good
    return replace(good, raw_header=_spaced(dict(good.header)), raw_payload=_spaced(dict(good.claims)))


def _single_quotes(good: TokenSpec) -> bytes:
    return _claims(good).replace(b'"', b"'")


def _octets_in_subject(bench: Bench) -> TokenSpec | None:
    good = bench.good
    name = good.profile.subject_claim
    if not isinstance(good.claims.get(name), str):
        return None
    extra = b"," + compact_json({name: good.claims[name]})[1:-2] + b'\xff\xfe"'
    return replace(good, raw_payload=members(b"", good.without_claim(name).claims, extra))


def _surrogate_in_subject(bench: Bench) -> TokenSpec | None:
    good = bench.good
    name = good.profile.subject_claim
    if not isinstance(good.claims.get(name), str):
        return None
    extra = b"," + compact_json({name: good.claims[name]})[1:-2] + b'\\ud800"'
    return replace(good, raw_payload=members(b"", good.without_claim(name).claims, extra))


_OBJECTS = (
    Defect(
        name="payload_not_object",
        sentence="The signed payload is no JSON object (RFC 7519 §7.2).",
        kind=Kind.FORM,
        changes=("claims",),
        forms=(
            Variant("object_in_list", _payload(lambda good: b"[" + _claims(good) + b"]")),
            Variant("null", _payload(_constant(b"null"))),
            Variant("true", _payload(_constant(b"true"))),
            Variant("string", _payload(lambda good: json.dumps(_claims(good).decode()).encode())),
            Variant("no_json", _payload(_constant(b"not json"))),
            Variant("no_bytes", _payload(_constant(b""))),
        ),
    ),
    Defect(
        name="payload_empty_object",
        sentence="The signed payload is an object without a single claim.",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=one(_payload(_constant(b"{}"))),
    ),
    Defect(
        name="header_not_object",
        sentence="The header is no JSON object (RFC 7515 §5.2).",
        kind=Kind.HEADER,
        changes=("header",),
        forms=(
            Variant("object_in_list", _header(lambda good: b"[" + compact_json(good.header) + b"]")),
            Variant("null", _header(_constant(b"null"))),
            Variant("string", _header(lambda good: json.dumps(compact_json(good.header).decode()).encode())),
        ),
    ),
    Defect(
        name="trailing_json",
        sentence="The signed payload is not one JSON text: something stands before, behind or in it.",
        kind=Kind.FORM,
        changes=("claims",),
        forms=(
            Variant("second_object", _payload(lambda good: _claims(good) + b'{"a":1}')),
            Variant("null_character", _payload(lambda good: _claims(good) + b"\0")),
            Variant("comment", _payload(lambda good: b"/*c*/" + _claims(good))),
            Variant("comma", _payload(lambda good: members(b"", good.claims, b","))),
            Variant("single_quotes", _payload(_single_quotes)),
        ),
    ),
)

_ENCODING = (
    Defect(
        name="payload_not_utf8",
        sentence="The signed payload is JSON in an encoding other than plain UTF-8.",
        kind=Kind.FORM,
        changes=("claims",),
        forms=(
            Variant("byte_order_mark", _payload(lambda good: b"\xef\xbb\xbf" + _claims(good))),
            Variant("utf16", _payload(lambda good: _claims(good).decode().encode("utf-16-le"))),
            Variant("utf16_with_mark", _payload(lambda good: _claims(good).decode().encode("utf-16"))),
            Variant("utf32", _payload(lambda good: _claims(good).decode().encode("utf-32-be"))),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="subject_not_unicode",
        sentence="The signed subject is a principal's with octets or a surrogate behind it that no text has.",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=(Variant("octets", _octets_in_subject), Variant("surrogate", _surrogate_in_subject)),
        expectation=Expectation.DISPUTED,
        needs=frozenset({Need.SUBJECT_REQUIRED}),
    ),
    Defect(
        name="escaped_json",
        sentence="Names and slashes are written as JSON escapes, which is legal (RFC 8259 §7).",
        kind=Kind.FORM,
        changes=("header", "claims"),
        forms=one(_escapes),
        expectation=Expectation.ACCEPTED,
    ),
    Defect(
        name="spaced_json",
        sentence="Header and payload hold white space between their parts, which is legal (RFC 8259 §2).",
        kind=Kind.FORM,
        changes=("header", "claims"),
        forms=one(_white_space),
        expectation=Expectation.ACCEPTED,
    ),
)

JSON_TEXT_DEFECTS = (*_OBJECTS, *_ENCODING, *JSON_NAME_DEFECTS, *JSON_SIZE_DEFECTS)
