"""The authorization servers that a resource lists, each looked up."""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.discovery.observation import Document, Location
from mcp_auth_contract.checks.observing import Observation


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
