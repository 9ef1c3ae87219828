"""Faults of sender constraint: tokens bound to a key are taken without its proof."""

from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.verification import Claims, Trust, already_valid

__all__ = ["FAULTS"]

_BINDINGS = frozenset({"jkt", "x5t#S256", "jwk"})


def _breaking(*, bound: bool) -> Change:
    """Break down over a confirmation, one that binds to a key or one that does not."""

    def not_before(claims: Claims, trust: Trust) -> None:
        if "cnf" in claims:
            confirmation = claims["cnf"]
            binds = isinstance(confirmation, dict) and bool(_BINDINGS & set(confirmation))
            if binds is bound:
                raise HttpRefused(500, "internal error")
        already_valid(claims, trust)

    return verifying(not_before=not_before)


FAULTS = (
    Fault(
        "bound-token-breaks",
        "A token that is bound to a key breaks the server.",
        _breaking(bound=True),
    ),
    Fault(
        "confirmation-breaks",
        "A confirmation of a kind that nobody has thought of breaks the server.",
        _breaking(bound=False),
    ),
)
