"""Defects of measure: numbers that JSON does not have, nesting and lengths that parsers may not stand."""

from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.tokens.defects.defect import Defects, Expectation
from mcp_auth_contract.tokens.defects.json_texts import members
from mcp_auth_contract.tokens.spec import TokenSpec, unsigned

__all__ = ["DEFECTS"]

DEFECTS = Defects()


def _number(good: TokenSpec, name: str, text: str) -> TokenSpec:
    """Write the value of a claim as it stands, whether it is a number or not."""
    rest = {member: value for member, value in good.claims.items() if member != name}
    return replace(good, raw_payload=members(b"", rest, f',"{name}":{text}'.encode()))


@DEFECTS.each(
    {
        "not_a_number": lambda _: "NaN",
        "infinity": lambda _: "Infinity",
        "overflowing": lambda _: "1e999",
        "plus_sign": lambda exp: f"+{exp()}",
        "leading_zero": lambda exp: f"0{exp()}",
        "hexadecimal": lambda exp: hex(int(str(exp()))),
    }
)
def number_not_json(good: TokenSpec, write: Callable[[Callable[[], object]], str]) -> TokenSpec:
    """The expiry is written as a number that JSON does not have, or that is infinite (RFC 8259 §6)."""
    return _number(good, "exp", write(lambda: good.claims["exp"]))


@DEFECTS.each({"expiry": ("exp", 400), "issued_at": ("iat", 4400)}, Expectation.DISPUTED)
def number_huge(good: TokenSpec, digits: tuple[str, int]) -> TokenSpec:
    """A claim is a whole number of hundreds or thousands of digits.

    RFC 8259 §6: an implementation may "set limits on the range and precision of numbers accepted".
    """
    name, zeros = digits
    return _number(good, name, "1" + "0" * zeros)


def _nested(depth: int) -> bytes:
    return b',"nested":' + b"[" * depth + b"]" * depth


@DEFECTS.each({"header_thousand": 1000, "header_two_thousand": 2000, "payload_two_thousand": 0})
def deep_json(good: TokenSpec, depth: int) -> TokenSpec:
    """The unsigned token nests arrays a thousand levels deep and more."""
    deep = replace(good, raw_header=members(b"", good.header, _nested(depth))) if depth else deep_json_signed(good)
    return replace(deep, signature=unsigned)


@DEFECTS.single(Expectation.DISPUTED)
def deep_json_signed(good: TokenSpec) -> TokenSpec:
    """The token is honest, and an unknown claim in it nests arrays two thousand levels deep.

    RFC 8259 §9: an implementation may "set limits on the maximum depth of nesting".
    """
    return replace(good, raw_payload=members(b"", good.claims, _nested(2000)))


def _long(octets: int) -> Callable[[TokenSpec], TokenSpec]:
    """Pad the claims until the whole token is about this long; base64url makes four characters of three octets."""
    return lambda good: good.with_claim("kit_padding", "x" * ((octets - 700) * 3 // 4 - len(good.payload_bytes)))


@DEFECTS.each(
    {
        "eight_kilobytes": _long(8 * 1024 - 16),
        "sixteen_kilobytes": _long(16 * 1024 - 16),
        "sixty_four_kilobytes": _long(64 * 1024 - 16),
        "five_hundred_claims": lambda good: good.with_claims(**{f"c{number}": 0 for number in range(500)}),
        "thousand_audiences": lambda good: good.with_claim(
            "aud", [*(f"a{number}" for number in range(999)), good.profile.audience]
        ),
    },
    Expectation.DISPUTED,
)
def long_token(good: TokenSpec, lengthen: Callable[[TokenSpec], TokenSpec]) -> TokenSpec:
    """The token is honest and unusually long."""
    return lengthen(good)
