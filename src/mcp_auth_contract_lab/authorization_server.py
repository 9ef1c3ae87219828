"""The lab's own authorization server: true metadata, and endpoints that answer with true OAuth errors."""

import asyncio
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.responses import JSONResponse, Response

from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.scopes import SCOPES_SUPPORTED
from mcp_auth_contract_lab.settings import AUTHORIZATION_SERVER, LabSettings

JWKS_PATH = AUTHORIZATION_SERVER + "/jwks"

METADATA_PATHS = frozenset({
    f"/.well-known/oauth-authorization-server{AUTHORIZATION_SERVER}",
    f"/.well-known/openid-configuration{AUTHORIZATION_SERVER}",
    f"{AUTHORIZATION_SERVER}/.well-known/openid-configuration",
})  # fmt: skip
"""Where the metadata lies: by RFC 8414 §3.1, and in both forms of OpenID Connect."""


def server_metadata(settings: LabSettings) -> dict[str, Any]:
    """Return the authorization server's metadata (RFC 8414 §2, OpenID Connect Discovery §3)."""
    issuer = settings.own_issuer
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "jwks_uri": f"{settings.base}{JWKS_PATH}",
        "scopes_supported": [*SCOPES_SUPPORTED, "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "protected_resources": [settings.resource],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


class OwnKey:
    """The authorization server's key, made when somebody asks for it; only its public part is kept."""

    def __init__(self) -> None:
        self._jwk: dict[str, Any] | None = None
        self._lock = asyncio.Lock()

    async def jwks(self) -> dict[str, Any]:
        """Return the JWK set (RFC 7517 §5)."""
        async with self._lock:
            if self._jwk is None:
                key = await asyncio.to_thread(rsa.generate_private_key, 65537, 2048)
                members = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
                kept = {name: members[name] for name in ("kty", "n", "e")}
                self._jwk = {**kept, "kid": "lab-as-1", "use": "sig", "alg": "RS256"}
        return {"keys": [self._jwk]}


def _refused(status: int, error: str, description: str) -> Response:
    headers = {"cache-control": "no-store", "access-control-allow-origin": "*"}
    return JSONResponse({"error": error, "error_description": description}, status, headers)


def answer_endpoint(incoming: Incoming) -> Response | None:
    """Answer an OAuth endpoint of /as, or return None for a path that is none.

    No client is known here and none can register, so every request is refused, and none is redirected
    (OAuth 2.1 §4.1.2.1).
    """
    match incoming.path.removeprefix(AUTHORIZATION_SERVER), incoming.method:
        case "/authorize", "GET" | "HEAD" | "POST":
            return _refused(400, "invalid_request", "the client is not known here")
        case "/token", "POST":
            return _refused(401, "invalid_client", "the client is not known here")
        case "/register", "POST":
            return _refused(400, "invalid_client_metadata", "no client may register here by itself")
        case (("/authorize" | "/token" | "/register"), _):
            return Response(status_code=405, headers={"allow": "POST"})
        case _:
            return None
