"""Defects of the names inside a token: given twice, in another case, or where only some readers look."""

from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Need, Variant, one, path_of
from mcp_auth_contract.tokens.spec import Absent, TokenSpec, compact_json

__all__ = ["JSON_NAME_DEFECTS", "members"]

_OTHER = "urn:mcp-auth-contract:somebody-else"


def members(first: bytes, value: object, last: bytes) -> bytes:
    """Return a JSON object with raw text before and behind its members."""
    return b"{" + first + compact_json(value)[1:-1] + last + b"}"


def _later(name: str, value: object) -> Break:
    """Write a claim a second time, at the end."""

    def apply(bench: Bench) -> TokenSpec | None:
        written = path_of(name, bench.good.profile)
        if written not in bench.good.claims:
            return None
        extra = b"," + compact_json({written: value})[1:-1]
        return replace(bench.good, raw_payload=members(b"", bench.good.claims, extra))

    return apply


def _earlier(name: str, value: object) -> Break:
    """Write a claim a second time, at the beginning."""
    extra = compact_json({name: value})[1:-1] + b","
    return lambda bench: replace(bench.good, raw_payload=members(extra, bench.good.claims, b""))


def _algorithm_twice(*, none_last: bool, signed: bool) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        none = b'"alg":"none"'
        first, last = (b"", b"," + none) if none_last else (none + b",", b"")
        twice = replace(bench.good, raw_header=members(first, bench.good.header, last))
        return twice if signed else replace(twice, signature=Absent())

    return apply


def _in_other_case(name: str, wrong: object, other: str, *, first: bool = False) -> Break:
    """Give a claim a wrong value, and the right one to a name that only a sloppy reader takes for the same."""

    def apply(bench: Bench) -> TokenSpec:
        good = bench.good
        right = {other: good.claims[name]}
        broken = {**good.claims, name: wrong}
        return replace(good, claims={**right, **broken} if first else {**broken, **right})

    return apply


def _in_prototype(name: str) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        hidden = {name: bench.good.claims[name]}
        return bench.good.without_claim(name).with_claim("__proto__", hidden)

    return apply


def _algorithm_in_prototype(bench: Bench) -> TokenSpec:
    hidden = bench.good.without_header("alg").with_header(__proto__={"alg": "none"})
    return replace(hidden, signature=Absent())


def _hostile(name: str) -> Break:
    return lambda bench: bench.good.with_claim(name, 'https://\r\n"\\<script>\u00e9\u202e.invalid')


JSON_NAME_DEFECTS = (
    Defect(
        name="claim_twice_wrong_last",
        sentence="A claim stands there twice, the wrong value last (RFC 7519 §4).",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=(
            Variant("expiry", _later("exp", 1)),
            Variant("audience", _later("aud", _OTHER)),
            Variant("issuer", _later("iss", _OTHER)),
        ),
    ),
    Defect(
        name="claim_twice_wrong_first",
        sentence="A claim stands there twice, the wrong value first, which a reader may refuse (RFC 7519 §4).",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=(Variant("expiry", _earlier("exp", 1)), Variant("audience", _earlier("aud", _OTHER))),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="subject_twice",
        sentence="The subject stands there twice, a stranger's last (RFC 7519 §4).",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=one(_later("{subject}", _OTHER)),
        expectation=Expectation.DISPUTED,
        needs=frozenset({Need.SUBJECT_REQUIRED}),
    ),
    Defect(
        name="alg_twice",
        sentence="The header names two algorithms, one of them none, and the signature is empty.",
        kind=Kind.HEADER,
        changes=("header", "signature"),
        forms=(
            Variant("none_last", _algorithm_twice(none_last=True, signed=False)),
            Variant("none_first", _algorithm_twice(none_last=False, signed=False)),
        ),
    ),
    Defect(
        name="alg_twice_signed",
        sentence="The header names two algorithms, none first, and the signature is honest.",
        kind=Kind.HEADER,
        changes=("header",),
        forms=one(_algorithm_twice(none_last=False, signed=True)),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="claim_in_other_case",
        sentence="A claim is wrong, and right under a name that differs in case or by a long s.",
        kind=Kind.CLAIM,
        changes=("claims.aud", "claims.AUD"),
        forms=(
            Variant("audience", _in_other_case("aud", _OTHER, "AUD")),
            Variant("audience_first", _in_other_case("aud", _OTHER, "AUD", first=True)),
            Variant("expiry", _in_other_case("exp", 1, "Exp"), ("claims.exp", "claims.Exp")),
            Variant("issuer", _in_other_case("iss", _OTHER, "Iss"), ("claims.iss", "claims.Iss")),
            Variant("issuer_with_long_s", _in_other_case("iss", _OTHER, "is\u017f"), ("claims.iss", "claims.is\u017f")),
        ),
    ),
    Defect(
        name="members_in_prototype",
        sentence="What is required is missing, and stands in a member named __proto__.",
        kind=Kind.CLAIM,
        changes=("claims.aud", "claims.__proto__"),
        forms=(
            Variant("audience", _in_prototype("aud")),
            Variant("issuer", _in_prototype("iss"), ("claims.iss", "claims.__proto__")),
            Variant("algorithm", _algorithm_in_prototype, ("header.alg", "header.__proto__", "signature")),
        ),
    ),
    Defect(
        name="hostile_claim",
        sentence="The token is of an issuer, or for an audience, in characters that no header value may repeat.",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=(Variant("issuer", _hostile("iss")), Variant("audience", _hostile("aud"), ("claims.aud",))),
    ),
)
