"""The embedded issuer: an authorization server on its own thread, for as long as a `with` block lasts."""

import ssl
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Self
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import trustme

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.errors import ContractError, UsageError
from mcp_auth_contract.issuer.app import issuer_app
from mcp_auth_contract.issuer.control import Control, IssuerName, Published
from mcp_auth_contract.issuer.introspection import Introspection, Memory, Received
from mcp_auth_contract.issuer.odd_keys import CERTIFICATE, listening_path
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, fresh_key, load_folder

_ROLE_OF = {IssuerName.TRUSTED: Role.ISSUER, IssuerName.LOOKALIKE: Role.LOOKALIKE, IssuerName.SECOND: Role.SECOND}
_WELL_KNOWN = "/.well-known/"
_METADATA = ("oauth-authorization-server", "openid-configuration")


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerSettings:
    """How the issuer is served and what it signs with.

    The first algorithm is the default. `keys` is "fresh" or a folder of JWK files; what a folder lacks for
    the roles other than the trusted issuer's is made fresh. `public_url` is an origin, default the bound
    address.
    """

    port: int = 0
    bind: str = "127.0.0.1"
    public_url: str | None = None
    tls: bool = False
    algorithms: tuple[Algorithm, ...] = (Algorithm.RS256,)
    keys: Literal["fresh"] | Path = "fresh"


class EmbeddedIssuer:
    """Serves the issuers between `__enter__` and `__exit__`; the URLs are known in between only.

    Entering raises UsageError when the port is in use or the key folder is missing, ContractError for a bad
    key.
    """

    def __init__(self, settings: IssuerSettings | None = None, *, clock: Clock = system_clock) -> None:
        self.settings = settings or IssuerSettings()
        self.memory = Memory(clock)
        self._clock = clock
        self.control = Control(self._initial_keys)
        self._keys: dict[tuple[Role, Algorithm], SigningKey] = {}
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._url: str | None = None
        self._ca_file: Path | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.load_keys()
            listener = bind(self.settings.bind, self.settings.port)
            stack.callback(listener.close)
            url = _origin(self.settings.public_url or url_of(listener, tls=self.settings.tls))
            tls, ca_file = _throw_away_tls(stack, url) if self.settings.tls else (None, None)
            app = issuer_app(url, self.control, self.memory, self.key_of, self.settings.algorithms, self._clock)
            stack.enter_context(serve_in_thread(app, listener=listener, tls=tls))
            self._url, self._ca_file = url, ca_file
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._url = self._ca_file = None
        self._stack.close()

    @property
    def url(self) -> str:
        """The trusted issuer's identifier, without a trailing slash."""
        return self.url_of(IssuerName.TRUSTED)

    @property
    def jwks_uri(self) -> str:
        """Where the trusted issuer publishes its keys."""
        return f"{self.url}/jwks"

    @property
    def introspection_uri(self) -> str:
        """Where the registered tokens are introspected (RFC 7662)."""
        return f"{self.url}/introspect"

    @property
    def revocation_uri(self) -> str:
        """Where the registered tokens are revoked (RFC 7009)."""
        return f"{self.url}/revoke"

    @property
    def introspection(self) -> Introspection:
        """The tokens that the issuer knows, and who asked for them."""
        return self.control.introspection

    @property
    def ca_file(self) -> Path | None:
        """The certificate (PEM) of the throw-away CA; None without TLS. Removed when the block ends."""
        return self._ca_file

    def url_of(self, issuer: IssuerName) -> str:
        """Return an issuer's identifier; raises RuntimeError outside the `with` block."""
        if self._url is None:
            raise RuntimeError("the issuer is not being served: use it in a with block")
        return f"{self._url}{issuer.path}"

    def listening_url(self, name: str) -> str:
        """Return a URL for `jku` that serves the stranger's keys; nobody but a careless server fetches it."""
        return f"{self.url}{listening_path(name)}"

    def certificate_url(self, name: str) -> str:
        """Return a URL for `x5u` that serves a certificate of the stranger's RSA key."""
        return f"{self.listening_url(name)}/{CERTIFICATE}"

    def heard(self, name: str, after: int = 0) -> tuple[Received, ...]:
        """Return the requests for a listening URL and for the certificate below it, after a mark."""
        return self.memory.requests(under=unquote(listening_path(name)), after=after)

    def mark(self) -> int:
        """Return the number of the latest request, to ask later what came after it."""
        return self.memory.total

    def fetches(self, path: str = "/jwks", after: int = 0) -> int:
        """Return how often a path was asked for after a mark; default the trusted issuer's JWKS."""
        return len(self.memory.requests(path, after=after))

    def visits(self, issuer: IssuerName, after: int = 0) -> tuple[Received, ...]:
        """Return the requests for the metadata or the keys of one issuer, after a mark."""
        paths = {f"{_WELL_KNOWN}{document}{issuer.path}" for document in _METADATA}
        paths |= {f"{issuer.path}{_WELL_KNOWN}{document}" for document in _METADATA} | {f"{issuer.path}/jwks"}
        return tuple(request for request in self.memory.requests(after=after) if request.path in paths)

    def signing_key(self, alg: Algorithm | None = None, role: Role = Role.ISSUER) -> SigningKey:
        """Return the key of a role, made on first use unless a folder holds it; default the first algorithm.

        Asking for the trusted issuer's key of an algorithm that is not configured yields one in no JWKS.
        """
        return self.key_of(role, alg or self.settings.algorithms[0])

    def key_of(self, role: Role, alg: Algorithm) -> SigningKey:
        """Return the key of a role; a `KeyFinder` for minting faulty tokens.

        The role ENCRYPTION has one RSA key, whichever of the RSA algorithms signs with it.
        """
        with self._lock:
            if (role, alg) not in self._keys:
                shared = role is Role.ENCRYPTION and alg.is_rsa
                same = ((role, one) for one in Algorithm if shared and one.is_rsa)
                known = next((self._keys[key] for key in same if key in self._keys), None)
                made = known or fresh_key(alg, f"{role}-{alg.lower()}-{uuid4().hex[:8]}")
                self._keys[role, alg] = SigningKey(alg, made.kid, made.private)
            return self._keys[role, alg]

    def load_keys(self) -> None:
        """Read the key folder, if there is one; entering does so too. Needed alone to mint without serving."""
        if not self.settings.algorithms:
            raise ContractError("[issuer] algorithms is empty: name at least one, such as RS256")
        if not isinstance(self.settings.keys, Path):
            return
        found = load_folder(self.settings.keys)
        for alg in self.settings.algorithms:
            if (Role.ISSUER, alg) not in found:
                lacking = f"{self.settings.keys}: holds no key of the issuer with alg {alg}"
                raise ContractError(f"{lacking}: add one, or change algorithms")
        self._keys = {**found, **self._keys}

    def _initial_keys(self, issuer: IssuerName) -> tuple[Published, ...]:
        keys: list[Published] = [self.key_of(_ROLE_OF[issuer], alg) for alg in self.settings.algorithms]
        if issuer is IssuerName.TRUSTED:
            # Real issuers publish a key for encryption next to the others: a server has to leave it alone.
            key = self.key_of(Role.ENCRYPTION, Algorithm.RS256)
            keys.append({**key.public_jwk(), "use": "enc", "alg": "RSA-OAEP-256"})
        return tuple(keys)


def _throw_away_tls(stack: ExitStack, url: str) -> tuple[ssl.SSLContext, Path]:
    authority = trustme.CA()
    names = {"localhost", "127.0.0.1", "::1", urlsplit(url).hostname or "localhost"}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*sorted(names)).configure_cert(context)
    ca_file = Path(stack.enter_context(TemporaryDirectory(prefix="mcp-auth-contract-"))) / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    return context, ca_file


def _origin(url: str) -> str:
    parts = urlsplit(url)
    beyond = parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password
    if parts.scheme not in {"http", "https"} or not parts.hostname or beyond:
        raise UsageError("public_url must be scheme, host and port only, as http://issuer:9000")
    return f"{parts.scheme}://{parts.netloc}"
