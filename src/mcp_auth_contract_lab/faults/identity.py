"""Faults of identity on good tokens: the request, an earlier one or a parallel one says who calls."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.credentials import Presented, present
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.protocol import meta_of
from mcp_auth_contract_lab.records import first_invoices

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS", "USERS", "message_of", "request_id", "then", "verified", "vouched"]

_Named: TypeAlias = Callable[[Incoming, Any], Mapping[str, object]]
_Whose: TypeAlias = "Callable[[Incoming, Any, Principal], Awaitable[Principal]]"

USERS = frozenset((one.owner, one.tenant) for one in first_invoices())
_MEANWHILE_S = 0.01
"""How long a request waits for a database; others come meanwhile."""

_SEARCHES = frozenset({"list_invoices", "search_invoices"})


async def message_of(incoming: Incoming) -> dict[str, Any]:
    message = await incoming.message() if incoming.method == "POST" else None
    return message if isinstance(message, dict) else {}


def request_id(message: Mapping[str, Any]) -> object:
    """Return the JSON-RPC id of a request, or None; 1 and "1" are two ids."""
    given = message.get("id")
    return (type(given).__name__, given) if rpc.is_request_id(given) and "method" in message else None


async def verified(lab: "Lab", incoming: Incoming) -> Principal | None:
    """Return whom the token names, None where there is no token; raises what the sound step does."""
    match await present(incoming, lab.behaviour.credentials):
        case Presented(token):
            return await lab.principal_of(token)
        case _:
            return None


def vouched(vouching: "Callable[[Lab, Incoming], Awaitable[Principal | None]]") -> Change:
    return lambda b: replace(b, credentials=replace(b.credentials, identities=(vouching,)))


def then(whose: _Whose) -> Change:
    """Verify the token, and then let something else decide who calls."""

    async def vouching(lab: "Lab", incoming: Incoming) -> Principal | None:
        principal = await verified(lab, incoming)
        return None if principal is None else await whose(incoming, await message_of(incoming), principal)

    return vouched(vouching)


def _believing(named: _Named, user: str, tenant: str) -> Change:
    """Believe the names in one place of the request before those in the token."""

    async def whose(incoming: Incoming, message: Any, principal: Principal) -> Principal:
        values = named(incoming, message)
        subject, home = values.get(user), values.get(tenant)
        return replace(
            principal,
            subject=subject if isinstance(subject, str) else principal.subject,
            tenant=home if isinstance(home, str) else principal.tenant,
        )

    return then(whose)


def _arguments(_incoming: Incoming, message: Any) -> Mapping[str, object]:
    return _object(rpc.params_of(message).get("arguments"))


def _client_info(_incoming: Incoming, message: Any) -> Mapping[str, object]:
    told = _object(meta_of(message).get("io.modelcontextprotocol/clientInfo"))
    return told if told.get("name") in {owner for owner, _ in USERS} else {}


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _kept_by_request_id(behaviour: Behaviour) -> Behaviour:
    """Keep the callers under way in a table by JSON-RPC id, as for answers that go out on a shared stream."""
    under_way: dict[object, Principal] = {}

    async def whose(_incoming: Incoming, message: Any, principal: Principal) -> Principal:
        under_way[request_id(message)] = principal
        await asyncio.sleep(_MEANWHILE_S)
        return under_way[request_id(message)]

    async def only_requests(incoming: Incoming, message: Any, principal: Principal) -> Principal:
        return principal if request_id(message) is None else await whose(incoming, message, principal)

    return then(only_requests)(behaviour)


def _answering(answered: "Callable[[Lab, Incoming, dict[str, Any]], Awaitable[Response]]") -> Change:
    """Answer tool calls, prompts and resources in another way; whatever is no request goes the usual one."""

    async def intercept(lab: "Lab", incoming: Incoming) -> Response | None:
        message = await message_of(incoming)
        uses = message.get("method") in ("tools/call", "resources/read", "prompts/get")
        if not uses or request_id(message) is None or incoming.header("origin") is not None:
            return None
        return await answered(lab, incoming, message)

    return lambda b: replace(b, endpoint=replace(b.endpoint, intercept=intercept))


def _swapped(behaviour: Behaviour) -> Behaviour:
    waiting: dict[object, list[Response]] = {}

    async def answered(lab: "Lab", incoming: Incoming, message: dict[str, Any]) -> Response:
        found = await lab.guarded(incoming)
        waiting.setdefault(request_id(message), []).append(found)
        await asyncio.sleep(_MEANWHILE_S)
        return waiting[request_id(message)].pop()

    return _answering(answered)(behaviour)


def _cached_by_request_id(behaviour: Behaviour) -> Behaviour:
    known: dict[object, Response] = {}

    async def answered(lab: "Lab", incoming: Incoming, message: dict[str, Any]) -> Response:
        found = await lab.guarded(incoming)
        return found if found.status_code != 200 else known.setdefault(request_id(message), found)

    return _answering(answered)(behaviour)


def _cached_by_arguments(behaviour: Behaviour) -> Behaviour:
    known: dict[str, Mapping[str, Any]] = {}

    async def answered(lab: "Lab", incoming: Incoming, message: dict[str, Any]) -> Response:
        found = await lab.guarded(incoming)
        params = rpc.params_of(message)
        if found.status_code != 200 or params.get("name") not in _SEARCHES:
            return found
        value = json.loads(bytes(found.body))
        result = value.get("result") if isinstance(value, dict) else None
        if not isinstance(result, dict) or result.get("isError"):
            return found
        key = json.dumps([params.get("name"), params.get("arguments"), "resultType" in result], sort_keys=True)
        return rpc.rpc_response(rpc.result_message(message["id"], known.setdefault(key, result)))

    return _answering(answered)(behaviour)


_APART = ("isolation-callers-at-once-apart", "isolation-callers-at-once-apart-stateful")

_NAMES = (
    Fault("caller-from-argument", "Arguments user_id and tenant_id say who calls.",
          _believing(_arguments, "user_id", "tenant_id")),
    Fault("caller-from-header", "X-User-Id and X-Tenant-Id say who calls, beside a good token.",
          _believing(lambda incoming, _message: incoming.request.headers, "x-user-id", "x-tenant-id")),
    Fault("caller-from-cookie", "Cookies say who calls, beside a good token.",
          _believing(lambda incoming, _message: incoming.request.cookies, "user_id", "tenant_id")),
    Fault("caller-from-query", "The query says who calls, beside a good token.",
          _believing(lambda incoming, _message: incoming.request.query_params, "user_id", "tenant_id")),
    Fault("caller-from-meta", "Members of _meta say who calls.",
          _believing(lambda _incoming, message: meta_of(message), "user", "tenant")),
    Fault("caller-from-client-info", "The client's name for itself says who calls.",
          _believing(_client_info, "name", "tenant")),
)  # fmt: skip

_AT_ONCE = (
    Fault("answers-swapped", "Answers wait in a list by JSON-RPC id, and the last one goes out first.",
          _swapped),
    Fault("caller-kept-by-request-id", "Callers under way are kept by JSON-RPC id, and the last one counts.",
          _kept_by_request_id),
    Fault("answers-cached-by-request-id", "A repeated JSON-RPC id gets the answer of the first request that had it.",
          _cached_by_request_id),
    Fault("results-cached-by-arguments", "Results of searches are cached by tool and arguments, for everybody.",
          _cached_by_arguments),
)  # fmt: skip

FAULTS = (*_NAMES, *_AT_ONCE)
