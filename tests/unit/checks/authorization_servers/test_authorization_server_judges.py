"""Authorization-server metadata: legal variety passes, faults name the issuer they belong to."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.checks.literals import (
    ENDPOINT,
    GONE,
    ISSUER,
    SERVER,
    altered,
    answer,
    document,
    facts,
    judged,
    nothing_at,
    server,
    server_with,
    servers,
)

from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServer, AuthorizationServersObserved
from mcp_auth_contract.checks.discovery.observation import Document, Location
from mcp_auth_contract.checks.registry import JUDGES
from mcp_auth_contract.model import Fail, Impact, Inconclusive, NotApplicable, Pass, Revision

OTHER = "https://other.example.com"
OIDC_URL = f"{ISSUER}/.well-known/openid-configuration"
ON_SERVERS = sorted(name for name, judge in JUDGES.items() if judge.observes is AuthorizationServersObserved)
OF_DOCUMENTS = [name for name in ON_SERVERS if name.startswith("as_")]


def oidc(value: dict[str, Any] | None = None) -> Document:
    return document(Location.OIDC_INSERTED, OIDC_URL, value or dict(SERVER))


def lost(issuer: str = ISSUER, status: int | None = 404) -> AuthorizationServer:
    return server(None, issuer=issuer, status=status, media="text/plain")


@pytest.mark.parametrize("name", ON_SERVERS)
def test_without_a_listed_server_there_is_nothing_to_judge(name: str) -> None:
    assert isinstance(judged(name, servers()), Inconclusive | NotApplicable)


@pytest.mark.parametrize("name", OF_DOCUMENTS)
def test_the_own_issuer_of_the_kit_says_nothing_about_the_target(name: str) -> None:
    assert isinstance(judged(name, servers(server({}, own=True))), NotApplicable)


@pytest.mark.parametrize("name", OF_DOCUMENTS)
def test_a_missing_document_is_counted_once(name: str) -> None:
    told = Inconclusive("no metadata document was found; prm-issuer-resolvable reports it")
    assert judged(name, servers(lost())) == told


@pytest.mark.parametrize(
    "place", [Location.OAUTH, Location.OIDC_INSERTED, Location.OIDC_APPENDED], ids=lambda place: place.name
)
def test_any_location_of_the_specification_is_enough(place: Location) -> None:
    found = AuthorizationServer(ISSUER, False, (document(place, OIDC_URL, SERVER),))
    assert judged("prm_issuer_resolvable", servers(found)) == Pass()


def test_one_resolvable_server_is_enough_and_the_others_are_advice() -> None:
    assert judged("prm_issuer_resolvable", servers(lost(OTHER), server())) == Pass(
        f"no metadata found for {OTHER}; another listed server has it"
    )


def test_a_document_at_the_appended_location_alone_is_lost() -> None:
    url = f"{ISSUER}/tenant/.well-known/oauth-authorization-server"
    appended = document(Location.OAUTH_APPENDED, url, SERVER)
    found = AuthorizationServer(ISSUER, False, (nothing_at(Location.OAUTH, OIDC_URL), appended))
    assert judged("prm_issuer_resolvable", servers(found)) == Fail(
        "a metadata document at one of its locations", f"{OIDC_URL}: 404; it stands at {url}, where no client looks"
    )


@pytest.mark.parametrize("status", [None, 429])
def test_a_server_that_did_not_answer_may_have_metadata(status: int | None) -> None:
    assert isinstance(judged("prm_issuer_resolvable", servers(lost(status=status))), Inconclusive)
    assert isinstance(judged("prm_issuer_resolvable", servers(lost(), lost(OTHER, status))), Inconclusive)
    found = servers(server(None, oidc(), status=status))
    assert isinstance(judged("as_oauth_metadata", found), Inconclusive)


def named(issuer: object) -> AuthorizationServer:
    return server(altered(SERVER, issuer=issuer))


@pytest.mark.parametrize(
    ("issuer", "said"),
    [
        (OTHER, f'"{OTHER}"'),
        (GONE, "no issuer"),
        ("https://AUTH.example.com", '"https://AUTH.example.com"'),
        ("https://login.example.com/{tenantid}/v2.0", '"https://login.example.com/{tenantid}/v2.0"'),
    ],
)
def test_another_issuer_than_the_listed_one_fails(issuer: object, said: str) -> None:
    assert judged("prm_issuer_identical", servers(named(issuer))) == Fail(f'issuer "{ISSUER}", as listed', said)


def test_a_slash_of_difference_is_advice_before_2026_and_a_failure_since() -> None:
    observed = servers(named(f"{ISSUER}/"))
    verdict = judged("prm_issuer_identical", observed)
    assert isinstance(verdict, Pass)
    assert "newer clients refuse it" in (verdict.advice or "")
    newer = facts(revisions=(Revision.R2025_11_25, Revision.R2026_07_28))
    assert judged("prm_issuer_identical", observed, newer) == Fail(f'issuer "{ISSUER}", as listed', f'"{ISSUER}/"')


def test_a_slash_at_one_server_does_not_hide_another_issuer_at_the_next() -> None:
    observed = servers(named(f"{ISSUER}/"), server(altered(SERVER, issuer="https://third.example.com"), issuer=OTHER))
    assert judged("prm_issuer_identical", observed) == Fail(
        f'issuer "{OTHER}", as listed', '"https://third.example.com"'
    )


def test_a_server_that_lists_its_resources_lists_this_one() -> None:
    listing = altered(SERVER, protected_resources=[ENDPOINT])
    assert judged("prm_listed_by_server", servers(server(listing))) == Pass()
    assert isinstance(judged("prm_listed_by_server", servers(server())), NotApplicable)
    assert isinstance(judged("prm_listed_by_server", servers(server(listing), named=None)), Inconclusive)
    short = altered(SERVER, protected_resources=[OTHER])
    assert judged("prm_listed_by_server", servers(server(short))) == Fail(
        f'"{ENDPOINT}" in protected_resources', f"absent from the list of {ISSUER}"
    )


def test_a_fault_names_the_issuer_it_belongs_to() -> None:
    bad = server(altered(SERVER, token_endpoint=GONE), issuer=OTHER)
    assert judged("as_token_endpoint", servers(server(), bad)) == Fail("token_endpoint", f"no such member ({OTHER})")


def test_openid_connect_alone_is_too_little_where_rfc_8414_is_demanded() -> None:
    assert judged("as_oauth_metadata", servers(server(SERVER, oidc()))) == Pass()
    only = servers(server(None, oidc(), status=404))
    verdict = judged("as_oauth_metadata", only)
    assert isinstance(verdict, Fail)
    assert verdict.expected == "a document at the RFC 8414 location"
    assert verdict.observed.startswith("404")


@pytest.mark.parametrize(
    ("changes", "expected", "said"),
    [
        ({"status": 203}, "200", "203 at"),
        ({"media": "text/html"}, "application/json", "text/html at"),
        ({"media": ""}, "application/json", "no Content-Type at"),
        ({"faults": ("byte order mark",)}, "one JSON object", "byte order mark at"),
    ],
)
def test_the_document_is_json_with_200(changes: dict[str, Any], expected: str, said: str) -> None:
    verdict = judged("as_metadata_json", servers(server(**changes)))
    assert isinstance(verdict, Fail)
    assert verdict.expected == expected
    assert verdict.observed.startswith(said)
    assert judged("as_metadata_json", servers(server(media="application/json; charset=utf-8"))) == Pass()


def test_the_documents_of_both_families_agree_and_either_may_hold_more() -> None:
    more = altered(SERVER, userinfo_endpoint=f"{ISSUER}/userinfo", registration_endpoint=GONE)
    assert judged("as_documents_agree", servers(server(SERVER, oidc(more)))) == Pass()
    twice = altered(SERVER, code_challenge_methods_supported=["S256", "plain"])
    turned = altered(SERVER, code_challenge_methods_supported=["plain", "S256"])
    assert judged("as_documents_agree", servers(server(twice, oidc(turned)))) == Pass()
    moved = altered(SERVER, jwks_uri=f"{ISSUER}/other-jwks")
    assert judged("as_documents_agree", servers(server(SERVER, oidc(moved)))) == Fail(
        "the same jwks_uri in every document", f"another one at {OIDC_URL} ({ISSUER})"
    )


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/token", "https://tokens.example.com/token", f"{ISSUER}/t?x=1"])
def test_endpoints_on_loopback_other_hosts_and_with_queries_are_legal(url: str) -> None:
    assert judged("as_endpoints_https", server_with(token_endpoint=url)) == Pass()


def test_endpoints_over_plain_http_weigh_more_than_malformed_ones() -> None:
    plain = judged("as_endpoints_https", server_with(token_endpoint="http://auth.example.com/token"))
    assert plain == Fail(
        "absolute https URLs", f'token_endpoint "http://auth.example.com/token": http instead of https ({ISSUER})'
    )
    relative = judged("as_endpoints_https", server_with(jwks_uri="/jwks"))
    assert isinstance(relative, Fail)
    assert relative.impact is Impact.INTEROP


CLIENT_CREDENTIALS = {
    "grant_types_supported": ["client_credentials"],
    "authorization_endpoint": GONE,
    "code_challenge_methods_supported": GONE,
    "response_types_supported": [],
}


@pytest.mark.parametrize(
    "name", ["as_authorization_endpoint", "as_pkce_advertised", "as_pkce_s256", "as_pkce_no_plain"]
)
def test_a_server_for_client_credentials_alone_needs_no_code_flow(name: str) -> None:
    assert isinstance(judged(name, server_with(**CLIENT_CREDENTIALS)), NotApplicable)
    assert judged("as_response_types", server_with(**CLIENT_CREDENTIALS)) == Pass()


def test_omitted_grant_types_mean_the_defaults_and_prove_nothing() -> None:
    assert judged("as_grant_types", server_with(grant_types_supported=GONE)) == Pass()
    observed = server_with(grant_types_supported=GONE, authorization_endpoint=GONE)
    assert isinstance(judged("as_authorization_endpoint", observed), Fail)
    assert judged("as_grant_types", server_with(grant_types_supported=["implicit", "password"])) == Fail(
        "grants of OAuth 2.1", f"implicit, password listed ({ISSUER})"
    )


def test_a_server_for_the_implicit_grant_alone_needs_no_token_endpoint() -> None:
    observed = server_with(grant_types_supported=["implicit"], token_endpoint=GONE)
    assert isinstance(judged("as_token_endpoint", observed), NotApplicable)


@pytest.mark.parametrize("kinds", [["code"], ["code", "code id_token"], ["id_token", "code"]])
def test_response_types_of_openid_connect_are_legal(kinds: list[str]) -> None:
    observed = server_with(response_types_supported=kinds)
    assert judged("as_response_types", observed) == Pass()
    assert judged("as_no_implicit", observed) == Pass()


@pytest.mark.parametrize("kind", ["token", "id_token token", "code token"])
def test_tokens_from_the_authorization_endpoint_fail(kind: str) -> None:
    assert judged("as_no_implicit", server_with(response_types_supported=["code", kind])) == Fail(
        "no tokens from the authorization endpoint", f'"{kind}" is listed ({ISSUER})'
    )


def test_response_types_without_code_fail_where_the_code_grant_is_served() -> None:
    assert judged("as_response_types", server_with(response_types_supported=["id_token"])) == Fail(
        'response_types_supported with "code"', f"only id_token ({ISSUER})"
    )
    assert judged("as_response_types", server_with(response_types_supported=GONE)) == Fail(
        "response_types_supported", f"no such list ({ISSUER})"
    )


def test_pkce_is_advertised_with_s256_and_plain_beside_it_is_a_check_of_its_own() -> None:
    both = server_with(code_challenge_methods_supported=["plain", "S256"])
    assert judged("as_pkce_advertised", both) == judged("as_pkce_s256", both) == Pass()
    assert judged("as_pkce_no_plain", both) == Fail("S256 only", f'"plain" is listed too ({ISSUER})')
    missing = server_with(code_challenge_methods_supported=GONE)
    assert judged("as_pkce_advertised", missing) == Fail(
        "code_challenge_methods_supported", f"no such member ({ISSUER})"
    )
    for name in ("as_pkce_s256", "as_pkce_no_plain"):
        assert judged(name, missing) == Inconclusive("no PKCE methods are listed; as-pkce-advertised reports it")


def test_pkce_is_judged_in_the_document_that_clients_reach_first() -> None:
    silent = oidc(altered(SERVER, code_challenge_methods_supported=GONE))
    assert judged("as_pkce_advertised", servers(server(SERVER, silent))) == Pass()


def test_a_server_for_known_clients_only_is_legal() -> None:
    closed = server_with(registration_endpoint=GONE, token_endpoint_auth_methods_supported=GONE)
    assert isinstance(judged("as_public_clients", closed), NotApplicable)
    by_document = server_with(
        registration_endpoint=GONE,
        client_id_metadata_document_supported=True,
        token_endpoint_auth_methods_supported=["client_secret_basic"],
    )
    assert judged("as_registration_route", by_document) == Pass()
    assert judged("as_public_clients", by_document) == Fail(
        '"none" among the client authentication methods', f"only client_secret_basic ({ISSUER})"
    )


@pytest.mark.parametrize("flag", [GONE, True, False])
def test_the_flag_for_client_documents_is_a_boolean_or_absent(flag: object) -> None:
    assert judged("as_client_id_metadata_flag", server_with(client_id_metadata_document_supported=flag)) == Pass()


def signing(algorithms: object) -> AuthorizationServersObserved:
    return server_with(
        token_endpoint_auth_methods_supported=["none", "private_key_jwt"],
        token_endpoint_auth_signing_alg_values_supported=algorithms,
    )


def test_jwt_client_authentication_names_its_algorithms() -> None:
    assert isinstance(judged("as_signing_algs", server_with()), NotApplicable)
    assert judged("as_signing_algs", signing(["RS256"])) == Pass()
    assert judged("as_signing_algs", signing(GONE)) == Fail(
        "token_endpoint_auth_signing_alg_values_supported", f"no such list ({ISSUER})"
    )
    assert judged("as_signing_algs", signing(["RS256", "none"])) == Fail(
        "signature algorithms only", f'"none" is listed ({ISSUER})'
    )


def test_keys_are_public_and_told_apart() -> None:
    sound = servers(server(jwks={"keys": [{"kid": "a", "kty": "RSA"}, {"kty": "EC"}, {"kty": "EC"}]}))
    assert judged("as_jwks_public_only", sound) == judged("as_jwks_unique_kids", sound) == Pass()
    for name in ("as_jwks_public_only", "as_jwks_unique_kids"):
        assert isinstance(judged(name, servers(server())), NotApplicable)
    leaking = servers(server(jwks={"keys": [{"kty": "RSA", "d": "x", "p": "x"}]}))
    assert judged("as_jwks_public_only", leaking) == Fail(
        "public keys only", f"private members d, p at {ISSUER}/jwks ({ISSUER})"
    )
    twice = servers(server(jwks={"keys": [{"kid": "a"}, {"kid": "b"}, {"kid": "a"}]}))
    assert judged("as_jwks_unique_kids", twice) == Fail(
        "each kid once", f"a more than once at {ISSUER}/jwks ({ISSUER})"
    )


def test_a_hostile_key_set_is_read_without_a_crash() -> None:
    hostile: tuple[dict[str, Any], ...] = (
        {},
        {"keys": None},
        {"keys": "abc"},
        {"keys": [1, None, [], {"kid": {}}, {"kid": {}}]},
    )
    for value in hostile:
        observed = servers(server(jwks=value))
        assert judged("as_jwks_public_only", observed) == Pass()
        assert isinstance(judged("as_jwks_unique_kids", observed), Pass | Fail)


@pytest.mark.parametrize("name", ON_SERVERS)
@pytest.mark.parametrize("junk", [None, 7, True, "text", [], [7], {"a": 1}])
def test_a_document_of_junk_is_judged_without_a_crash(name: str, junk: object) -> None:
    for document_ in (dict.fromkeys((*SERVER, "protected_resources"), junk), {}):
        judged(name, servers(server(document_, oidc(document_))))


def test_discovery_ignores_the_protocol_version_header() -> None:
    assert judged("as_ignores_version_header", servers(server(versioned=answer(200)))) == Pass()
    assert judged("as_ignores_version_header", servers(server(versioned=answer(400)))) == Fail(
        "the document", f"400 with MCP-Protocol-Version ({ISSUER})"
    )
    for silent in (None, answer(None), answer(429)):
        assert isinstance(judged("as_ignores_version_header", servers(server(versioned=silent))), Inconclusive)


PATHED = f"{ISSUER}/as"


def astray(where: Location, url: str) -> AuthorizationServersObserved:
    return servers(replace(lost(PATHED), documents=(*lost(PATHED).documents, document(where, url, dict(SERVER)))))


@pytest.mark.parametrize(
    ("where", "url", "said"),
    [
        (
            Location.OAUTH_AT_ROOT,
            f"{ISSUER}/.well-known/oauth-authorization-server",
            ", without the issuer's path, where",
        ),
        (Location.OIDC_AT_ROOT, f"{ISSUER}/.well-known/openid-configuration", ", without the issuer's path, where"),
        (Location.OAUTH_APPENDED, f"{PATHED}/.well-known/oauth-authorization-server", ", where no client looks"),
    ],
)
def test_metadata_at_a_place_of_another_form_is_named(where: Location, url: str, said: str) -> None:
    verdict = judged("prm_issuer_resolvable", astray(where, url))
    assert isinstance(verdict, Fail)
    assert f"it stands at {url}{said}" in verdict.observed


def test_metadata_behind_a_sign_in_is_named() -> None:
    verdict = judged("prm_issuer_resolvable", servers(lost(status=401)))
    assert isinstance(verdict, Fail)
    assert "wants a sign-in, which needs this very document" in verdict.observed


def test_a_document_that_the_server_itself_should_serve_is_missing_where_nothing_answers() -> None:
    assert isinstance(judged("prm_issuer_resolvable", servers(lost(status=None))), Inconclusive)
    assert isinstance(judged("prm_issuer_resolvable", servers(replace(lost(status=None), served=True))), Fail)
    assert isinstance(judged("prm_issuer_resolvable", servers(replace(lost(status=429), served=True))), Inconclusive)


def keys_at(status: int | None, value: dict[str, Any] | None = None, *, served: bool = False) -> Any:
    keys = document(Location.JWKS, f"{ISSUER}/jwks", value, status=status)
    return servers(replace(server(), jwks=keys, served=served))


def test_a_key_set_that_is_not_there_is_named_once() -> None:
    verdict = judged("as_jwks_there", keys_at(404))
    assert verdict == Fail("a JWK Set at jwks_uri", f"{ISSUER}/jwks: 404 ({ISSUER})")
    for other in ("as_jwks_public_only", "as_jwks_unique_kids"):
        assert isinstance(judged(other, keys_at(404)), Inconclusive)
    locked = judged("as_jwks_there", keys_at(401))
    assert isinstance(locked, Fail)
    assert "which a client cannot sign in to" in locked.observed


@pytest.mark.parametrize(
    ("observed", "kind"),
    [
        (keys_at(200, {"keys": []}), Pass),
        (keys_at(200, {"kty": "RSA"}), Fail),
        (keys_at(None), Inconclusive),
        (keys_at(None, served=True), Fail),
        (servers(server()), NotApplicable),
    ],
)
def test_a_key_set_is_there_or_why_not(observed: Any, kind: type) -> None:
    assert isinstance(judged("as_jwks_there", observed), kind)
