"""Where the token is taken from: the one Authorization header line (OAuth 2.1 §5.1.1)."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*")


@dataclass(frozen=True, slots=True)
class Absent:
    """No bearer token; another scheme counts as none."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A Bearer credential that is no token68, or several header lines."""

    description: str


@dataclass(frozen=True, slots=True)
class Presented:
    """A token, not yet looked at."""

    token: str = field(repr=False)


Credential = Absent | Malformed | Presented
Source: TypeAlias = Callable[[Incoming], Awaitable[Credential]]
Identity: TypeAlias = "Callable[[Lab, Incoming], Awaitable[Principal | None]]"


def read_authorization(value: str) -> Credential:
    """Read one Authorization header line; the scheme is case-insensitive (RFC 9110 §11.1, RFC 6750 §2.1)."""
    scheme, _, rest = value.strip(" ").partition(" ")
    token = rest.strip(" ")
    if scheme.lower() != "bearer" or not token:
        return Absent()
    if not _TOKEN68.fullmatch(token):
        return Malformed("the bearer token has characters that no token has")
    return Presented(token)


async def authorization_header(incoming: Incoming) -> Credential:
    """Take the token from the Authorization header, of which there may be one line."""
    lines = incoming.header_lines("authorization")
    if not lines:
        return Absent()
    if len(lines) > 1:
        return Malformed("more than one Authorization header")
    return read_authorization(lines[0])


@dataclass(frozen=True, slots=True)
class Credentials:
    """Steps: `sources` are tried until one is not absent; `identities` vouch for a caller without a token."""

    sources: tuple[Source, ...] = (authorization_header,)
    identities: tuple[Identity, ...] = ()


async def present(incoming: Incoming, credentials: Credentials) -> Credential:
    """Return the first credential that any source has."""
    for source in credentials.sources:
        credential = await source(incoming)
        if not isinstance(credential, Absent):
            return credential
    return Absent()
