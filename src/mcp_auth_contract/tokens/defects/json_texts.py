"""Defects of the JSON inside a token: what it says depends on who reads it.

RFC 7519 §7.2: header and claims are each "a UTF-8-encoded representation of a completely valid JSON object".
"""

import json
from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Capability, Defects, Expectation
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json

__all__ = ["DEFECTS", "members"]

DEFECTS = Defects()


def members(first: bytes, value: object, last: bytes) -> bytes:
    """Return a JSON object with raw text before and behind its members."""
    return b"{" + first + compact_json(value)[1:-1] + last + b"}"


def _as_string(text: bytes) -> bytes:
    return json.dumps(text.decode()).encode()


_Edit = Callable[[bytes], bytes]


@DEFECTS.each(
    {
        "object_in_list": lambda text: b"[" + text + b"]",
        "null": lambda _: b"null",
        "true": lambda _: b"true",
        "string": _as_string,
        "no_json": lambda _: b"not json",
        "no_bytes": lambda _: b"",
    }
)
def payload_not_object(good: TokenSpec, edit: _Edit) -> TokenSpec:
    """The signed payload is no JSON object (RFC 7519 §7.2)."""
    return replace(good, raw_payload=edit(compact_json(good.claims)))


@DEFECTS.single()
def payload_empty_object(good: TokenSpec) -> TokenSpec:
    """The signed payload is an object without a single claim."""
    return replace(good, raw_payload=b"{}")


@DEFECTS.each({"object_in_list": lambda text: b"[" + text + b"]", "null": lambda _: b"null", "string": _as_string})
def header_not_object(good: TokenSpec, edit: _Edit) -> TokenSpec:
    """The header is no JSON object (RFC 7515 §5.2)."""
    return replace(good, raw_header=edit(compact_json(good.header)))


@DEFECTS.each(
    {
        "second_object": lambda text: text + b'{"a":1}',
        "null_character": lambda text: text + b"\0",
        "comment": lambda text: b"/*c*/" + text,
        "comma": lambda text: text[:-1] + b",}",
        "single_quotes": lambda text: text.replace(b'"', b"'"),
    }
)
def trailing_json(good: TokenSpec, edit: _Edit) -> TokenSpec:
    """The signed payload is not one JSON text: something stands before, behind or in it."""
    return replace(good, raw_payload=edit(compact_json(good.claims)))


@DEFECTS.each(
    {
        "byte_order_mark": lambda text: b"\xef\xbb\xbf" + text,
        "utf16": lambda text: text.decode().encode("utf-16-le"),
        "utf16_with_mark": lambda text: text.decode().encode("utf-16"),
        "utf32": lambda text: text.decode().encode("utf-32-be"),
    },
    Expectation.DISPUTED,
)
def payload_not_utf8(good: TokenSpec, edit: _Edit) -> TokenSpec:
    """The signed payload is JSON in an encoding other than plain UTF-8."""
    return replace(good, raw_payload=edit(compact_json(good.claims)))


@DEFECTS.each(
    {"octets": b"\xff\xfe", "surrogate": b"\\ud800"},
    Expectation.DISPUTED,
    needs=frozenset({Capability.SUBJECT_REQUIRED}),
)
def subject_not_unicode(good: TokenSpec, appended: bytes) -> TokenSpec | None:
    """The signed subject is a principal's with octets or a surrogate behind it that no text has."""
    name = good.profile.subject_claim
    if not isinstance(good.claims.get(name), str):
        return None
    subject = b"," + compact_json({name: good.claims[name]})[1:-2] + appended + b'"'
    return replace(good, raw_payload=members(b"", good.without_claim(name).claims, subject))


def _escaped(value: dict[str, object]) -> bytes:
    """Write the first letter of each name, and each slash, as an escape (RFC 8259 §7)."""
    written = (
        f'"\\u{ord(name[0]):04x}{json.dumps(name[1:])[1:-1]}":' + compact_json(one).decode().replace("/", "\\/")
        for name, one in value.items()
    )
    return ("{" + ",".join(written) + "}").encode()


@DEFECTS.single(Expectation.ACCEPTED)
def escaped_json(good: TokenSpec) -> TokenSpec:
    """Names and slashes are written as JSON escapes, which is legal (RFC 8259 §7)."""
    return replace(good, raw_header=_escaped(dict(good.header)), raw_payload=_escaped(dict(good.claims)))


def _spaced(value: dict[str, object]) -> bytes:
    return b" \t" + json.dumps(value, indent="\t", separators=(" ,", " :\r ")).encode() + b"\n"


@DEFECTS.single(Expectation.ACCEPTED)
def spaced_json(good: TokenSpec) -> TokenSpec:
    """Header and payload hold white space between their parts, which is legal (RFC 8259 §2)."""
    return replace(good, raw_header=_spaced(dict(good.header)), raw_payload=_spaced(dict(good.claims)))
