"""Roles that nobody gave: told by the request, in a claim that users write, or in a name that holds another."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mcp_auth_contract.checks.client import Credential, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.observation import ReachObserved
from mcp_auth_contract.checks.isolation.probe import asked, canary_of, owner_and_other, step
from mcp_auth_contract.checks.presentation import Presentation, bearer
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import AccessQuestion
from mcp_auth_contract.contract import Ways
from mcp_auth_contract.model import OperationKind

_ROLE = "admin"
_HEADERS = (
    ("X-Role", _ROLE),
    ("X-Roles", _ROLE),
    ("X-User-Role", _ROLE),
    ("X-User-Roles", _ROLE),
    ("X-Forwarded-Roles", _ROLE),
    ("X-Is-Admin", "true"),
    ("X-Admin", "true"),
)
_TOLD: Mapping[str, object] = {"role": _ROLE, "roles": [_ROLE], "is_admin": True, "admin": True}
_SAID: Mapping[str, Presentation] = {
    f"header fields {', '.join(name for name, _ in _HEADERS)}": Presentation(_HEADERS),
    "cookies role and is_admin": Presentation((("Cookie", f"role={_ROLE}; is_admin=true"),)),
    "a query with role and is_admin": Presentation(query=f"role={_ROLE}&is_admin=true&admin=true"),
    "_meta with role and is_admin": Presentation(member=("params", "_meta"), value=dict(_TOLD)),
    "a clientInfo with role and is_admin": Presentation(
        member=("params", "_meta"),
        value={"io.modelcontextprotocol/clientInfo": {"name": _ROLE, "version": "1", **_TOLD}},
    ),
    "arguments role and is_admin": Presentation(member=("params", "arguments"), value=dict(_TOLD)),
}
"""What a client says of itself, by where it says so."""

_UNVERIFIED: Mapping[str, Mapping[str, object]] = {
    "user_metadata": {"user_metadata": dict(_TOLD)},
    "custom:role": {"custom:role": _ROLE, "custom:roles": _ROLE},
    "nickname and name": {"nickname": _ROLE, "name": _ROLE},
    "unsafe_metadata": {"unsafe_metadata": dict(_TOLD)},
}
"""Claims that users of some providers fill in themselves, by name."""

_ALIKE: Mapping[str, Mapping[str, object]] = {
    '"non-admin"': {"role": "non-admin", "roles": ["non-admin"], "groups": ["non-admins"]},
    '"admin-readonly"': {"role": "admin-readonly", "roles": ["admin-readonly"], "groups": ["admin-readonly"]},
    'the text "not admin"': {"role": "not admin", "roles": "not admin", "groups": "not admin"},
    "an object in which admin is false": {"role": {"admin": False}, "roles": {"admin": False}, "groups": {"admin": 0}},
    'is_admin: "false"': {"is_admin": "false", "admin": "false", "isAdmin": "false"},
}
"""Claims that deny the role of an administrator in words that hold it."""


async def _tried(
    question: AccessQuestion, context: Context, credentials: Iterable[tuple[str, Credential]]
) -> ReachObserved:
    operation = question.operation
    owner, other = owner_and_other(question, context)
    canary = canary_of(context.contract, question.record)
    first = await asked(owner, operation, "control", until=canary)
    plain = await asked(other, operation, "plain")
    tried = tuple(
        [
            step(words, other, await other.say(call_of(operation), token=token, note=f"isolation, role: {words}"))
            for words, token in credentials
        ]
    )
    own = (first, await asked(owner, operation, "control again", until=canary))
    return ReachObserved(question.owner, question.principal, canary, own, plain, tried)


@probe("What does a role open that a request says of its sender?", ways=Ways.ROLES)
async def ask_said_role(question: AccessQuestion, context: Context) -> ReachObserved:
    """Ask for another principal's record with a good token, and say in one place of the request that one may."""
    own = bearer(context.minter.mint(question.principal, "good").token).headers
    tool = question.operation.kind is OperationKind.TOOL
    said = [(words, one) for words, one in _SAID.items() if tool or one.member[-1:] != ("arguments",)]
    return await _tried(question, context, [(words, replace(one, headers=(*own, *one.headers))) for words, one in said])


@probe("What does a role open that a user may have filled in?", ways=Ways.ROLES)
async def ask_unverified_role(question: AccessQuestion, context: Context) -> ReachObserved:
    """Ask for another principal's record with a token in which a claim of the user's own making names a role."""
    return await _tried(question, context, _claiming(question, context, _UNVERIFIED))


@probe("What does a role open whose name holds another's?", ways=Ways.ROLES)
async def ask_alike_role(question: AccessQuestion, context: Context) -> ReachObserved:
    """Ask for another principal's record with a token whose roles hold the word of a higher one."""
    return await _tried(question, context, _claiming(question, context, _ALIKE))


def _claiming(
    question: AccessQuestion, context: Context, claims: Mapping[str, Mapping[str, object]]
) -> list[tuple[str, Credential]]:
    minter = context.minter
    return [(f"the claim {words}", minter.fresh(question.principal, claims=one)) for words, one in claims.items()]
