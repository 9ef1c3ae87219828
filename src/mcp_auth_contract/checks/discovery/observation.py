"""What RFC 9728 discovery shows: documents, where they were looked for, and what is odd about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mcp_auth_contract.answers import Answer, describe
from mcp_auth_contract.checks.observing import Observation


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
    OAUTH_AT_ROOT = "RFC 8414 location without the issuer's path"
    OIDC_AT_ROOT = "OpenID Connect location without the issuer's path"
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

    def member(self, name: str) -> Any:
        """The value of a member, None where there is none."""
        return None if self.value is None else self.value.get(name)

    @property
    def said(self) -> str:
        """What came, in words."""
        return ", ".join((describe(self.answer), *self.faults))


@dataclass(frozen=True, slots=True)
class ForgedHost:
    """What requests got that named a foreign host: the refusal of a call without a token, and the document.

    `header` says in which field the host stood; `anywhere` that a server need not answer for it at all.
    """

    header: str
    challenge: Answer
    document: Document
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class ResourceMetadataObserved(Observation):
    """Everything RFC 9728 discovery shows about one endpoint.

    `challenge` is the answer to a call without a token; `pointer` the `resource_metadata` it named. `accepts` are the
    same document fetched with other Accept and MCP-Protocol-Version headers, by label. `forged` are the same
    call and document asked for under a foreign host; `jwks` the resource's own key set, if the document names one.
    """

    endpoint: str
    challenge: Answer | None
    pointer: str | None
    documents: tuple[Document, ...]
    accepts: tuple[tuple[str, Answer], ...] = ()
    forged: tuple[ForgedHost, ...] = ()
    jwks: Document | None = None

    def at(self, where: Location) -> Document | None:
        """The document of one location, or None if it was not looked for."""
        return next((one for one in self.documents if one.where is where), None)

    @property
    def best(self) -> Document | None:
        """The document a client would use: by the pointer, else at the path, else at the root."""
        return next((one for one in self._looked_at if one.found), None)

    @property
    def value(self) -> Mapping[str, Any] | None:
        """What that document says."""
        return None if self.best is None else self.best.value

    @property
    def sought(self) -> tuple[Document, ...]:
        """The documents at the places where a client looks, in its order; each URL once."""
        return tuple({one.url: one for one in self._looked_at}.values())

    @property
    def _looked_at(self) -> list[Document]:
        found = (self.at(where) for where in (Location.POINTER, Location.PATH, Location.ROOT))
        return [one for one in found if one is not None]
