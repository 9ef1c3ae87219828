"""Faults of where the token is taken from: other schemes, other places, or no token at all."""

import base64
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_auth_contract.lab.credentials import (
    Absent,
    Credential,
    Identity,
    Malformed,
    Presented,
    Source,
    authorization_header,
    read_authorization,
)
from mcp_auth_contract.lab.fault import Change, Fault
from mcp_auth_contract.lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract.lab.incoming import Incoming
from mcp_auth_contract.lab.principal import Principal
from mcp_auth_contract.lab.refusal import InvalidToken
from mcp_auth_contract.lab.rpc import params_of

if TYPE_CHECKING:
    from mcp_auth_contract.lab.app import Lab

__all__ = ["FAULTS"]


def _sources(*sources: Source) -> Change:
    return lambda behaviour: replace(behaviour, credentials=replace(behaviour.credentials, sources=sources))


def _identity(identity: Identity) -> Change:
    return lambda behaviour: replace(behaviour, credentials=replace(behaviour.credentials, identities=(identity,)))


def _header(read: Callable[[str], Credential]) -> Change:
    """Read the one Authorization line in another way."""

    async def source(incoming: Incoming) -> Credential:
        lines = incoming.header_lines("authorization")
        return read(lines[0]) if len(lines) == 1 else await authorization_header(incoming)

    return _sources(source)


def _beside(*others: Source) -> Change:
    """Take the token from another place where the header has none."""
    return _sources(authorization_header, *others)


def _case_sensitive(value: str) -> Credential:
    return read_authorization(value) if value.startswith("Bearer") else Absent()


def _any_scheme(value: str) -> Credential:
    scheme, _, token = value.partition(" ")
    return Presented(token) if scheme.lower() in ("token", "jwt", "dpop") else read_authorization(value)


def _bare(value: str) -> Credential:
    return Presented(value) if " " not in value and value.count(".") == 2 else read_authorization(value)


def _first_word(value: str) -> Credential:
    words = value.split()
    return Presented(words[1]) if len(words) > 2 and words[0].lower() == "bearer" else read_authorization(value)


def _last_word(value: str) -> Credential:
    words = value.split()
    doubled = len(words) == 3 and words[1].lower() == "bearer"
    return Presented(words[2]) if doubled else read_authorization(value)


def _last_of_list(value: str) -> Credential:
    return read_authorization(value.rpartition(",")[2]) if "," in value else read_authorization(value)


def _basic_password(value: str) -> Credential:
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() != "basic":
        return read_authorization(value)
    try:
        token = base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except ValueError:
        return Malformed("the Basic credentials cannot be read")
    return Presented(token) if token.count(".") == 2 else Absent()


async def _basic_user(_lab: object, incoming: Incoming) -> Principal | None:
    scheme = (incoming.header("authorization") or "").partition(" ")[0]
    return DEFAULT_USER if scheme.lower() == "basic" else None


async def _empty_credentials(_lab: object, incoming: Incoming) -> Principal | None:
    value = incoming.header("authorization")
    return DEFAULT_USER if value is not None and value.strip().lower() in ("", "bearer") else None


async def _no_token_needed(_lab: object, incoming: Incoming) -> Principal | None:
    return DEFAULT_USER if incoming.header("authorization") is None else None


async def _opaque(_lab: object, incoming: Incoming) -> Principal | None:
    credential = await authorization_header(incoming)
    return DEFAULT_USER if isinstance(credential, Presented) and credential.token.count(".") != 2 else None


async def _any_good_line(lab: "Lab", incoming: Incoming) -> Principal | None:
    lines = incoming.header_lines("authorization")
    for credential in map(read_authorization, lines if len(lines) > 1 else ()):
        if isinstance(credential, Presented):
            with suppress(InvalidToken):
                return await lab.principal_of(credential.token)
    return None


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
    yield from (message.get("access_token"), message.get("authorization"))


def _meta(message: Any) -> Iterator[object]:
    meta = params_of(message).get("_meta")
    if isinstance(meta, dict):
        yield from (meta.get("authorization"), meta.get("access_token"))


def _argument(message: Any) -> Iterator[object]:
    arguments = params_of(message).get("arguments")
    if isinstance(arguments, dict):
        yield arguments.get("access_token")


async def _cookie(incoming: Incoming) -> Credential:
    cookies = incoming.request.cookies
    values = (cookies.get(name) for name in ("access_token", "token", "Authorization"))
    value = next((one for one in values if one), None)
    return Absent() if value is None else Presented(value.removeprefix("Bearer%20").removeprefix("Bearer "))


def _other_header(*names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        value = next((one for one in map(incoming.header, names) if one), None)
        return Absent() if value is None else Presented(value.removeprefix("Bearer "))

    return source


def _vouching(*names: str) -> Identity:
    async def identity(_lab: object, incoming: Incoming) -> Principal | None:
        if incoming.header("authorization") is not None:
            return None
        subject = next((one for one in map(incoming.header, names) if one), None)
        return None if subject is None else replace(DEFAULT_USER, subject=subject)

    return identity


_SCHEMES = (
    Fault("scheme-case-sensitive", "Only the spelling Bearer is a token's scheme.",
          ("token-scheme-case-accepted",), _header(_case_sensitive)),
    Fault("any-scheme-accepted", "A token under the scheme Token, JWT or DPoP is taken for a bearer token.",
          ("token-other-scheme-refused",), _header(_any_scheme)),
    Fault("bare-token-accepted", "A token needs no scheme before it.",
          ("token-without-scheme-refused",), _header(_bare)),
    Fault("trailing-word-ignored", "What follows the token is not read.",
          ("token-with-trailing-word-refused",), _header(_first_word)),
    Fault("doubled-scheme-accepted", "Bearer may be said twice.",
          ("token-with-trailing-word-refused",), _header(_last_word)),
    Fault("any-header-line-accepted", "Of several Authorization lines the good one counts.",
          ("token-two-headers-order",), _identity(_any_good_line)),
    Fault("comma-list-split", "A comma separates tokens, and the last one counts.",
          ("token-comma-joined-refused",), _header(_last_of_list)),
    Fault("basic-password-accepted", "The password of Basic credentials is taken for a token.",
          ("token-basic-refused",), _header(_basic_password)),
    Fault("basic-user-accepted", "Any Basic user and password will do.",
          ("token-basic-refused",), _identity(_basic_user)),
    Fault("empty-credentials-accepted", "A Bearer without a token is let in.",
          ("token-empty-credentials-refused",), _identity(_empty_credentials)),
    Fault("opaque-token-accepted", "Any string that is not a JWT is let in.",
          ("token-malformed-refused", "token-signature-segment-missing-refused", "token-oversized-refused"),
          _identity(_opaque)),
    Fault("token-optional", "Without a token the caller is a default user.",
          ("challenge-missing-token-401", "challenge-discovery-gated", "challenge-listen-gated"),
          _identity(_no_token_needed)),
)  # fmt: skip

_FROM_PROXIES = ("x-forwarded-access-token", "x-forwarded-authorization", "proxy-authorization")

_PLACES = (
    Fault("query-token-accepted", "A token in the query is accepted.",
          ("token-in-query-refused",), _beside(_query("access_token", "token", "bearer", "authorization"))),
    Fault("query-token-overrides", "A token in the query replaces the one in the header.",
          ("token-in-query-no-override",), _sources(_query_over_header, authorization_header)),
    Fault("body-member-token-accepted", "A member of the JSON-RPC message is taken for a token.",
          ("token-in-body-refused",), _beside(_body(_member))),
    Fault("meta-token-accepted", "A member of _meta is taken for a token.",
          ("token-in-body-refused",), _beside(_body(_meta))),
    Fault("argument-token-accepted", "A tool's argument is taken for a token.",
          ("token-in-body-refused",), _beside(_body(_argument))),
    Fault("cookie-token-accepted", "A cookie is taken for a token.",
          ("token-in-cookie-refused",), _beside(_cookie)),
    Fault("x-header-token-accepted", "X-Access-Token or X-Auth-Token is taken for a token.",
          ("token-in-other-header-refused",), _beside(_other_header("x-access-token", "x-auth-token"))),
    Fault("forwarded-token-accepted", "A proxy's header is taken for a token, whoever sent it.",
          ("token-in-other-header-refused",),
          _beside(_other_header(*_FROM_PROXIES))),
    Fault("mcp-param-token-accepted", "A mirrored parameter is taken for a token.",
          ("token-in-other-header-refused",), _beside(_other_header("mcp-param-authorization"))),
    Fault("identity-header-trusted", "A header that names a user stands for a token.",
          ("token-identity-header-refused",),
          _identity(_vouching("x-forwarded-user", "x-user-id", "x-remote-user"))),
)  # fmt: skip

FAULTS = (*_SCHEMES, *_PLACES)
