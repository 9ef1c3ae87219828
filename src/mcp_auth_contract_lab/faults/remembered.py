"""Faults of memory between users: what a token, a connection, a session or a list was once is kept for the next."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Faults, changing
from mcp_auth_contract_lab.faults.identity import USERS, request_id, then_of_requests
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import verified, verifying, vouched
from mcp_auth_contract_lab.tools import TOOLS, Tool
from mcp_auth_contract_lab.verification import Claims, Trust, subject_named, tenant_named

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

FAULTS = Faults()


def _cached_by(key: Callable[[Claims], object]) -> Change:
    """Look the user of a verified token up in a cache whose key leaves something out."""

    def change(behaviour: Behaviour) -> Behaviour:
        known: dict[object, tuple[str, str]] = {}

        def user(claims: Claims, trust: Trust) -> tuple[str, str]:
            named = subject_named(claims, trust), tenant_named(claims, trust)
            return known.setdefault(key(claims), named) if named in USERS else named

        return verifying(subject=lambda *given: user(*given)[0], tenant=lambda *given: user(*given)[1])(behaviour)

    return change


@FAULTS.by(_cached_by)
def user_cached_by_token_id(claims: Claims) -> object:
    """The user of a verified token is cached by its jti alone."""
    return repr(claims.get("jti"))


@FAULTS.by(_cached_by)
def user_cached_by_beginning(claims: Claims) -> object:
    """The user of a verified token is cached by the beginning of the token."""
    names = list(claims)
    return repr([(name, claims[name]) for name in names[: names.index("jti") + 1 if "jti" in names else None]])


def _client(incoming: Incoming) -> object:
    return tuple(incoming.request.scope.get("client") or ())


@FAULTS.change
def retry_on_connection_trusted(behaviour: Behaviour) -> Behaviour:
    """A request that repeats an id on its connection needs no good token."""
    known: dict[object, Principal] = {}

    async def vouching(lab: "Lab", incoming: Incoming) -> Principal | None:
        ident = request_id(await incoming.posted())
        before = known.get((_client(incoming), ident)) if ident is not None else None
        try:
            principal = await verified(lab, incoming)
        except InvalidToken:
            if before is None:
                raise
            principal = None
        if principal is not None and ident is not None:
            known[_client(incoming), ident] = principal
        return principal or before

    return vouched(vouching)(behaviour)


@FAULTS.change
def scopes_kept_by_connection(behaviour: Behaviour) -> Behaviour:
    """Scopes that a connection had for a request stay when it is repeated."""
    granted: dict[object, frozenset[str]] = {}

    async def whose(incoming: Incoming, message: Mapping[str, Any], principal: Principal) -> Principal:
        key = (_client(incoming), request_id(message), principal.key)
        granted[key] = granted.get(key, frozenset()) | principal.scopes
        return replace(principal, scopes=granted[key])

    return then_of_requests(whose)(behaviour)


@FAULTS.change
def user_kept_by_connection(behaviour: Behaviour) -> Behaviour:
    """The first user of a connection stays when a request is repeated on it."""
    first: dict[object, Principal] = {}

    async def whose(incoming: Incoming, message: Mapping[str, Any], principal: Principal) -> Principal:
        kept = first.setdefault((_client(incoming), request_id(message)), principal)
        return replace(kept, scopes=principal.scopes)

    return then_of_requests(whose)(behaviour)


@FAULTS.change
def list_of_the_last_caller(behaviour: Behaviour) -> Behaviour:
    """tools/list shows the tools of whoever asked before."""
    last: list[Principal] = []
    first_tool, last_tool = next(iter(TOOLS)), list(TOOLS)[-1]
    showing: list[frozenset[str]] = []

    def shown(principal: Principal, tool: Tool) -> bool:
        if tool.name == first_tool:
            showing[:] = [last[0].scopes if last else principal.scopes]
        if tool.name == last_tool:
            last[:] = [principal]
        return tool.scopes <= showing[0]

    return changing("listing", shown=shown)(behaviour)
