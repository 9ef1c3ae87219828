"""Protected-resource metadata: every legal document passes, every fault is named with its place."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.checks.literals import (
    ENDPOINT,
    GONE,
    ISSUER,
    PATH_URL,
    POINTER,
    RESOURCE,
    ROOT_URL,
    altered,
    answer,
    at_path,
    at_pointer,
    at_root,
    document,
    facts,
    forged,
    judged,
    nothing_at,
    resource,
    resource_with,
)

from mcp_auth_contract.answers import WITHHELD, Answer
from mcp_auth_contract.checks.discovery.observation import Document, ForgedHost, Location, ResourceMetadataObserved
from mcp_auth_contract.checks.registry import JUDGES
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

OTHER_URL = "https://mcp.example.com/metadata"
STRAY_URL = f"{PATH_URL}/no-such-resource"
NO_PATH = nothing_at(Location.PATH, PATH_URL)
NO_ROOT = nothing_at(Location.ROOT, ROOT_URL)
ON_RESOURCES = sorted(name for name, judge in JUDGES.items() if judge.observes is ResourceMetadataObserved)
COUNTED_ONCE = sorted(set(ON_RESOURCES) - {"prm_served", "prm_issuer_form", "prm_locations_agree"})


@pytest.mark.parametrize(
    "observed",
    [
        resource(at_pointer(url=OTHER_URL), NO_PATH, NO_ROOT),
        resource(at_path(), NO_ROOT),
        resource(NO_PATH, at_root()),
        resource(nothing_at(Location.POINTER, OTHER_URL), NO_PATH, at_root()),
        resource(NO_PATH, at_root(altered(RESOURCE, resource="https://mcp.example.com"))),
    ],
    ids=["pointer only", "path only", "root only", "root beside a dead pointer", "root of the origin"],
)
def test_one_route_to_the_document_is_enough(observed: ResourceMetadataObserved) -> None:
    assert judged("prm_served", observed) == Pass()
    assert judged("prm_resource_matches_endpoint", observed) == Pass()
    assert judged("prm_resource_matches_location", observed) == Pass()


def test_without_any_document_each_place_is_told() -> None:
    assert judged("prm_served", resource(NO_PATH, NO_ROOT)) == Fail(
        "a metadata document at the pointer, the path or the root",
        "well-known with the path inserted: 404; well-known at the root: 404",
    )
    page = document(Location.PATH, PATH_URL, None, media="text/html", faults=("not JSON",))
    verdict = judged("prm_served", resource(page, NO_ROOT))
    assert isinstance(verdict, Fail)
    assert "200, not JSON" in verdict.observed


def test_a_document_where_no_client_looks_is_pointed_out() -> None:
    appended = document(Location.APPENDED, f"{ENDPOINT}/.well-known/oauth-protected-resource", RESOURCE)
    verdict = judged("prm_served", resource(NO_PATH, NO_ROOT, appended))
    assert isinstance(verdict, Fail)
    assert verdict.observed.endswith(f"; it stands at {appended.url}, where no client looks")


@pytest.mark.parametrize("status", [None, 429, 500, 503])
def test_a_place_that_did_not_answer_may_have_the_document(status: int | None) -> None:
    silent = nothing_at(Location.PATH, PATH_URL, status)
    assert isinstance(judged("prm_served", resource(silent, NO_ROOT)), Inconclusive)
    assert isinstance(judged("prm_path_location", resource(silent, at_pointer(url=OTHER_URL))), Inconclusive)


@pytest.mark.parametrize("name", COUNTED_ONCE)
def test_a_missing_document_is_counted_once(name: str) -> None:
    assert not isinstance(judged(name, resource(NO_PATH, NO_ROOT)), Fail)
    assert not isinstance(judged(name, resource(nothing_at(Location.PATH, PATH_URL, None))), Fail)


@pytest.mark.parametrize("media", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_the_media_type_is_compared_without_parameters_and_case(media: str) -> None:
    assert judged("prm_content_type", resource(at_path(media=media))) == Pass()


def test_another_media_type_fails_and_a_json_suffix_gives_advice() -> None:
    assert judged("prm_content_type", resource(at_path(media="text/html"))) == Fail("application/json", "text/html")
    assert judged("prm_content_type", resource(at_path(media=""))) == Fail("application/json", "no Content-Type")
    assert judged("prm_content_type", resource(at_path(media="application/jrd+json"))) == Pass(
        "application/jrd+json instead of application/json; some clients refuse it"
    )


def test_success_with_another_status_than_200_fails() -> None:
    assert judged("prm_status_200", resource(at_path(status=206))) == Fail("200", f"206 at {PATH_URL}")


@pytest.mark.parametrize("fault", ["duplicate member 'resource'", "byte order mark"])
def test_an_odd_json_text_fails_where_it_stands(fault: str) -> None:
    assert judged("prm_json_object", resource(at_path(faults=(fault,)))) == Fail(
        "one JSON object", f"{fault} at {PATH_URL}"
    )


def test_a_web_page_at_another_place_is_no_odd_json() -> None:
    page = document(Location.ROOT, ROOT_URL, None, media="text/html", faults=("not JSON",))
    assert judged("prm_json_object", resource(at_path(), page)) == Pass()
    array = document(Location.PATH, PATH_URL, None, faults=("not a JSON object",))
    assert judged("prm_json_object", resource(array, NO_ROOT)) == Fail(
        "one JSON object", f"not a JSON object at {PATH_URL}"
    )


@pytest.mark.parametrize("status", [401, 403])
def test_a_gated_document_fails_only_where_clients_need_it(status: int) -> None:
    gated = nothing_at(Location.PATH, PATH_URL, status)
    verdict = judged("prm_unauthenticated", resource(gated, NO_ROOT))
    assert isinstance(verdict, Fail)
    assert verdict.observed.startswith(str(status))
    assert judged("prm_unauthenticated", resource(gated, at_root())) == Pass()
    pointed = nothing_at(Location.POINTER, OTHER_URL, status)
    assert isinstance(judged("prm_unauthenticated", resource(pointed, at_path())), Fail)


def test_the_document_is_served_whatever_a_client_accepts() -> None:
    def accepting(label: str, status: int | None) -> ResourceMetadataObserved:
        return resource(accepts=(("Accept: application/json", answer(200)), (label, answer(status))))

    assert judged("prm_any_accept", accepting("Accept: */*", 200)) == Pass()
    assert judged("prm_any_accept", accepting("an MCP-Protocol-Version header", 400)) == Fail(
        "the document", "400 with an MCP-Protocol-Version header"
    )
    assert judged("prm_any_accept", accepting("Accept: text/html", 406)) == Pass()
    for status in (None, 429):
        assert isinstance(judged("prm_any_accept", accepting("Accept: */*", status)), Inconclusive)


@pytest.mark.parametrize("named", ["https://mcp.example.com", "https://mcp.example.com/"])
def test_the_root_is_the_right_place_for_the_bare_origin(named: str) -> None:
    observed = resource(NO_PATH, at_root(altered(RESOURCE, resource=named)))
    assert judged("prm_path_location", observed) == Pass()


def test_the_root_is_the_wrong_place_for_a_resource_with_a_path() -> None:
    assert judged("prm_path_location", resource(NO_PATH, at_root())) == Fail(
        "the document with the path inserted after the well-known segment", f"{PATH_URL}: 404"
    )


SHAPES: dict[str, tuple[str, Any]] = {
    "loopback over http": ("prm_resource_form", "http://127.0.0.1:8000/mcp"),
    "localhost over http": ("prm_resource_form", "http://localhost/mcp"),
    "a query": ("prm_resource_form", "https://mcp.example.com/mcp?tenant=1"),
    "a port": ("prm_resource_form", "https://mcp.example.com:8443/mcp"),
    "a path in upper case": ("prm_resource_lower_case", "https://mcp.example.com/MCP"),
}


@pytest.mark.parametrize(("name", "named"), SHAPES.values(), ids=SHAPES)
def test_legal_identifiers_pass(name: str, named: str) -> None:
    assert judged(name, resource_with(resource=named)) == Pass()


@pytest.mark.parametrize(
    ("named", "fault"),
    [
        ("http://mcp.example.com/mcp", "http instead of https"),
        ("https://mcp.example.com/mcp#part", "a fragment"),
        ("https://user@mcp.example.com/mcp", "user information"),
        ("api://1b4c", "api instead of https"),
        ("/mcp", "not an absolute URL"),
    ],
)
def test_other_identifiers_are_told_what_is_wrong(named: str, fault: str) -> None:
    assert judged("prm_resource_form", resource_with(resource=named)) == Fail(
        "an absolute https URL without a fragment", f'"{named}": {fault}'
    )


SOFT = [
    (f"{ENDPOINT}/", "a trailing slash"),
    ("https://mcp.example.com", "a parent path"),
    ("https://mcp.example.com:443/mcp", "the default port"),
    ("https://MCP.example.com/mcp", "upper or lower case"),
]


@pytest.mark.parametrize(("named", "how"), SOFT)
def test_a_small_difference_is_the_same_resource_but_not_identical(named: str, how: str) -> None:
    observed = resource_with(resource=named)
    assert judged("prm_resource_matches_endpoint", observed) == Pass()
    assert judged("prm_resource_identical", observed) == Fail(
        f'resource "{ENDPOINT}"', f'"{named}" ({how}): strict clients refuse it'
    )


@pytest.mark.parametrize(
    "named",
    [
        "https://other.example.com/mcp",
        "HTTPS://other.example.com/mcp",
        "https://mcp.example.com/other",
        "https://mcp.example.com/mcp/admin",
        "https://mcp.example.com/mc",
        "https://mcp.example.com:8443/mcp",
        "http://mcp.example.com/mcp",
    ],
)
def test_another_resource_fails_once(named: str) -> None:
    observed = resource_with(resource=named)
    assert judged("prm_resource_matches_endpoint", observed) == Fail(f'resource "{ENDPOINT}"', f'"{named}"')
    assert judged("prm_resource_identical", observed) == Pass()


def test_a_contract_whose_audience_is_no_url_compares_with_the_endpoint() -> None:
    known = facts(resource="1b4c2c0e-client")
    assert judged("prm_resource_matches_endpoint", resource(), known) == Pass()
    assert judged("prm_resource_identical", resource(), known) == Pass()
    other = resource_with(resource="https://other.example.com/mcp")
    assert isinstance(judged("prm_resource_matches_endpoint", other, known), Fail)


@pytest.mark.parametrize("value", [GONE, None])
def test_a_missing_resource_is_counted_once(value: object) -> None:
    observed = resource_with(resource=value)
    assert judged("prm_resource_present", observed) == Fail("a member resource", "none")
    for name in ("prm_resource_form", "prm_resource_identical", "prm_resource_matches_endpoint"):
        assert isinstance(judged(name, observed), Inconclusive)


def test_a_slash_at_the_end_is_advice_unless_the_endpoint_has_it_too() -> None:
    verdict = judged("prm_resource_form", resource_with(resource=f"{ENDPOINT}/"))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None
    assert judged("prm_resource_form", resource_with(resource=f"{ENDPOINT}/"), facts(resource=f"{ENDPOINT}/")) == Pass()


@pytest.mark.parametrize(("value", "said"), [(GONE, "no such member"), ([], "an empty list")])
def test_the_authorization_servers_are_listed(value: object, said: str) -> None:
    assert judged("prm_authorization_servers", resource_with(authorization_servers=value)) == Fail(
        "authorization_servers with at least one entry", said
    )
    assert judged("prm_zero_values_omitted", resource_with(authorization_servers=value)) == Pass()


@pytest.mark.parametrize(
    "issuer", [f"{ISSUER}/", "https://login.example.com/realms/a", "https://[2001:db8::1]/x", "http://localhost:9000"]
)
def test_legal_issuers_pass(issuer: str) -> None:
    assert judged("prm_issuer_form", resource_with(authorization_servers=[ISSUER, issuer])) == Pass()


@pytest.mark.parametrize(
    ("issuer", "fault"),
    [
        ("http://auth.example.com", "http instead of https"),
        (f"{ISSUER}?tenant=1", "a query"),
        (f"{ISSUER}/.well-known/openid-configuration", "a metadata URL instead of an issuer"),
        ("auth.example.com", "not an absolute URL"),
    ],
)
def test_other_issuers_are_told_what_is_wrong(issuer: str, fault: str) -> None:
    assert judged("prm_issuer_form", resource_with(authorization_servers=[ISSUER, issuer])) == Fail(
        "an issuer identifier", f'"{issuer}": {fault}'
    )


def test_members_without_a_value_fail_but_an_empty_list_of_bearer_methods_has_a_meaning() -> None:
    assert judged("prm_zero_values_omitted", resource_with(scopes_supported=[], jwks_uri=None)) == Fail(
        "parameters without a value left out", "scopes_supported, jwks_uri: empty or null"
    )
    legal = resource_with(bearer_methods_supported=[], dpop_bound_access_tokens_required=False, resource_name="")
    assert judged("prm_zero_values_omitted", legal) == Pass()


@pytest.mark.parametrize(
    ("members", "expected", "said"),
    [
        ({"scopes_supported": "a b"}, "scopes_supported as an array of strings", '"a b"'),
        ({"authorization_servers": [{"issuer": ISSUER}]}, "authorization_servers as an array of strings", ISSUER),
        ({"dpop_bound_access_tokens_required": "true"}, "dpop_bound_access_tokens_required as a boolean", '"true"'),
        ({"resource": [ENDPOINT]}, "resource as a string", ENDPOINT),
    ],
)
def test_a_member_of_the_wrong_type_is_shown(members: dict[str, Any], expected: str, said: str) -> None:
    verdict = judged("prm_member_types", resource_with(**members))
    assert isinstance(verdict, Fail)
    assert verdict.expected == expected
    assert said in verdict.observed


def test_unknown_members_and_nulls_are_no_wrong_types() -> None:
    assert judged("prm_member_types", resource_with(vendor={"a": [1]}, scopes_supported=None)) == Pass()


def test_a_server_without_scopes_need_not_list_any() -> None:
    observed = resource_with(scopes_supported=GONE)
    assert isinstance(judged("prm_scopes_supported", observed, facts(needed=frozenset())), NotApplicable)
    assert judged("prm_scopes_supported", observed) == Fail("scopes_supported", "no such member")
    anonymous = facts(needed=frozenset(), has_contract=False)
    assert isinstance(judged("prm_scopes_supported", observed, anonymous), Fail)


def test_scopes_of_openid_are_not_covered_by_the_rule_on_offline_access() -> None:
    legal = resource_with(scopes_supported=["openid", "profile", "email"])
    assert judged("prm_no_offline_access", legal) == Pass()
    assert judged("prm_no_offline_access", resource_with(scopes_supported=["a", "offline_access"])) == Fail(
        "scopes of the resource only", "offline_access in scopes_supported"
    )


@pytest.mark.parametrize("methods", [GONE, [], ["header"], ["header", "body"]])
def test_legal_bearer_methods_pass(methods: object) -> None:
    assert judged("prm_bearer_methods", resource_with(bearer_methods_supported=methods)) == Pass()


@pytest.mark.parametrize(
    ("methods", "expected", "said"),
    [
        (["header", "query"], "no query method", "bearer_methods_supported lists query"),
        (["body"], "the header method", "only body"),
    ],
)
def test_other_bearer_methods_fail(methods: list[str], expected: str, said: str) -> None:
    assert judged("prm_bearer_methods", resource_with(bearer_methods_supported=methods)) == Fail(expected, said)


def test_a_name_in_any_language_is_a_name() -> None:
    tagged = resource(at_path({**altered(RESOURCE, resource_name=GONE), "resource_name#de": "Rechnungen"}))
    assert judged("prm_resource_name", tagged) == Pass()


def keys(*each: dict[str, str], status: int | None = 200) -> ResourceMetadataObserved:
    value = {"keys": list(each)} if status == 200 else None
    return resource(jwks=document(Location.JWKS, f"{ENDPOINT}/jwks", value, status=status))


def test_the_resource_publishes_public_keys_only() -> None:
    assert judged("prm_no_private_keys", keys({"kty": "RSA", "n": "x", "e": "AQAB"})) == Pass()
    assert judged("prm_no_private_keys", keys({"kty": "oct", "k": "x"})) == Fail(
        "public keys only", f"private members k at {ENDPOINT}/jwks"
    )
    assert isinstance(judged("prm_no_private_keys", resource()), NotApplicable)
    assert isinstance(judged("prm_no_private_keys", keys(status=404)), Inconclusive)


def signed(header: object, claims: object) -> ResourceMetadataObserved:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)]
    return resource_with(signed_metadata=".".join([*parts, "c2ln"]))


def test_signed_metadata_is_a_signed_jwt_with_an_issuer() -> None:
    assert judged("prm_signed_metadata", signed({"alg": "RS256"}, {"iss": ISSUER})) == Pass()
    assert isinstance(judged("prm_signed_metadata", resource()), NotApplicable)
    assert judged("prm_signed_metadata", signed({"alg": "none"}, {"iss": ISSUER})) == Fail("a signed JWT", 'alg "none"')
    assert judged("prm_signed_metadata", signed({}, {"iss": ISSUER})) == Fail("a signed JWT", 'alg "none"')
    assert judged("prm_signed_metadata", signed({"alg": "RS256"}, {})) == Fail("a signed JWT with iss", "no iss")
    assert judged("prm_signed_metadata", signed({"alg": "RS256"}, {"iss": ISSUER, "signed_metadata": "x"})) == Fail(
        "a signed JWT without signed_metadata", "it nests itself"
    )


@pytest.mark.parametrize("value", ["no JWT", "a.b.c", "é.é.é", 7, {"alg": "RS256"}, "e30.W10.c2ln"])
def test_signed_metadata_that_cannot_be_read_is_something_else(value: object) -> None:
    assert judged("prm_signed_metadata", resource_with(signed_metadata=value)) == Fail("a signed JWT", "something else")


def test_none_among_the_signing_algorithms_fails() -> None:
    assert judged("prm_signing_alg_none", resource()) == Pass()
    observed = resource_with(resource_signing_alg_values_supported=["RS256", "none"])
    assert judged("prm_signing_alg_none", observed) == Fail("signature algorithms only", '"none" is listed')


@pytest.mark.parametrize(
    "members",
    [{}, {"dpop_bound_access_tokens_required": False}, {"tls_client_certificate_bound_access_tokens": True}],
)
def test_a_document_that_demands_no_dpop_says_nothing_on_bearer_tokens(members: dict[str, Any]) -> None:
    assert isinstance(judged("prm_dpop_consistent", resource_with(**members)), NotApplicable)


def test_documents_of_one_resource_agree_and_those_of_another_do_not_matter() -> None:
    reordered = altered(RESOURCE, authorization_servers=["https://b.example.com", ISSUER])
    first = altered(RESOURCE, authorization_servers=[ISSUER, "https://b.example.com"])
    assert judged("prm_locations_agree", resource(at_path(first), at_root(reordered))) == Pass()
    other = altered(RESOURCE, resource="https://mcp.example.com", authorization_servers=["https://b.example.com"])
    assert judged("prm_locations_agree", resource(at_path(), at_root(other))) == Pass()
    changed = altered(RESOURCE, authorization_servers=["https://b.example.com"])
    assert judged("prm_locations_agree", resource(at_path(), at_root(changed))) == Fail(
        f"the same authorization_servers as {PATH_URL}", f"others at {ROOT_URL}"
    )


def stray(value: dict[str, Any] | None, status: int | None = 200) -> ResourceMetadataObserved:
    return resource(at_path(), document(Location.STRAY, STRAY_URL, value, status=status))


def test_a_path_that_is_no_resource_has_no_document_of_this_one() -> None:
    assert judged("prm_unknown_path_404", stray(None, 404)) == Pass()
    assert judged("prm_unknown_path_404", stray(None)) == Pass()
    echoing = altered(RESOURCE, resource=f"{ENDPOINT}/no-such-resource")
    assert judged("prm_unknown_path_404", stray(echoing)) == Pass()
    assert judged("prm_unknown_path_404", stray(dict(RESOURCE))) == Fail(
        "404 for a path that is no resource", f"200 with the document of this one at {STRAY_URL}"
    )
    for status in (None, 429):
        assert isinstance(judged("prm_unknown_path_404", stray(None, status)), Inconclusive)


def test_the_pointer_leads_to_the_document() -> None:
    assert judged("pointer_resolves", resource(at_pointer())) == Pass()
    assert judged("pointer_resolves", resource(at_pointer(url=f"{PATH_URL}?v=1"))) == Pass()
    assert isinstance(judged("pointer_resolves", resource(at_path())), NotApplicable)
    elsewhere = judged("pointer_resolves", resource(at_pointer(url="https://meta.example.com/mcp")))
    assert isinstance(elsewhere, Pass)
    assert "another host" in (elsewhere.advice or "")


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("/.well-known/oauth-protected-resource/mcp", "not an absolute URL"),
        ("http://mcp.example.com/metadata", "http instead of https"),
        (f"{PATH_URL}#a", "a fragment"),
    ],
)
def test_a_pointer_that_is_no_https_url_fails(url: str, fault: str) -> None:
    assert judged("pointer_resolves", resource(at_pointer(url=url))) == Fail(
        "an absolute https URL", f'"{url}": {fault}'
    )


def test_a_pointer_to_nothing_fails_and_one_without_an_answer_is_open() -> None:
    for status in (401, 404, 302):
        verdict = judged("pointer_resolves", resource(nothing_at(Location.POINTER, PATH_URL, status)))
        assert isinstance(verdict, Fail)
        assert verdict.observed.startswith(str(status))
    for silent in (None, 429):
        observed = resource(nothing_at(Location.POINTER, PATH_URL, silent))
        assert isinstance(judged("pointer_resolves", observed), Inconclusive)
    answering = resource(nothing_at(Location.POINTER, PATH_URL, None), challenge=answer(401))
    assert isinstance(judged("pointer_resolves", answering), Fail)
    withheld = nothing_at(Location.POINTER, PATH_URL, None)
    withheld = replace(withheld, answer=replace(withheld.answer, detail=f"{WITHHELD}loopback address 127.0.0.1"))
    assert isinstance(judged("pointer_resolves", resource(withheld, challenge=answer(401))), Inconclusive)


def test_the_pointer_does_not_follow_a_forged_host() -> None:
    foreign = 'Bearer resource_metadata="https://forwarded.invalid/mcp"'

    def under(challenge: Answer, *more: ForgedHost) -> Verdict:
        return judged("pointer_not_reflected", resource(at_pointer(), forged=(forged(challenge), *more)))

    assert under(answer(401, f"Bearer {POINTER}")) == Pass()
    assert under(answer(401, "Bearer")) == Pass()
    assert under(answer(401, foreign)) == Fail(
        f'resource_metadata="{PATH_URL}" always', '"https://forwarded.invalid/mcp" with a foreign X-Forwarded-Host'
    )
    assert under(answer(401, "Bearer"), forged(answer(None), header="Host")) == Pass()
    assert isinstance(under(answer(401, "Bearer"), forged(answer(401, foreign), header="Host")), Fail)
    for silent in (answer(None), answer(429)):
        assert isinstance(under(silent), Inconclusive)
    for other in (answer(400), answer(421)):
        assert isinstance(under(other), NotApplicable)
    assert isinstance(judged("pointer_not_reflected", resource(at_pointer())), Inconclusive)
    assert isinstance(judged("pointer_not_reflected", resource(at_path())), NotApplicable)


def test_the_document_does_not_follow_a_forged_host() -> None:
    other = at_path(altered(RESOURCE, resource="https://forwarded.invalid/mcp"))

    def under(document: Document, header: str = "X-Forwarded-Host") -> Verdict:
        found = forged(answer(401), document=document, header=header)
        return judged("prm_not_reflected", resource(forged=(found,)))

    assert under(at_path()) == Pass()
    assert isinstance(under(other), Fail)
    assert isinstance(under(other, "Host"), Fail)
    assert under(nothing_at(Location.PATH, PATH_URL, 421)) == Pass()
    assert under(nothing_at(Location.PATH, PATH_URL, None), "Host") == Pass()
    assert isinstance(under(nothing_at(Location.PATH, PATH_URL, None)), Inconclusive)
    assert isinstance(judged("prm_not_reflected", resource()), Inconclusive)
    assert isinstance(judged("prm_not_reflected", resource(nothing_at(Location.PATH, PATH_URL))), Inconclusive)
