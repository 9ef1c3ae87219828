"""Faults of presentation: where the token is taken from, and how the header that carries it is read."""

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.credentials import (
    Absent,
    Credential,
    Malformed,
    Presented,
    Source,
    authorization_header,
    read_authorization,
)
from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import DEFAULT_USER, broken, sources, vouched

FAULTS = Faults()


def _header(read: Callable[[str], Credential | None]) -> Change:
    """Read the one Authorization line in another way; None leaves it to the right one."""

    async def source(incoming: Incoming) -> Credential:
        lines = incoming.header_lines("authorization")
        return (read(lines[0]) if len(lines) == 1 else None) or await authorization_header(incoming)

    return sources(source)


def _breaking(when: Callable[[Incoming], bool]) -> Change:
    """Break down over requests with an odd header."""

    async def source(incoming: Incoming) -> Credential:
        if when(incoming):
            raise broken()
        return await authorization_header(incoming)

    return sources(source)


def _word(pick: Callable[[list[str]], str | None]) -> Change:
    """Take one of the words of the Authorization line for the token; None leaves it to the right reading."""

    def read(value: str) -> Credential | None:
        token = pick(value.split())
        return None if token is None else Presented(token)

    return _header(read)


def _basic(part: int) -> Change:
    """Take the user name (0) or the password (2) for a token."""

    def read(value: str) -> Credential | None:
        scheme, _, encoded = value.partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            token = base64.b64decode(encoded, validate=True).decode().partition(":")[part]
        except ValueError:
            return Malformed("the Basic credentials cannot be read")
        return Presented(token) if token.count(".") == 2 else Absent()

    return _header(read)


def _default_user(when: Callable[[str | None], bool]) -> Change:
    """Let the default user in by what the Authorization header says, None where there is none."""

    async def vouching(_lab: object, incoming: Incoming) -> Principal | None:
        return DEFAULT_USER if when(incoming.header("authorization")) else None

    return vouched(vouching)


def _line(incoming: Incoming) -> str:
    lines = incoming.header_lines("authorization")
    return lines[0] if len(lines) == 1 else ""


@FAULTS.by(vouched)
async def opaque_token_accepted(_lab: object, incoming: Incoming) -> Principal | None:
    """Any string that is not a JWT is let in."""
    credential = await authorization_header(incoming)
    return DEFAULT_USER if isinstance(credential, Presented) and credential.token.count(".") != 2 else None


def _presented(values: Iterable[object]) -> Credential:
    """Take the first text for the token, with or without the scheme before it."""
    found = next((one for one in values if isinstance(one, str) and one), None)
    return Absent() if found is None else Presented(found.removeprefix("Bearer%20").removeprefix("Bearer "))


def _looked_up(find: Callable[[Incoming], Mapping[str, Any]], *names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        return _presented(map(find(incoming).get, names))

    return source


def _in_message(find: Callable[[Mapping[str, Any]], object], *names: str) -> Source:
    async def source(incoming: Incoming) -> Credential:
        found = find(await incoming.posted())
        return _presented(map(found.get, names)) if isinstance(found, dict) else Absent()

    return source


def _beside(*others: Source) -> Change:
    """Take the token from another place where the header has none."""
    return sources(authorization_header, *others)


def _from_header(*names: str) -> Change:
    return _beside(_looked_up(lambda incoming: incoming.request.headers, *names))


def _from_query(*names: str) -> Source:
    return _looked_up(lambda incoming: incoming.request.query_params, *names)


async def _query_over_header(incoming: Incoming) -> Credential:
    both = incoming.header("authorization") is not None
    return await _from_query("access_token")(incoming) if both else Absent()


_ARGUMENT = _in_message(lambda message: rpc.params_of(message).get("arguments"), "access_token")

FAULTS.rows(
    ("scheme-case-sensitive", "Only the spelling Bearer is a token's scheme.",
     _header(lambda value: None if value.startswith("Bearer") else Absent())),
    ("any-scheme-accepted", "A token under the scheme Token, JWT or DPoP is taken for a bearer token.",
     _word(lambda words: words[1] if len(words) == 2 and words[0].lower() in ("token", "jwt", "dpop") else None)),
    ("trailing-word-ignored", "What follows the token is not read.",
     _word(lambda words: words[1] if len(words) > 2 and words[0].lower() == "bearer" else None)),
    ("doubled-scheme-accepted", "Bearer may be said twice.",
     _word(lambda words: words[2] if len(words) == 3 and words[1].lower() == "bearer" else None)),
    # Python takes the no-break space of Latin-1 for white space, too.
    ("no-break-space-splits", "Any white space separates scheme and token.",
     _word(lambda words: words[1] if len(words) == 2 and words[0].lower() == "bearer" else None)),
    ("credentials-cleaned", "Quotes, colons and the like around the token are left out.",
     _header(lambda value: None if "," in value[:-1]
             else read_authorization(re.sub(r'[",:=]|token=', " ", value.rstrip("="))))),
    ("bare-token-accepted", "A token needs no scheme before it.",
     _header(lambda value: Presented(value) if " " not in value and value.count(".") == 2 else None)),
    ("comma-list-split", "A comma separates tokens, and the last one counts.",
     _header(lambda value: read_authorization(value.rpartition(",")[2]))),
    ("comma-list-first", "A comma separates tokens, and the first one counts.",
     _header(lambda value: read_authorization(value.partition(",")[0]))),
    ("beyond-ascii-breaks-down", "An octet beyond ASCII in the header ends in a 500.",
     _breaking(lambda incoming: not _line(incoming).isascii())),
    ("odd-spacing-breaks-down", "Anything but one space behind the scheme ends in a 500.",
     _breaking(lambda incoming: re.match(r"(?i)bearer(  |\t)", _line(incoming)) is not None)),
    ("second-line-breaks-down", "A second Authorization line ends in a 500.",
     _breaking(lambda incoming: len(incoming.header_lines("authorization")) > 1)),
    ("second-place-breaks-down", "A token in the query beside one in the header ends in a 500.",
     _breaking(lambda incoming: incoming.header("authorization") is not None
               and "access_token" in incoming.request.query_params)),
    ("basic-user-name-accepted", "The user name of Basic credentials is taken for a token.", _basic(0)),
    ("basic-password-accepted", "The password of Basic credentials is taken for a token.", _basic(2)),
    ("basic-user-accepted", "Any Basic user and password will do.",
     _default_user(lambda value: (value or "").partition(" ")[0].lower() == "basic")),
    ("empty-credentials-accepted", "A Bearer without a token is let in.",
     _default_user(lambda value: value is not None and value.strip().lower() in ("", "bearer"))),
    ("token-optional", "Without a token the caller is a default user.", _default_user(lambda value: value is None)),
    ("query-token-accepted", "A token in the query is accepted.",
     _beside(_from_query("access_token", "token", "bearer", "authorization", "auth", "jwt", "api_key"))),
    ("query-token-overrides", "A token in the query replaces the one in the header.",
     sources(_query_over_header, authorization_header)),
    ("authorization-member-accepted", "A member authorization of the message is taken for the header.",
     _beside(_in_message(lambda message: message, "authorization"))),
    ("underscored-header-accepted", "A header name with an underscore behind it is folded into the real one.",
     _from_header("authorization_")),
    ("body-member-token-accepted", "A member of the JSON-RPC message is taken for a token.",
     _beside(_in_message(lambda message: message, "access_token"))),
    ("meta-token-accepted", "A member of _meta is taken for a token.",
     _beside(_in_message(lambda message: rpc.params_of(message).get("_meta"), "authorization", "access_token", "token",
                         "io.modelcontextprotocol/authorization"))),
    ("argument-token-accepted", "A tool's argument is taken for a token.", _beside(_ARGUMENT)),
    ("argument-token-overrides", "A tool's argument is taken for the token even where the header has one.",
     sources(_ARGUMENT, authorization_header)),
    ("cookie-token-accepted", "A cookie is taken for a token.",
     _beside(_looked_up(lambda incoming: incoming.request.cookies,
                        "access_token", "token", "Authorization", "__Host-session"))),
    ("x-header-token-accepted", "X-Access-Token or X-Auth-Token is taken for a token.",
     _from_header("x-access-token", "x-auth-token", "x-api-key")),
    ("forwarded-token-accepted", "A proxy's header is taken for a token, whoever sent it.",
     _from_header("x-forwarded-access-token", "x-forwarded-authorization", "x-original-authorization",
                  "x-amzn-oidc-accesstoken", "cf-access-jwt-assertion", "proxy-authorization")),
    ("mcp-param-token-accepted", "A mirrored parameter is taken for a token.", _from_header("mcp-param-authorization")),
)  # fmt: skip


@FAULTS.by(vouched)
async def any_header_line_accepted(lab: Lab, incoming: Incoming) -> Principal | None:
    """Of several Authorization lines the good one counts."""
    lines = incoming.header_lines("authorization")
    for credential in map(read_authorization, lines if len(lines) > 1 else ()):
        if isinstance(credential, Presented):
            with suppress(InvalidToken):
                return await lab.principal_of(credential.token)
    return None
