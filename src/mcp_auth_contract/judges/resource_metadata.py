"""Is the protected-resource metadata there, well-formed, and about this resource? (RFC 9728)"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from mcp_auth_contract.judges.documents import private_members, shown, strings_or_none, zero_members
from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import (
    Difference,
    difference,
    identifier_faults,
    issuer_faults,
    resource_of_well_known,
)
from mcp_auth_contract.observations import Answer, Document, Location, ResourceMetadataObserved, describe

__all__ = [
    "pointer_not_reflected",
    "pointer_resolves",
    "prm_any_accept",
    "prm_authorization_servers",
    "prm_bearer_methods",
    "prm_content_type",
    "prm_dpop_consistent",
    "prm_issuer_form",
    "prm_json_object",
    "prm_locations_agree",
    "prm_member_types",
    "prm_no_offline_access",
    "prm_no_private_keys",
    "prm_path_location",
    "prm_resource_form",
    "prm_resource_identical",
    "prm_resource_lower_case",
    "prm_resource_matches_endpoint",
    "prm_resource_matches_location",
    "prm_resource_name",
    "prm_resource_present",
    "prm_scopes_supported",
    "prm_served",
    "prm_signed_metadata",
    "prm_signing_alg_none",
    "prm_status_200",
    "prm_unauthenticated",
    "prm_unknown_path_404",
    "prm_zero_values_omitted",
]

_SOUGHT = (Location.POINTER, Location.PATH, Location.ROOT)
_LISTS = (
    "authorization_servers",
    "scopes_supported",
    "bearer_methods_supported",
    "resource_signing_alg_values_supported",
    "authorization_details_types_supported",
    "dpop_signing_alg_values_supported",
)
_DPOP_ONLY = "dpop_bound_access_tokens_required"
_BOOLEANS = ("tls_client_certificate_bound_access_tokens", _DPOP_ONLY)
_STRINGS = (
    "resource",
    "jwks_uri",
    "resource_name",
    "resource_documentation",
    "resource_policy_uri",
    "resource_tos_uri",
)
_OTHER_MEDIA = "Accept: text/html"
"""The label of a fetch that asks for what the document is not: 406 is an honest answer (RFC 9110 §15.5.7)."""
_MISSING = "no metadata document was found; prm-served reports it"


def _sought(observed: ResourceMetadataObserved) -> list[Document]:
    """The documents at the places a client looks, each URL once."""
    found = (observed.at(where) for where in _SOUGHT)
    return list({one.url: one for one in found if one is not None}.values())


def _member(observed: ResourceMetadataObserved, name: str) -> Any:
    best = observed.best
    return None if best is None or best.value is None else best.value.get(name)


def _value(observed: ResourceMetadataObserved) -> Mapping[str, Any] | Inconclusive:
    best = observed.best
    return Inconclusive(_MISSING) if best is None or best.value is None else best.value


def _unreachable(observed: ResourceMetadataObserved) -> Inconclusive | None:
    silent = [one for one in _sought(observed) if _says_nothing(one.answer)]
    return Inconclusive(f"{silent[0].url}: {describe(silent[0].answer)}") if silent else None


def _says_nothing(answer: Answer) -> bool:
    """A server that is silent, limits the rate or breaks down does not say that there is no document."""
    return answer.status is None or answer.limits_rate or answer.status >= 500


def prm_served(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """At least one discovery route yields the document: pointer, path or root (MCP authorization, discovery)."""
    if observed.best is not None:
        return Pass()
    if silent := _unreachable(observed):
        return silent
    appended = observed.at(Location.APPENDED)
    places = "; ".join(f"{_short(one)}: {_said(one)}" for one in _sought(observed))
    extra = f"; it stands at {appended.url}, where no client looks" if appended and appended.found else ""
    return Fail("a metadata document at the pointer, the path or the root", f"{places}{extra}")


def _short(document: Document) -> str:
    return document.where.value


def _said(document: Document) -> str:
    said = describe(document.answer)
    return f"{said}, {', '.join(document.faults)}" if document.faults else said


def prm_status_200(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document comes with status 200 (RFC 9728 §3.2)."""
    best = observed.best
    if best is None:
        return Inconclusive(_MISSING)
    return Pass() if best.answer.status == 200 else Fail("200", f"{best.answer.status} at {best.url}")


def prm_content_type(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document's media type is application/json (RFC 9728 §3.2)."""
    best = observed.best
    if best is None:
        return Inconclusive(_MISSING)
    media = best.answer.media_type
    if media.endswith("+json"):
        return Pass(f"{media} instead of application/json; some clients refuse it")
    return Pass() if media == "application/json" else Fail("application/json", f"{media or 'no Content-Type'}")


def prm_json_object(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The body is one JSON object, each member once (RFC 9728 §3.2; RFC 8259 §4)."""
    best = observed.best
    # Another resource of the host may own the root: it counts only where a client would use it.
    for document in _sought(observed):
        if best is not None and document is not best and document.where is Location.ROOT:
            continue
        if document.answer.status == 200 and document.faults and _claims_json(document):
            return Fail("one JSON object", f"{', '.join(document.faults)} at {document.url}")
    return Pass() if observed.best else Inconclusive(_MISSING)


def _claims_json(document: Document) -> bool:
    return document.answer.media_type.endswith("json") or document.value is not None


def prm_unauthenticated(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document is readable without credentials (RFC 9728 §3.1)."""
    pointed, path = observed.at(Location.POINTER), observed.at(Location.PATH)
    for document in (pointed, path):
        # A catch-all gate in front of unknown paths is legal where another route works, a gated pointer never is.
        gated = document is not None and document.answer.status in (401, 403)
        if document is not None and gated and (document is pointed or observed.best is None):
            return Fail("the document without a token", f"{describe(document.answer)} at {document.url}")
    return Pass() if observed.best else Inconclusive(_MISSING)


def prm_any_accept(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A plain GET works whatever Accept and MCP-Protocol-Version say (RFC 9728 §3.1)."""
    if observed.best is None:
        return Inconclusive(_MISSING)
    for label, answer in observed.accepts:
        if answer.status is None or answer.limits_rate:
            return Inconclusive(f"{label}: {describe(answer)}")
        if answer.status == 406 and label == _OTHER_MEDIA:
            continue
        if answer.status != observed.best.answer.status:
            return Fail("the document", f"{describe(answer)} with {label}")
    return Pass()


def prm_path_location(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document is at the well-known location made from the resource identifier (RFC 9728 §3.1)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    path = observed.at(Location.PATH)
    if path is not None and path.found:
        return Pass()
    # The published identifier may be a broader one than the endpoint, such as the bare origin.
    resource = value.get("resource")
    for document in _sought(observed):
        named = resource_of_well_known(document.url) if document.found else None
        if named is not None and resource in (named, f"{named}/"):
            return Pass()
    if path is not None and _says_nothing(path.answer):
        return Inconclusive(f"{path.url}: {_said(path)}")
    return Fail(
        "the document with the path inserted after the well-known segment",
        path.url + ": " + _said(path) if path else "none",
    )


def prm_resource_present(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`resource` is there (RFC 9728 §2)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    if value.get("resource") is None:
        return Fail("a member resource", "none")
    return Pass()


def _resource(observed: ResourceMetadataObserved) -> str | Inconclusive:
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    resource = value.get("resource")
    if not isinstance(resource, str):
        return Inconclusive(
            "the document has no resource to compare; prm-resource-present or prm-member-types reports it"
        )
    return resource


def prm_resource_form(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`resource` is an absolute https URL without fragment (RFC 9728 §1.2); http is tolerated on loopback."""
    resource = _resource(observed)
    if isinstance(resource, Inconclusive):
        return resource
    if faults := identifier_faults(resource):
        return Fail("an absolute https URL without a fragment", f'"{resource}": {", ".join(faults)}')
    if resource.endswith("/") and not facts.resource.endswith("/"):
        return Pass(f'"{resource}" ends with a slash; MCP prefers the identifier without')
    return Pass()


_SOFT = (
    Difference.TRAILING_SLASH,
    Difference.CASE,
    Difference.DEFAULT_PORT,
    Difference.PARENT_PATH,
    Difference.QUERY,
)


def _is_web(identifier: str) -> bool:
    return identifier.lower().startswith(("http://", "https://"))


def _called(facts: Facts) -> str:
    """The URL that clients call. A contract's audience may be a bare name, which no document repeats."""
    return facts.resource if _is_web(facts.resource) else facts.endpoint


def prm_resource_matches_endpoint(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`resource` is the resource the client called, not another one (RFC 9728 §3.3, §7.3)."""
    resource = _resource(observed)
    if isinstance(resource, Inconclusive):
        return resource
    called = _called(facts)
    if _is_web(resource) and difference(called, resource) not in (Difference.NONE, *_SOFT):
        return Fail(f'resource "{called}"', f'"{resource}"')
    return Pass()


def prm_resource_identical(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`resource` equals the identifier code point by code point (RFC 9728 §3.3, §6)."""
    resource = _resource(observed)
    if isinstance(resource, Inconclusive):
        return resource
    called = _called(facts)
    differs = difference(called, resource)
    if differs in _SOFT:
        return Fail(f'resource "{called}"', f'"{resource}" ({differs.value}): strict clients refuse it')
    return Pass()


def prm_resource_matches_location(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A document found at a well-known URL is about the resource that URL was built from (RFC 9728 §3.3)."""
    path = observed.at(Location.PATH)
    pointed = observed.at(Location.POINTER)
    if path is None or not path.found or path.value is None:
        return Pass() if observed.best else Inconclusive(_MISSING)
    if pointed is not None and pointed.url == path.url:
        return Pass()  # the same document by its pointer: prm-resource-matches-endpoint judges it
    resource = path.value.get("resource")
    if not isinstance(resource, str):
        return Pass()  # prm-resource-present judges it
    if observed.best is path:
        return Pass()
    called = _called(facts)
    if difference(called, resource) not in (Difference.NONE, *_SOFT):
        return Fail(f'resource "{called}" at {path.url}', f'"{resource}"')
    return Pass()


def prm_resource_lower_case(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """Scheme and host are published in lower case (MCP authorization, canonical server URI)."""
    resource = _resource(observed)
    if isinstance(resource, Inconclusive):
        return resource
    head = "/".join(resource.split("/", 3)[:3])
    return Pass() if head == head.lower() else Fail("scheme and host in lower case", f'"{head}"')


def prm_authorization_servers(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`authorization_servers` names at least one (MCP authorization, authorization server location)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    listed = value.get("authorization_servers")
    if listed is None:
        return Fail("authorization_servers with at least one entry", "no such member")
    if isinstance(listed, list) and not listed:
        return Fail("authorization_servers with at least one entry", "an empty list")
    return Pass()


def prm_issuer_form(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """Each entry is an issuer identifier: https, no query, no fragment (RFC 9728 §2; RFC 8414 §2)."""
    if observed.best is None:
        return Inconclusive(_MISSING)
    listed = strings_or_none(_member(observed, "authorization_servers"))
    if listed is None:
        return Inconclusive("no list of authorization servers to read")
    for issuer in listed:
        if faults := issuer_faults(issuer):
            return Fail("an issuer identifier", f'"{issuer}": {", ".join(faults)}')
    return Pass()


def prm_zero_values_omitted(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """Parameters without a value are left out (RFC 9728 §3.2). An empty bearer_methods_supported has a meaning (§2)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    # An empty authorization_servers is prm-authorization-servers' finding.
    empty = [name for name in zero_members(value) if name not in ("bearer_methods_supported", "authorization_servers")]
    return Fail("parameters without a value left out", f"{', '.join(empty)}: empty or null") if empty else Pass()


def prm_member_types(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """Lists are arrays of strings, flags are booleans, the rest strings (RFC 9728 §2, §3.2)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    for name in _LISTS:
        if value.get(name) is not None and strings_or_none(value[name]) is None:
            return Fail(f"{name} as an array of strings", shown(value[name]))
    for name in _BOOLEANS:
        if value.get(name) is not None and not isinstance(value[name], bool):
            return Fail(f"{name} as a boolean", shown(value[name]))
    for name in _STRINGS:
        if value.get(name) is not None and not isinstance(value[name], str):
            return Fail(f"{name} as a string", shown(value[name]))
    return Pass()


def prm_scopes_supported(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The scopes needed to use the resource are listed (RFC 9728 §2, RECOMMENDED)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    if facts.has_contract and not facts.needed:
        return NotApplicable("the contract names no scopes")
    return Pass() if value.get("scopes_supported") is not None else Fail("scopes_supported", "no such member")


def prm_no_offline_access(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`offline_access` is no scope of the resource (MCP 2026-07-28, refresh tokens)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    listed = strings_or_none(value.get("scopes_supported")) or ()
    return (
        Fail("scopes of the resource only", "offline_access in scopes_supported")
        if "offline_access" in listed
        else Pass()
    )


def prm_bearer_methods(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`bearer_methods_supported`, if given, has header and not query (RFC 9728 §2; OAuth 2.1 §5.1)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    listed = strings_or_none(value.get("bearer_methods_supported"))
    if not listed:
        return Pass()  # omission implies nothing, and an empty list means that no method of RFC 6750 is served
    if "query" in listed:
        return Fail("no query method", "bearer_methods_supported lists query")
    return Pass() if "header" in listed else Fail("the header method", f"only {', '.join(listed)}")


def prm_resource_name(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A display name is given (RFC 9728 §2, RECOMMENDED); language-tagged names count."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    named = any(name == "resource_name" or name.startswith("resource_name#") for name in value)
    return Pass() if named else Fail("resource_name", "no such member")


def prm_no_private_keys(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The resource's own key set holds public keys only (RFC 9728 §2; RFC 7517 §9)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    if observed.jwks is None:
        return NotApplicable("the document names no jwks_uri")
    if observed.jwks.value is None:
        return Inconclusive(f"{observed.jwks.url}: {_said(observed.jwks)}")
    leaked = private_members(observed.jwks.value)
    return Fail("public keys only", f"private members {', '.join(leaked)} at {observed.jwks.url}") if leaked else Pass()


def prm_signing_alg_none(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`none` is no signing algorithm of the resource (RFC 9728 §2)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    listed = strings_or_none(value.get("resource_signing_alg_values_supported")) or ()
    return Fail("signature algorithms only", '"none" is listed') if "none" in listed else Pass()


def prm_signed_metadata(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`signed_metadata` is a JWS with `iss` that does not nest itself (RFC 9728 §2.2)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    signed = value.get("signed_metadata")
    if signed is None:
        return NotApplicable("the document is not signed")
    header, claims = _unverified(signed)
    if header is None or claims is None:
        return Fail("a signed JWT", "something else")
    if str(header.get("alg", "none")).lower() == "none":
        return Fail("a signed JWT", 'alg "none"')
    if not claims.get("iss"):
        return Fail("a signed JWT with iss", "no iss")
    if "signed_metadata" in claims:
        return Fail("a signed JWT without signed_metadata", "it nests itself")
    return Pass()


def _unverified(token: object) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    if not isinstance(token, str) or token.count(".") != 2:
        return None, None
    header, claims, _ = token.split(".")
    try:
        decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (header, claims)]
    except (binascii.Error, ValueError):
        return None, None
    return read_json_object(decoded[0]).value, read_json_object(decoded[1]).value


def prm_dpop_consistent(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A resource that demands DPoP-bound tokens refuses plain bearer ones (RFC 9728 §2; RFC 9449 §7)."""
    value = _value(observed)
    if isinstance(value, Inconclusive):
        return value
    # tls_client_certificate_bound_access_tokens says that such tokens are served too, not that others are refused.
    if value.get(_DPOP_ONLY) is not True:
        return NotApplicable(f"the document demands no DPoP-bound tokens ({_DPOP_ONLY})")
    # This case is bracketed by its control, so a plain bearer token was accepted before and after.
    return Fail("plain bearer tokens refused", f"{_DPOP_ONLY} is true, and a plain bearer token is accepted")


def prm_locations_agree(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """Documents of the same resource agree wherever they are found (RFC 9728 §3)."""
    found = [one for one in _sought(observed) if one.found and one.value is not None]
    best = observed.best
    if best is None or best.value is None:
        return Inconclusive(_MISSING)
    for other in found:
        if other.value is None or other is best or other.value.get("resource") != best.value.get("resource"):
            continue
        if _set(other, "authorization_servers") != _set(best, "authorization_servers"):
            return Fail(f"the same authorization_servers as {best.url}", f"others at {other.url}")
    return Pass()


def _set(document: Document, name: str) -> frozenset[str]:
    value = document.value or {}
    return frozenset(strings_or_none(value.get(name)) or ())


def prm_unknown_path_404(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A path that is no resource has no document of this resource (RFC 9728 §3.1, §3.3)."""
    stray, best = observed.at(Location.STRAY), observed.best
    if best is None or best.value is None:
        return Inconclusive(_MISSING)
    if stray is None or stray.answer.status is None or stray.answer.limits_rate:
        return Inconclusive(f"{stray.url}: {describe(stray.answer)}" if stray else "not looked for")
    if stray.value is None or not stray.found:
        return Pass()
    named = best.value.get("resource")
    if named is not None and stray.value.get("resource") == named:
        return Fail(
            "404 for a path that is no resource",
            f"{stray.answer.status} with the document of this one at {stray.url}",
        )
    return Pass()


def pointer_resolves(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`resource_metadata` is an absolute URL at which the document is served (RFC 9728 §5.1, §3.2)."""
    if observed.pointer is None:
        return NotApplicable("no challenge names resource_metadata")
    faults = identifier_faults(observed.pointer)
    if faults:
        return Fail("an absolute https URL", f'"{observed.pointer}": {", ".join(faults)}')
    document = observed.at(Location.POINTER)
    if document is None or document.answer.status is None or document.answer.limits_rate:
        return Inconclusive(f"{observed.pointer}: {describe(document.answer) if document else 'not fetched'}")
    if not document.found:
        return Fail("the metadata document", f"{_said(document)} at {observed.pointer}")
    elsewhere = (Difference.ORIGIN, Difference.SCHEME)
    if all(difference(known, observed.pointer) in elsewhere for known in (facts.endpoint, facts.resource)):
        return Pass(f'resource_metadata is on another host than the endpoint: "{observed.pointer}"')
    return Pass()


def pointer_not_reflected(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The pointer comes from configuration, not from X-Forwarded-Host (RFC 9728 §7.3)."""
    if observed.pointer is None:
        return NotApplicable("no challenge names resource_metadata")
    if observed.reflected is None or observed.reflected.status is None or observed.reflected.limits_rate:
        said = f": {describe(observed.reflected)}" if observed.reflected else ""
        return Inconclusive(f"the call with a foreign X-Forwarded-Host was not answered{said}")
    if observed.reflected.status != 401:
        return NotApplicable(f"a foreign X-Forwarded-Host is not answered with 401: {describe(observed.reflected)}")
    pointer = observed.reflected.challenges.get("resource_metadata")
    if pointer is not None and pointer != observed.pointer:
        return Fail(f'resource_metadata="{observed.pointer}" always', f'"{pointer}" with a foreign X-Forwarded-Host')
    return Pass()
