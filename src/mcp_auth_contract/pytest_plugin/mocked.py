"""An issuer without sockets: respx answers its metadata, its keys and its introspection."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import respx
from anyio.from_thread import start_blocking_portal

from mcp_auth_contract.contract import Contract
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerName, IssuerSettings
from mcp_auth_contract.issuer.app import issuer_app
from mcp_auth_contract.pytest_plugin.minting import Mint
from mcp_auth_contract.tokens import TokenProfile
from mcp_auth_contract.wire import InsideTransport


@dataclass(frozen=True, slots=True)
class MockedIssuer:
    """What httpx finds at the issuer's URL. `router` is respx's, to see calls and to add routes of one's own.

    `mint` mints its tokens. `issuer` is the same issuer as behind `mcp_issuer`, but for its URLs: `issuer.control`
    changes keys and behaviour, `issuer.introspection` revokes.
    """

    url: str
    router: respx.MockRouter = field(repr=False)
    mint: Mint = field(repr=False)
    issuer: EmbeddedIssuer = field(repr=False)

    @property
    def jwks_uri(self) -> str:
        """Where it publishes its keys."""
        return f"{self.url}/jwks"

    @property
    def introspection_uri(self) -> str:
        """Where tokens are introspected (RFC 7662)."""
        return f"{self.url}/introspect"

    @property
    def metadata_uri(self) -> str:
        """Where its metadata is (RFC 8414)."""
        return f"{self.url}/.well-known/oauth-authorization-server"

    def jwks(self) -> dict[str, object]:
        """Return the JWK set that is published now."""
        return self.issuer.control.state(IssuerName.TRUSTED).jwks()


@contextmanager
def mocked(
    url: str, settings: IssuerSettings, profile: TokenProfile, contract: Contract | None
) -> Iterator[MockedIssuer]:
    """Answer httpx at the URL, synchronous and asynchronous clients alike, until the block ends."""
    issuer = EmbeddedIssuer(settings)
    issuer.load_keys()
    transport = InsideTransport(issuer_app(url, issuer.control, issuer.memory, issuer.key_of, settings.algorithms))
    with start_blocking_portal() as portal, respx.mock(assert_all_called=False) as router:

        def answered(request: Any) -> respx.MockResponse:
            request.read()
            response = portal.call(transport.handle_async_request, request)
            body = portal.call(response.aread)
            return respx.MockResponse(response.status_code, headers=response.headers.raw, content=body)

        router.route(url__regex=rf"^{re.escape(url)}(/|$)").mock(side_effect=answered)
        yield MockedIssuer(url, router, Mint(issuer, profile, contract), issuer)
