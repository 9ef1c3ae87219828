"""Faults of memory between users: what a token, a connection, a session or a list was once is kept for the next."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.identity import USERS, message_of, request_id, then, verified, vouched
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.tools import TOOLS, Tool
from mcp_auth_contract_lab.verification import Claims, Trust, subject_named, tenant_named

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS"]


def _cached_by(key: Callable[[Claims], object]) -> Change:
    """Look the user of a verified token up in a cache whose key leaves something out."""

    def change(behaviour: Behaviour) -> Behaviour:
        known: dict[object, tuple[str, str]] = {}

        def user(claims: Claims, trust: Trust) -> tuple[str, str]:
            named = subject_named(claims, trust), tenant_named(claims, trust)
            return known.setdefault(key(claims), named) if named in USERS else named

        verification = replace(
            behaviour.verification,
            subject=lambda claims, trust: user(claims, trust)[0],
            tenant=lambda claims, trust: user(claims, trust)[1],
        )
        return replace(behaviour, verification=verification)

    return change


def _id_alone(claims: Claims) -> object:
    return repr(claims.get("jti"))


def _beginning(claims: Claims) -> object:
    """Return what stands in the token up to its id."""
    names = list(claims)
    return repr([(name, claims[name]) for name in names[: names.index("jti") + 1 if "jti" in names else None]])


def _client(incoming: Incoming) -> object:
    return tuple(incoming.request.scope.get("client") or ())


def _remembered_by_connection(behaviour: Behaviour) -> Behaviour:
    """Take a request that repeats an id on its connection for a retry, which was authenticated already."""
    known: dict[object, Principal] = {}

    async def vouching(lab: "Lab", incoming: Incoming) -> Principal | None:
        ident = request_id(await message_of(incoming))
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


def _scopes_of_connection(behaviour: Behaviour) -> Behaviour:
    """Add the scopes that the same user was granted for the same request on the same connection before."""
    granted: dict[object, frozenset[str]] = {}

    async def whose(incoming: Incoming, message: Any, principal: Principal) -> Principal:
        if request_id(message) is None:
            return principal
        key = (_client(incoming), request_id(message), principal.key)
        granted[key] = granted.get(key, frozenset()) | principal.scopes
        return replace(principal, scopes=granted[key])

    return then(whose)(behaviour)


def _user_of_connection(behaviour: Behaviour) -> Behaviour:
    """Keep the first user of a connection for each request that is repeated on it."""
    first: dict[object, Principal] = {}

    async def whose(incoming: Incoming, message: Any, principal: Principal) -> Principal:
        ident = request_id(message)
        if ident is None:
            return principal
        return replace(first.setdefault((_client(incoming), ident), principal), scopes=principal.scopes)

    return then(whose)(behaviour)


def _shown_to_the_last_caller(behaviour: Behaviour) -> Behaviour:
    """Show the tools of whoever listed them before, and remember the present caller for the next."""
    last: list[Principal] = []
    first_tool, last_tool = next(iter(TOOLS)), list(TOOLS)[-1]
    showing: list[frozenset[str]] = []

    def shown(principal: Principal, tool: Tool) -> bool:
        if tool.name == first_tool:
            showing[:] = [last[0].scopes if last else principal.scopes]
        if tool.name == last_tool:
            last[:] = [principal]
        return tool.scopes <= showing[0]

    return replace(behaviour, listing=replace(behaviour.listing, shown=shown))


_CALLERS = "isolation-callers-at-once-apart"
_CONNECTION, _SESSION = "isolation-connection-proves-nobody", "isolation-session-proves-nobody"

_ALIKE = (
    Fault("user-cached-by-token-id", "The user of a verified token is cached by its jti alone.",
          _cached_by(_id_alone)),
    Fault("user-cached-by-beginning", "The user of a verified token is cached by the beginning of the token.",
          _cached_by(_beginning)),
)  # fmt: skip

_REMEMBERED = (
    Fault("retry-on-connection-trusted", "A request that repeats an id on its connection needs no good token.",
          _remembered_by_connection),
    Fault("scopes-kept-by-connection", "Scopes that a connection had for a request stay when it is repeated.",
          _scopes_of_connection),
    Fault("user-kept-by-connection", "The first user of a connection stays when a request is repeated on it.",
          _user_of_connection),
    Fault("list-of-the-last-caller", "tools/list shows the tools of whoever asked before.",
          _shown_to_the_last_caller),
)  # fmt: skip

FAULTS = (*_ALIKE, *_REMEMBERED)
