"""Which part of the isolation matrix a check is about, and whether its cases write."""

from mcp_auth_contract.catalogue import Check, ScopeChoice
from mcp_auth_contract.checks.questions import NO_TOKEN
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.contract import Access, Contract, Ways, handle_calls
from mcp_auth_contract.model import Effect


def ways_of(check: Check) -> tuple[Ways, ...]:
    """Return the parts of the matrix that a check over records is about."""
    ways = PROBES[check.probe].ways
    return tuple(Ways(form) for form in check.forms) if ways is None else (ways,)


FORBIDDEN = "the contract allows no writes (policy.writes = false)"
"""Why a case does not apply that would write, where its author has decided so."""


def undecided(name: str) -> str:
    """Why a case is not asked that would write, where the author of the contract has not decided."""
    return f"not called: {name} writes, and policy.writes is not set; set it to true, or to false to leave it untested"


def has_no_effect(check: Check) -> bool:
    """Whether a server that is right refuses every call of a check before it runs: no token, or one without scopes."""
    tokenless = check.tokens == (NO_TOKEN,)
    return check.probe == "call" and (tokenless or check.scopes is ScopeChoice.NONE)


def forbidden_write(check: Check, contract: Contract, access: Access) -> str | None:
    """Return the tool that a case would write with although `policy.writes` is not true; None where it may be asked."""
    called = [access.operation]
    if PROBES[check.probe].ways is Ways.HANDLES:
        called += [handle_calls(contract, one)[1] for one in contract.handles if one.tool == access.operation.name]
    writes = PROBES[check.probe].writes or any(one.effect is Effect.WRITE for one in called)
    if contract.policy.writes or not writes:
        return None
    return next((one.name for one in called if one.effect is Effect.WRITE), access.operation.name)
