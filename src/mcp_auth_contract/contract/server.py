"""The tables about the server under test: where it is, whom it trusts, how it reads tokens, what it promises."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, Strict, ValidationInfo, model_validator

from mcp_auth_contract.contract.fields import (
    Algorithm,
    AppName,
    Bind,
    ClaimName,
    Claimset,
    Distinct,
    EndpointPath,
    Environment,
    FileName,
    Headers,
    HttpUrl,
    Method,
    Port,
    Revocation,
    Scope,
    Seconds,
    Table,
    Text,
    Uri,
    is_resolved,
    problem,
)
from mcp_auth_contract.model import Revision
from mcp_auth_contract.oauth import is_loopback_url

__all__ = ["Audit", "Claims", "Issuer", "Policy", "Provider", "Target"]

_APP_ORIGIN = "http://127.0.0.1:8000"

_PORT_0 = re.compile(r"https?://[^/?#]*:0+(?:[/?#]|$)")


class Target(Table):
    """The MCP server under test."""

    url: HttpUrl | None = Field(default=None, examples=["http://127.0.0.1:8000/mcp"])
    """The MCP endpoint. Port 0 picks a free port, given to the server as ${target.port}."""
    app: AppName | None = Field(default=None, examples=["my_server:app", "my_server:mcp.http_app()"])
    """An ASGI application, run in process; url is then where it believes to be, by default on 127.0.0.1:8000."""
    path: EndpointPath | None = Field(default=None, examples=["/mcp"])
    """Only with app and without url: the path of the MCP endpoint; "/mcp" when omitted."""
    resource: Uri | None = Field(default=None, examples=["https://mcp.example.com/mcp"])
    """The audience that tokens must carry; the URL when omitted."""
    revisions: Annotated[
        tuple[Annotated[Revision, Strict(False)], ...], Strict(False), Field(min_length=1), Distinct
    ] = Field(default=(), examples=[["2025-11-25"]])
    """The MCP revisions to test, the first one fully; what the server negotiates when omitted."""
    start: Annotated[tuple[Text, ...], Strict(False), Field(min_length=1)] | None = Field(
        None, examples=[["python", "server.py"]]
    )
    """The command that starts the server, run in the contract's folder and stopped at the end."""
    env: Environment = Field(default={}, examples=[{"ISSUER": "${issuer.url}"}])
    """Environment variables for the server, added to those of the kit."""
    ready: HttpUrl | None = Field(default=None, examples=["http://127.0.0.1:8000/healthz"])
    """A URL that answers 2xx once the server is up; when omitted, the port has to accept."""
    logs: Annotated[tuple[FileName, ...], Strict(False), Distinct] = Field(default=(), examples=[["server.log"]])
    """Files the server writes, scanned for leaked tokens together with its output."""
    authorized: bool = False
    """I may test this server; needed for every host that is not loopback."""
    headers: Headers = Field(default={}, examples=[{"X-Gateway": "${env:GATEWAY_KEY}"}])
    """Header fields sent with every request to the server."""
    ca_file: FileName | None = Field(default=None, examples=["private-ca.pem"])
    """The certificates (PEM) of the private authority that signed the server's."""
    max_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(default=None, examples=[60])
    """The most requests per second that the kit sends; unlimited when omitted."""

    @property
    def endpoint(self) -> str:
        """The URL of the MCP endpoint, also for an application in process, which is spoken to as a local server."""
        return self.url if self.url is not None else _APP_ORIGIN + (self.path or "/mcp")

    @property
    def audience(self) -> str:
        """The resource identifier that tokens must carry as `aud` (RFC 8707)."""
        return self.resource if self.resource is not None else self.endpoint

    @property
    def wants_free_port(self) -> bool:
        """Whether a port has to be picked before the contract can be resolved, as the value `target.port`."""
        if self.url is None:
            return False
        return "${target.port}" in self.url or _PORT_0.match(self.url) is not None

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> "Target":
        if self.url is None and self.app is None:
            raise problem("needs url or app", 'write url = "http://127.0.0.1:8000/mcp"')
        if self.app is not None and self.start is not None:
            raise problem("app runs in process, so start has nothing to do", "remove app or start", at="start")
        if self.app is not None and self.ready is not None:
            raise problem("app runs in process, so there is nothing to wait for", "remove ready", at="ready")
        if self.app is None and self.path is not None:
            raise problem("belongs to app", "put the path into url", at="path")
        if self.url is not None and self.path is not None:
            raise problem("url has a path already", "put the path into url", at="path")
        if self.app is not None and self.wants_free_port:
            raise problem("app runs in process and picks no port", "write the port", at="url")
        if self.wants_free_port:
            self._free_port_is_told(resolved=is_resolved(info))
        for key, url in (("ready", self.ready), ("resource", self.resource)):
            if url is not None and _PORT_0.match(url):
                raise problem("port 0 is no port to reach", "write ${target.port} in its place", at=key)
        if not self.authorized and self.app is None:  # nothing in process is sent to anybody
            for key, url in (("url", self.url), ("ready", self.ready)):
                place = (url or _APP_ORIGIN).replace("${target.port}", "0")
                if (is_resolved(info) or "${" not in place) and not is_loopback_url(place):
                    raise problem(
                        "the host is not this machine and authorized is not set",
                        "add authorized = true if you may test this server",
                        at=key,
                    )
        return self

    def _free_port_is_told(self, *, resolved: bool) -> None:
        if resolved:
            raise problem("port 0 although no port was picked", "write the port", at="url")
        if self.start is None:
            raise problem(
                "picks a free port, but no start command listens there", "add start or write the port", at="url"
            )
        told = " ".join((*self.start, *self.env.values()))
        if not re.search(r"\$\{target\.(?:port|url|resource)\}", told):
            raise problem(
                "picks a free port that the server is not told", "pass ${target.port} in start or env", at="url"
            )


class Issuer(Table):
    """The embedded authorization server that the server under test trusts."""

    port: Port = 0
    """Where it listens; 0 picks a free port. Fix it when the server is configured elsewhere."""
    algorithms: Annotated[tuple[Algorithm, ...], Strict(False), Field(min_length=1), Distinct] = ("RS256",)
    """The signature algorithms the server accepts; the first signs unless a check says otherwise."""
    tokens: Literal["jwt", "opaque"] = "jwt"
    """Signed tokens, or opaque ones that the server introspects (RFC 7662)."""
    keys: FileName = Field(default="fresh", examples=["fresh", "keys"])
    """The word "fresh" for new keys at every run, or a folder of JWK files."""
    tls: bool = False
    """Serve https under a throw-away authority, whose certificate is ${issuer.ca_file}."""
    bind: Bind = Field(default="127.0.0.1", examples=["0.0.0.0"])  # noqa: S104  an example for containers
    """The address it listens on."""
    public_url: HttpUrl | None = Field(default=None, examples=["http://host.docker.internal:9000"])
    """The URL by which the server reaches it; what it bound when omitted."""

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> "Issuer":
        if self.bind in ("0.0.0.0", "::") and self.public_url is None:  # noqa: S104  compared, not bound
            raise problem("every address is no URL", "add public_url, the URL the server will use", at="bind")
        if self.public_url is not None and (is_resolved(info) or "${" not in self.public_url):
            parts = urlsplit(self.public_url)
            if parts.query or self.public_url.endswith("?"):
                raise problem("has a query (RFC 8414 section 2)", 'remove the part from "?" on', at="public_url")
            if _PORT_0.match(self.public_url):
                raise problem("port 0 is no port to reach", "write the port, and issuer.port too", at="public_url")
            if (parts.scheme == "https") != self.tls and is_loopback_url(self.public_url):
                raise problem("says another scheme than tls does", "change one of them", at="public_url")
        return self


class Claims(Table):
    """How the server reads a token."""

    subject: ClaimName = "sub"
    """The claim that names the user."""
    tenant: ClaimName = "tenant_id"
    """The claim that names the tenant."""
    scope: ClaimName = Field(default="scope", examples=["scope", "scp"])
    """The claim that holds the scopes."""
    scope_format: Literal["string", "list"] = "string"
    """One string with spaces (RFC 9068), or a list of strings."""
    client: ClaimName = Field(default="client_id", examples=["client_id", "azp"])
    """The claim that names the OAuth client."""
    typ: Text = Field(default="at+jwt", examples=["at+jwt", "JWT"])
    """The header typ of a good token (RFC 9068 section 2.1)."""
    required: Annotated[tuple[ClaimName, ...], Strict(False), Distinct] = Field(
        default=(), examples=[["sub", "tenant_id"]]
    )
    """The claims without which the server must refuse a token, besides iss, aud and exp."""
    extra: Claimset = Field(default={}, examples=[{"ver": "2.0"}])
    """Claims with a constant value that every token carries."""


class Policy(Table):
    """What the server promises where the specifications leave a choice."""

    leeway: Seconds = 60
    """Seconds of clock skew the server may allow at exp and nbf."""
    challenge: Literal["http", "tool", "either"] = "http"
    """How a call is refused: by HTTP status, by an error result with _meta["mcp/www_authenticate"], or either."""
    public: Annotated[tuple[Method, ...], Strict(False), Distinct] = Field(
        default=(), examples=[["initialize", "tools/list"]]
    )
    """The MCP methods that are open without a token; a tool is opened by scopes = []."""
    implies: Annotated[Mapping[Scope, Annotated[tuple[Scope, ...], Strict(False), Distinct]], Strict(False)] = Field(
        default={}, examples=[{"invoices:write": ["invoices:read"]}]
    )
    """Scopes that contain others; followed over several steps."""
    jwks_refresh: Seconds = 30
    """Seconds until a newly published key must work."""
    jwks_cache: Seconds = 300
    """Seconds until a withdrawn key must stop working."""
    revocation: Revocation = "none"
    """Seconds until a revoked token must stop working, or "none" where revocation is not promised."""
    writes: bool = False
    """Allow the kit to call tools with effect = "write"."""


class Audit(Table):
    """Where the server records privileged calls."""

    file: FileName = Field(examples=["audit.jsonl"])
    """The audit log, one JSON object a line."""


class Provider(Table):
    """A real authorization server, used by provider runs alone."""

    issuer: HttpUrl = Field(examples=["https://dev-tenant.example.com"])
    """The issuer identifier (RFC 8414)."""
    client_id: Text = Field(examples=["${env:CLIENT_ID}"])
    """The OAuth client that the kit acts as."""
    client_secret: Text | None = Field(default=None, examples=["${env:CLIENT_SECRET}"])
    """Its secret, from the environment alone; a public client has none."""

    @model_validator(mode="after")
    def _secret_from_environment(self, info: ValidationInfo) -> "Provider":
        if self.client_secret is not None and not is_resolved(info) and "${env:" not in self.client_secret:
            raise problem(
                "written in the file", 'take it from the environment: "${env:CLIENT_SECRET}"', at="client_secret"
            )
        return self
