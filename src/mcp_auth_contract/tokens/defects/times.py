"""Defects of time beyond plain expiry: types, boundaries and absurd values of exp, nbf and iat."""

from mcp_auth_contract.tokens.defects.defect import ABSENT, Defect, Expectation, Kind, Value, Variant, claim, one
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["TIME_DEFECTS"]

_EXPIRED_SINCE = 15 * 60
_HOUR = 60 * 60
_TEN_YEARS = 10 * 365 * 24 * _HOUR
_LONGEST_LEEWAY = 300
"""Seconds that the most generous library allows by default; a time beyond them is wrong everywhere."""


def _forms(name: str, values: dict[str, Value]) -> tuple[Variant, ...]:
    return tuple(Variant(variant, claim(name, value)) for variant, value in values.items())


def _just(value: object) -> Value:
    return lambda _: value


def _past(good: TokenSpec) -> int:
    return int(good.now - good.profile.leeway) - _EXPIRED_SINCE


def _future(good: TokenSpec) -> int:
    return int(good.now + good.profile.lifetime)


def _after_expiry(good: TokenSpec) -> int:
    return int(good.now + good.profile.leeway + max(good.profile.lifetime, _LONGEST_LEEWAY)) + 60


_EXPIRY = (
    Defect(
        name="expired_oddly_written",
        sentence="The token expired 15 minutes ago, and its exp is no plain integer.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=_forms("exp", {"fraction": lambda good: _past(good) + 0.5, "text": lambda good: str(_past(good))}),
    ),
    Defect(
        name="expiry_zero",
        sentence="The token expired at the beginning of the epoch, or before.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=_forms("exp", {"zero": _just(0), "negative": _just(-1), "negative_zero": _just(-0.0)}),
    ),
    Defect(
        name="expiry_type",
        sentence="The token's exp is no time at all, so the token never expires.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=_forms(
            "exp",
            {
                "iso_date": _just("2099-01-01T00:00:00Z"),
                "word": _just("never"),
                "empty": _just(""),
                "true": _just(True),
                "false": _just(False),
                "list": lambda good: [_future(good)],
                "object": lambda good: {"v": _future(good)},
            },
        ),
    ),
    Defect(
        name="expiry_as_text",
        sentence="The token's exp lies ahead, but is written as a string of digits.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=one(claim("exp", lambda good: str(_future(good)))),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="expiry_unusual",
        sentence="The token's exp lies ahead, is a fraction or does not fit in 32 bits, and is legal.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=_forms(
            "exp",
            {
                "fraction": lambda good: _future(good) + 0.5,
                "after_2038": _just(2**31),
                "beyond_32_bits": lambda good: 2**32 + _future(good),
            },
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="lifetime_absurd",
        sentence="The token lives for ten years, or practically for ever.",
        kind=Kind.CLAIM,
        changes=("claims.exp",),
        forms=_forms(
            "exp",
            {
                "ten_years": lambda good: int(good.now) + _TEN_YEARS,
                "milliseconds": lambda good: _future(good) * 1000,
                "milliseconds_past": lambda good: _past(good) * 1000,
                "beyond_64_bits": _just(2**63),
                "beyond_floating_point": _just(10**400),
            },
        ),
        expectation=Expectation.DISPUTED,
    ),
)

_NOT_BEFORE = (
    Defect(
        name="not_before_after_expiry",
        sentence="The token becomes valid only after it has expired.",
        kind=Kind.CLAIM,
        changes=("claims.nbf",),
        forms=one(claim("nbf", _after_expiry)),
    ),
    Defect(
        name="not_before_type",
        sentence="The token's nbf is no time, or lies ahead and is written as a string.",
        kind=Kind.CLAIM,
        changes=("claims.nbf",),
        forms=_forms(
            "nbf",
            {
                "future_text": lambda good: str(int(good.now + good.profile.leeway) + _HOUR),
                "word": _just("x"),
                "list": _just([]),
                "object": _just({}),
            },
        ),
    ),
    Defect(
        name="not_before_as_text",
        sentence="The token's nbf has passed, but is written as a string of digits, or is null.",
        kind=Kind.CLAIM,
        changes=("claims.nbf",),
        forms=_forms("nbf", {"past_text": lambda good: str(int(good.now) - 5), "null": _just(None)}),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="not_before_absent",
        sentence="The token has no nbf, which is legal (RFC 7519 §4.1.5).",
        kind=Kind.CLAIM,
        changes=("claims.nbf",),
        forms=one(claim("nbf", _just(ABSENT))),
        expectation=Expectation.ACCEPTED,
    ),
)

_ISSUED_AT = (
    Defect(
        name="issued_at_odd",
        sentence="The token was issued in the future or long ago, for which no specification has a rule.",
        kind=Kind.CLAIM,
        changes=("claims.iat",),
        forms=_forms(
            "iat",
            {
                "future": lambda good: int(good.now) + _HOUR,
                "ancient": _just(1),
            },
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="issued_at_unusable",
        sentence="The token does not say when it was issued, or says no time.",
        kind=Kind.CLAIM,
        changes=("claims.iat",),
        forms=_forms(
            "iat",
            {
                "absent": _just(ABSENT),
                "text": lambda good: str(int(good.now) - 5),
                "null": _just(None),
                "list": _just([]),
            },
        ),
        expectation=Expectation.DISPUTED,
    ),
)

TIME_DEFECTS = (*_EXPIRY, *_NOT_BEFORE, *_ISSUED_AT)
