"""What is published beside the endpoint: the resource's metadata (RFC 9728), and the lab's own authorization server."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.responses import JSONResponse, Response

from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.scopes import SCOPES_SUPPORTED
from mcp_auth_contract_lab.settings import AUTHORIZATION_SERVER, WELL_KNOWN, LabSettings

JWKS_PATH = AUTHORIZATION_SERVER + "/jwks"

METADATA_PATHS = frozenset({
    f"/.well-known/oauth-authorization-server{AUTHORIZATION_SERVER}",
    f"/.well-known/openid-configuration{AUTHORIZATION_SERVER}",
    f"{AUTHORIZATION_SERVER}/.well-known/openid-configuration",
})  # fmt: skip
"""Where the metadata lies: by RFC 8414 §3.1, and in both forms of OpenID Connect."""

ELSEWHERE = "/metadata.json"
"""Where metadata may lie if only the challenge leads to it."""


def resource_metadata(settings: LabSettings) -> dict[str, Any]:
    """Return the protected-resource metadata (RFC 9728 §2)."""
    return {
        "resource": settings.resource,
        "authorization_servers": [settings.issuer],
        "scopes_supported": list(SCOPES_SUPPORTED),
        "bearer_methods_supported": ["header"],
        "resource_name": "Invoices of the lab",
    }


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


def pointer_elsewhere(settings: LabSettings, _incoming: Incoming) -> str:
    """The document lies where only the challenge leads."""
    return settings.base + ELSEWHERE


def serve_json(document: Mapping[str, Any], _incoming: Incoming) -> Response:
    """Serve a document to everybody, browsers on other origins included."""
    headers = {"access-control-allow-origin": "*", "cache-control": "max-age=300"}
    return Response(json.dumps(document), 200, headers, "application/json")


@dataclass(frozen=True, slots=True)
class Documents:
    """Steps: the documents, their paths, the URL that challenges name, how they are served."""

    resource_metadata: Callable[[LabSettings], Mapping[str, Any]] = resource_metadata
    # Only where the resource's path is inserted (RFC 9728 §3.1).
    published_at: Callable[[LabSettings, str], bool] = lambda settings, path: (
        path == WELL_KNOWN + settings.resource_path
    )
    # The URL comes from the configuration, never from Host or X-Forwarded-* (RFC 9728 §7.3).
    pointer: Callable[[LabSettings, Incoming], str | None] = lambda settings, _incoming: (
        settings.base + WELL_KNOWN + settings.resource_path
    )
    serve: Callable[[Mapping[str, Any], Incoming], Response] = serve_json
    authorization_server: Callable[[LabSettings], Mapping[str, Any]] = server_metadata
    authorization_server_paths: frozenset[str] = METADATA_PATHS
    serve_authorization_server: Callable[[Mapping[str, Any], Incoming], Response] = serve_json


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
