"""Which part of the isolation matrix a check is about, and whether its cases write."""

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.contract import Access, Contract, Ways, tool_call
from mcp_auth_contract.model import Effect


def ways_of(check: Check) -> tuple[Ways, ...]:
    """Return the parts of the matrix that a check over records is about."""
    ways = PROBES[check.probe].ways
    return tuple(Ways(form) for form in check.forms) if ways is None else (ways,)


def forbidden_write(check: Check, contract: Contract, access: Access) -> str | None:
    """Return why a case may not be asked where it would write and `policy.writes` does not allow that; else None."""
    called = [access.operation]
    if PROBES[check.probe].ways is Ways.HANDLES:
        called += [tool_call(contract, one.user) for one in contract.handles if one.tool == access.operation.name]
    writes = PROBES[check.probe].writes or any(one.effect is Effect.WRITE for one in called)
    if contract.policy.writes or not writes:
        return None
    return "the contract allows no writes (policy.writes = false)"
