"""Defects of measure: numbers that JSON does not have, nesting and lengths that parsers may not stand."""

from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Variant, one
from mcp_auth_contract.tokens.defects.json_names import members
from mcp_auth_contract.tokens.spec import Absent, TokenSpec

__all__ = ["JSON_SIZE_DEFECTS"]


def _number(name: str, text: Callable[[TokenSpec], str]) -> Break:
    """Write the value of a claim as it stands, whether it is a number or not."""

    def apply(bench: Bench) -> TokenSpec:
        bare = bench.good.without_claim(name)
        extra = f',"{name}":{text(bench.good)}'.encode()
        return replace(bench.good, raw_payload=members(b"", bare.claims, extra))

    return apply


def _expiry(text: str) -> Break:
    return _number("exp", lambda _: text)


def _nested(depth: int) -> bytes:
    return b',"nested":' + b"[" * depth + b"]" * depth


def _deep_header(depth: int) -> Break:
    return lambda bench: replace(
        bench.good, raw_header=members(b"", bench.good.header, _nested(depth)), signature=Absent()
    )


def _deep_payload(depth: int, *, signed: bool) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        deep = replace(bench.good, raw_payload=members(b"", bench.good.claims, _nested(depth)))
        return deep if signed else replace(deep, signature=Absent())

    return apply


def _long(octets: int) -> Break:
    """Pad the claims until the whole token is about this long; base64url makes four characters of three octets."""

    def apply(bench: Bench) -> TokenSpec:
        rest = (octets - 700) * 3 // 4 - len(bench.good.payload_bytes)
        return bench.good.with_claim("kit_padding", "x" * rest)

    return apply


def _many_claims(bench: Bench) -> TokenSpec:
    return replace(bench.good, claims={**bench.good.claims, **{f"c{number}": 0 for number in range(500)}})


def _many_audiences(bench: Bench) -> TokenSpec:
    others = [f"a{number}" for number in range(999)]
    return bench.good.with_claim("aud", [*others, bench.good.profile.audience])


_NUMBERS = (
    Defect(
        name="number_not_json",
        sentence="The expiry is written as a number that JSON does not have, or that is infinite (RFC 8259 §6).",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=(
            Variant("not_a_number", _expiry("NaN")),
            Variant("infinity", _expiry("Infinity")),
            Variant("overflowing", _expiry("1e999")),
            Variant("plus_sign", _number("exp", lambda good: f"+{good.claims['exp']}")),
            Variant("leading_zero", _number("exp", lambda good: f"0{good.claims['exp']}")),
            Variant("hexadecimal", _number("exp", lambda good: hex(int(str(good.claims["exp"]))))),
        ),
    ),
    Defect(
        name="number_huge",
        sentence="A claim is a whole number of hundreds or thousands of digits.",
        kind=Kind.CLAIM,
        changes=("claims",),
        forms=(
            Variant("expiry", _expiry("1" + "0" * 400)),
            Variant("issued_at", _number("iat", lambda _: "1" + "0" * 4400)),
        ),
        expectation=Expectation.DISPUTED,
    ),
)

_SIZES = (
    Defect(
        name="deep_json",
        sentence="The unsigned token nests arrays a thousand levels deep and more.",
        kind=Kind.FORM,
        changes=("header", "signature"),
        forms=(
            Variant("header_thousand", _deep_header(1000)),
            Variant("header_two_thousand", _deep_header(2000)),
            Variant("payload_two_thousand", _deep_payload(2000, signed=False), ("claims", "signature")),
        ),
    ),
    Defect(
        name="deep_json_signed",
        sentence="The token is honest, and an unknown claim in it nests arrays two thousand levels deep.",
        kind=Kind.FORM,
        changes=("claims",),
        forms=one(_deep_payload(2000, signed=True)),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="long_token",
        sentence="The token is honest and unusually long.",
        kind=Kind.CLAIM,
        changes=("claims.kit_padding",),
        forms=(
            Variant("eight_kilobytes", _long(8 * 1024 - 16)),
            Variant("sixteen_kilobytes", _long(16 * 1024 - 16)),
            Variant("sixty_four_kilobytes", _long(64 * 1024 - 16)),
            Variant("five_hundred_claims", _many_claims, tuple(f"claims.c{number}" for number in range(500))),
            Variant("thousand_audiences", _many_audiences, ("claims.aud",)),
        ),
        expectation=Expectation.DISPUTED,
    ),
)

JSON_SIZE_DEFECTS = (*_NUMBERS, *_SIZES)
