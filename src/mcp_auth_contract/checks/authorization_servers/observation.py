"""The authorization servers that a resource lists, each looked up."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.discovery.members import strings_or_none
from mcp_auth_contract.checks.discovery.observation import Document, Location
from mcp_auth_contract.checks.observing import Observation


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """One entry of `authorization_servers` and what its metadata locations served.

    `own`: the kit's issuer. `served`: the server under test answers at its origin, itself or as a proxy.
    """

    issuer: str
    own: bool
    documents: tuple[Document, ...]
    jwks: Document | None = None
    versioned: Answer | None = None
    served: bool = False

    def at(self, where: Location) -> Document | None:
        """The document of one location, or None if it was not looked for."""
        return next((one for one in self.documents if one.where is where), None)

    @property
    def best(self) -> Document | None:
        """The first document a client finds, in the order of the MCP specification."""
        return next((one for one in self.sought if one.found), None)

    @property
    def sought(self) -> tuple[Document, ...]:
        """The documents at the places where a client looks, in its order."""
        found = (self.at(where) for where in (Location.OAUTH, Location.OIDC_INSERTED, Location.OIDC_APPENDED))
        return tuple(one for one in found if one is not None)

    @property
    def value(self) -> Mapping[str, Any]:
        """What that document says."""
        return (self.best.value if self.best else None) or {}

    def strings(self, name: str) -> tuple[str, ...] | None:
        """The member of that document, if it is a list of strings."""
        return strings_or_none(self.value.get(name))

    @property
    def grants(self) -> tuple[str, ...]:
        """The grant types, or the default of RFC 8414 §2 where the member is left out."""
        given = self.strings("grant_types_supported")
        return ("authorization_code", "implicit") if given is None else given

    @property
    def registers_strangers(self) -> bool:
        """Whether a client that nobody registered has a way in."""
        flag = self.value.get("client_id_metadata_document_supported")
        return flag is True or bool(self.value.get("registration_endpoint"))


@dataclass(frozen=True, slots=True)
class AuthorizationServersObserved(Observation):
    """The authorization servers that the resource's metadata lists, each looked up. `resource`: its identifier."""

    resource: str | None
    servers: tuple[AuthorizationServer, ...]

    @property
    def answers(self) -> Iterator[Answer]:
        for server in self.servers:
            yield from (document.answer for document in server.documents)
            if server.jwks is not None:
                yield server.jwks.answer
