"""Defects of form: what is sent is no JWT at all."""

import hashlib
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Kind, Variant
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["FORM_DEFECTS"]


def _form(form: str) -> Break:
    return lambda bench: replace(bench.good, form=form)


def _opaque(bench: Bench) -> TokenSpec:
    return replace(bench.good, form=hashlib.sha256(bench.good.payload_bytes).hexdigest())


_FORMS = {
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

FORM_DEFECTS = (
    Defect(
        name="malformed",
        sentence="What is sent as the token is not a well-formed JWT.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=(
            Variant("opaque", _opaque),
            *(Variant(name, _form(form)) for name, form in _FORMS.items()),
        ),
    ),
    Defect(
        name="oversized",
        sentence="What is sent as the token is one character, many thousand times.",
        kind=Kind.FORM,
        changes=("serialization",),
        forms=(
            Variant("letters", _form("A" * (16 * 1024))),
            Variant("eight_thousand_dots", _form("." * 8000)),
        ),
    ),
)
