"""Which part of the isolation matrix a check is about, and whether its cases write."""

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.contract import Access, Contract, Ways, tool_call
from mcp_auth_contract.model import Effect

__all__ = ["forbidden_write", "ways_of"]

_RECORD_WAYS = {
    "audit": Ways.READERS,
    "cursor": Ways.CURSORS,
    "handle": Ways.HANDLES,
    "missing_record": Ways.UNSHARED,
    "record_write": Ways.WRITES,
    "repeated_write": Ways.KEYED,
    "request_state": Ways.STATES,
    "own_request_state": Ways.OWN_STATES,
    "task": Ways.TASKS,
}
"""The ways that a probe with only one kind of them is about."""

_RECORD_WRITES = frozenset({"record_write", "repeated_write"})


def ways_of(check: Check) -> tuple[Ways, ...]:
    """Return the parts of the matrix that a check over records is about."""
    return tuple(Ways(word) for word in check.variants) or (_RECORD_WAYS[check.probe],)


def forbidden_write(check: Check, contract: Contract, access: Access) -> str | None:
    """Return why a case may not be asked where it would write and `policy.writes` does not allow that; else None."""
    called = [access.operation]
    if check.probe == "handle":
        called += [tool_call(contract, one.user) for one in contract.handles if one.tool == access.operation.name]
    writes = check.probe in _RECORD_WRITES or any(one.effect is Effect.WRITE for one in called)
    if contract.policy.writes or not writes:
        return None
    return "the contract allows no writes (policy.writes = false)"
