"""What the lab server is configured with, as an operator would."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.profile import Profile

ENDPOINT = "/mcp"
GATEWAY_HEADER = "X-Api-Key"
GATEWAY_KEY = "lab-gateway-51c8e07b"
"""What a gateway in front of the server wants to see, in the profile that has one."""
AUTHORIZATION_SERVER = "/as"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """The claims that the server reads; `scope` may hold a string with spaces or a list."""

    subject: str = "sub"
    tenant: str = "tenant_id"
    scope: str = "scope"
    client: str = "client_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSettings:
    """The configuration of one lab server.

    `base` is its own origin as clients see it, `resource` the audience that tokens must carry. Keys come from
    `jwks_uri`, or from `keys` (a JWK set) where that is given. With `introspection_uri` tokens are opaque and
    introspected there instead (RFC 7662), under the name of `introspection_client`. `leeway`, `jwks_ttl`,
    `jwks_cooldown` and `introspection_ttl` are seconds. `decryption_key` serves faults alone: the sound server
    decrypts nothing. `upstream_uri` is the service that is told of each export.
    `audit` is the log of what was read by others than its owner, one JSON object a line.
    `types` are the accepted `typ` headers in lower case, "" standing for none (RFC 9068 §4).
    """

    issuer: str
    resource: str
    base: str
    jwks_uri: str | None = None
    keys: Mapping[str, Any] | None = field(default=None, repr=False)
    claims: ClaimNames = field(default_factory=ClaimNames)
    algorithms: tuple[str, ...] = ("RS256", "ES256", "PS256", "EdDSA")
    types: frozenset[str] = frozenset({"at+jwt", "application/at+jwt"})
    leeway: float = 0
    jwks_ttl: float = 300
    jwks_cooldown: float = 10
    introspection_uri: str | None = None
    introspection_client: str = "lab"
    introspection_secret: str = field(default="", repr=False)
    introspection_ttl: float = 5
    upstream_uri: str | None = None
    decryption_key: RSAPrivateKey | None = field(default=None, repr=False)
    ca_file: Path | None = None
    audit: Path | None = None
    profiles: frozenset[Profile] = frozenset()
    fault: Fault | None = None
    clock: Clock = system_clock

    @property
    def resource_path(self) -> str:
        """The path that RFC 9728 §3.1 inserts into the well-known URL; empty for a bare origin."""
        path = urlsplit(self.resource).path
        return "" if path == "/" else path

    @property
    def own_issuer(self) -> str:
        """The issuer identifier of the lab's own authorization server."""
        return self.base + AUTHORIZATION_SERVER
