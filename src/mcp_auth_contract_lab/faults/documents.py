"""Faults of metadata, of the resource (RFC 9728) and of the lab's own authorization server (RFC 8414)."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.responses import JSONResponse, Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.documents import ELSEWHERE, JWKS_PATH, METADATA_PATHS, pointer_elsewhere, serve_json
from mcp_auth_contract_lab.fault import Change, Faults, adapting, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import PROFILES, speaking
from mcp_auth_contract_lab.settings import AUTHORIZATION_SERVER, WELL_KNOWN, LabSettings
from mcp_auth_contract_lab.steps import intercepting

FAULTS = Faults()

_Document: TypeAlias = Mapping[str, Any]
_Edit: TypeAlias = Callable[[LabSettings, _Document], _Document]
_Serve: TypeAlias = Callable[[_Document, Incoming], Response]

_KEYS = "/resource-keys.json"
_OAUTH = "/.well-known/oauth-authorization-server"
_OLD_SERVER = ["https://old.example.com"]
_OLD_ENDPOINT = "https://old.example.com/token"

_documents = partial(changing, "documents")


def _edited(edit: _Edit, member: str = "resource_metadata") -> Change:
    """Change a document, wherever it is served."""
    return adapting("documents", member, lambda sound: lambda settings: edit(settings, sound(settings)))


def _new_key(*, private: bool) -> dict[str, Any]:
    """Return a new key as a JWK; it signs nothing that anybody trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    members: dict[str, Any] = json.loads(ECAlgorithm.to_jwk(key if private else key.public_key()))
    return {**members, "kid": "lab-leaked-1", "use": "sig", "alg": "ES256"}


def _lacking(name: str) -> _Edit:
    """Leave a member out."""
    return lambda _settings, document: {key: document[key] for key in document if key != name}


def _having(**members: object) -> _Edit:
    """Give members other values; a function makes one of the settings."""
    return lambda settings, document: {
        **document, **{name: value(settings) if callable(value) else value for name, value in members.items()}
    }  # fmt: skip


def _with(**members: object) -> Change:
    return _edited(_having(**members))


def _altered(alter: Callable[[Response], object]) -> _Serve:
    """Serve the document with another head."""

    def serve(document: _Document, incoming: Incoming) -> Response:
        response = serve_json(document, incoming)
        alter(response)
        return response

    return serve


def _as_text(write: Callable[[str], str], media_type: str = "application/json") -> _Serve:
    """Change the text after the serializer is done with it."""
    return lambda document, _incoming: Response(write(json.dumps(document)), media_type=media_type)


def _refusing(status: int, when: Callable[[Incoming], bool]) -> _Serve:
    """Serve the document to some requests only."""
    return lambda document, incoming: Response(status_code=status) if when(incoming) else serve_json(document, incoming)


def _differing(when: Callable[[str], bool], **members: object) -> _Serve:
    """Serve the document with other members at some paths."""
    return lambda document, incoming: serve_json({**document, **(members if when(incoming.path) else {})}, incoming)


def _no_token(incoming: Incoming) -> bool:
    return incoming.header("authorization") is None


def _names_a_version(incoming: Incoming) -> bool:
    return incoming.header("mcp-protocol-version") is not None


_TWO_PLACES = _documents(
    published_at=lambda settings, path: path in (WELL_KNOWN + settings.resource_path, ELSEWHERE),
    pointer=pointer_elsewhere,
)


@FAULTS.by(lambda serve: all_of(_TWO_PLACES, _documents(serve=serve)))
def metadata_of_a_neighbour_at_the_path(document: _Document, incoming: Incoming) -> Response:
    """The well-known URL has the metadata of another server."""
    about = {"resource": f"{document['resource']}-neighbour"} if incoming.path.startswith(WELL_KNOWN) else {}
    return serve_json({**document, **about}, incoming)


@FAULTS.step("documents", "pointer")
def pointer_from_host(settings: LabSettings, incoming: Incoming) -> str:
    """The pointer is built from Host."""
    host = incoming.header("host")
    base = settings.base if host is None else f"{settings.base.partition('://')[0]}://{host}"
    return base + WELL_KNOWN + settings.resource_path


@FAULTS.step("documents", "serve")
def metadata_from_host(document: _Document, incoming: Incoming) -> Response:
    """The metadata names the host of the request."""
    host = incoming.header("x-forwarded-host") or incoming.header("host")
    scheme, _, rest = str(document["resource"]).partition("://")
    return serve_json({**document, "resource": f"{scheme}://{host}/{rest.partition('/')[2]}"}, incoming)


@FAULTS.step("documents", "pointer")
def pointer_from_forwarded_host(settings: LabSettings, incoming: Incoming) -> str:
    """The pointer is built from X-Forwarded-Host."""
    host = incoming.header("x-forwarded-host")
    base = settings.base if host is None else f"{incoming.header('x-forwarded-proto') or 'http'}://{host}"
    return base + WELL_KNOWN + settings.resource_path


@FAULTS.by(lambda serve: all_of(_with(jwks_uri=lambda settings: settings.base + _KEYS), intercepting(intercept=serve)))
async def resource_private_keys(_lab: Lab, incoming: Incoming) -> Response | None:
    """The key set of the resource holds a private key."""
    return JSONResponse({"keys": [_new_key(private=True)]}) if incoming.path == _KEYS else None


@FAULTS.by(_edited)
def metadata_unsigned_jwt(_settings: LabSettings, document: _Document) -> _Document:
    """The signed metadata is not signed."""
    parts = ({"alg": "none"}, {"iss": document["resource"], **document})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return {**document, "signed_metadata": ".".join((*encoded, ""))}


def _server_edited(edit: _Edit) -> Change:
    """Name the own authorization server, and change its metadata."""
    return all_of(PROFILES[Profile.OWN_AS], _edited(edit, "authorization_server"))


def _server_with(**members: object) -> Change:
    return _server_edited(_having(**members))


def _server_at(paths: frozenset[str]) -> Change:
    """Name the own authorization server, and serve its metadata at these paths alone."""
    return all_of(PROFILES[Profile.OWN_AS], _documents(authorization_server_paths=paths))


def _server_serving(serve: _Serve, *, keys: bool = False) -> Change:
    """Name the own authorization server, and serve its metadata, or its key set, in another way."""
    return all_of(PROFILES[Profile.OWN_AS], _documents(serve_authorization_server=lambda document, incoming: (
        serve if (incoming.path == JWKS_PATH) is keys else serve_json)(document, incoming)))  # fmt: skip


def _query_issuer(settings: LabSettings) -> str:
    return f"{settings.own_issuer}?tenant=1"


FAULTS.rows(
    ("metadata-copies-differ", "The copy at the root names an abandoned authorization server.",
     all_of(PROFILES[Profile.ROOT_AND_PATH_METADATA],
            _documents(serve=_differing(WELL_KNOWN.__eq__, authorization_servers=_OLD_SERVER)))),
    ("metadata-missing", "The metadata is served nowhere; the challenge points into the void.",
     _documents(published_at=lambda _settings, _path: False)),
    ("metadata-appended", "The well-known segment is appended to the path, where no client looks.",
     _documents(published_at=lambda settings, path: path == settings.resource_path + WELL_KNOWN)),
    ("metadata-root-only", "A server of 2025-06-18 has its metadata at the root, not at its path.",
     all_of(PROFILES[Profile.ROOT_METADATA], speaking(Revision.R2025_06_18))),
    ("metadata-wildcard", "Every path has the metadata of this server.",
     _documents(published_at=lambda _settings, path: path.startswith(WELL_KNOWN))),
    ("pointer-dangling", "The challenge points to a place that has no metadata.",
     _documents(pointer=lambda settings, _incoming: f"{settings.base}{settings.resource_path}{WELL_KNOWN}")),
    ("pointer-relative", "The challenge points to a path without a host.",
     _documents(pointer=lambda settings, _incoming: WELL_KNOWN + settings.resource_path)),
    ("metadata-status-203", "The metadata comes with 203.",
     _documents(serve=_altered(lambda response: setattr(response, "status_code", 203)))),
    ("metadata-as-html", "The metadata is labelled as HTML.", _documents(
        serve=_altered(lambda response: response.headers.update({"content-type": "text/html; charset=utf-8"})))),
    ("metadata-duplicate-member", "The metadata has two lists of authorization servers.", _documents(
        serve=_as_text(lambda text: f'{{"authorization_servers": {json.dumps(_OLD_SERVER)}, {text[1:]}'))),
    ("metadata-byte-order-mark", "The metadata begins with a byte order mark.",
     _documents(serve=_as_text(lambda text: "\ufeff" + text))),
    ("metadata-gated", "The metadata needs a token itself.", _documents(serve=_refusing(401, _no_token))),
    ("metadata-gated-at-the-pointer", "The metadata that the challenge points to needs a token itself.",
     all_of(_TWO_PLACES, _documents(
         serve=_refusing(403, lambda incoming: incoming.path == ELSEWHERE and _no_token(incoming))))),
    ("metadata-negotiated", "The metadata is refused to who accepts anything.", _documents(
        serve=_refusing(406, lambda incoming: "application/json" not in (incoming.header("accept") or "")))),
    ("metadata-refuses-versions", "The metadata is refused to who sends MCP-Protocol-Version.",
     _documents(serve=_refusing(400, _names_a_version))),
    ("resource-missing", "The metadata does not name its resource.", _edited(_lacking("resource"))),
    ("resource-application-id", "The resource is the id of an application, not a URL.",
     _with(resource="api://invoices")),
    ("resource-plain-http", "The resource is a public URL with http.",
     _with(resource=lambda settings: f"http://invoices.example.com{settings.resource_path}")),
    ("resource-other-origin", "The resource is on another host.",
     _with(resource=lambda settings: f"https://invoices.example.com{settings.resource_path}")),
    ("resource-other-path", "The resource is a neighbour on the same host.",
     _with(resource=lambda settings: f"{settings.base}/neighbour")),
    ("resource-trailing-slash", "The resource ends with a slash that the URL does not have.",
     _with(resource=lambda settings: f"{settings.resource}/")),
    ("resource-bare-origin", "The resource is the host without the path.",
     _with(resource=lambda settings: settings.base)),
    ("resource-upper-case", "The resource has its scheme in upper case.", _with(
        resource=lambda settings: f"{settings.base.split(':')[0].upper()}://{settings.resource.split('://')[1]}")),
    ("authorization-servers-missing", "The metadata names no authorization server.",
     _edited(_lacking("authorization_servers"))),
    ("authorization-servers-empty", "The list of authorization servers is empty.", _with(authorization_servers=[])),
    ("metadata-empty-list", "A list without entries is written out.", _with(authorization_details_types_supported=[])),
    ("metadata-null-member", "A member without a value is written as null.", _with(resource_documentation=None)),
    ("metadata-scopes-as-text", "The scopes are one string instead of a list.",
     _with(scopes_supported="invoices:read invoices:write")),
    ("metadata-flag-as-text", "A flag is written as a string.", _with(dpop_bound_access_tokens_required="false")),
    ("metadata-without-scopes", "The metadata lists no scopes.", _edited(_lacking("scopes_supported"))),
    ("metadata-offline-access", "offline_access is listed as a scope of the resource.",
     _with(scopes_supported=["invoices:read", "offline_access"])),
    ("metadata-query-method", "The metadata invites tokens into the query.",
     _with(bearer_methods_supported=["header", "query"])),
    ("metadata-without-name", "The metadata has no name to show.", _edited(_lacking("resource_name"))),
    ("metadata-signing-none", "none is listed as a signing algorithm of the resource.",
     _with(resource_signing_alg_values_supported=["RS256", "none"])),
    ("metadata-demands-dpop", "The metadata demands DPoP, and plain bearer tokens work.",
     _with(dpop_bound_access_tokens_required=True)),
    ("metadata-anonymous-jwt", "The signed metadata does not say who signed it.",
     _edited(lambda _settings, document: {**document, "signed_metadata": jwt.encode(
         dict(document), ec.generate_private_key(ec.SECP256R1()), "ES256")})),
    ("as-metadata-duplicate-member", "The authorization server's metadata has two token endpoints.",
     _server_serving(_as_text(lambda text: f'{{"token_endpoint": "{_OLD_ENDPOINT}", {text[1:]}'))),
    ("as-documents-differ", "The OpenID Connect document has another token endpoint.",
     _server_serving(_differing(lambda path: not path.startswith(_OAUTH), token_endpoint=_OLD_ENDPOINT))),
    ("issuer-with-query", "The authorization server's identifier has a query.",
     all_of(_server_with(issuer=_query_issuer),
            _with(authorization_servers=lambda settings: [_query_issuer(settings)]))),
    ("issuer-is-metadata-url", "The URL of the metadata is listed in place of the issuer.",
     _with(authorization_servers=lambda settings: [f"{settings.own_issuer}/.well-known/openid-configuration"])),
    ("issuer-unresolvable", "The listed authorization server has no metadata.",
     _with(authorization_servers=lambda settings: [f"{settings.base}/tenants/none"])),
    ("issuer-without-metadata", "The server names itself as authorization server, and has no metadata.",
     _server_at(frozenset())),
    ("issuer-metadata-at-root", "The metadata stands at the well-known URL without the issuer's path.",
     _server_at(frozenset({_OAUTH}))),
    ("issuer-metadata-appended", "The metadata stands behind the issuer's path, where no client looks.",
     _server_at(frozenset({f"{AUTHORIZATION_SERVER}{_OAUTH}"}))),
    ("issuer-metadata-locked", "The metadata of the authorization server wants a token.",
     _server_serving(_refusing(401, lambda incoming: incoming.header("authorization") is None))),
    ("as-keys-missing", "There is nothing at the jwks_uri of the authorization server.",
     _server_with(jwks_uri=lambda settings: f"{settings.own_issuer}/keys")),
    ("issuer-trailing-slash", "The listed issuer has a slash that the authorization server does not.",
     _with(authorization_servers=lambda settings: [f"{settings.own_issuer}/"])),
    ("issuer-other-name", "The authorization server calls itself by another name.",
     _server_with(issuer="https://login.example.com")),
    ("as-lists-others-only", "The authorization server lists its resources, without this one.",
     _server_with(protected_resources=["https://other.example.com/mcp"])),
    ("as-openid-only", "An authorization server of 2025-06-18 has OpenID Connect discovery only.",
     all_of(PROFILES[Profile.OWN_AS], speaking(Revision.R2025_06_18), _documents(
         authorization_server_paths=frozenset(path for path in METADATA_PATHS if not path.startswith(_OAUTH))))),
    ("as-metadata-as-html", "The authorization server's metadata is labelled as HTML.",
     _server_serving(_as_text(str, "text/html"))),
    ("as-refuses-versions", "The authorization server's metadata is refused to who sends MCP-Protocol-Version.",
     _server_serving(_refusing(400, _names_a_version))),
    ("as-private-keys", "The authorization server's key set holds a private key.",
     _server_serving(lambda jwks, incoming: (
         serve_json({"keys": [*jwks["keys"], _new_key(private=True)]}, incoming)), keys=True)),
    ("as-same-kid", "Two keys of the authorization server have the same kid.",
     _server_serving(lambda jwks, incoming: serve_json(
         {"keys": [*jwks["keys"], {**_new_key(private=False), "kid": jwks["keys"][0]["kid"]}]}, incoming), keys=True)),
    ("as-empty-list", "The authorization server writes out a list without entries.",
     _server_with(ui_locales_supported=[])),
    ("as-plain-http", "The authorization endpoint is a public URL with http.",
     _server_with(authorization_endpoint="http://login.example.com/authorize")),
    ("as-without-authorization-endpoint", "The authorization server names no authorization endpoint.",
     _server_edited(_lacking("authorization_endpoint"))),
    ("as-without-token-endpoint", "The authorization server names no token endpoint.",
     _server_edited(_lacking("token_endpoint"))),
    ("as-without-response-types", "The authorization server lists no response types.",
     _server_edited(_lacking("response_types_supported"))),
    ("as-without-code", "The authorization server does not list the response type code.",
     _server_with(response_types_supported=["id_token"])),
    ("as-implicit", "The authorization server hands out tokens in the redirect.",
     _server_with(response_types_supported=["code", "token"])),
    ("as-without-pkce", "The authorization server does not say that it supports PKCE.",
     _server_edited(_lacking("code_challenge_methods_supported"))),
    ("as-pkce-without-s256", "The authorization server has a PKCE method that clients do not know.",
     _server_with(code_challenge_methods_supported=["S512"])),
    ("as-pkce-plain-only", "The authorization server has the PKCE method plain only.",
     _server_with(code_challenge_methods_supported=["plain"])),
    ("as-pkce-plain-too", "The authorization server has the PKCE method plain too.",
     _server_with(code_challenge_methods_supported=["S256", "plain"])),
    ("as-password-grant", "The authorization server lists the password grant.",
     _server_with(grant_types_supported=["authorization_code", "refresh_token", "password"])),
    ("as-secret-clients-only", "The authorization server registers strangers, and demands a secret of them.",
     _server_with(token_endpoint_auth_methods_supported=["client_secret_basic"])),
    ("as-jwt-clients-without-algorithms", "JWT client authentication is offered without its algorithms.",
     _server_with(token_endpoint_auth_methods_supported=["none", "private_key_jwt"])),
    ("as-jwt-clients-unsigned", "JWT client authentication is offered with the algorithm none.",
     _server_with(token_endpoint_auth_methods_supported=["none", "private_key_jwt"],
                  token_endpoint_auth_signing_alg_values_supported=["RS256", "none"])),
    ("as-without-registration", "A client that nobody registered has no way in.",
     _server_edited(_lacking("registration_endpoint"))),
    ("as-flag-as-text", "Support for client id metadata documents is written as a string.",
     _server_with(client_id_metadata_document_supported="true")),
)  # fmt: skip
