"""What each probe brings home: one frozen value per question, without an opinion."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mcp_auth_contract.model import Revision
from mcp_auth_contract.observations.answer import Answer, JsonObject
from mcp_auth_contract.observations.reading import Accepted, Reading

__all__ = [
    "Attempt",
    "AuthorizationServer",
    "AuthorizationServersObserved",
    "CallObserved",
    "Document",
    "DoorObserved",
    "Heard",
    "Location",
    "ParityObserved",
    "PreflightObserved",
    "ResourceMetadataObserved",
    "SessionEndObserved",
    "TokenShown",
]


@dataclass(frozen=True, slots=True)
class TokenShown:
    """A token as a report may show it: its label, its decoded parts, and what was changed. Never the token."""

    label: str
    header: JsonObject
    claims: JsonObject
    change: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way in which a call was tried: which step gave the answer, and how it reads."""

    way: str
    step: str
    answer: Answer
    reading: Reading


@dataclass(frozen=True, slots=True)
class Heard:
    """What the kit's listening post heard of a URL that a token named: `METHOD /path` of each request.

    `audible` says that the server has fetched something from the same address before, so that silence means something.
    """

    requests: tuple[str, ...]
    audible: bool


@dataclass(frozen=True, slots=True)
class CallObserved:
    """An operation tried with one credential. A stateful revision is tried in several ways; none is a side door.

    `heard` is None for a token that names no URL. `hidden` says that the server lists the operation to a token with its
    scopes, and not to this one.
    """

    operation: str
    attempts: tuple[Attempt, ...]
    token: TokenShown | None = None
    offered: str = ""
    heard: Heard | None = None
    hidden: bool = False

    @property
    def accepted(self) -> Attempt | None:
        """The first attempt that had an effect, or None."""
        return next((one for one in self.attempts if isinstance(one.reading, Accepted)), None)


@dataclass(frozen=True, slots=True)
class DoorObserved:
    """A request without a token at one door of the endpoint: a verb, a spelling of the path, a content type."""

    door: str
    answer: Answer
    reading: Reading
    also: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class PreflightObserved:
    """A CORS preflight, and the challenge a browser would meet afterwards (Fetch standard)."""

    origin: str
    preflight: Answer
    challenged: Answer


@dataclass(frozen=True, slots=True)
class SessionEndObserved:
    """DELETE on a live session without a token, then a call inside it. None: the server has no sessions."""

    session: bool
    ended: Answer | None
    after: Attempt | None


@dataclass(frozen=True, slots=True)
class ParityObserved:
    """The same protected operation without a token, in each revision that the server speaks."""

    readings: tuple[tuple[Revision, Answer, Reading], ...]


class Location(StrEnum):
    """Where a metadata document was looked for."""

    POINTER = "resource_metadata of the challenge"
    PATH = "well-known with the path inserted"
    ROOT = "well-known at the root"
    APPENDED = "well-known appended to the path"
    STRAY = "well-known of a path that does not exist"
    OAUTH = "RFC 8414 location"
    OIDC_INSERTED = "OpenID Connect location, path inserted"
    OIDC_APPENDED = "OpenID Connect location, appended to the path"
    OAUTH_APPENDED = "RFC 8414 suffix appended to the path"
    JWKS = "jwks_uri"


@dataclass(frozen=True, slots=True)
class Document:
    """One fetched JSON document. `value` is None unless the body is one JSON object; `faults` say what is odd.

    A fault is a short phrase: "not JSON", "not a JSON object", "duplicate member 'resource'", "byte order mark".
    """

    where: Location
    url: str
    answer: Answer
    value: Mapping[str, Any] | None = None
    faults: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the location serves a JSON object with success; whether it is 200 is another question."""
        return self.answer.status is not None and 200 <= self.answer.status < 300 and self.value is not None


@dataclass(frozen=True, slots=True)
class ResourceMetadataObserved:
    """Everything RFC 9728 discovery shows about one endpoint.

    `challenge` is the answer to a call without a token; `pointer` the `resource_metadata` it named. `accepts` are the
    same document fetched with other Accept and MCP-Protocol-Version headers, by label. `reflected` is the challenge
    of the same call sent with a foreign X-Forwarded-Host; `jwks` the resource's own key set, if the document names one.
    """

    endpoint: str
    challenge: Answer | None
    pointer: str | None
    documents: tuple[Document, ...]
    accepts: tuple[tuple[str, Answer], ...] = ()
    reflected: Answer | None = None
    jwks: Document | None = None

    def at(self, where: Location) -> Document | None:
        """The document of one location, or None if it was not looked for."""
        return next((one for one in self.documents if one.where is where), None)

    @property
    def best(self) -> Document | None:
        """The document a client would use: by the pointer, else at the path, else at the root."""
        order = (Location.POINTER, Location.PATH, Location.ROOT)
        found = (self.at(where) for where in order)
        return next((one for one in found if one is not None and one.found), None)


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """One entry of `authorization_servers` and what its metadata locations served. `own`: the kit's issuer."""

    issuer: str
    own: bool
    documents: tuple[Document, ...]
    jwks: Document | None = None
    versioned: Answer | None = None

    def at(self, where: Location) -> Document | None:
        """The document of one location, or None if it was not looked for."""
        return next((one for one in self.documents if one.where is where), None)

    @property
    def best(self) -> Document | None:
        """The first document a client finds, in the order of the MCP specification."""
        order = (Location.OAUTH, Location.OIDC_INSERTED, Location.OIDC_APPENDED)
        found = (self.at(where) for where in order)
        return next((one for one in found if one is not None and one.found), None)


@dataclass(frozen=True, slots=True)
class AuthorizationServersObserved:
    """The authorization servers that the resource's metadata lists, each looked up. `resource`: its identifier."""

    resource: str | None
    servers: tuple[AuthorizationServer, ...]
