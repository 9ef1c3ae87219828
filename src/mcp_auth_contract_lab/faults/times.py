"""Faults of time: types, boundaries and absurd values, and verdicts that are kept when time has moved on."""

from datetime import UTC, datetime

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Faults
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.sessions import Session, owner_alone
from mcp_auth_contract_lab.steps import accepting, breaking, refusing, verifying
from mcp_auth_contract_lab.verification import Claims, Trust, already_valid, is_numeric_date, not_expired

FAULTS = Faults()

_LARGEST_32_BIT = 2**31 - 1
_OLDEST_S = 10 * 365 * 86_400
_PROLONGED_S = 30

_expiry, _after_expiry = accepting("expiry"), breaking("expiry", after=True)


@FAULTS.by(_after_expiry)
def expiry_date_fails(claims: Claims, _trust: Trust) -> bool:
    """The request fails where exp is no date of the calendar."""
    try:
        datetime.fromtimestamp(claims["exp"], UTC)
    except (ValueError, OverflowError, OSError):
        return True
    return False


FAULTS.rows(
    ("expiry-zero-accepted", "An exp of zero counts as none.",
     _expiry(lambda claims, _trust: is_numeric_date(claims.get("exp")) and claims["exp"] == 0)),
    ("expiry-of-other-type-accepted", "An exp that is no number is not compared.",
     _expiry(lambda claims, _trust: claims.get("exp") is not None and not is_numeric_date(claims["exp"]))),
    ("expiry-text-fails", "The request fails where exp is a string.",
     breaking("expiry")(lambda claims, _trust: isinstance(claims.get("exp"), str))),
    ("expiry-32-bits-fail", "The request fails where exp is a fraction, or does not fit in 32 bits.",
     _after_expiry(lambda claims, _trust: claims["exp"] > _LARGEST_32_BIT or isinstance(claims["exp"], float))),
    ("not-before-required", "A token without nbf is refused.",
     refusing("not_before")(lambda claims, _trust: "nbf" not in claims)),
    ("not-before-of-other-type-accepted", "An nbf that is no number is not compared.",
     accepting("not_before")(lambda claims, _trust: not is_numeric_date(claims.get("nbf")))),
    ("not-before-type-fails", "The request fails where nbf is no number.",
     breaking("not_before")(lambda claims, _trust: "nbf" in claims and not is_numeric_date(claims["nbf"]))),
    ("issued-at-type-fails", "The request fails where iat is missing or no number.",
     _after_expiry(lambda claims, _trust: not is_numeric_date(claims.get("iat")))),
    ("issued-at-age-fails", "The request fails where the token's age is negative, or beyond ten years.",
     _after_expiry(lambda claims, trust: is_numeric_date(claims.get("iat"))
                   and not 0 <= trust.now - claims["iat"] < _OLDEST_S)),
)  # fmt: skip


def _token(claims: Claims, name: str) -> tuple[object, object]:
    value = claims.get(name)
    return claims.get("jti"), value if isinstance(value, int | float | str) else repr(value)


@FAULTS.change
def verified_tokens_remembered(behaviour: Behaviour) -> Behaviour:
    """A token that was valid once is not looked at again: it works after its expiry."""
    seen: set[tuple[object, object]] = set()

    def expiry(claims: Claims, trust: Trust) -> None:
        if _token(claims, "exp") not in seen:
            not_expired(claims, trust)
            seen.add(_token(claims, "exp"))

    return verifying(expiry=expiry)(behaviour)


@FAULTS.change
def refused_tokens_remembered(behaviour: Behaviour) -> Behaviour:
    """A token that came before its nbf is refused for ever."""
    refused: set[tuple[object, object]] = set()

    def not_before(claims: Claims, trust: Trust) -> None:
        try:
            already_valid(claims, trust)
        except InvalidToken:
            refused.add(_token(claims, "nbf"))
        if _token(claims, "nbf") in refused:
            raise InvalidToken("the token was refused before")

    return verifying(not_before=not_before)(behaviour)


@FAULTS.step("sessions", "usable_by")
def session_ends_with_its_first_token(session: Session, principal: Principal) -> bool:
    """A session takes no token that lives longer than the one that opened it."""
    first, now = session.owner.expires, principal.expires
    prolonged = first is not None and now is not None and now > first + _PROLONGED_S
    return owner_alone(session, principal) and not prolonged
