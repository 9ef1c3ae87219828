"""Faults of time: types, boundaries and absurd values."""

from datetime import UTC, datetime

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.refusal import HttpRefused, InvalidToken
from mcp_auth_contract_lab.verification import Claims, Trust, already_valid, is_numeric_date, not_expired

__all__ = ["FAULTS"]

_LARGEST_32_BIT = 2**31 - 1
_OLDEST_S = 10 * 365 * 86_400


def _zero_is_never(claims: Claims, trust: Trust) -> None:
    if not (is_numeric_date(claims.get("exp")) and claims["exp"] == 0):
        not_expired(claims, trust)


def _numbers_only(claims: Claims, trust: Trust) -> None:
    if claims.get("exp") is None or is_numeric_date(claims["exp"]):
        not_expired(claims, trust)


def _text_fails(claims: Claims, trust: Trust) -> None:
    if isinstance(claims.get("exp"), str):
        raise HttpRefused(500, "text is not compared with a number")
    not_expired(claims, trust)


def _date_fails(claims: Claims, trust: Trust) -> None:
    not_expired(claims, trust)
    try:
        datetime.fromtimestamp(claims["exp"], UTC)
    except (ValueError, OverflowError, OSError):
        raise HttpRefused(500, "no date of the calendar") from None


def _32_bits_fail(claims: Claims, trust: Trust) -> None:
    not_expired(claims, trust)
    if claims["exp"] > _LARGEST_32_BIT or isinstance(claims["exp"], float):
        raise HttpRefused(500, "no 32-bit integer")


def _nbf_required(claims: Claims, trust: Trust) -> None:
    if "nbf" not in claims:
        raise InvalidToken("the token does not say from when it is valid")
    already_valid(claims, trust)


def _nbf_numbers_only(claims: Claims, trust: Trust) -> None:
    if is_numeric_date(claims.get("nbf")):
        already_valid(claims, trust)


def _nbf_text_fails(claims: Claims, trust: Trust) -> None:
    if "nbf" in claims and not is_numeric_date(claims["nbf"]):
        raise HttpRefused(500, "nbf is no number")
    already_valid(claims, trust)


def _iat_type_fails(claims: Claims, trust: Trust) -> None:
    not_expired(claims, trust)
    if not is_numeric_date(claims.get("iat")):
        raise HttpRefused(500, "iat is no number")


def _iat_age_fails(claims: Claims, trust: Trust) -> None:
    not_expired(claims, trust)
    if is_numeric_date(claims.get("iat")) and not 0 <= trust.now - claims["iat"] < _OLDEST_S:
        raise HttpRefused(500, "no age to keep statistics of")


FAULTS = (
    Fault(
        "expiry-zero-accepted",
        "An exp of zero counts as none.",
        verifying(expiry=_zero_is_never),
    ),
    Fault(
        "expiry-of-other-type-accepted",
        "An exp that is no number is not compared.",
        verifying(expiry=_numbers_only),
    ),
    Fault(
        "expiry-text-fails",
        "The request fails where exp is a string.",
        verifying(expiry=_text_fails),
    ),
    Fault(
        "expiry-date-fails",
        "The request fails where exp is no date of the calendar.",
        verifying(expiry=_date_fails),
    ),
    Fault(
        "expiry-32-bits-fail",
        "The request fails where exp is a fraction, or does not fit in 32 bits.",
        verifying(expiry=_32_bits_fail),
    ),
    Fault(
        "not-before-required",
        "A token without nbf is refused.",
        verifying(not_before=_nbf_required),
    ),
    Fault(
        "not-before-of-other-type-accepted",
        "An nbf that is no number is not compared.",
        verifying(not_before=_nbf_numbers_only),
    ),
    Fault(
        "not-before-type-fails",
        "The request fails where nbf is no number.",
        verifying(not_before=_nbf_text_fails),
    ),
    Fault(
        "issued-at-type-fails",
        "The request fails where iat is missing or no number.",
        verifying(expiry=_iat_type_fails),
    ),
    Fault(
        "issued-at-age-fails",
        "The request fails where the token's age is negative, or beyond ten years.",
        verifying(expiry=_iat_age_fails),
    ),
)
