"""What results say about caches (MCP 2026-07-28, caching), as different users get them."""

from collections.abc import Iterator

from mcp_auth_contract.checks.caching.observation import CacheMark, CacheScopeObserved
from mcp_auth_contract.checks.client import LISTS, PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.principals import other_users
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import OperationQuestion
from mcp_auth_contract.contract import Contract, operations, satisfies
from mcp_auth_contract.model import OperationKind
from mcp_auth_contract.wire import Call


@probe("What may caches keep, and does it differ between users?")
async def ask_cache_scope(question: OperationQuestion, context: Context) -> CacheScopeObserved:
    """Ask for lists and one resource as the principal, as another user of the tenant, and as one of another tenant.

    The principal asks twice: a result that differs from itself tells nothing by differing from another's.
    """
    principal, contract = question.principal or "", context.contract
    others: list[str] = []
    if context.issuer is not None:
        for same in (True, False):
            others += list(other_users(contract, principal, same_tenant=same))[:1]
    marks: list[CacheMark] = []
    for what, call in _calls(contract, principal):
        for name in (principal, *others):
            asker = PrincipalSession(context, question.revision, name)
            first = await asker.attempt(await asker.message(call), f"as {name}")
            second = await asker.attempt(await asker.message(call), f"as {name}") if name == principal else first
            marks.append(CacheMark(what, name, first, second))
    return CacheScopeObserved(tuple(marks))


def _calls(contract: Contract, principal: str) -> Iterator[tuple[str, Call]]:
    for kind in ("tools", "resources", "prompts"):
        yield LISTS[kind].method, Call(LISTS[kind].method, {})
    granted = frozenset(contract.principals[principal].scopes)
    for operation in operations(contract):
        if operation.kind is OperationKind.RESOURCE and satisfies(contract, granted, operation.scopes):
            yield f"resources/read of {operation.name}", Call("resources/read", {"uri": operation.name})
            return
