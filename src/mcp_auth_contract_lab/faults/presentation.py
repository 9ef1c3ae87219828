"""Faults of where the token is taken from: other schemes, other places, or no token at all."""

import base64
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp_auth_contract_lab.credentials import (
    Absent,
    Credential,
    Malformed,
    Presented,
    authorization_header,
    read_authorization,
)
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.places import PLACE_FAULTS, identity, sources
from mcp_auth_contract_lab.faults.serialization import break_down
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS"]


def _header(read: Callable[[str], Credential]) -> Change:
    """Read the one Authorization line in another way."""

    async def source(incoming: Incoming) -> Credential:
        lines = incoming.header_lines("authorization")
        return read(lines[0]) if len(lines) == 1 else await authorization_header(incoming)

    return sources(source)


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


def _first_of_list(value: str) -> Credential:
    return read_authorization(value.partition(",")[0])


def _cleaned(value: str) -> Credential:
    """Strip what does not look like a token."""
    return read_authorization(re.sub(r'[",:=]|token=', " ", value.rstrip("=")) if "," not in value[:-1] else value)


def _split_anywhere(value: str) -> Credential:
    """Split at whatever Python takes for white space, the no-break space of Latin-1 among it."""
    words = value.split()
    return Presented(words[1]) if len(words) == 2 and words[0].lower() == "bearer" else read_authorization(value)


def _ascii_only(value: str) -> Credential:
    if not value.isascii():
        break_down()
    return read_authorization(value)


def _one_space_only(value: str) -> Credential:
    if re.match(r"(?i)bearer(  |\t)", value):
        break_down()
    return read_authorization(value)


def _basic_user_name(value: str) -> Credential:
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() != "basic":
        return read_authorization(value)
    try:
        token = base64.b64decode(encoded, validate=True).decode().partition(":")[0]
    except ValueError:
        return Malformed("the Basic credentials cannot be read")
    return Presented(token) if token.count(".") == 2 else Absent()


async def _one_line_only(incoming: Incoming) -> Credential:
    if len(incoming.header_lines("authorization")) > 1:
        break_down()
    return await authorization_header(incoming)


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


_SCHEMES = (
    Fault("scheme-case-sensitive", "Only the spelling Bearer is a token's scheme.",
          _header(_case_sensitive)),
    Fault("any-scheme-accepted", "A token under the scheme Token, JWT or DPoP is taken for a bearer token.",
          _header(_any_scheme)),
    Fault("bare-token-accepted", "A token needs no scheme before it.",
          _header(_bare)),
    Fault("trailing-word-ignored", "What follows the token is not read.",
          _header(_first_word)),
    Fault("doubled-scheme-accepted", "Bearer may be said twice.",
          _header(_last_word)),
    Fault("any-header-line-accepted", "Of several Authorization lines the good one counts.",
          identity(_any_good_line)),
    Fault("comma-list-split", "A comma separates tokens, and the last one counts.",
          _header(_last_of_list)),
    Fault("comma-list-first", "A comma separates tokens, and the first one counts.",
          _header(_first_of_list)),
    Fault("credentials-cleaned", "Quotes, colons and the like around the token are left out.",
          _header(_cleaned)),
    Fault("no-break-space-splits", "Any white space separates scheme and token.",
          _header(_split_anywhere)),
    Fault("beyond-ascii-breaks-down", "An octet beyond ASCII in the header ends in a 500.",
          _header(_ascii_only)),
    Fault("odd-spacing-breaks-down", "Anything but one space behind the scheme ends in a 500.",
          _header(_one_space_only)),
    Fault("second-line-breaks-down", "A second Authorization line ends in a 500.",
          sources(_one_line_only)),
    Fault("basic-user-name-accepted", "The user name of Basic credentials is taken for a token.",
          _header(_basic_user_name)),
    Fault("basic-password-accepted", "The password of Basic credentials is taken for a token.",
          _header(_basic_password)),
    Fault("basic-user-accepted", "Any Basic user and password will do.",
          identity(_basic_user)),
    Fault("empty-credentials-accepted", "A Bearer without a token is let in.",
          identity(_empty_credentials)),
    Fault("opaque-token-accepted", "Any string that is not a JWT is let in.",
          identity(_opaque)),
    Fault("token-optional", "Without a token the caller is a default user.",
          identity(_no_token_needed)),
)  # fmt: skip

FAULTS = (*_SCHEMES, *PLACE_FAULTS)
