"""What results say about caches (MCP 2026-07-28, caching), as different users get them."""

from collections.abc import Iterator

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.caching.observation import CacheMark, CacheScopeObserved
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.contract import Contract, operations, satisfies
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.wire import Call

_LISTS = ("tools/list", "resources/list", "prompts/list")


async def ask_cache_scope(question: Question, context: Context) -> CacheScopeObserved:
    """Ask for lists and one resource as the principal, as another user of the tenant, and as one of another tenant.

    The principal asks twice: a result that differs from itself tells nothing by differing from another's.
    """
    revision, principal = question.revision, question.principal
    if revision is None or principal is None or context.minter is None:
        raise ValueError("cache scopes need a revision, a principal and tokens")
    contract = context.minter.contract
    others = list(_others(contract, principal)) if context.issuer is not None else []
    marks: list[CacheMark] = []
    for call in _calls(contract, principal):
        for name in (principal, *others):
            first = await _asked(context, revision, call, name)
            second = await _asked(context, revision, call, name) if name == principal else first
            marks.append(CacheMark(_named(call), name, first, second))
    return CacheScopeObserved(tuple(marks))


def _named(call: Call) -> str:
    uri = call.params.get("uri")
    return call.method if uri is None else f"{call.method} of {uri}"


def _calls(contract: Contract, principal: str) -> Iterator[Call]:
    yield from (Call(method, {}) for method in _LISTS)
    granted = frozenset(contract.principals[principal].scopes)
    for operation in operations(contract):
        if operation.kind is OperationKind.RESOURCE and satisfies(contract, granted, operation.scopes):
            yield Call("resources/read", {"uri": operation.name})
            return


def _others(contract: Contract, principal: str) -> Iterator[str]:
    """Yield one other user of the same tenant, and one of another."""
    here = contract.principals[principal]
    for same in (True, False):
        yield from [
            name
            for name, one in contract.principals.items()
            if one.subject != here.subject and (one.tenant == here.tenant) is same
        ][:1]


async def _asked(context: Context, revision: Revision, call: Call, principal: str) -> Attempt:
    answer = await context.conversation.call(
        revision, call, context.bearer(principal), note=f"cacheScope for {principal}"
    )
    return Attempt(f"as {principal}", "call", answer, read(answer))
