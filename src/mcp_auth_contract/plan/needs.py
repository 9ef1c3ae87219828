"""What a contract must say for a check to apply."""

from collections.abc import Callable, Mapping

from mcp_auth_contract.catalogue import Check, Need
from mcp_auth_contract.contract import Contract

SEEN_IN_THE_RUN = frozenset({Need.CONTROL, Need.GATED})
"""The needs that no contract can tell."""


def _unnamed(claim: str, what: str) -> Callable[[Contract], str | None]:
    def unmet(contract: Contract) -> str | None:
        name = getattr(contract.claims, claim)
        return None if name in contract.claims.required else f'claims.required does not name the {what} claim "{name}"'

    return unmet


def _no_jwt(contract: Contract) -> str | None:
    return 'the tokens are opaque (issuer.tokens = "opaque")' if contract.issuer.tokens == "opaque" else None


def _no_rsa(contract: Contract) -> str | None:
    algorithm = contract.issuer.algorithms[0]
    rsa = algorithm in ("RS256", "PS256")
    return _no_jwt(contract) or (None if rsa else f"the issuer signs with {algorithm}, not with an RSA key")


def _no_tool_challenge(contract: Contract) -> str | None:
    if contract.policy.challenge == "http":
        return 'refusals are HTTP statuses here (policy.challenge = "http")'
    protected = any(tool.scopes != () for tool in contract.tools)
    return None if protected else "the contract declares no protected tool"


_UNMET: Mapping[Need, Callable[[Contract], str | None]] = {
    Need.AUDIT: lambda contract: "the contract names no audit log" if contract.audit is None else None,
    Need.SUBJECT: _unnamed("subject", "subject"),
    Need.TENANT: _unnamed("tenant", "tenant"),
    Need.JWT: _no_jwt,
    Need.RSA: _no_rsa,
    Need.OPAQUE: lambda contract: (
        None if contract.issuer.tokens == "opaque" else 'the tokens are JWTs (issuer.tokens = "jwt")'
    ),
    Need.VIEWS: lambda contract: None if contract.views else "the contract declares no Views ([[views]])",
    Need.TOOL_CHALLENGE: _no_tool_challenge,
}
"""By need: why a contract does not meet it."""


def unmet(check: Check, contract: Contract) -> str | None:
    """Return why a check does not apply to a contract, None where it does."""
    reasons = (_UNMET[need](contract) for need in Need if need in check.needs - SEEN_IN_THE_RUN)
    return next((reason for reason in reasons if reason is not None), None)
