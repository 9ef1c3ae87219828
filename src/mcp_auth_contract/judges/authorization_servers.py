"""Do the listed authorization servers publish metadata that clients can use? (RFC 8414, OpenID Connect Discovery)"""

from collections.abc import Callable, Mapping
from typing import Any

from mcp_auth_contract.judges.documents import private_members, shown, strings_or_none, zero_members
from mcp_auth_contract.judges.facts import Facts
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Revision, Verdict
from mcp_auth_contract.oauth.metadata import Difference, difference, endpoint_faults
from mcp_auth_contract.observations import (
    AuthorizationServer,
    AuthorizationServersObserved,
    Document,
    Location,
    describe,
)

__all__ = [
    "as_authorization_endpoint",
    "as_client_id_metadata_flag",
    "as_documents_agree",
    "as_endpoints_https",
    "as_grant_types",
    "as_ignores_version_header",
    "as_jwks_public_only",
    "as_jwks_unique_kids",
    "as_metadata_json",
    "as_no_implicit",
    "as_oauth_metadata",
    "as_pkce_advertised",
    "as_pkce_no_plain",
    "as_pkce_s256",
    "as_public_clients",
    "as_registration_route",
    "as_response_types",
    "as_signing_algs",
    "as_token_endpoint",
    "as_zero_elements_omitted",
    "prm_issuer_identical",
    "prm_issuer_resolvable",
    "prm_listed_by_server",
]

_PLACES = (Location.OAUTH, Location.OIDC_INSERTED, Location.OIDC_APPENDED)
_SHARED = (
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "jwks_uri",
    "code_challenge_methods_supported",
)
_ENDPOINTS = ("jwks_uri", "registration_endpoint", "revocation_endpoint", "introspection_endpoint")
_PLAIN = "http instead of https"
_NONE_LISTED = "no authorization server is listed; prm-authorization-servers reports it"

Judgement = Callable[[AuthorizationServer, Mapping[str, Any], Facts], Verdict]


def prm_issuer_resolvable(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Metadata of a listed authorization server can be found (RFC 8414 §3.1; MCP server metadata discovery)."""
    if not observed.servers:
        return Inconclusive(_NONE_LISTED)
    lost = [server for server in observed.servers if server.best is None]
    if not lost:
        return Pass()
    server = lost[0]
    if len(lost) < len(observed.servers):
        return Pass(f"no metadata found for {server.issuer}; another listed server has it")
    looked = [one for each in lost for one in each.documents]
    silent = [one for one in looked if one.answer.status is None or one.answer.limits_rate]
    if silent:
        return Inconclusive(f"{silent[0].url}: {describe(silent[0].answer)}")
    appended = server.at(Location.OAUTH_APPENDED)
    extra = f"; it stands at {appended.url}, where no client looks" if appended and appended.found else ""
    places = "; ".join(f"{one.url}: {describe(one.answer)}" for one in server.documents if one.where in _PLACES)
    return Fail("a metadata document at one of its locations", f"{places}{extra}")


def prm_issuer_identical(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The listed string is the `issuer` of the document, without normalisation (RFC 8414 §3.3)."""
    if not observed.servers:
        return Inconclusive(_NONE_LISTED)
    looked = [(server, server.best) for server in observed.servers]
    if all(best is None for _, best in looked):
        return Inconclusive("no metadata document was found; prm-issuer-resolvable reports it")
    advice: str | None = None
    for server, best in looked:
        named = (best.value or {}).get("issuer") if best else None
        if best is None or named == server.issuer:
            continue
        found = Fail(f'issuer "{server.issuer}", as listed', f'"{named}"' if named is not None else "no issuer")
        slash = isinstance(named, str) and difference(server.issuer, named) is Difference.TRAILING_SLASH
        if slash and facts.newest < Revision.R2026_07_28:
            advice = f"{found.observed} differs by a slash from the listed issuer; newer clients refuse it"
        else:
            return found
    return Pass(advice)


def prm_listed_by_server(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """An authorization server that lists its protected resources lists this one (RFC 9728 §4)."""
    lists = [
        (server, resources)
        for server in observed.servers
        if server.best
        and (resources := strings_or_none((server.best.value or {}).get("protected_resources"))) is not None
    ]
    if not lists:
        return NotApplicable("no authorization server publishes protected_resources")
    if observed.resource is None:
        return Inconclusive("the resource's document names no resource; prm-resource-present reports it")
    for server, resources in lists:
        if observed.resource not in resources:
            return Fail(f'"{observed.resource}" in protected_resources', f"absent from the list of {server.issuer}")
    return Pass()


def _each(observed: AuthorizationServersObserved, facts: Facts, judge: Judgement) -> Verdict:
    """Judge every listed server but the kit's own issuer, whose metadata says nothing about the target."""
    if not observed.servers:
        return Inconclusive(_NONE_LISTED)
    others = [server for server in observed.servers if not server.own]
    if not others:
        return NotApplicable("the only authorization server listed is the kit's own issuer")
    found = [(server, server.best.value) for server in others if server.best and server.best.value is not None]
    if not found:
        return Inconclusive("no metadata document was found; prm-issuer-resolvable reports it")
    advice: list[str] = []
    settled: list[Verdict] = []
    for server, value in found:
        verdict = judge(server, value, facts)
        match verdict:
            case Fail(expected=expected, observed=said, impact=impact):
                return Fail(expected, f"{said} ({server.issuer})", impact)
            case Pass(advice=text) if text:
                advice.append(text)
            case _:
                pass
        settled.append(verdict)
    if all(isinstance(verdict, NotApplicable) for verdict in settled):
        return settled[0]
    doubts = [verdict for verdict in settled if isinstance(verdict, Inconclusive)]
    return doubts[0] if doubts else Pass("; ".join(advice) or None)


def as_oauth_metadata(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Revision 2025-06-18 demands the RFC 8414 document, OpenID Connect alone is not enough there."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        document = server.at(Location.OAUTH)
        if document is not None and document.found:
            return Pass()
        if document is None or document.answer.status is None or document.answer.limits_rate:
            return Inconclusive(f"{document.url}: {describe(document.answer)}" if document else "not looked for")
        return Fail("a document at the RFC 8414 location", f"{describe(document.answer)} at {document.url}")

    return _each(observed, facts, judge)


def as_metadata_json(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The document is served as 200, application/json, one JSON object (RFC 8414 §3.2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        best = server.best
        if best is None:
            return Inconclusive("no metadata document was found")
        if best.answer.status != 200:
            return Fail("200", f"{best.answer.status} at {best.url}")
        if best.answer.media_type != "application/json":
            return Fail("application/json", f"{best.answer.media_type or 'no Content-Type'} at {best.url}")
        return Fail("one JSON object", f"{', '.join(best.faults)} at {best.url}") if best.faults else Pass()

    return _each(observed, facts, judge)


def as_zero_elements_omitted(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Claims with zero elements are left out (RFC 8414 §3.2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        empty = zero_members(value)
        return Fail("claims without elements left out", f"{', '.join(empty)}: empty or null") if empty else Pass()

    return _each(observed, facts, judge)


def as_documents_agree(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The OAuth and the OpenID Connect document say the same (RFC 9068 §4)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        for document in (server.at(place) for place in _PLACES):
            if document is None or document.value is None or not document.found:
                continue
            for name in _SHARED:
                both = name in value and name in document.value
                if both and not _same(value[name], document.value[name]):
                    return Fail(f"the same {name} in every document", f"another one at {document.url}")
        return Pass()

    return _each(observed, facts, judge)


def _same(first: object, second: object) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return sorted(map(str, first)) == sorted(map(str, second))
    return first == second


def as_endpoints_https(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Endpoints are absolute https URLs without fragment (OAuth 2.1 §1.5); http is tolerated on loopback."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        names = [name for name in value if name.endswith("_endpoint") or name in _ENDPOINTS]
        for name in names:
            if isinstance(value[name], str) and (faults := endpoint_faults(value[name])):
                plain = _PLAIN in faults
                said = f'{name} "{value[name]}": {", ".join(faults)}'
                return Fail("absolute https URLs", said, None if plain else Impact.INTEROP)
        return Pass()

    return _each(observed, facts, judge)


def _grants(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The grant types, or the default of RFC 8414 §2 when the member is left out."""
    given = strings_or_none(value.get("grant_types_supported"))
    return given if given is not None else ("authorization_code", "implicit")


def as_authorization_endpoint(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`authorization_endpoint` is there where a grant uses it (RFC 8414 §2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if not {"authorization_code", "implicit"} & set(_grants(value)):
            return NotApplicable("no grant uses the authorization endpoint")
        return Pass() if value.get("authorization_endpoint") else Fail("authorization_endpoint", "no such member")

    return _each(observed, facts, judge)


def as_token_endpoint(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`token_endpoint` is there (RFC 8414 §2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if _grants(value) == ("implicit",):
            return NotApplicable("no grant uses the token endpoint")
        return Pass() if value.get("token_endpoint") else Fail("token_endpoint", "no such member")

    return _each(observed, facts, judge)


def as_response_types(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`response_types_supported` is there and has `code` where the code grant is served (RFC 8414 §2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        listed = strings_or_none(value.get("response_types_supported"))
        if listed is None:
            return Fail("response_types_supported", "no such list")
        if "authorization_code" in _grants(value) and not any("code" in kind.split() for kind in listed):
            return Fail('response_types_supported with "code"', f"only {', '.join(listed) or 'an empty list'}")
        return Pass()

    return _each(observed, facts, judge)


def as_no_implicit(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The response type `token` is not offered (OAuth 2.1 §10.1)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        listed = strings_or_none(value.get("response_types_supported")) or ()
        offered = [kind for kind in listed if "token" in kind.split()]
        return Fail("no tokens from the authorization endpoint", f'"{offered[0]}" is listed') if offered else Pass()

    return _each(observed, facts, judge)


def as_pkce_advertised(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`code_challenge_methods_supported` is there; MCP clients refuse a server without it (MCP, PKCE)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if "authorization_code" not in _grants(value):
            return NotApplicable("the code grant is not served")
        given = value.get("code_challenge_methods_supported")
        if given is None:
            return Fail("code_challenge_methods_supported", "no such member")
        if strings_or_none(given) is None:
            return Fail("code_challenge_methods_supported as an array of strings", shown(given))
        return Pass()

    return _each(observed, facts, judge)


def as_pkce_s256(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`S256` is among the PKCE methods (OAuth 2.1 §4.1.1)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if "authorization_code" not in _grants(value):
            return NotApplicable("the code grant is not served")
        listed = strings_or_none(value.get("code_challenge_methods_supported"))
        if listed is None:
            return Inconclusive("no PKCE methods are listed; as-pkce-advertised reports it")
        return Pass() if "S256" in listed else Fail('"S256"', f"only {', '.join(listed) or 'an empty list'}")

    return _each(observed, facts, judge)


def as_pkce_no_plain(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`plain` is not offered beside it (OAuth 2.1 §7.5.2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if "authorization_code" not in _grants(value):
            return NotApplicable("the code grant is not served")
        listed = strings_or_none(value.get("code_challenge_methods_supported"))
        if listed is None:
            return Inconclusive("no PKCE methods are listed; as-pkce-advertised reports it")
        return Fail("S256 only", '"plain" is listed too') if "plain" in listed else Pass()

    return _each(observed, facts, judge)


def as_grant_types(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The password and implicit grants are not listed (OAuth 2.1 §10); omission proves nothing."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        listed = strings_or_none(value.get("grant_types_supported")) or ()
        gone = [grant for grant in listed if grant in ("password", "implicit")]
        return Fail("grants of OAuth 2.1", f"{', '.join(gone)} listed") if gone else Pass()

    return _each(observed, facts, judge)


def as_public_clients(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """A server that registers strangers names `none` as client authentication: they hold no secret (RFC 8414 §2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if not (value.get("registration_endpoint") or value.get("client_id_metadata_document_supported") is True):
            return NotApplicable("clients are registered beforehand only")
        listed = strings_or_none(value.get("token_endpoint_auth_methods_supported"))
        if listed is None:
            return Fail('"none" among the client authentication methods', "no list, which means client_secret_basic")
        return (
            Pass()
            if "none" in listed
            else Fail('"none" among the client authentication methods', f"only {', '.join(listed)}")
        )

    return _each(observed, facts, judge)


def as_signing_algs(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """JWT client authentication comes with its algorithms, `none` not among them (RFC 8414 §2)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        methods = strings_or_none(value.get("token_endpoint_auth_methods_supported")) or ()
        if not {"private_key_jwt", "client_secret_jwt"} & set(methods):
            return NotApplicable("no JWT client authentication is offered")
        algorithms = strings_or_none(value.get("token_endpoint_auth_signing_alg_values_supported"))
        if algorithms is None:
            return Fail("token_endpoint_auth_signing_alg_values_supported", "no such list")
        return Fail("signature algorithms only", '"none" is listed') if "none" in algorithms else Pass()

    return _each(observed, facts, judge)


def _key_set(server: AuthorizationServer) -> Document | Verdict:
    if server.jwks is None:
        return NotApplicable("the document names no jwks_uri")
    if server.jwks.value is None:
        return Inconclusive(f"{server.jwks.url}: {describe(server.jwks.answer)}")
    return server.jwks


def as_jwks_public_only(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The key set holds public keys only (RFC 7517 §9)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        jwks = _key_set(server)
        if not isinstance(jwks, Document):
            return jwks
        leaked = private_members(jwks.value or {})
        return Fail("public keys only", f"private members {', '.join(leaked)} at {jwks.url}") if leaked else Pass()

    return _each(observed, facts, judge)


def as_jwks_unique_kids(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Keys of a set are told apart by distinct `kid` values (RFC 7517 §4.5)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        jwks = _key_set(server)
        if not isinstance(jwks, Document):
            return jwks
        keys = (jwks.value or {}).get("keys")
        kids = [key.get("kid") for key in keys if isinstance(key, Mapping)] if isinstance(keys, list) else []
        twice = sorted({str(kid) for kid in kids if kid is not None and kids.count(kid) > 1})
        return Fail("each kid once", f"{', '.join(twice)} more than once at {jwks.url}") if twice else Pass()

    return _each(observed, facts, judge)


def as_registration_route(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """A client that nobody registered has a way in: metadata documents or dynamic registration (MCP registration)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        if value.get("registration_endpoint") or value.get("client_id_metadata_document_supported") is True:
            return Pass()
        return Fail("client_id_metadata_document_supported or registration_endpoint", "neither")

    return _each(observed, facts, judge)


def as_client_id_metadata_flag(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """`client_id_metadata_document_supported` is a boolean (Client ID Metadata Document §5)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        flag = value.get("client_id_metadata_document_supported")
        return Pass() if flag is None or isinstance(flag, bool) else Fail("true or false", shown(flag))

    return _each(observed, facts, judge)


def as_ignores_version_header(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Discovery works with an MCP-Protocol-Version header as without (MCP 2025-03-26, metadata discovery headers)."""

    def judge(server: AuthorizationServer, value: Mapping[str, Any], facts: Facts) -> Verdict:
        answer = server.versioned
        if answer is None or answer.status is None or answer.limits_rate:
            return Inconclusive(describe(answer) if answer else "not fetched")
        if server.best is not None and answer.status == server.best.answer.status:
            return Pass()
        return Fail("the document", f"{describe(answer)} with MCP-Protocol-Version")

    return _each(observed, facts, judge)
