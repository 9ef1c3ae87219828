"""What does the protected-resource metadata say, and is it well-formed? (RFC 9728 §2)"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from mcp_auth_contract.checks.discovery.judges.metadata import SAME_RESOURCE
from mcp_auth_contract.checks.discovery.members import (
    MISSING,
    called_by_clients,
    is_web,
    public_keys_only,
    shown,
    strings_or_none,
    zero_members,
)
from mcp_auth_contract.checks.discovery.observation import ResourceMetadataObserved
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import Difference, difference, identifier_faults, issuer_faults

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
_KINDS: tuple[tuple[tuple[str, ...], str, Callable[[Any], bool]], ...] = (
    (_LISTS, "an array of strings", lambda value: strings_or_none(value) is not None),
    (_BOOLEANS, "a boolean", lambda value: isinstance(value, bool)),
    (_STRINGS, "a string", lambda value: isinstance(value, str)),
)


def _document(observed: ResourceMetadataObserved, facts: Facts) -> Mapping[str, Any] | Verdict:
    return MISSING if observed.value is None else observed.value


def _resource(observed: ResourceMetadataObserved, facts: Facts) -> str | Verdict:
    if observed.value is None:
        return MISSING
    resource = observed.value.get("resource")
    if isinstance(resource, str):
        return resource
    return Inconclusive("the document has no resource to compare; prm-resource-present or prm-member-types reports it")


@judge_on(_document, "a member resource")
def prm_resource_present(value: Mapping[str, Any], facts: Facts) -> str | None:
    """`resource` is there (RFC 9728 §2)."""
    return "none" if value.get("resource") is None else None


@judge_on(_resource, "an absolute https URL without a fragment")
def prm_resource_form(resource: str, facts: Facts) -> Finding:
    """`resource` is an absolute https URL without fragment (RFC 9728 §1.2); http is tolerated on loopback."""
    if faults := identifier_faults(resource):
        return f'"{resource}": {", ".join(faults)}'
    slash = resource.endswith("/") and not facts.resource.endswith("/")
    return Pass(f'"{resource}" ends with a slash; MCP prefers the identifier without') if slash else None


@judge_on(_resource)
def prm_resource_matches_endpoint(resource: str, facts: Facts) -> Fail | None:
    """`resource` is the resource the client called, not another one (RFC 9728 §3.3, §7.3)."""
    called = called_by_clients(facts)
    other = is_web(resource) and difference(called, resource) not in SAME_RESOURCE
    return Fail(f'resource "{called}"', f'"{resource}"') if other else None


@judge_on(_resource)
def prm_resource_identical(resource: str, facts: Facts) -> Fail | None:
    """`resource` equals the identifier code point by code point (RFC 9728 §3.3, §6)."""
    differs = difference(called := called_by_clients(facts), resource)
    if differs is Difference.NONE or differs not in SAME_RESOURCE:
        return None
    return Fail(f'resource "{called}"', f'"{resource}" ({differs.value}): strict clients refuse it')


@judge_on(_resource)
def prm_resource_lower_case(resource: str, facts: Facts) -> Verdict:
    """Scheme and host are published in lower case (MCP authorization, canonical server URI)."""
    head = "/".join(resource.split("/", 3)[:3])
    return Pass() if head == head.lower() else Fail("scheme and host in lower case", f'"{head}"')


@judge_on(_document, "authorization_servers with at least one entry")
def prm_authorization_servers(value: Mapping[str, Any], facts: Facts) -> str | None:
    """`authorization_servers` names at least one (MCP authorization, authorization server location)."""
    listed = value.get("authorization_servers")
    return "no such member" if listed is None else "an empty list" if listed == [] else None


@judge_on(_document, "an issuer identifier")
def prm_issuer_form(value: Mapping[str, Any], facts: Facts) -> Finding:
    """Each entry is an issuer identifier: https, no query, no fragment (RFC 9728 §2; RFC 8414 §2)."""
    listed = strings_or_none(value.get("authorization_servers"))
    if listed is None:
        return Inconclusive("no list of authorization servers to read")
    found = ((issuer, issuer_faults(issuer)) for issuer in listed)
    return next((f'"{issuer}": {", ".join(faults)}' for issuer, faults in found if faults), None)


@judge_on(_document)
def prm_zero_values_omitted(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """Parameters without a value are left out (RFC 9728 §3.2). An empty bearer_methods_supported has a meaning (§2)."""
    # An empty authorization_servers is prm-authorization-servers' finding.
    empty = [name for name in zero_members(value) if name not in ("bearer_methods_supported", "authorization_servers")]
    return Fail("parameters without a value left out", f"{', '.join(empty)}: empty or null") if empty else Pass()


@judge_on(_document)
def prm_member_types(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """Lists are arrays of strings, flags are booleans, the rest strings (RFC 9728 §2, §3.2)."""
    for names, kind, fits in _KINDS:
        for name in names:
            if value.get(name) is not None and not fits(value[name]):
                return Fail(f"{name} as {kind}", shown(value[name]))
    return Pass()


@judge_on(_document)
def prm_scopes_supported(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """The scopes needed to use the resource are listed (RFC 9728 §2, RECOMMENDED)."""
    if facts.has_contract and not facts.needed:
        return NotApplicable("the contract names no scopes")
    return Pass() if value.get("scopes_supported") is not None else Fail("scopes_supported", "no such member")


@judge_on(_document, "scopes of the resource only")
def prm_no_offline_access(value: Mapping[str, Any], facts: Facts) -> str | None:
    """`offline_access` is no scope of the resource (MCP 2026-07-28, refresh tokens)."""
    listed = strings_or_none(value.get("scopes_supported")) or ()
    return "offline_access in scopes_supported" if "offline_access" in listed else None


@judge_on(_document)
def prm_bearer_methods(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """`bearer_methods_supported`, if given, has header and not query (RFC 9728 §2; OAuth 2.1 §5.1)."""
    listed = strings_or_none(value.get("bearer_methods_supported"))
    if not listed:
        return Pass()  # omission implies nothing, and an empty list means that no method of RFC 6750 is served
    if "query" in listed:
        return Fail("no query method", "bearer_methods_supported lists query")
    return Pass() if "header" in listed else Fail("the header method", f"only {', '.join(listed)}")


@judge_on(_document)
def prm_resource_name(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """A display name is given (RFC 9728 §2, RECOMMENDED); language-tagged names count."""
    named = any(name == "resource_name" or name.startswith("resource_name#") for name in value)
    return Pass() if named else Fail("resource_name", "no such member")


@judge
def prm_no_private_keys(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The resource's own key set holds public keys only (RFC 9728 §2; RFC 7517 §9)."""
    return MISSING if observed.value is None else public_keys_only(observed.jwks)


@judge_on(_document)
def prm_signing_alg_none(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """`none` is no signing algorithm of the resource (RFC 9728 §2)."""
    listed = strings_or_none(value.get("resource_signing_alg_values_supported")) or ()
    return Fail("signature algorithms only", '"none" is listed') if "none" in listed else Pass()


@judge_on(_document, "a signed JWT")
def prm_signed_metadata(value: Mapping[str, Any], facts: Facts) -> Finding:
    """`signed_metadata` is a JWS with `iss` that does not nest itself (RFC 9728 §2.2)."""
    signed = value.get("signed_metadata")
    if signed is None:
        return NotApplicable("the document is not signed")
    header, claims = _unverified(signed)
    if header is None or claims is None:
        return "something else"
    if str(header.get("alg", "none")).lower() == "none":
        return 'alg "none"'
    if not claims.get("iss"):
        return Fail("a signed JWT with iss", "no iss")
    return Fail("a signed JWT without signed_metadata", "it nests itself") if "signed_metadata" in claims else None


def _unverified(token: object) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    if not isinstance(token, str) or token.count(".") != 2:
        return None, None
    header, claims, _ = token.split(".")
    try:
        decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (header, claims)]
    except (binascii.Error, ValueError):
        return None, None
    return read_json_object(decoded[0]).value, read_json_object(decoded[1]).value


@judge_on(_document)
def prm_dpop_consistent(value: Mapping[str, Any], facts: Facts) -> Verdict:
    """A resource that demands DPoP-bound tokens refuses plain bearer ones (RFC 9728 §2; RFC 9449 §7)."""
    # tls_client_certificate_bound_access_tokens says that such tokens are served too, not that others are refused.
    if value.get(_DPOP_ONLY) is not True:
        return NotApplicable(f"the document demands no DPoP-bound tokens ({_DPOP_ONLY})")
    # This case is bracketed by its control, so a plain bearer token was accepted before and after.
    return Fail("plain bearer tokens refused", f"{_DPOP_ONLY} is true, and a plain bearer token is accepted")
