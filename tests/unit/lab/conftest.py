"""A lab with keys of its own, spoken to in process."""

import asyncio
import base64
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.tokens import Algorithm
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import LabSettings

ISSUER = "https://issuer.test"
RESOURCE = "https://mcp.test/mcp"
BASE = "http://lab.test"
ALL_SCOPES = "invoices:read invoices:write invoices:export"
TENANTS = {"alice": "t1", "bob": "t1", "carol": "t2"}
MODERN = "2026-07-28"


def segment(value: object) -> str:
    """Return a base64url segment of bytes, or of a value as JSON."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


@dataclass(frozen=True)
class Keys:
    """The issuer's key and a stranger's."""

    own: rsa.RSAPrivateKey
    stranger: rsa.RSAPrivateKey

    @property
    def jwks(self) -> dict[str, Any]:
        jwk = json.loads(RSAAlgorithm.to_jwk(self.own.public_key()))
        return {"keys": [{**jwk, "kid": "k1", "use": "sig", "alg": "RS256"}]}

    def claims(self, subject: str = "alice", **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": ISSUER,
            "aud": RESOURCE,
            "sub": subject,
            "tenant_id": TENANTS.get(subject, "t1"),
            "client_id": "kit",
            "scope": ALL_SCOPES,
            "iat": now - 5,
            "exp": now + 300,
        }
        return {name: value for name, value in (claims | changes).items() if value is not ...}

    def token(self, subject: str = "alice", header: Mapping[str, Any] | None = None, **changes: Any) -> str:
        """Sign a token; a change to `...` leaves the claim out."""
        return self.sign(self.claims(subject, **changes), header)

    def sign(self, claims: Mapping[str, Any], header: Mapping[str, Any] | None = None) -> str:
        fields = {"alg": "RS256", "kid": "k1", "typ": "at+jwt", **(header or {})}
        return self.sign_segments(segment(fields), segment(claims))

    def sign_segments(self, header: str, payload: str) -> str:
        """Sign two segments as they are, right or not."""
        signed = f"{header}.{payload}"
        return f"{signed}.{segment(RSAAlgorithm(RSAAlgorithm.SHA256).sign(signed.encode(), self.own))}"

    def forged(self, subject: str = "alice", kid: str = "k1") -> str:
        fields = {"kid": kid, "typ": "at+jwt"}
        return jwt.encode(self.claims(subject), self.stranger, "RS256", headers=fields)


class Client:
    """One lab server and the requests that tests send it, each a complete one."""

    def __init__(self, settings: LabSettings, keys: Keys) -> None:
        self.settings = settings
        self.keys = keys
        self.app = create_app(settings)

    def send(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]] | Mapping[str, str] = (),
        content: bytes | None = None,
    ) -> httpx.Response:
        async def once() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, follow_redirects=False) as client:
                return await client.request(method, BASE + path, headers=list(dict(headers).items()
                    if isinstance(headers, Mapping) else headers), content=content)  # fmt: skip

        return asyncio.run(once())

    def bearer(self, token: str | None) -> dict[str, str]:
        return {} if token is None else {"authorization": f"Bearer {token}"}

    def post(
        self,
        message: object,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        path: str = "/mcp",
    ) -> httpx.Response:
        sent = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **self.bearer(token),
            **(headers or {}),
        }
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.send("POST", path, sent, content)

    def open_session(self, token: str, revision: str = "2025-11-25") -> dict[str, str]:
        """Return the headers of a new session."""
        answer = self.post(initialize(revision), token)
        assert answer.status_code == 200, answer.text
        headers = {} if revision == "2025-03-26" else {"mcp-protocol-version": revision}
        ident = answer.headers.get("mcp-session-id")
        return headers if ident is None else {**headers, "mcp-session-id": ident}

    def legacy(
        self, method: str, params: Mapping[str, Any] | None = None, token: str | None = None, **more: Any
    ) -> httpx.Response:
        """Send one request in a session of its own, or of `session`."""
        session = more.get("session") or self.open_session(token or self.keys.token())
        return self.post(request(method, params), token, session)

    def modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> httpx.Response:
        """Send one request of 2026-07-28 with all that it needs."""
        given = dict(params or {})
        given.setdefault(
            "_meta",
            {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        )
        mirrored = {"mcp-protocol-version": MODERN, "mcp-method": method}
        member = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
        if member is not None and member in given:
            mirrored["mcp-name"] = given[member]
        sent = {name: value for name, value in (mirrored | dict(headers or {})).items() if value != ""}
        return self.post(request(method, given), token, sent, **more)

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, token: str | None = None) -> Any:
        """Call a tool in 2026-07-28 and return the answer."""
        return self.modern("tools/call", {"name": tool, "arguments": arguments or {}}, token)


def request(method: str, params: Mapping[str, Any] | None = None, ident: object = 7) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": ident, "method": method}
    return message if params is None else {**message, "params": params}


def initialize(revision: str = "2025-11-25") -> dict[str, Any]:
    info = {"name": "test", "version": "0"}
    return request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}, 1)


MakeLab = Callable[..., Client]


@pytest.fixture(scope="session")
def keys() -> Keys:
    return Keys(rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 2048))


@pytest.fixture
def make_lab(keys: Keys) -> MakeLab:
    """Return a maker of labs: profiles by position, a fault or other settings by name."""

    def make(*profiles: Profile, fault: Fault | None = None, **settings: Any) -> Client:
        configured = LabSettings(
            issuer=ISSUER,
            resource=RESOURCE,
            base=BASE,
            keys=keys.jwks,
            profiles=frozenset(profiles),
            fault=fault,
        )
        return Client(replace(configured, **settings), keys)

    return make


class Moving:
    """A clock that a test moves on; it starts at the present, which tokens need."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def moving() -> Moving:
    return Moving()


@pytest.fixture(scope="session")
def running_issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer(IssuerSettings(algorithms=(Algorithm.ES256,))) as running:
        yield running


@pytest.fixture
def issuer(running_issuer: EmbeddedIssuer) -> Iterator[EmbeddedIssuer]:
    """An issuer that a test may change; whatever it did is put back."""
    yield running_issuer
    running_issuer.control.restore()


@pytest.fixture
def lab(make_lab: MakeLab) -> Client:
    return make_lab()
