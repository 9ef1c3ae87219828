"""What is published beside the endpoint: protected-resource metadata and where it lies (RFC 9728)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from mcp_auth_contract_lab.authorization_server import METADATA_PATHS, server_metadata
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.scopes import SCOPES_SUPPORTED
from mcp_auth_contract_lab.settings import WELL_KNOWN, LabSettings

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
