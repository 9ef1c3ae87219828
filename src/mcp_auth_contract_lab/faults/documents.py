"""Faults of the protected-resource metadata: what it says, where it lies, how it is served (RFC 9728)."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.responses import JSONResponse, Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.documents import ELSEWHERE, pointer_elsewhere, serve_json
from mcp_auth_contract_lab.fault import Change, Faults, adapting, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import PROFILES, speaking
from mcp_auth_contract_lab.settings import WELL_KNOWN, LabSettings
from mcp_auth_contract_lab.steps import intercepting

FAULTS = Faults()

_Document: TypeAlias = Mapping[str, Any]
Edit: TypeAlias = Callable[[LabSettings, _Document], _Document]
Serve: TypeAlias = Callable[[_Document, Incoming], Response]

_KEYS = "/resource-keys.json"
_OLD_SERVER = ["https://old.example.com"]


def metadata_edited(edit: Edit, member: str = "resource_metadata") -> Change:
    """Change a document, wherever it is served."""
    return adapting("documents", member, lambda sound: lambda settings: edit(settings, sound(settings)))


def leaked_key() -> dict[str, Any]:
    """Return a new key as a JWK with its private member; it signs nothing that anybody trusts."""
    members: dict[str, Any] = json.loads(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1())))
    return {**members, "kid": "lab-leaked-1", "use": "sig", "alg": "ES256"}


def without(name: str) -> Edit:
    """Leave a member out."""
    return lambda _settings, document: {key: document[key] for key in document if key != name}


def _with(name: str, value: object) -> Change:
    return metadata_edited(lambda _settings, document: {**document, name: value})


def _resource(write: Callable[[LabSettings], str]) -> Change:
    return metadata_edited(lambda settings, document: {**document, "resource": write(settings)})


def _serving(serve: Serve) -> Change:
    return changing("documents", serve=serve)


def _where(published_at: Callable[[LabSettings, str], bool]) -> Change:
    return changing("documents", published_at=published_at)


def _pointing(pointer: Callable[[LabSettings, Incoming], str]) -> Change:
    return changing("documents", pointer=pointer)


def _altered(alter: Callable[[Response], object]) -> Change:
    """Serve the document with another head."""

    def serve(document: _Document, incoming: Incoming) -> Response:
        response = serve_json(document, incoming)
        alter(response)
        return response

    return _serving(serve)


def _with_text(write: Callable[[str], str]) -> Change:
    """Change the text after the serializer is done with it."""
    return _serving(lambda document, _: Response(write(json.dumps(document)), media_type="application/json"))


def refusing(status: int, when: Callable[[Incoming], bool]) -> Serve:
    """Serve the document to some requests only."""
    return lambda document, incoming: Response(status_code=status) if when(incoming) else serve_json(document, incoming)


def _no_token(incoming: Incoming) -> bool:
    return incoming.header("authorization") is None


def names_a_version(incoming: Incoming) -> bool:
    """Whether a request says which revision of MCP it speaks."""
    return incoming.header("mcp-protocol-version") is not None


_TWO_PLACES = all_of(
    _where(lambda settings, path: path in (WELL_KNOWN + settings.resource_path, ELSEWHERE)),
    _pointing(pointer_elsewhere),
)


@FAULTS.by(lambda serve: all_of(PROFILES[Profile.ROOT_AND_PATH_METADATA], _serving(serve)))
def metadata_copies_differ(document: _Document, incoming: Incoming) -> Response:
    """The copy at the root names an abandoned authorization server."""
    old = {"authorization_servers": _OLD_SERVER} if incoming.path == WELL_KNOWN else {}
    return serve_json({**document, **old}, incoming)


@FAULTS.by(lambda serve: all_of(_TWO_PLACES, _serving(serve)))
def metadata_of_a_neighbour_at_the_path(document: _Document, incoming: Incoming) -> Response:
    """The well-known URL has the metadata of another server."""
    about = {"resource": f"{document['resource']}-neighbour"} if incoming.path.startswith(WELL_KNOWN) else {}
    return serve_json({**document, **about}, incoming)


@FAULTS.by(_pointing)
def pointer_from_host(settings: LabSettings, incoming: Incoming) -> str:
    """The pointer is built from Host."""
    host = incoming.header("host")
    base = settings.base if host is None else f"{settings.base.partition('://')[0]}://{host}"
    return base + WELL_KNOWN + settings.resource_path


@FAULTS.by(_serving)
def metadata_from_host(document: _Document, incoming: Incoming) -> Response:
    """The metadata names the host of the request."""
    host = incoming.header("x-forwarded-host") or incoming.header("host")
    scheme, _, rest = str(document["resource"]).partition("://")
    return serve_json({**document, "resource": f"{scheme}://{host}/{rest.partition('/')[2]}"}, incoming)


@FAULTS.by(_pointing)
def pointer_from_forwarded_host(settings: LabSettings, incoming: Incoming) -> str:
    """The pointer is built from X-Forwarded-Host."""
    host = incoming.header("x-forwarded-host")
    base = settings.base if host is None else f"{incoming.header('x-forwarded-proto') or 'http'}://{host}"
    return base + WELL_KNOWN + settings.resource_path


FAULTS.rows(
    ("metadata-missing", "The metadata is served nowhere; the challenge points into the void.",
     _where(lambda _settings, _path: False)),
    ("metadata-appended", "The well-known segment is appended to the path, where no client looks.",
     _where(lambda settings, path: path == settings.resource_path + WELL_KNOWN)),
    ("metadata-root-only", "A server of 2025-06-18 has its metadata at the root, not at its path.",
     all_of(PROFILES[Profile.ROOT_METADATA], speaking(Revision.R2025_06_18))),
    ("metadata-wildcard", "Every path has the metadata of this server.",
     _where(lambda _settings, path: path.startswith(WELL_KNOWN))),
    ("pointer-dangling", "The challenge points to a place that has no metadata.",
     _pointing(lambda settings, _incoming: f"{settings.base}{settings.resource_path}{WELL_KNOWN}")),
    ("pointer-relative", "The challenge points to a path without a host.",
     _pointing(lambda settings, _incoming: WELL_KNOWN + settings.resource_path)),
    ("metadata-status-203", "The metadata comes with 203.",
     _altered(lambda response: setattr(response, "status_code", 203))),
    ("metadata-as-html", "The metadata is labelled as HTML.",
     _altered(lambda response: response.headers.update({"content-type": "text/html; charset=utf-8"}))),
    ("metadata-duplicate-member", "The metadata has two lists of authorization servers.",
     _with_text(lambda text: f'{{"authorization_servers": {json.dumps(_OLD_SERVER)}, {text[1:]}')),
    ("metadata-byte-order-mark", "The metadata begins with a byte order mark.",
     _with_text(lambda text: "\ufeff" + text)),
    ("metadata-gated", "The metadata needs a token itself.", _serving(refusing(401, _no_token))),
    ("metadata-gated-at-the-pointer", "The metadata that the challenge points to needs a token itself.",
     all_of(_TWO_PLACES,
            _serving(refusing(403, lambda incoming: incoming.path == ELSEWHERE and _no_token(incoming))))),
    ("metadata-negotiated", "The metadata is refused to who accepts anything.",
     _serving(refusing(406, lambda incoming: "application/json" not in (incoming.header("accept") or "")))),
    ("metadata-refuses-versions", "The metadata is refused to who sends MCP-Protocol-Version.",
     _serving(refusing(400, names_a_version))),
    ("resource-missing", "The metadata does not name its resource.", metadata_edited(without("resource"))),
    ("resource-application-id", "The resource is the id of an application, not a URL.",
     _resource(lambda _settings: "api://invoices")),
    ("resource-plain-http", "The resource is a public URL with http.",
     _resource(lambda settings: f"http://invoices.example.com{settings.resource_path}")),
    ("resource-other-origin", "The resource is on another host.",
     _resource(lambda settings: f"https://invoices.example.com{settings.resource_path}")),
    ("resource-other-path", "The resource is a neighbour on the same host.",
     _resource(lambda settings: f"{settings.base}/neighbour")),
    ("resource-trailing-slash", "The resource ends with a slash that the URL does not have.",
     _resource(lambda settings: f"{settings.resource}/")),
    ("resource-bare-origin", "The resource is the host without the path.", _resource(lambda settings: settings.base)),
    ("resource-upper-case", "The resource has its scheme in upper case.",
     _resource(lambda settings: f"{settings.base.split(':')[0].upper()}://{settings.resource.split('://')[1]}")),
    ("authorization-servers-missing", "The metadata names no authorization server.",
     metadata_edited(without("authorization_servers"))),
    ("authorization-servers-empty", "The list of authorization servers is empty.", _with("authorization_servers", [])),
    ("metadata-empty-list", "A list without entries is written out.",
     _with("authorization_details_types_supported", [])),
    ("metadata-null-member", "A member without a value is written as null.", _with("resource_documentation", None)),
    ("metadata-scopes-as-text", "The scopes are one string instead of a list.",
     _with("scopes_supported", "invoices:read invoices:write")),
    ("metadata-flag-as-text", "A flag is written as a string.", _with("dpop_bound_access_tokens_required", "false")),
    ("metadata-without-scopes", "The metadata lists no scopes.", metadata_edited(without("scopes_supported"))),
    ("metadata-offline-access", "offline_access is listed as a scope of the resource.",
     _with("scopes_supported", ["invoices:read", "offline_access"])),
    ("metadata-query-method", "The metadata invites tokens into the query.",
     _with("bearer_methods_supported", ["header", "query"])),
    ("metadata-without-name", "The metadata has no name to show.", metadata_edited(without("resource_name"))),
    ("metadata-signing-none", "none is listed as a signing algorithm of the resource.",
     _with("resource_signing_alg_values_supported", ["RS256", "none"])),
    ("metadata-demands-dpop", "The metadata demands DPoP, and plain bearer tokens work.",
     _with("dpop_bound_access_tokens_required", True)),
)  # fmt: skip


@FAULTS.by(
    lambda intercept: all_of(
        metadata_edited(lambda settings, document: {**document, "jwks_uri": settings.base + _KEYS}),
        intercepting(intercept=intercept),
    )
)
async def resource_private_keys(_lab: Lab, incoming: Incoming) -> Response | None:
    """The key set of the resource holds a private key."""
    return JSONResponse({"keys": [leaked_key()]}) if incoming.path == _KEYS else None


@FAULTS.by(metadata_edited)
def metadata_unsigned_jwt(_settings: LabSettings, document: _Document) -> _Document:
    """The signed metadata is not signed."""
    parts = ({"alg": "none"}, {"iss": document["resource"], **document})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return {**document, "signed_metadata": ".".join((*encoded, ""))}


@FAULTS.by(metadata_edited)
def metadata_anonymous_jwt(_settings: LabSettings, document: _Document) -> _Document:
    """The signed metadata does not say who signed it."""
    signed = jwt.encode(dict(document), ec.generate_private_key(ec.SECP256R1()), "ES256")
    return {**document, "signed_metadata": signed}
