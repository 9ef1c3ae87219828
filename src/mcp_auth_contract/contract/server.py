"""The tables about the server under test: where it is, whom it trusts, how it reads tokens, what it promises."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, Strict, ValidationInfo, field_validator, model_validator

from mcp_auth_contract.contract.fields import (
    Algorithm,
    AppName,
    Arguments,
    Bind,
    ClaimName,
    Distinct,
    EndpointPath,
    Entries,
    Environment,
    FileName,
    FormFields,
    Headers,
    HttpUrl,
    KeyFolder,
    Method,
    Port,
    Revocation,
    Scope,
    Seconds,
    SomeDistinct,
    Table,
    Text,
    Uri,
    is_resolved,
    problem,
)
from mcp_auth_contract.model import Revision
from mcp_auth_contract.oauth.metadata import is_loopback_url

_APP_ORIGIN = "http://127.0.0.1:8000"

_PORT_0 = re.compile(r"https?://[^/?#]*:0+(?:[/?#]|$)")


class Target(Table):
    """The MCP server under test."""

    url: HttpUrl | None = Field(default=None, examples=["http://127.0.0.1:8000/mcp"])
    """The MCP endpoint. Port 0 picks a free port, which `start` or `env` must pass on as `${target.port}`."""
    app: AppName | None = Field(default=None, examples=["my_server:app", "my_server:mcp.http_app()"])
    """An ASGI application to run in this process, as `module:attribute`, or `module:function()` to call its factory."""
    path: EndpointPath | None = Field(default=None, examples=["/mcp"])
    """Only with `app` and without `url`: the path of the MCP endpoint; `/mcp` when omitted."""
    resource: Uri | None = Field(default=None, examples=["https://mcp.example.com/mcp"])
    """The resource identifier that tokens must carry as `aud` (RFC 8707); the URL of the endpoint when omitted."""
    revisions: SomeDistinct[Annotated[Revision, Strict(False)]] = Field(default=(), examples=[["2025-11-25"]])
    """The MCP revisions to test, the first of them in full; those that the server negotiates when omitted."""
    start: Annotated[Entries[Text], Field(min_length=1)] | None = Field(
        None, repr=False, examples=[["python", "server.py"]]
    )
    """The command that starts the server, which the kit stops at the end. When omitted, it must be running already."""
    env: Environment = Field(repr=False, default={}, examples=[{"ISSUER": "${issuer.url}"}])
    """Environment variables for the server, in addition to those of the kit."""
    ready: HttpUrl | None = Field(default=None, examples=["http://127.0.0.1:8000/healthz"])
    """A URL that answers 2xx once the server is up; when omitted, an open port is enough."""
    logs: Distinct[FileName] = Field(default=(), examples=[["server.log"]])
    """Log files of the server, searched for leaked tokens together with its output."""
    authorized: bool = False
    """Confirms that you may test this server; required for every host but `localhost`, 127.0.0.0/8 and `[::1]`."""
    headers: Headers = Field(repr=False, default={}, examples=[{"X-Gateway": "${env:GATEWAY_KEY}"}])
    """Header fields to send with every request, other than those that the kit sets itself, such as `Authorization`."""
    ca_file: FileName | None = Field(default=None, examples=["private-ca.pem"])
    """A PEM file with the private certificate authority that signed the server's certificate."""
    max_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(default=None, examples=[60])
    """The most requests that the kit sends per second; unlimited when omitted."""

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
            told = " ".join((*(self.start or ()), *self.env.values()))
            if is_resolved(info):
                raise problem("port 0 although no port was picked", "write the port", at="url")
            if self.start is None:
                what = "picks a free port, but no start command listens there"
                raise problem(what, "add start or write the port", at="url")
            if not re.search(r"\$\{target\.(?:port|url|resource)\}", told):
                what = "picks a free port, but the server is not told which"
                raise problem(what, "pass ${target.port} in start or env", at="url")
        for key, url in (("ready", self.ready), ("resource", self.resource)):
            if url is not None and _PORT_0.match(url):
                raise problem("nothing can be reached at port 0", "write ${target.port} in its place", at=key)
        if not self.authorized and self.app is None:  # nothing in process is sent to anybody
            for key, url in (("url", self.url), ("ready", self.ready)):
                place = (url or _APP_ORIGIN).replace("${target.port}", "0")
                if (is_resolved(info) or "${" not in place) and not is_loopback_url(place):
                    what = "the host is not this machine and authorized is not set"
                    raise problem(what, "add authorized = true if you may test this server", at=key)
        return self


class Issuer(Table):
    """The embedded authorization server that the server under test trusts."""

    port: Port = 0
    """The port it listens on; 0 picks a free one. Choose one if the server is configured by hand."""
    algorithms: SomeDistinct[Algorithm] = ("RS256",)
    """The signature algorithms that the server accepts; the first one signs, unless a check needs another."""
    tokens: Literal["jwt", "opaque"] = "jwt"
    """Whether tokens are signed JWTs, or opaque strings that the server introspects (RFC 7662)."""
    keys: KeyFolder = Field(default="fresh", examples=["fresh", "keys"])
    """`"fresh"` for new keys in every run, or a folder of JWK files, which `mint`, `serve` and `run` then share."""
    tls: bool = False
    """Serve https, with a certificate of a throw-away authority: `${issuer.ca_file}`."""
    bind: Bind = Field(default="127.0.0.1", examples=["0.0.0.0"])  # noqa: S104  an example for containers
    """The address it listens on; `0.0.0.0`, together with `public_url`, for a server in a container."""
    public_url: HttpUrl | None = Field(default=None, examples=["http://host.docker.internal:9000"])
    """The URL by which the server reaches the issuer; the address it listens on when omitted."""

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> "Issuer":
        if self.bind in ("0.0.0.0", "::") and self.public_url is None:  # noqa: S104  compared, not bound
            what = "listening on every address does not say which one the server is to use"
            raise problem(what, "add public_url, the URL by which the server reaches the issuer", at="bind")
        if self.public_url is not None and (is_resolved(info) or "${" not in self.public_url):
            parts = urlsplit(self.public_url)
            if parts.query or self.public_url.endswith("?"):
                raise problem("has a query (RFC 8414 section 2)", 'remove the part from "?" on', at="public_url")
            if _PORT_0.match(self.public_url):
                what = "nothing can be reached at port 0"
                raise problem(what, "write the port, and issuer.port too", at="public_url")
            if (parts.scheme == "https") != self.tls and is_loopback_url(self.public_url):
                raise problem("the scheme contradicts tls", "change one of them", at="public_url")
        return self


class Claims(Table):
    """How the server reads a token."""

    subject: ClaimName = "sub"
    """The claim that identifies the user."""
    tenant: ClaimName = "tenant_id"
    """The claim that identifies the tenant."""
    scope: ClaimName = Field(default="scope", examples=["scope", "scp"])
    """The claim that holds the scopes."""
    scope_format: Literal["string", "list"] = "string"
    """Whether scopes are one string, separated by spaces (RFC 9068), or an array of strings."""
    client: ClaimName = Field(default="client_id", examples=["client_id", "azp"])
    """The claim that identifies the OAuth client."""
    typ: Text = Field(default="at+jwt", examples=["at+jwt", "JWT"])
    """The `typ` header of a valid token (RFC 9068 section 2.1)."""
    required: Distinct[ClaimName] = Field(default=(), examples=[["sub", "tenant_id"]])
    """The claims without which the server must refuse a token, in addition to `iss`, `aud` and `exp`.
    Name the subject and the tenant here to have their absence tested.
    """
    extra: Arguments = Field(repr=False, default={}, examples=[{"ver": "2.0"}])
    """Claims with a constant value, which every token carries."""


class Policy(Table):
    """What the server promises where the specifications leave a choice."""

    leeway: Seconds = 60
    """The clock skew, in seconds, that the server may allow for `exp` and `nbf`."""
    clock_skew: Seconds = 0
    """How many seconds the server's clock may be off from the kit's, beside `leeway`. Tokens work that much longer, or
    that much too early.
    """
    challenge: Literal["http", "tool", "either"] = "http"
    """How a call is refused: with an HTTP status, with an error result that has `_meta["mcp/www_authenticate"]`
    (`"tool"`), or with either of them.
    """
    public: Distinct[Method] = Field(default=(), examples=[["initialize", "tools/list"]])
    """The MCP methods that need no token. A tool, resource or prompt is opened by `scopes = []` instead."""
    implies: Annotated[Mapping[Scope, Distinct[Scope]], Strict(False)] = Field(
        default={}, examples=[{"invoices:write": ["invoices:read"]}]
    )
    """Scopes that include other scopes, also indirectly."""
    jwks_refresh: Seconds = 30
    """Seconds after which tokens signed with a newly published key must be accepted."""
    jwks_cache: Seconds = 300
    """Seconds after which tokens signed with a withdrawn key must be refused."""
    revocation: Revocation = "none"
    """Seconds after which a revoked token must be refused; `"none"` if revocation is not promised."""
    writes: bool = False
    """Allows the kit to call tools with `effect = "write"`. If it is left out, they are called only without a token and
    without scopes, and their other cases are inconclusive; `false` says that they are not to be tested."""


class Audit(Table):
    """Where the server records privileged calls."""

    file: FileName = Field(examples=["audit.jsonl"])
    """The audit log, in which the server records privileged calls: one JSON object per line."""


class Release(Table):
    """What a release claims besides what a run can see."""

    hosts: SomeDistinct[Text] = Field(examples=[["claude-code", "chatgpt"]])
    """The hosts that it is said to work in. `release` demands a fresh live record of each."""


class Login(Table):
    """How the kit signs in by itself: the fields of the provider's login form, and what it answers on other pages."""

    fields: FormFields = Field(
        repr=False, examples=[{"username": "${env:TEST_USER}", "password": "${env:TEST_PASSWORD}"}]
    )
    """The fields to fill in, by the names that they have in the form. Secrets must come from the environment."""
    consent: FormFields = Field(default_factory=dict, examples=[{"decision": "allow"}])
    """Fields to send with a form that asks for no password, such as the button of a consent page."""

    @field_validator("fields")
    @classmethod
    def _password_from_environment(cls, fields: Mapping[str, str], info: ValidationInfo) -> Mapping[str, str]:
        for name, value in fields.items():
            if "pass" in name.lower() and not is_resolved(info) and "${env:" not in value:
                raise problem("holds a password", f'take it from the environment: {name} = "${{env:TEST_PASSWORD}}"')
        return fields


class OtherClient(Table):
    """A second client of the same tenant, which must not get what belongs to the first."""

    client_id: Text = Field(examples=["${env:OTHER_CLIENT_ID}"])
    """Its client id."""
    client_secret: Text | None = Field(repr=False, default=None, examples=["${env:OTHER_CLIENT_SECRET}"])
    """Its secret, which must come from the environment; a public client has none."""

    @model_validator(mode="after")
    def _secret_from_environment(self, info: ValidationInfo) -> "OtherClient":
        _demand_environment(self.client_secret, "client_secret", "CLIENT_SECRET", info)
        return self


Wanted = Literal["required", "supported", "forbidden", "ignore"]


class Capabilities(Table):
    """What the authorization server is expected to offer.

    `required` must be there, `forbidden` must not, `supported` is tested where it is there, `ignore` is not tested.
    """

    refresh: Wanted = Field(default="supported", examples=["required"])
    """Refresh tokens."""
    client_credentials: Wanted = "supported"
    """The client credentials grant."""
    registration: Wanted = "supported"
    """Dynamic client registration (RFC 7591)."""
    revocation: Wanted = "supported"
    """Token revocation (RFC 7009)."""
    introspection: Wanted = "supported"
    """Token introspection (RFC 7662)."""


class Provider(Table):
    """A real authorization server, used by provider runs alone."""

    issuer: HttpUrl = Field(examples=["https://dev-tenant.example.com"])
    """The issuer identifier of the authorization server (RFC 8414)."""
    client_id: Text = Field(examples=["${env:CLIENT_ID}"])
    """The OAuth client that the kit acts as."""
    client_secret: Text | None = Field(repr=False, default=None, examples=["${env:CLIENT_SECRET}"])
    """The client's secret, which must come from the environment; a public client has none."""
    auth_method: Literal["none", "client_secret_basic", "client_secret_post"] | None = Field(
        None, examples=["client_secret_basic"]
    )
    """How the client authenticates; when omitted, by HTTP Basic with a secret and not at all without one."""
    redirect_uri: HttpUrl = Field("http://127.0.0.1:8765/callback", examples=["http://127.0.0.1:8765/callback"])
    """The redirect URI that is registered for the client. Nothing has to listen there."""
    scopes: Distinct[Scope] = Field(default=(), examples=[["invoices:read", "offline_access"]])
    """The scopes to ask for; none are asked for when omitted."""
    resource: Uri | None = Field(default=None, examples=["https://mcp.example.com/mcp"])
    """The `resource` parameter (RFC 8707); the resource identifier of the server when omitted."""
    audience: Text | None = Field(default=None, examples=["api://invoices"])
    """The `aud` of tokens where the provider maps the resource to another name."""
    login: Login | None = None
    """How to sign in without a human; without it, what needs a signed-in user is inconclusive."""
    other_client: OtherClient | None = None
    """A second client, to see that codes and refresh tokens belong to one client."""
    capabilities: Capabilities = Field(default_factory=Capabilities)
    """What the provider is expected to offer."""
    authorized: bool = False
    """Says that you may test this authorization server; needed where it is not on this machine."""
    writes: bool = False
    """Allows the kit to register clients, which it deletes where the provider lets it (RFC 7592)."""
    max_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2.0
    """The most requests per second to the authorization server."""
    time_limit: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300.0
    """Seconds after which a provider run ends; what is not known then is inconclusive."""

    @model_validator(mode="after")
    def _secret_from_environment(self, info: ValidationInfo) -> "Provider":
        _demand_environment(self.client_secret, "client_secret", "CLIENT_SECRET", info)
        if self.auth_method not in (None, "none") and self.client_secret is None:
            raise problem("needs a secret", 'add client_secret = "${env:CLIENT_SECRET}"', at="auth_method")
        return self


def _demand_environment(secret: str | None, key: str, variable: str, info: ValidationInfo) -> None:
    if secret is not None and not is_resolved(info) and "${env:" not in secret:
        raise problem("written in the file", f'take it from the environment: "${{env:{variable}}}"', at=key)
