"""Do the listed authorization servers publish metadata that clients can use? (RFC 8414, OpenID Connect Discovery)"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps

from mcp_auth_contract.answers import describe
from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServer, AuthorizationServersObserved
from mcp_auth_contract.checks.discovery.members import key_set, public_keys_only, shown, strings_or_none, zero_members
from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, proves_nothing, verdict_of
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Revision, Verdict
from mcp_auth_contract.oauth.metadata import Difference, difference, endpoint_faults

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
_NONE_LISTED = Inconclusive.lacking("no authorization server is listed", "prm-authorization-servers")
_NONE_FOUND = Inconclusive.lacking("no metadata document was found", "prm-issuer-resolvable")


@judge
def prm_issuer_resolvable(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """Metadata of a listed authorization server can be found (RFC 8414 §3.1; MCP server metadata discovery)."""
    if not observed.servers:
        return _NONE_LISTED
    lost = [server for server in observed.servers if server.best is None]
    if not lost:
        return Pass()
    server = lost[0]
    if len(lost) < len(observed.servers):
        return Pass(f"no metadata found for {server.issuer}; another listed server has it")
    for each in lost:
        # Where the server under test answers, and not with this document, there is none.
        doubtful = [one for one in each.documents if proves_nothing(one.answer)]
        if doubtful and (not each.served or any(one.answer.limits_rate for one in doubtful)):
            return Inconclusive(f"{doubtful[0].url}: {describe(doubtful[0].answer)}")
    places = "; ".join(f"{one.url}: {describe(one.answer)}" for one in server.sought)
    return Fail("a metadata document at one of its locations", f"{places}{_astray(server)}")


def _astray(server: AuthorizationServer) -> str:
    """What became of the metadata instead: at a place of another form, or behind a sign-in."""
    for where in (Location.OAUTH_APPENDED, Location.OAUTH_AT_ROOT, Location.OIDC_AT_ROOT):
        document = server.at(where)
        if document is not None and document.found:
            path = ", without the issuer's path" if where is not Location.OAUTH_APPENDED else ""
            return f"; it stands at {document.url}{path}, where no client looks"
    locked = next((one for one in server.sought if one.answer.status in (401, 403)), None)
    return f"; {locked.url} wants a sign-in, which needs this very document" if locked is not None else ""


@judge
def prm_issuer_identical(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """The listed string is the `issuer` of the document, without normalisation (RFC 8414 §3.3)."""
    if not observed.servers:
        return _NONE_LISTED
    found = [server for server in observed.servers if server.best]
    if not found:
        return _NONE_FOUND
    advice: str | None = None
    for server in found:
        named = server.value.get("issuer")
        if named == server.issuer:
            continue
        slash = isinstance(named, str) and difference(server.issuer, named) is Difference.TRAILING_SLASH
        if not slash or facts.newest >= Revision.R2026_07_28:
            return Fail(f'issuer "{server.issuer}", as listed', "no issuer" if named is None else f'"{named}"')
        advice = f'"{named}" differs by a slash from the listed issuer; newer clients refuse it'
    return Pass(advice)


@judge
def prm_listed_by_server(observed: AuthorizationServersObserved, facts: Facts) -> Verdict:
    """An authorization server that lists its protected resources lists this one (RFC 9728 §4)."""
    listed = [(server, server.strings("protected_resources")) for server in observed.servers]
    lists = [(server, resources) for server, resources in listed if resources is not None]
    if not lists:
        return NotApplicable("no authorization server publishes protected_resources")
    if observed.resource is None:
        return Inconclusive.lacking("the resource's document names no resource", "prm-resource-present")
    for server, resources in lists:
        if observed.resource not in resources:
            return Fail(f'"{observed.resource}" in protected_resources', f"absent from the list of {server.issuer}")
    return Pass()


def _looked_up(observed: AuthorizationServersObserved, facts: Facts) -> Sequence[AuthorizationServer] | Verdict:
    """Every listed server with metadata but the kit's own issuer, whose metadata says nothing about the server."""
    if not observed.servers:
        return _NONE_LISTED
    others = [server for server in observed.servers if not server.own]
    if not others:
        return NotApplicable("the only authorization server listed is the kit's own issuer")
    return [server for server in others if server.best] or _NONE_FOUND


def _each_server(
    expected: str = "",
) -> Callable[[Callable[[AuthorizationServer], Finding]], Callable[[AuthorizationServersObserved, Facts], Verdict]]:
    """Register a judge that decides on each server by itself; a failure names the issuer it belongs to."""

    def register(
        decide: Callable[[AuthorizationServer], Finding],
    ) -> Callable[[AuthorizationServersObserved, Facts], Verdict]:
        @wraps(decide)
        def on_each(servers: Sequence[AuthorizationServer], _facts: Facts) -> Verdict:
            decided = [(server, verdict_of(decide(server), expected)) for server in servers]
            for server, verdict in decided:
                if isinstance(verdict, Fail):
                    return replace(verdict, observed=f"{verdict.observed} ({server.issuer})")
            if all(isinstance(verdict, NotApplicable) for _, verdict in decided):
                return decided[0][1]
            doubts = (verdict for _, verdict in decided if isinstance(verdict, Inconclusive))
            advice = "; ".join(one.advice for _, one in decided if isinstance(one, Pass) and one.advice)
            return next(doubts, Pass(advice or None))

        return judge_on(_looked_up)(on_each)

    return register


@_each_server()
def as_oauth_metadata(server: AuthorizationServer) -> Verdict:
    """Revision 2025-06-18 demands the RFC 8414 document, OpenID Connect alone is not enough there."""
    document = server.at(Location.OAUTH)
    if document is not None and document.found:
        return Pass()
    if document is None or proves_nothing(document.answer):
        return Inconclusive(f"{document.url}: {describe(document.answer)}" if document else "not looked for")
    return Fail("a document at the RFC 8414 location", f"{describe(document.answer)} at {document.url}")


@_each_server()
def as_metadata_json(server: AuthorizationServer) -> Verdict:
    """The document is served as 200, application/json, one JSON object (RFC 8414 §3.2)."""
    if (best := server.best) is None:
        return Inconclusive("no metadata document was found")
    if best.answer.status != 200:
        return Fail("200", f"{best.answer.status} at {best.url}")
    if best.answer.media_type != "application/json":
        return Fail("application/json", f"{best.answer.media_type or 'no Content-Type'} at {best.url}")
    return Fail("one JSON object", f"{', '.join(best.faults)} at {best.url}") if best.faults else Pass()


@_each_server("claims without elements left out")
def as_zero_elements_omitted(server: AuthorizationServer) -> str | None:
    """Claims with zero elements are left out (RFC 8414 §3.2)."""
    empty = zero_members(server.value)
    return f"{', '.join(empty)}: empty or null" if empty else None


@_each_server()
def as_documents_agree(server: AuthorizationServer) -> Verdict:
    """The OAuth and the OpenID Connect document say the same (RFC 9068 §4)."""
    for document in server.sought:
        other = (document.value or {}) if document.found else {}
        for name in _SHARED:
            if name in server.value and name in other and not _same(server.value[name], other[name]):
                return Fail(f"the same {name} in every document", f"another one at {document.url}")
    return Pass()


def _same(first: object, second: object) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return sorted(map(str, first)) == sorted(map(str, second))
    return first == second


@_each_server()
def as_endpoints_https(server: AuthorizationServer) -> Verdict:
    """Endpoints are absolute https URLs without fragment (OAuth 2.1 §1.5); http is tolerated on loopback."""
    for name, value in server.value.items():
        if not isinstance(value, str) or not (name.endswith("_endpoint") or name in _ENDPOINTS):
            continue
        if faults := endpoint_faults(value):
            impact = None if _PLAIN in faults else Impact.INTEROP
            return Fail("absolute https URLs", f'{name} "{value}": {", ".join(faults)}', impact)
    return Pass()


@_each_server("authorization_endpoint")
def as_authorization_endpoint(server: AuthorizationServer) -> Finding:
    """`authorization_endpoint` is there where a grant uses it (RFC 8414 §2)."""
    if not {"authorization_code", "implicit"} & set(server.grants):
        return NotApplicable("no grant uses the authorization endpoint")
    return None if server.value.get("authorization_endpoint") else "no such member"


@_each_server("token_endpoint")
def as_token_endpoint(server: AuthorizationServer) -> Finding:
    """`token_endpoint` is there (RFC 8414 §2)."""
    if server.grants == ("implicit",):
        return NotApplicable("no grant uses the token endpoint")
    return None if server.value.get("token_endpoint") else "no such member"


@_each_server()
def as_response_types(server: AuthorizationServer) -> Verdict:
    """`response_types_supported` is there and has `code` where the code grant is served (RFC 8414 §2)."""
    listed = server.strings("response_types_supported")
    if listed is None:
        return Fail("response_types_supported", "no such list")
    if "authorization_code" in server.grants and not any("code" in kind.split() for kind in listed):
        return Fail('response_types_supported with "code"', f"only {', '.join(listed) or 'an empty list'}")
    return Pass()


@_each_server("no tokens from the authorization endpoint")
def as_no_implicit(server: AuthorizationServer) -> str | None:
    """The response type `token` is not offered (OAuth 2.1 §10.1)."""
    offered = [kind for kind in server.strings("response_types_supported") or () if "token" in kind.split()]
    return f'"{offered[0]}" is listed' if offered else None


@_each_server("code_challenge_methods_supported")
def as_pkce_advertised(server: AuthorizationServer) -> Finding:
    """`code_challenge_methods_supported` is there; MCP clients refuse a server without it (MCP, PKCE)."""
    if "authorization_code" not in server.grants:
        return NotApplicable("the code grant is not served")
    given = server.value.get("code_challenge_methods_supported")
    if given is None or strings_or_none(given) is not None:
        return "no such member" if given is None else None
    return Fail("code_challenge_methods_supported as an array of strings", shown(given))


def _pkce_methods(server: AuthorizationServer) -> tuple[str, ...] | Verdict:
    if "authorization_code" not in server.grants:
        return NotApplicable("the code grant is not served")
    listed = server.strings("code_challenge_methods_supported")
    return Inconclusive.lacking("no PKCE methods are listed", "as-pkce-advertised") if listed is None else listed


@_each_server('"S256"')
def as_pkce_s256(server: AuthorizationServer) -> Finding:
    """`S256` is among the PKCE methods (OAuth 2.1 §4.1.1)."""
    listed = _pkce_methods(server)
    if isinstance(listed, Verdict):
        return listed
    return None if "S256" in listed else f"only {', '.join(listed) or 'an empty list'}"


@_each_server("S256 only")
def as_pkce_no_plain(server: AuthorizationServer) -> Finding:
    """`plain` is not offered beside it (OAuth 2.1 §7.5.2)."""
    listed = _pkce_methods(server)
    if isinstance(listed, Verdict):
        return listed
    return '"plain" is listed too' if "plain" in listed else None


@_each_server("grants of OAuth 2.1")
def as_grant_types(server: AuthorizationServer) -> str | None:
    """The password and implicit grants are not listed (OAuth 2.1 §10); omission proves nothing."""
    gone = [grant for grant in server.strings("grant_types_supported") or () if grant in ("password", "implicit")]
    return f"{', '.join(gone)} listed" if gone else None


@_each_server('"none" among the client authentication methods')
def as_public_clients(server: AuthorizationServer) -> Finding:
    """A server that registers strangers names `none` as client authentication: they hold no secret (RFC 8414 §2)."""
    if not server.registers_strangers:
        return NotApplicable("clients are registered beforehand only")
    listed = server.strings("token_endpoint_auth_methods_supported")
    if listed is None:
        return "no list, which means client_secret_basic"
    return None if "none" in listed else f"only {', '.join(listed)}"


@_each_server()
def as_signing_algs(server: AuthorizationServer) -> Verdict:
    """JWT client authentication comes with its algorithms, `none` not among them (RFC 8414 §2)."""
    methods = server.strings("token_endpoint_auth_methods_supported") or ()
    if not {"private_key_jwt", "client_secret_jwt"} & set(methods):
        return NotApplicable("no JWT client authentication is offered")
    algorithms = server.strings("token_endpoint_auth_signing_alg_values_supported")
    if algorithms is None:
        return Fail("token_endpoint_auth_signing_alg_values_supported", "no such list")
    return Fail("signature algorithms only", '"none" is listed') if "none" in algorithms else Pass()


def _no_key_set(server: AuthorizationServer) -> Verdict | None:
    if server.jwks is None or server.jwks.value is not None:
        return None
    return Inconclusive.lacking(f"{server.jwks.url}: {server.jwks.said}", "as-jwks-there")


@_each_server("a JWK Set at jwks_uri")
def as_jwks_there(server: AuthorizationServer) -> Finding:
    """What `jwks_uri` names is a JWK Set (RFC 8414 §2; OpenID Connect Discovery §3)."""
    jwks = server.jwks
    if jwks is None:
        return NotApplicable("the document names no jwks_uri")
    if proves_nothing(jwks.answer) and (not server.served or jwks.answer.limits_rate):
        return Inconclusive(f"{jwks.url}: {describe(jwks.answer)}")
    if not jwks.found:
        locked = ", which a client cannot sign in to" if jwks.answer.status in (401, 403) else ""
        return f"{jwks.url}: {describe(jwks.answer)}{locked}"
    return None if isinstance(jwks.member("keys"), list) else f"{jwks.url}: no keys"


@_each_server()
def as_jwks_public_only(server: AuthorizationServer) -> Verdict:
    """The key set holds public keys only (RFC 7517 §9)."""
    lacking = _no_key_set(server)
    return public_keys_only(server.jwks) if lacking is None else lacking


@_each_server()
def as_jwks_unique_kids(server: AuthorizationServer) -> Verdict:
    """Keys of a set are told apart by distinct `kid` values (RFC 7517 §4.5)."""
    jwks = _no_key_set(server) or key_set(server.jwks)
    if isinstance(jwks, Verdict):
        return jwks
    keys = jwks.member("keys")
    kids = [key.get("kid") for key in keys if isinstance(key, Mapping)] if isinstance(keys, list) else []
    twice = sorted({str(kid) for kid in kids if kid is not None and kids.count(kid) > 1})
    return Fail("each kid once", f"{', '.join(twice)} more than once at {jwks.url}") if twice else Pass()


@_each_server("client_id_metadata_document_supported or registration_endpoint")
def as_registration_route(server: AuthorizationServer) -> str | None:
    """A client that nobody registered has a way in: metadata documents or dynamic registration (MCP registration)."""
    return None if server.registers_strangers else "neither"


@_each_server("true or false")
def as_client_id_metadata_flag(server: AuthorizationServer) -> str | None:
    """`client_id_metadata_document_supported` is a boolean (Client ID Metadata Document §5)."""
    flag = server.value.get("client_id_metadata_document_supported")
    return None if flag is None or isinstance(flag, bool) else shown(flag)


@_each_server("the document")
def as_ignores_version_header(server: AuthorizationServer) -> Finding:
    """Discovery works with an MCP-Protocol-Version header as without (MCP 2025-03-26, metadata discovery headers)."""
    answer = server.versioned
    if answer is None or proves_nothing(answer):
        return Inconclusive(describe(answer) if answer else "not fetched")
    same = server.best is not None and answer.status == server.best.answer.status
    return None if same else f"{describe(answer)} with MCP-Protocol-Version"
