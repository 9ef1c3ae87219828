"""The ways in which a request ends before it is answered."""

from dataclasses import dataclass
from enum import StrEnum


class Denied(Exception):
    """Refused with a challenge."""


class NoCredentials(Denied):
    """The request carries no bearer token."""


@dataclass(eq=False)
class MalformedRequest(Denied):
    """The Authorization header cannot be read (RFC 6750 §3.1 invalid_request)."""

    description: str


@dataclass(eq=False)
class InvalidToken(Denied):
    """The token was rejected; the description names the reason and never repeats the token."""

    description: str


@dataclass(eq=False)
class InsufficientScope(Denied):
    """The token is good but lacks scopes. `held` are those it has."""

    needed: frozenset[str]
    held: frozenset[str]


class KeysUnavailable(Exception):
    """The authorization server's keys cannot be had, so the token cannot be judged."""


class IntrospectionFailure(StrEnum):
    """Why an introspection brought no verdict: another status than 200, no answer, or none that is JSON."""

    STATUS = "status"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"


@dataclass(eq=False)
class IntrospectionUnavailable(Exception):
    """The authorization server does not say what the token is worth, so it cannot be judged."""

    failure: IntrospectionFailure


@dataclass(eq=False)
class HttpRefused(Exception):
    """Refused by the transport, with a status and a sentence."""

    status: int
    reason: str
    allow: str | None = None


class BodyTooLarge(Exception):
    """The body is longer than the server reads."""
