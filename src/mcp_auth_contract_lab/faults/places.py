"""Faults of the place where a token is looked for: the query, the message, cookies and other headers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from mcp_auth_contract_lab.credentials import Absent, Credential, Identity, Presented, Source, authorization_header
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.serialization import break_down
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.rpc import params_of

__all__ = ["PLACE_FAULTS", "identity", "sources"]


def sources(*tried: Source) -> Change:
    """Return the change that takes tokens from these places, in this order."""
    return lambda behaviour: replace(behaviour, credentials=replace(behaviour.credentials, sources=tried))


def identity(vouching: Identity) -> Change:
    """Return the change that lets this step vouch for callers."""
    return lambda behaviour: replace(behaviour, credentials=replace(behaviour.credentials, identities=(vouching,)))


def _beside(*others: Source) -> Change:
    """Take the token from another place where the header has none."""
    return sources(authorization_header, *others)


def _query(*names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        values = (incoming.request.query_params.get(name) for name in names)
        value = next((one for one in values if one), None)
        return Absent() if value is None else Presented(value.removeprefix("Bearer "))

    return source


async def _query_over_header(incoming: Incoming) -> Credential:
    both = incoming.header("authorization") is not None
    return await _query("access_token")(incoming) if both else Absent()


def _body(find: Callable[[Any], Iterator[object]]) -> Source:
    async def source(incoming: Incoming) -> Credential:
        message = await incoming.message() if incoming.method == "POST" else None
        if not isinstance(message, dict):
            return Absent()
        found = next((one for one in find(message) if isinstance(one, str)), None)
        return Absent() if found is None else Presented(found.removeprefix("Bearer "))

    return source


def _member(message: Any) -> Iterator[object]:
    yield message.get("access_token")


def _authorization_member(message: Any) -> Iterator[object]:
    yield message.get("authorization")


def _meta(message: Any) -> Iterator[object]:
    meta = params_of(message).get("_meta")
    if isinstance(meta, dict):
        names = ("authorization", "access_token", "token", "io.modelcontextprotocol/authorization")
        yield from (meta.get(name) for name in names)


def _argument(message: Any) -> Iterator[object]:
    arguments = params_of(message).get("arguments")
    if isinstance(arguments, dict):
        yield arguments.get("access_token")


async def _cookie(incoming: Incoming) -> Credential:
    cookies = incoming.request.cookies
    values = (cookies.get(name) for name in ("access_token", "token", "Authorization", "__Host-session"))
    value = next((one for one in values if one), None)
    return Absent() if value is None else Presented(value.removeprefix("Bearer%20").removeprefix("Bearer "))


def _other_header(*names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        value = next((one for one in map(incoming.header, names) if one), None)
        return Absent() if value is None else Presented(value.removeprefix("Bearer "))

    return source


def _vouching(*names: str) -> Identity:
    async def vouch(_lab: object, incoming: Incoming) -> Principal | None:
        if incoming.header("authorization") is not None:
            return None
        subject = next((one for one in map(incoming.header, names) if one), None)
        return None if subject is None else replace(DEFAULT_USER, subject=subject)

    return vouch


async def _one_place_only(incoming: Incoming) -> Credential:
    if incoming.header("authorization") is not None and "access_token" in incoming.request.query_params:
        break_down()
    return await authorization_header(incoming)


_QUERY_NAMES = ("access_token", "token", "bearer", "authorization", "auth", "jwt", "api_key")
_FROM_PROXIES = (
    "x-forwarded-access-token",
    "x-forwarded-authorization",
    "x-original-authorization",
    "x-amzn-oidc-accesstoken",
    "cf-access-jwt-assertion",
    "proxy-authorization",
)

PLACE_FAULTS = (
    Fault("query-token-accepted", "A token in the query is accepted.",
          _beside(_query(*_QUERY_NAMES))),
    Fault("query-token-overrides", "A token in the query replaces the one in the header.",
          sources(_query_over_header, authorization_header)),
    Fault("second-place-breaks-down", "A token in the query beside one in the header ends in a 500.",
          sources(_one_place_only)),
    Fault("authorization-member-accepted", "A member authorization of the message is taken for the header.",
          _beside(_body(_authorization_member))),
    Fault("underscored-header-accepted", "A header name with an underscore behind it is folded into the real one.",
          _beside(_other_header("authorization_"))),
    Fault("body-member-token-accepted", "A member of the JSON-RPC message is taken for a token.",
          _beside(_body(_member))),
    Fault("meta-token-accepted", "A member of _meta is taken for a token.",
          _beside(_body(_meta))),
    Fault("argument-token-accepted", "A tool's argument is taken for a token.",
          _beside(_body(_argument))),
    Fault("argument-token-overrides", "A tool's argument is taken for the token even where the header has one.",
          sources(_body(_argument), authorization_header)),
    Fault("cookie-token-accepted", "A cookie is taken for a token.",
          _beside(_cookie)),
    Fault("x-header-token-accepted", "X-Access-Token or X-Auth-Token is taken for a token.",
          _beside(_other_header("x-access-token", "x-auth-token", "x-api-key"))),
    Fault("forwarded-token-accepted", "A proxy's header is taken for a token, whoever sent it.",
          _beside(_other_header(*_FROM_PROXIES))),
    Fault("mcp-param-token-accepted", "A mirrored parameter is taken for a token.",
          _beside(_other_header("mcp-param-authorization"))),
    Fault("identity-header-trusted", "A header that names a user stands for a token.",
          identity(_vouching("x-forwarded-user", "x-user-id", "x-remote-user"))),
)  # fmt: skip
