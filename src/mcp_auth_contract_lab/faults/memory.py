"""Faults of memory: a verdict that was right once is kept when time has moved on."""

from dataclasses import replace

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.sessions import Session, owner_alone
from mcp_auth_contract_lab.verification import Claims, Trust, already_valid, not_expired

__all__ = ["FAULTS"]

_PROLONGED_S = 30


def _verified_once(behaviour: Behaviour) -> Behaviour:
    seen: set[tuple[object, object]] = set()

    def expiry(claims: Claims, trust: Trust) -> None:
        token = (claims.get("jti"), _hashable(claims.get("exp")))
        if token not in seen:
            not_expired(claims, trust)
            seen.add(token)

    return verifying(expiry=expiry)(behaviour)


def _refused_once(behaviour: Behaviour) -> Behaviour:
    refused: set[tuple[object, object]] = set()

    def not_before(claims: Claims, trust: Trust) -> None:
        token = (claims.get("jti"), _hashable(claims.get("nbf", "absent")))
        try:
            already_valid(claims, trust)
        except InvalidToken:
            refused.add(token)
        if token in refused:
            raise InvalidToken("the token was refused before")

    return verifying(not_before=not_before)(behaviour)


def _hashable(value: object) -> object:
    return value if isinstance(value, int | float | str) else repr(value)


def _until_the_first_token_ends(session: Session, principal: Principal) -> bool:
    first, now = session.owner.expires, principal.expires
    prolonged = first is not None and now is not None and now > first + _PROLONGED_S
    return owner_alone(session, principal) and not prolonged


FAULTS = (
    Fault(
        "verified-tokens-remembered",
        "A token that was valid once is not looked at again: it works after its expiry.",
        _verified_once,
    ),
    Fault(
        "refused-tokens-remembered",
        "A token that came before its nbf is refused for ever.",
        _refused_once,
    ),
    Fault(
        "session-ends-with-its-first-token",
        "A session takes no token that lives longer than the one that opened it.",
        lambda b: replace(b, sessions=replace(b.sessions, usable_by=_until_the_first_token_ends)),
    ),
)
