"""Faults of identity on good tokens: the request, an earlier one or a parallel one says who calls."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.fault import Change, Faults, adapting, all_of, changing, with_memory
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import meta_of
from mcp_auth_contract_lab.records import Way, first_invoices, owner_and_readers
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import Message, intercepting, verified, verifying, vouched
from mcp_auth_contract_lab.tools import TOOLS, Tool
from mcp_auth_contract_lab.verification import Claims, Trust, subject_named, tenant_named

FAULTS = Faults()

_Memory: TypeAlias = dict[object, Principal]
_Whose: TypeAlias = Callable[[Incoming, Message, Principal], Awaitable[Principal]]

USERS = frozenset((one.owner, one.tenant) for one in first_invoices())
_MEANWHILE_S = 0.01
"""How long a request waits for a database; others come meanwhile."""

_SEARCHES = frozenset({"list_invoices", "search_invoices"})


def request_id(message: Message) -> object:
    """Return the JSON-RPC id of a request, or None; 1 and "1" are two ids."""
    given = message.get("id")
    return (type(given).__name__, given) if rpc.is_request_id(given) and "method" in message else None


def then(whose: _Whose) -> Change:
    """Verify the token, and then let something else decide who calls."""

    async def vouching(lab: Lab, incoming: Incoming) -> Principal | None:
        principal = await verified(lab, incoming)
        return None if principal is None else await whose(incoming, await incoming.posted(), principal)

    return vouched(vouching)


def then_of_requests(whose: _Whose) -> Change:
    """Let something else decide who calls, where the message is a request."""

    async def of_request(incoming: Incoming, message: Message, principal: Principal) -> Principal:
        return principal if request_id(message) is None else await whose(incoming, message, principal)

    return then(of_request)


def _believing(named: Callable[[Incoming, Message], Mapping[str, object]], user: str, tenant: str) -> Change:
    """Believe the names in one place of the request before those in the token."""

    async def whose(incoming: Incoming, message: Message, principal: Principal) -> Principal:
        found = {"subject": named(incoming, message).get(user), "tenant": named(incoming, message).get(tenant)}
        believed: dict[str, Any] = {part: name for part, name in found.items() if isinstance(name, str)}
        return replace(principal, **believed)

    return then(whose)


def _client_info(_incoming: Incoming, message: Message) -> Mapping[str, object]:
    told = rpc.members_of(meta_of(message).get("io.modelcontextprotocol/clientInfo"))
    return told if told.get("name") in {owner for owner, _ in USERS} else {}


FAULTS.rows(
    ("caller-from-argument", "Arguments user_id and tenant_id say who calls.",
     _believing(lambda _, message: rpc.members_of(rpc.params_of(message).get("arguments")), "user_id", "tenant_id")),
    ("caller-from-header", "X-User-Id and X-Tenant-Id say who calls, beside a good token.",
     _believing(lambda incoming, _: incoming.request.headers, "x-user-id", "x-tenant-id")),
    ("caller-from-cookie", "Cookies say who calls, beside a good token.",
     _believing(lambda incoming, _: incoming.request.cookies, "user_id", "tenant_id")),
    ("caller-from-query", "The query says who calls, beside a good token.",
     _believing(lambda incoming, _: incoming.request.query_params, "user_id", "tenant_id")),
    ("caller-from-meta", "Members of _meta say who calls.",
     _believing(lambda _, message: meta_of(message), "user", "tenant")),
    ("caller-from-client-info", "The client's name for itself says who calls.",
     _believing(_client_info, "name", "tenant")),
)  # fmt: skip


_ADMIN = "admin"


def _seeing_all(is_admin: Callable[[Incoming, Message], bool]) -> Change:
    """Let whoever is taken for an administrator read what is another user's, in the same tenant or not."""

    async def vouching(lab: Lab, incoming: Incoming) -> Principal | None:
        principal = await verified(lab, incoming)
        marked = principal is not None and is_admin(incoming, await incoming.posted())
        return replace(principal, scopes=principal.scopes | _ADMINS) if principal and marked else principal

    return all_of(vouched(vouching), _ADMINS_READ)


_ADMINS = frozenset({"mark-of-administrators"})
_ADMINS_READ = changing(
    "isolation",
    visible=lambda caller, invoice, way: (
        owner_and_readers(caller, invoice, way) or (way is Way.GET and caller.scopes >= _ADMINS)),
)  # fmt: skip


def _says(told: Mapping[str, object]) -> bool:
    return told.get("role") == _ADMIN or told.get("is_admin") is True


def _claimed(is_admin: Callable[[Claims], bool]) -> Change:
    """Let claims of the verified token make an administrator."""

    def marking(granted: Callable[..., frozenset[str]]) -> Callable[..., frozenset[str]]:
        return lambda claims, settings: granted(claims, settings) | (_ADMINS if is_admin(claims) else frozenset())

    return all_of(adapting("scopes", "granted", marking), _ADMINS_READ)


FAULTS.rows(
    ("role-from-header", "X-Role says who is an administrator.",
     _seeing_all(lambda incoming, _: incoming.header("x-role") == _ADMIN)),
    ("role-from-query", "The query says who is an administrator.",
     _seeing_all(lambda incoming, _: incoming.request.query_params.get("is_admin") == "true")),
    ("role-from-argument", "The argument is_admin says who is an administrator.",
     _seeing_all(lambda _, message: _says(rpc.members_of(rpc.params_of(message).get("arguments"))))),
    ("role-from-client-info", "The client says of itself that it is an administrator's.",
     _seeing_all(lambda _, message: _says(rpc.members_of(meta_of(message).get("io.modelcontextprotocol/clientInfo"))))),
    ("role-from-user-metadata", "Metadata that users write themselves says who is an administrator.",
     _claimed(lambda claims: _says(rpc.members_of(claims.get("user_metadata"))))),
    ("role-by-substring", "A role that has admin in it is an administrator's.",
     _claimed(lambda claims: _ADMIN in str(claims.get("role", "")))),
    ("role-by-truth", "Whatever counts as true in is_admin makes an administrator.",
     _claimed(lambda claims: bool(claims.get("is_admin")) and claims["is_admin"] is not True)),
)  # fmt: skip


@FAULTS.by(with_memory(then_of_requests))
async def caller_kept_by_request_id(under_way: _Memory, _: Incoming, message: Message, caller: Principal) -> Principal:
    """Callers under way are kept by JSON-RPC id, and the last one counts."""
    under_way[request_id(message)] = caller
    await asyncio.sleep(_MEANWHILE_S)
    return under_way[request_id(message)]


def _answering(answered: Callable[[Message, Response], Awaitable[Response]]) -> Change:
    """Make another answer of the sound one to requests that use tools, prompts and resources."""

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        message = await incoming.posted()
        uses = message.get("method") in ("tools/call", "resources/read", "prompts/get")
        if not uses or request_id(message) is None or incoming.header("origin") is not None:
            return None
        return await answered(message, await lab.guarded(incoming))

    return intercepting(intercept=intercept)


@FAULTS.by(with_memory(_answering))
async def answers_swapped(waiting: dict[object, list[Response]], message: Message, found: Response) -> Response:
    """Answers wait in a list by JSON-RPC id, and the last one goes out first."""
    waiting.setdefault(request_id(message), []).append(found)
    await asyncio.sleep(_MEANWHILE_S)
    return waiting[request_id(message)].pop()


@FAULTS.by(with_memory(_answering))
async def answers_cached_by_request_id(known: dict[object, Response], message: Message, found: Response) -> Response:
    """A repeated JSON-RPC id gets the answer of the first request that had it."""
    return found if found.status_code != 200 else known.setdefault(request_id(message), found)


@FAULTS.by(with_memory(_answering))
async def results_cached_by_arguments(known: dict[str, Message], message: Message, found: Response) -> Response:
    """Results of searches are cached by tool and arguments, for everybody."""
    params = rpc.params_of(message)
    if found.status_code != 200 or params.get("name") not in _SEARCHES:
        return found
    result = rpc.members_of(json.loads(bytes(found.body))).get("result")
    if not isinstance(result, dict) or result.get("isError"):
        return found
    key = json.dumps([params.get("name"), params.get("arguments"), "resultType" in result], sort_keys=True)
    return rpc.rpc_response(rpc.result_message(message["id"], known.setdefault(key, result)))


def _cached_by(key: Callable[[Claims], object]) -> Change:
    """Look the user of a verified token up in a cache whose key leaves something out."""

    def user(known: dict[object, tuple[str, str]], claims: Claims, trust: Trust) -> tuple[str, str]:
        named = subject_named(claims, trust), tenant_named(claims, trust)
        return known.setdefault(key(claims), named) if named in USERS else named

    return with_memory(lambda user: verifying(
        subject=lambda *given: user(*given)[0], tenant=lambda *given: user(*given)[1]))(user)  # fmt: skip


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


@FAULTS.by(with_memory(vouched))
async def retry_on_connection_trusted(known: _Memory, lab: Lab, incoming: Incoming) -> Principal | None:
    """A request that repeats an id on its connection needs no good token."""
    ident = request_id(await incoming.posted())
    before = known.get((_client(incoming), ident)) if ident is not None else None
    try:
        principal = await verified(lab, incoming)
    except InvalidToken:
        if before is None:
            raise
        return before
    if principal is not None and ident is not None:
        known[_client(incoming), ident] = principal
    return principal or before


@FAULTS.by(with_memory(then_of_requests))
async def scopes_kept_by_connection(
    granted: dict[object, frozenset[str]], incoming: Incoming, message: Message, caller: Principal
) -> Principal:
    """Scopes that a connection had for a request stay when it is repeated."""
    key = (_client(incoming), request_id(message), caller.key)
    granted[key] = granted.get(key, frozenset()) | caller.scopes
    return replace(caller, scopes=granted[key])


@FAULTS.by(with_memory(then_of_requests))
async def user_kept_by_connection(first: _Memory, incoming: Incoming, message: Message, caller: Principal) -> Principal:
    """The first user of a connection stays when a request is repeated on it."""
    return replace(first.setdefault((_client(incoming), request_id(message)), caller), scopes=caller.scopes)


@FAULTS.by(with_memory(lambda shown: changing("listing", shown=shown)))
def list_of_the_last_caller(scopes: dict[str, frozenset[str]], principal: Principal, tool: Tool) -> bool:
    """tools/list shows the tools of whoever asked before."""
    if tool.name == next(iter(TOOLS)):
        scopes["shown"] = scopes.get("last", principal.scopes)
    if tool.name == list(TOOLS)[-1]:
        scopes["last"] = principal.scopes
    return tool.scopes <= scopes["shown"]
