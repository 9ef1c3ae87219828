"""An issuer without sockets: respx answers its metadata, its keys and its introspection."""

import re
from collections.abc import Iterator, Mapping
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
    app: Any = issuer_app(url, issuer.control, issuer.memory, issuer.key_of, settings.algorithms)
    with start_blocking_portal() as portal, respx.mock(assert_all_called=False) as router:

        def answered(request: Any) -> respx.MockResponse:
            status, headers, body = portal.call(
                _answer, app, request.method, request.url, request.headers, request.read()
            )
            return respx.MockResponse(status, headers=headers, content=body)

        router.route(url__regex=rf"^{re.escape(url)}(/|$)").mock(side_effect=answered)
        yield MockedIssuer(url, router, Mint(issuer, profile, contract), issuer)


async def _answer(app: Any, method: str, url: Any, headers: Any, body: bytes) -> tuple[int, list[Any], bytes]:
    """Run the issuer's application for one request."""
    scope: Mapping[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "query_string": url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in headers.raw],
        "client": ("127.0.0.1", 50000),
        "server": (url.host, url.port or 443),
    }
    sent: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    await app(dict(scope), receive, send)
    content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return int(sent[0]["status"]), list(sent[0].get("headers", ())), content
