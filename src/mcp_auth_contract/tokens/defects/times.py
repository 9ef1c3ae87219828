"""Defects of time: expiry, and types, boundaries and absurd values of exp, nbf and iat.

RFC 7519 §4.1.4 to §4.1.6: each "MUST be a number containing a NumericDate value", which may have a fraction (§2).
"""

from functools import partial

from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, DISPUTED, Capability, Defects, claim
from mcp_auth_contract.tokens.spec import TokenSpec

DEFECTS = Defects()
_exp = partial(DEFECTS.table, claim("exp"))
_nbf = partial(DEFECTS.table, claim("nbf"))
_iat = partial(DEFECTS.table, claim("iat"))

_EXPIRED_SINCE = 15 * 60
_HOUR = 60 * 60
_TEN_YEARS = 10 * 365 * 24 * _HOUR
_LEEWAY_SEEN = 10
"""Seconds of a leeway whose half is longer than a request takes."""
_LONGEST_LEEWAY = 300
"""Seconds that the most generous library allows by default; a time beyond them is wrong everywhere."""


def expired_since(good: TokenSpec) -> int:
    """Return the time 15 minutes ago, beyond the leeway."""
    return int(good.now - good.profile.leeway) - _EXPIRED_SINCE


def _ahead(good: TokenSpec) -> int:
    return int(good.now + good.profile.lifetime)


# RFC 7519 §4.1.4: the expiration time is the one "on or after which the JWT MUST NOT be accepted for processing";
# §4.1.5: nbf is the time "before which the JWT MUST NOT be accepted". RFC 9068 §2.2 makes exp a required claim.
_exp("expired", "The token expired 15 minutes ago, beyond any leeway.", {"": expired_since})
_exp("expired_long_ago", "The token expired a day ago.", {"": lambda good: int(good.now) - 86400})
_nbf(
    "not_yet_valid",
    "The token becomes valid in an hour, beyond any leeway.",
    {"": lambda good: int(good.now + good.profile.leeway) + _HOUR},
)
_exp("without_expiry", "The token never expires: it has no usable exp.", {"absent": ABSENT, "null": None})


@DEFECTS.single(needs={Capability.SCOPES_GRANTED})
def expired_and_unscoped(good: TokenSpec) -> TokenSpec:
    """The token expired 15 minutes ago and has no scope either: the expiry must be told first.

    RFC 6750 §3.1 has insufficient_scope for a request that "requires higher privileges than provided by the access
    token", and invalid_token for one that expired.
    """
    return good.with_claim("exp", expired_since(good)).without_claim(good.profile.scope_claim)


_exp(
    "expired_oddly_written",
    "The token expired 15 minutes ago, and its exp is no plain integer.",
    {"fraction": lambda good: expired_since(good) + 0.5, "text": lambda good: str(expired_since(good))},
)
_exp(
    "expiry_zero",
    "The token expired at the beginning of the epoch, or before.",
    {"zero": 0, "negative": -1, "negative_zero": -0.0},
)
_exp(
    "expiry_type",
    "The token's exp is no time at all, so the token never expires.",
    {
        "iso_date": "2099-01-01T00:00:00Z",
        "word": "never",
        "empty": "",
        "true": True,
        "false": False,
        "list": lambda good: [_ahead(good)],
        "object": lambda good: {"v": _ahead(good)},
    },
)
_exp(
    "expiry_as_text",
    "The token's exp lies ahead, but is written as a string of digits.",
    {"": lambda good: str(_ahead(good))},
    DISPUTED,
)
_exp(
    "expiry_unusual",
    "The token's exp lies ahead, is a fraction or does not fit in 32 bits, and is legal.",
    {
        "fraction": lambda good: _ahead(good) + 0.5,
        "after_2038": 2**31,
        "beyond_32_bits": lambda good: 2**32 + _ahead(good),
    },
    DISPUTED,
)
_exp(
    "lifetime_absurd",
    "The token lives for ten years, or practically for ever.",
    {
        "ten_years": lambda good: int(good.now) + _TEN_YEARS,
        "milliseconds": lambda good: _ahead(good) * 1000,
        "milliseconds_past": lambda good: expired_since(good) * 1000,
        "beyond_64_bits": 2**63,
        "beyond_floating_point": 10**400,
    },
    DISPUTED,
)


@DEFECTS.single()
def not_before_after_expiry(good: TokenSpec) -> TokenSpec:
    """The token becomes valid only after it has expired."""
    profile = good.profile
    late = int(good.now + profile.leeway + max(profile.lifetime, _LONGEST_LEEWAY)) + 60
    return good.with_claim("nbf", late)


_nbf(
    "not_before_type",
    "The token's nbf is no time, or lies ahead and is written as a string.",
    {
        "future_text": lambda good: str(int(good.now + good.profile.leeway) + _HOUR),
        "word": "x",
        "list": [],
        "object": {},
    },
)
_nbf(
    "not_before_as_text",
    "The token's nbf has passed, but is written as a string of digits, or is null.",
    {"past_text": lambda good: str(int(good.now) - 5), "null": None},
    DISPUTED,
)
_nbf("not_before_absent", "The token has no nbf, which is legal (RFC 7519 §4.1.5).", {"": ABSENT}, ACCEPTED)
_iat(
    "issued_at_odd",
    "The token was issued in the future or long ago, for which no specification has a rule.",
    {"future": lambda good: int(good.now) + _HOUR, "ancient": 1},
    DISPUTED,
)
_iat(
    "issued_at_within_leeway",
    "The token was issued in the future, but within the declared leeway, as by a clock that is a little ahead.",
    {"": lambda good: int(good.now + good.profile.leeway / 2) if good.profile.leeway >= _LEEWAY_SEEN else None},
    ACCEPTED,
)
_iat(
    "issued_at_unusable",
    "The token does not say when it was issued, or says no time.",
    {"absent": ABSENT, "text": lambda good: str(int(good.now) - 5), "null": None, "list": []},
    DISPUTED,
)
