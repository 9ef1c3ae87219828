"""Defects of form: what is sent is no JWT at all, or not quite one."""

import hashlib
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Kind, Variant, one
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json

__all__ = ["FORM_DEFECTS"]


def _form(form: str) -> Break:
    return lambda bench: replace(bench.good, form=form)


def _opaque(bench: Bench) -> TokenSpec:
    return replace(bench.good, form=hashlib.sha256(bench.good.payload_bytes).hexdigest())


def _payload(raw: bytes) -> Break:
    return lambda bench: replace(bench.good, raw_payload=raw)


def _payload_list(bench: Bench) -> TokenSpec:
    return replace(bench.good, raw_payload=b"[" + compact_json(bench.good.claims) + b"]")


def _header_list(bench: Bench) -> TokenSpec:
    return replace(bench.good, raw_header=b"[" + compact_json(bench.good.header) + b"]")


_FORMS = {
    "single_character": "x",
    "three_letters": "a.b.c",
    "dots": "..",
    "null": "null",
    "undefined": "undefined",
    "four_segments": "{header}.{payload}.{signature}.x",
    "five_segments": "{header}.{payload}.{signature}.x.y",
    "header_empty": ".{payload}.{signature}",
    "payload_empty": "{header}..{signature}",
    "payload_not_base64": "{header}.%{payload}.{signature}",
    "signature_not_base64": "{header}.{payload}.{signature}!",
}

FORM_DEFECTS = (
    Defect(
        name="malformed",
        sentence="What is sent as the token is not a well-formed JWT.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=(
            Variant("opaque", _opaque),
            *(Variant(name, _form(form)) for name, form in _FORMS.items()),
            Variant("header_list", _header_list, ("header",)),
            Variant("payload_list", _payload_list, ("claims",)),
            Variant("payload_text", _payload(b"not json"), ("claims",)),
            Variant("payload_null", _payload(b"null"), ("claims",)),
            Variant("payload_no_bytes", _payload(b""), ("claims",)),
        ),
    ),
    Defect(
        name="oversized",
        sentence="What is sent as the token is 16 KiB long.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=one(_form("A" * (16 * 1024))),
    ),
)
