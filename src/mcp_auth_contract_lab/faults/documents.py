"""Faults of the protected-resource metadata: what it says, where it lies, how it is served (RFC 9728)."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.responses import JSONResponse, Response

from mcp_auth_contract.model import Revision
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.documents import WELL_KNOWN, serve_json
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import PROFILES
from mcp_auth_contract_lab.settings import LabSettings

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["FAULTS", "all_of", "leaked_key", "metadata_edited", "speaking"]

_Edit: TypeAlias = Callable[[LabSettings, Mapping[str, Any]], Mapping[str, Any]]
_Serve: TypeAlias = Callable[[Mapping[str, Any], Incoming], Response]

_KEYS = "/resource-keys.json"


def all_of(*changes: Change) -> Change:
    """Return the change that makes these one after the other."""

    def change(behaviour: Behaviour) -> Behaviour:
        for one in changes:
            behaviour = one(behaviour)
        return behaviour

    return change


def speaking(*revisions: Revision) -> Change:
    """Speak these revisions only, for a clause that others do not have."""
    return lambda behaviour: replace(behaviour, protocol=replace(behaviour.protocol, revisions=revisions))


def metadata_edited(edit: _Edit) -> Change:
    """Change the document, wherever it is served."""

    def change(behaviour: Behaviour) -> Behaviour:
        sound = behaviour.documents.resource_metadata
        return _publishing(resource_metadata=lambda settings: edit(settings, sound(settings)))(behaviour)

    return change


def leaked_key() -> dict[str, Any]:
    """Return a new key as a JWK with its private member; it signs nothing that anybody trusts."""
    members: dict[str, Any] = json.loads(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1())))
    return {**members, "kid": "lab-leaked-1", "use": "sig", "alg": "ES256"}


def _publishing(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, documents=replace(behaviour.documents, **steps))


def _with(name: str, value: object) -> Change:
    """Give a member a value."""
    return metadata_edited(lambda _settings, document: {**document, name: value})


def _without(name: str) -> Change:
    """Leave a member out."""
    return metadata_edited(lambda _settings, document: {key: document[key] for key in document if key != name})


def _resource(write: Callable[[LabSettings], str]) -> Change:
    return metadata_edited(lambda settings, document: {**document, "resource": write(settings)})


def _serving(serve: _Serve) -> Change:
    return _publishing(serve=serve)


def _where(published_at: Callable[[LabSettings, str], bool]) -> Change:
    return _publishing(published_at=published_at)


def _pointing(pointer: Callable[[LabSettings, Incoming], str]) -> Change:
    return _publishing(pointer=pointer)


def _changed(**attributes: str) -> _Serve:
    """Serve the document with other header fields, underscores standing for hyphens."""

    def serve(document: Mapping[str, Any], incoming: Incoming) -> Response:
        response = serve_json(document, incoming)
        for name, value in attributes.items():
            response.headers[name.replace("_", "-")] = value
        return response

    return serve


def _with_status(status: int) -> _Serve:
    def serve(document: Mapping[str, Any], incoming: Incoming) -> Response:
        response = serve_json(document, incoming)
        response.status_code = status
        return response

    return serve


def _with_text(write: Callable[[str], str]) -> _Serve:
    """Change the text after the serializer is done with it."""

    def serve(document: Mapping[str, Any], _incoming: Incoming) -> Response:
        return Response(write(json.dumps(document)), media_type="application/json")

    return serve


def _refusing(status: int, when: Callable[[Incoming], bool]) -> _Serve:
    def serve(document: Mapping[str, Any], incoming: Incoming) -> Response:
        return Response(status_code=status) if when(incoming) else serve_json(document, incoming)

    return serve


def _at(path: str, edit: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> _Serve:
    """Serve another document at one path."""

    def serve(document: Mapping[str, Any], incoming: Incoming) -> Response:
        return serve_json(edit(document) if incoming.path == path else document, incoming)

    return serve


def _about_a_neighbour(document: Mapping[str, Any], incoming: Incoming) -> Response:
    about = f"{document['resource']}-neighbour"
    well_known = incoming.path.startswith(WELL_KNOWN)
    return serve_json({**document, "resource": about} if well_known else document, incoming)


def _twice(text: str) -> str:
    return '{"authorization_servers": ["https://old.example.com"], ' + text[1:]


def _no_token(incoming: Incoming) -> bool:
    return incoming.header("authorization") is None


def _wants_something_else(incoming: Incoming) -> bool:
    return "application/json" not in (incoming.header("accept") or "")


def _names_a_version(incoming: Incoming) -> bool:
    return incoming.header("mcp-protocol-version") is not None


def _at_path_or_elsewhere(settings: LabSettings, path: str) -> bool:
    return path in (WELL_KNOWN + settings.resource_path, _ELSEWHERE)


_ELSEWHERE = "/metadata.json"


def _pointer_elsewhere(settings: LabSettings, _incoming: Incoming) -> str:
    return settings.base + _ELSEWHERE


def _forwarded_pointer(settings: LabSettings, incoming: Incoming) -> str:
    host = incoming.header("x-forwarded-host")
    base = settings.base if host is None else f"{incoming.header('x-forwarded-proto') or 'http'}://{host}"
    return base + WELL_KNOWN + settings.resource_path


def _relative_pointer(settings: LabSettings, _incoming: Incoming) -> str:
    return WELL_KNOWN + settings.resource_path


def _dangling_pointer(settings: LabSettings, _incoming: Incoming) -> str:
    return f"{settings.base}{settings.resource_path}{WELL_KNOWN}"


def _private_keys(behaviour: Behaviour) -> Behaviour:
    key, sound = leaked_key(), behaviour.endpoint.intercept

    async def intercept(lab: "Lab", incoming: Incoming) -> Response | None:
        return JSONResponse({"keys": [key]}) if incoming.path == _KEYS else await sound(lab, incoming)

    def naming(settings: LabSettings, document: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**document, "jwks_uri": settings.base + _KEYS}

    return metadata_edited(naming)(replace(behaviour, endpoint=replace(behaviour.endpoint, intercept=intercept)))


def _unsigned(_settings: LabSettings, document: Mapping[str, Any]) -> Mapping[str, Any]:
    parts = ({"alg": "none"}, {"iss": document["resource"], **document})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return {**document, "signed_metadata": ".".join((*encoded, ""))}


def _anonymous(_settings: LabSettings, document: Mapping[str, Any]) -> Mapping[str, Any]:
    signed = jwt.encode(dict(document), ec.generate_private_key(ec.SECP256R1()), "ES256")
    return {**document, "signed_metadata": signed}


_ROOT_AND_PATH = PROFILES[Profile.ROOT_AND_PATH_METADATA]

_PLACES = (
    Fault("metadata-missing", "The metadata is served nowhere; the challenge points into the void.",
          _where(lambda _settings, _path: False)),
    Fault("metadata-appended", "The well-known segment is appended to the path, where no client looks.",
          _where(lambda settings, path: path == settings.resource_path + WELL_KNOWN)),
    Fault("metadata-root-only", "A server of 2025-06-18 has its metadata at the root, not at its path.",
          all_of(PROFILES[Profile.ROOT_METADATA], speaking(Revision.R2025_06_18))),
    Fault("metadata-wildcard", "Every path has the metadata of this server.",
          _where(lambda _settings, path: path.startswith(WELL_KNOWN))),
    Fault("metadata-copies-differ", "The copy at the root names an abandoned authorization server.",
          all_of(_ROOT_AND_PATH, _serving(_at(WELL_KNOWN, lambda document: {
              **document, "authorization_servers": ["https://old.example.com"]})))),
    Fault("metadata-of-a-neighbour-at-the-path", "The well-known URL has the metadata of another server.",
          all_of(_where(_at_path_or_elsewhere), _pointing(_pointer_elsewhere), _serving(_about_a_neighbour))),
    Fault("pointer-dangling", "The challenge points to a place that has no metadata.",
          _pointing(_dangling_pointer)),
    Fault("pointer-relative", "The challenge points to a path without a host.",
          _pointing(_relative_pointer)),
    Fault("pointer-from-forwarded-host", "The pointer is built from X-Forwarded-Host.",
          _pointing(_forwarded_pointer)),
)  # fmt: skip

_SERVED = (
    Fault("metadata-status-203", "The metadata comes with 203.", _serving(_with_status(203))),
    Fault("metadata-as-html", "The metadata is labelled as HTML.",
          _serving(_changed(content_type="text/html; charset=utf-8"))),
    Fault("metadata-duplicate-member", "The metadata has two lists of authorization servers.",
          _serving(_with_text(_twice))),
    Fault("metadata-byte-order-mark", "The metadata begins with a byte order mark.",
          _serving(_with_text(lambda text: "\ufeff" + text))),
    Fault("metadata-gated", "The metadata needs a token itself.",
          _serving(_refusing(401, _no_token))),
    Fault("metadata-gated-at-the-pointer", "The metadata that the challenge points to needs a token itself.",
          all_of(_where(_at_path_or_elsewhere), _pointing(_pointer_elsewhere),
                 _serving(_refusing(403, lambda incoming: incoming.path == _ELSEWHERE and _no_token(incoming))))),
    Fault("metadata-negotiated", "The metadata is refused to who accepts anything.",
          _serving(_refusing(406, _wants_something_else))),
    Fault("metadata-refuses-versions", "The metadata is refused to who sends MCP-Protocol-Version.",
          _serving(_refusing(400, _names_a_version))),
)  # fmt: skip

_RESOURCES = (
    Fault("resource-missing", "The metadata does not name its resource.",
          _without("resource")),
    Fault("resource-application-id", "The resource is the id of an application, not a URL.",
          _resource(lambda _settings: "api://invoices")),
    Fault("resource-plain-http", "The resource is a public URL with http.",
          _resource(lambda settings: f"http://invoices.example.com{settings.resource_path}")),
    Fault("resource-other-origin", "The resource is on another host.",
          _resource(lambda settings: f"https://invoices.example.com{settings.resource_path}")),
    Fault("resource-other-path", "The resource is a neighbour on the same host.",
          _resource(lambda settings: f"{settings.base}/neighbour")),
    Fault("resource-trailing-slash", "The resource ends with a slash that the URL does not have.",
          _resource(lambda settings: f"{settings.resource}/")),
    Fault("resource-bare-origin", "The resource is the host without the path.",
          _resource(lambda settings: settings.base)),
    Fault("resource-upper-case", "The resource has its scheme in upper case.",
          _resource(lambda settings: "://".join((settings.base.split("://")[0].upper(),
                                                 settings.resource.split("://")[1])))),
)  # fmt: skip

_MEMBERS = (
    Fault("authorization-servers-missing", "The metadata names no authorization server.",
          _without("authorization_servers")),
    Fault("authorization-servers-empty", "The list of authorization servers is empty.",
          _with("authorization_servers", [])),
    Fault("metadata-empty-list", "A list without entries is written out.",
          _with("authorization_details_types_supported", [])),
    Fault("metadata-null-member", "A member without a value is written as null.",
          _with("resource_documentation", None)),
    Fault("metadata-scopes-as-text", "The scopes are one string instead of a list.",
          _with("scopes_supported", "invoices:read invoices:write")),
    Fault("metadata-flag-as-text", "A flag is written as a string.",
          _with("dpop_bound_access_tokens_required", "false")),
    Fault("metadata-without-scopes", "The metadata lists no scopes.",
          _without("scopes_supported")),
    Fault("metadata-offline-access", "offline_access is listed as a scope of the resource.",
          _with("scopes_supported", ["invoices:read", "offline_access"])),
    Fault("metadata-query-method", "The metadata invites tokens into the query.",
          _with("bearer_methods_supported", ["header", "query"])),
    Fault("metadata-without-name", "The metadata has no name to show.",
          _without("resource_name")),
    Fault("resource-private-keys", "The key set of the resource holds a private key.",
          _private_keys),
    Fault("metadata-signing-none", "none is listed as a signing algorithm of the resource.",
          _with("resource_signing_alg_values_supported", ["RS256", "none"])),
    Fault("metadata-unsigned-jwt", "The signed metadata is not signed.",
          metadata_edited(_unsigned)),
    Fault("metadata-anonymous-jwt", "The signed metadata does not say who signed it.",
          metadata_edited(_anonymous)),
    Fault("metadata-demands-dpop", "The metadata demands DPoP, and plain bearer tokens work.",
          _with("dpop_bound_access_tokens_required", True)),
)  # fmt: skip

FAULTS = (*_PLACES, *_SERVED, *_RESOURCES, *_MEMBERS)
