"""Faults of the authorization server that the metadata names: the lab's own, with one thing wrong (RFC 8414)."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.authorization_server import JWKS_PATH, METADATA_PATHS
from mcp_auth_contract_lab.documents import serve_json
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing
from mcp_auth_contract_lab.faults.documents import (
    Edit,
    Serve,
    leaked_key,
    metadata_edited,
    names_a_version,
    refusing,
    without,
)
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import PROFILES, speaking
from mcp_auth_contract_lab.settings import AUTHORIZATION_SERVER, LabSettings

FAULTS = Faults()

_Keys: TypeAlias = list[Mapping[str, Any]]

_OAUTH = "/.well-known/oauth-authorization-server"


def _publishing(**steps: Any) -> Change:
    """Name the own authorization server, and publish its documents in another way."""
    return all_of(PROFILES[Profile.OWN_AS], changing("documents", **steps))


def _edited(edit: Edit) -> Change:
    """Name the own authorization server, and change its metadata."""
    return all_of(PROFILES[Profile.OWN_AS], metadata_edited(edit, "authorization_server"))


def _with(**members: object) -> Change:
    return _edited(lambda _settings, document: {**document, **members})


def _listing(write: Callable[[LabSettings], str]) -> Change:
    """Name another authorization server in the resource's metadata."""
    return metadata_edited(lambda settings, document: {**document, "authorization_servers": [write(settings)]})


def _metadata_served(serve: Serve) -> Change:
    """Serve the metadata, but not the key set, in another way."""
    return _publishing(
        serve_authorization_server=lambda document, incoming: (serve_json if incoming.path == JWKS_PATH else serve)(
            document, incoming
        )
    )


def _keys(edit: Callable[[_Keys], _Keys]) -> Change:
    """Change the key set."""

    def serve(document: Mapping[str, Any], incoming: Incoming) -> Response:
        changed = {"keys": edit(list(document["keys"]))} if incoming.path == JWKS_PATH else document
        return serve_json(changed, incoming)

    return _publishing(serve_authorization_server=serve)


@FAULTS.by(_keys)
def as_same_kid(keys: _Keys) -> _Keys:
    """Two keys of the authorization server have the same kid."""
    public = {name: value for name, value in leaked_key().items() if name != "d"}
    return [*keys, {**public, "kid": keys[0]["kid"]}]


@FAULTS.by(_metadata_served)
def as_metadata_duplicate_member(document: Mapping[str, Any], _incoming: Incoming) -> Response:
    """The authorization server's metadata has two token endpoints."""
    text = '{"token_endpoint": "https://old.example.com/token", ' + json.dumps(document)[1:]
    return Response(text, media_type="application/json")


@FAULTS.by(_metadata_served)
def as_documents_differ(document: Mapping[str, Any], incoming: Incoming) -> Response:
    """The OpenID Connect document has another token endpoint."""
    other = {} if incoming.path.startswith(_OAUTH) else {"token_endpoint": "https://old.example.com/token"}
    return serve_json({**document, **other}, incoming)


def _query_issuer(settings: LabSettings) -> str:
    return f"{settings.own_issuer}?tenant=1"


FAULTS.rows(
    ("issuer-with-query", "The authorization server's identifier has a query.",
     all_of(_edited(lambda settings, document: {**document, "issuer": _query_issuer(settings)}),
            _listing(_query_issuer))),
    ("issuer-is-metadata-url", "The URL of the metadata is listed in place of the issuer.",
     _listing(lambda settings: f"{settings.own_issuer}/.well-known/openid-configuration")),
    ("issuer-unresolvable", "The listed authorization server has no metadata.",
     _listing(lambda settings: f"{settings.base}/tenants/none")),
    ("issuer-without-metadata", "The server names itself as authorization server, and has no metadata.",
     _publishing(authorization_server_paths=frozenset())),
    ("issuer-metadata-at-root", "The metadata stands at the well-known URL without the issuer's path.",
     _publishing(authorization_server_paths=frozenset({_OAUTH}))),
    ("issuer-metadata-appended", "The metadata stands behind the issuer's path, where no client looks.",
     _publishing(authorization_server_paths=frozenset({f"{AUTHORIZATION_SERVER}{_OAUTH}"}))),
    ("issuer-metadata-locked", "The metadata of the authorization server wants a token.",
     _metadata_served(refusing(401, lambda incoming: incoming.header("authorization") is None))),
    ("as-keys-missing", "There is nothing at the jwks_uri of the authorization server.",
     _edited(lambda settings, document: {**document, "jwks_uri": f"{settings.own_issuer}/keys"})),
    ("issuer-trailing-slash", "The listed issuer has a slash that the authorization server does not.",
     _listing(lambda settings: f"{settings.own_issuer}/")),
    ("issuer-other-name", "The authorization server calls itself by another name.",
     _with(issuer="https://login.example.com")),
    ("as-lists-others-only", "The authorization server lists its resources, without this one.",
     _with(protected_resources=["https://other.example.com/mcp"])),
    ("as-openid-only", "An authorization server of 2025-06-18 has OpenID Connect discovery only.",
     all_of(_publishing(authorization_server_paths=frozenset(
         path for path in METADATA_PATHS if not path.startswith(_OAUTH))), speaking(Revision.R2025_06_18))),
    ("as-metadata-as-html", "The authorization server's metadata is labelled as HTML.",
     _metadata_served(lambda document, _incoming: Response(json.dumps(document), media_type="text/html"))),
    ("as-refuses-versions", "The authorization server's metadata is refused to who sends MCP-Protocol-Version.",
     _metadata_served(refusing(400, names_a_version))),
    ("as-private-keys", "The authorization server's key set holds a private key.",
     _keys(lambda keys: [*keys, leaked_key()])),
    ("as-empty-list", "The authorization server writes out a list without entries.", _with(ui_locales_supported=[])),
    ("as-plain-http", "The authorization endpoint is a public URL with http.",
     _with(authorization_endpoint="http://login.example.com/authorize")),
    ("as-without-authorization-endpoint", "The authorization server names no authorization endpoint.",
     _edited(without("authorization_endpoint"))),
    ("as-without-token-endpoint", "The authorization server names no token endpoint.",
     _edited(without("token_endpoint"))),
    ("as-without-response-types", "The authorization server lists no response types.",
     _edited(without("response_types_supported"))),
    ("as-without-code", "The authorization server does not list the response type code.",
     _with(response_types_supported=["id_token"])),
    ("as-implicit", "The authorization server hands out tokens in the redirect.",
     _with(response_types_supported=["code", "token"])),
    ("as-without-pkce", "The authorization server does not say that it supports PKCE.",
     _edited(without("code_challenge_methods_supported"))),
    ("as-pkce-without-s256", "The authorization server has a PKCE method that clients do not know.",
     _with(code_challenge_methods_supported=["S512"])),
    ("as-pkce-plain-only", "The authorization server has the PKCE method plain only.",
     _with(code_challenge_methods_supported=["plain"])),
    ("as-pkce-plain-too", "The authorization server has the PKCE method plain too.",
     _with(code_challenge_methods_supported=["S256", "plain"])),
    ("as-password-grant", "The authorization server lists the password grant.",
     _with(grant_types_supported=["authorization_code", "refresh_token", "password"])),
    ("as-secret-clients-only", "The authorization server registers strangers, and demands a secret of them.",
     _with(token_endpoint_auth_methods_supported=["client_secret_basic"])),
    ("as-jwt-clients-without-algorithms", "JWT client authentication is offered without its algorithms.",
     _with(token_endpoint_auth_methods_supported=["none", "private_key_jwt"])),
    ("as-jwt-clients-unsigned", "JWT client authentication is offered with the algorithm none.",
     _with(token_endpoint_auth_methods_supported=["none", "private_key_jwt"],
           token_endpoint_auth_signing_alg_values_supported=["RS256", "none"])),
    ("as-without-registration", "A client that nobody registered has no way in.",
     _edited(without("registration_endpoint"))),
    ("as-flag-as-text", "Support for client id metadata documents is written as a string.",
     _with(client_id_metadata_document_supported="true")),
)  # fmt: skip
