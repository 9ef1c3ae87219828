"""Faults of the authorization server that the metadata names: the lab's own, with one thing wrong (RFC 8414)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from starlette.responses import Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.authorization_server import JWKS_PATH
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.documents import serve_json
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.documents import all_of, leaked_key, metadata_edited, speaking
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import PROFILES
from mcp_auth_contract_lab.settings import LabSettings

__all__ = ["FAULTS"]

_Edit: TypeAlias = Callable[[LabSettings, Mapping[str, Any]], Mapping[str, Any]]
_Serve: TypeAlias = Callable[[Mapping[str, Any], Incoming], Response]

_OWN = PROFILES[Profile.OWN_AS]
_OAUTH = "/.well-known/oauth-authorization-server"


def _publishing(**steps: Any) -> Change:
    """Name the own authorization server, and publish its documents in another way."""
    return all_of(_OWN, lambda behaviour: replace(behaviour, documents=replace(behaviour.documents, **steps)))


def _edited(edit: _Edit) -> Change:
    """Name the own authorization server, and change its metadata."""

    def change(behaviour: Behaviour) -> Behaviour:
        sound = behaviour.documents.authorization_server
        return _publishing(authorization_server=lambda settings: edit(settings, sound(settings)))(behaviour)

    return change


def _with(**members: object) -> Change:
    """Give members other values."""
    return _edited(lambda _settings, document: {**document, **members})


def _without(name: str) -> Change:
    """Leave a member out."""
    return _edited(lambda _settings, document: {key: document[key] for key in document if key != name})


def _listing(write: Callable[[LabSettings], str]) -> Change:
    """Name another authorization server in the resource's metadata."""
    return metadata_edited(lambda settings, document: {**document, "authorization_servers": [write(settings)]})


def _metadata_served(serve: _Serve) -> Change:
    """Serve the metadata, but not the key set, in another way."""

    def chosen(document: Mapping[str, Any], incoming: Incoming) -> Response:
        return serve_json(document, incoming) if incoming.path == JWKS_PATH else serve(document, incoming)

    return _publishing(serve_authorization_server=chosen)


def _keys(edit: Callable[[list[Mapping[str, Any]]], list[Mapping[str, Any]]]) -> Change:
    """Change the key set."""

    def serve(document: Mapping[str, Any], incoming: Incoming) -> Response:
        changed = {"keys": edit(list(document["keys"]))} if incoming.path == JWKS_PATH else document
        return serve_json(changed, incoming)

    return _publishing(serve_authorization_server=serve)


def _with_same_kid(keys: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    public = {name: value for name, value in leaked_key().items() if name != "d"}
    return [*keys, {**public, "kid": keys[0]["kid"]}]


def _as_html(document: Mapping[str, Any], _incoming: Incoming) -> Response:
    return Response(json.dumps(document), media_type="text/html")


def _twice(document: Mapping[str, Any], _incoming: Incoming) -> Response:
    text = '{"token_endpoint": "https://old.example.com/token", ' + json.dumps(document)[1:]
    return Response(text, media_type="application/json")


def _versions_refused(document: Mapping[str, Any], incoming: Incoming) -> Response:
    if incoming.header("mcp-protocol-version") is not None:
        return Response(status_code=400)
    return serve_json(document, incoming)


def _another_openid_document(document: Mapping[str, Any], incoming: Incoming) -> Response:
    if incoming.path.startswith(_OAUTH):
        return serve_json(document, incoming)
    return serve_json({**document, "token_endpoint": "https://old.example.com/token"}, incoming)


def _openid_only(behaviour: Behaviour) -> Behaviour:
    kept = frozenset(path for path in behaviour.documents.authorization_server_paths() if not path.startswith(_OAUTH))
    return _publishing(authorization_server_paths=lambda: kept)(behaviour)


def _query_issuer(settings: LabSettings) -> str:
    return f"{settings.own_issuer}?tenant=1"


_LISTED = (
    Fault("issuer-with-query", "The authorization server's identifier has a query.",
          all_of(_edited(lambda settings, document: {**document, "issuer": _query_issuer(settings)}),
                 _listing(_query_issuer))),
    Fault("issuer-is-metadata-url", "The URL of the metadata is listed in place of the issuer.",
          _listing(lambda settings: f"{settings.own_issuer}/.well-known/openid-configuration")),
    Fault("issuer-unresolvable", "The listed authorization server has no metadata.",
          _listing(lambda settings: f"{settings.base}/tenants/none")),
    Fault("issuer-trailing-slash", "The listed issuer has a slash that the authorization server does not.",
          _listing(lambda settings: f"{settings.own_issuer}/")),
    Fault("issuer-other-name", "The authorization server calls itself by another name.",
          _with(issuer="https://login.example.com")),
    Fault("as-lists-others-only", "The authorization server lists its resources, without this one.",
          _with(protected_resources=["https://other.example.com/mcp"])),
)  # fmt: skip

_SERVED = (
    Fault("as-openid-only", "An authorization server of 2025-06-18 has OpenID Connect discovery only.",
          all_of(_openid_only, speaking(Revision.R2025_06_18))),
    Fault("as-metadata-as-html", "The authorization server's metadata is labelled as HTML.",
          _metadata_served(_as_html)),
    Fault("as-metadata-duplicate-member", "The authorization server's metadata has two token endpoints.",
          _metadata_served(_twice)),
    Fault("as-documents-differ", "The OpenID Connect document has another token endpoint.",
          _metadata_served(_another_openid_document)),
    Fault("as-refuses-versions", "The authorization server's metadata is refused to who sends MCP-Protocol-Version.",
          _metadata_served(_versions_refused)),
    Fault("as-private-keys", "The authorization server's key set holds a private key.",
          _keys(lambda keys: [*keys, leaked_key()])),
    Fault("as-same-kid", "Two keys of the authorization server have the same kid.",
          _keys(_with_same_kid)),
)  # fmt: skip

_MEMBERS = (
    Fault("as-empty-list", "The authorization server writes out a list without entries.",
          _with(ui_locales_supported=[])),
    Fault("as-plain-http", "The authorization endpoint is a public URL with http.",
          _with(authorization_endpoint="http://login.example.com/authorize")),
    Fault("as-without-authorization-endpoint", "The authorization server names no authorization endpoint.",
          _without("authorization_endpoint")),
    Fault("as-without-token-endpoint", "The authorization server names no token endpoint.",
          _without("token_endpoint")),
    Fault("as-without-response-types", "The authorization server lists no response types.",
          _without("response_types_supported")),
    Fault("as-without-code", "The authorization server does not list the response type code.",
          _with(response_types_supported=["id_token"])),
    Fault("as-implicit", "The authorization server hands out tokens in the redirect.",
          _with(response_types_supported=["code", "token"])),
    Fault("as-without-pkce", "The authorization server does not say that it supports PKCE.",
          _without("code_challenge_methods_supported")),
    Fault("as-pkce-without-s256", "The authorization server has a PKCE method that clients do not know.",
          _with(code_challenge_methods_supported=["S512"])),
    Fault("as-pkce-plain-only", "The authorization server has the PKCE method plain only.",
          _with(code_challenge_methods_supported=["plain"])),
    Fault("as-pkce-plain-too", "The authorization server has the PKCE method plain too.",
          _with(code_challenge_methods_supported=["S256", "plain"])),
    Fault("as-password-grant", "The authorization server lists the password grant.",
          _with(grant_types_supported=["authorization_code", "refresh_token", "password"])),
    Fault("as-secret-clients-only", "The authorization server registers strangers, and demands a secret of them.",
          _with(token_endpoint_auth_methods_supported=["client_secret_basic"])),
    Fault("as-jwt-clients-without-algorithms", "JWT client authentication is offered without its algorithms.",
          _with(token_endpoint_auth_methods_supported=["none", "private_key_jwt"])),
    Fault("as-jwt-clients-unsigned", "JWT client authentication is offered with the algorithm none.",
          _with(token_endpoint_auth_methods_supported=["none", "private_key_jwt"],
                token_endpoint_auth_signing_alg_values_supported=["RS256", "none"])),
    Fault("as-without-registration", "A client that nobody registered has no way in.",
          _without("registration_endpoint")),
    Fault("as-flag-as-text", "Support for client id metadata documents is written as a string.",
          _with(client_id_metadata_document_supported="true")),
)  # fmt: skip

FAULTS = (*_LISTED, *_SERVED, *_MEMBERS)
