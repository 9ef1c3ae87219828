"""Other kinds of token, odd times, and identifiers that resemble another: each as the profile makes it wrong."""

import time
from collections.abc import Callable

import pytest

from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    Identity,
    Role,
    TokenProfile,
    TokenSpec,
    good_token,
    mint_case,
    published_key,
)
from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import Expectation

ALICE = Identity(name="alice", subject="alice", tenant="t1", scopes=("read",))
ISSUER = "https://idp.example.com/t1"
AUDIENCE = "https://mcp.example.com/mcp"


def good(
    typ: str | None = "at+jwt",
    audience: str = AUDIENCE,
    issuer: str = ISSUER,
    identity: Identity = ALICE,
    lifetime: float = 300,
    leeway: float = 60,
) -> TokenSpec:
    profile = TokenProfile(issuer=issuer, audience=audience, typ=typ, lifetime=lifetime, leeway=leeway)
    return good_token(profile, identity, published_key(Role.ISSUER, Algorithm.ES256), time.time())


def offered(name: str, base: TokenSpec) -> tuple[str, ...]:
    return DEFECTS[name].variants_for(base, published_key)


@pytest.mark.parametrize("typ", ["JWT", None, "application/jwt"])
def test_where_the_issuer_declares_no_access_tokens_their_typ_cannot_be_wrong(typ: str | None) -> None:
    for name in ("typ_long_form", "typ_case", "typ_generic", "typ_other_kind"):
        assert offered(name, good(typ)) == ()


def test_the_other_form_of_the_media_type_is_offered_for_either() -> None:
    long_form = "application/at+jwt"
    for typ, other in (("at+jwt", long_form), (long_form, "at+jwt"), ("AT+JWT", long_form)):
        header = mint_case(good(typ), "typ_long_form").header
        assert header is not None
        assert header["typ"] == other


@pytest.mark.parametrize("name", ["id_token", "refresh_token", "client_assertion", "session_token"])
@pytest.mark.parametrize("typ", ["at+jwt", "JWT", None])
def test_another_kind_is_typed_as_such_tokens_are_where_that_tells_it_apart(name: str, typ: str | None) -> None:
    base = good(typ)
    variants = [variant for variant in offered(name, base) if variant != "self_signed"]
    assert variants
    for variant in variants:
        header = mint_case(base, name, variant).header
        assert header is not None
        assert header.get("typ") == ("JWT" if typ == "at+jwt" else typ)


def test_a_token_for_the_client_is_right_where_the_client_is_the_audience() -> None:
    base = good(audience="mcp-auth-contract")
    for name in ("audience_of_client", "id_token", "client_assertion"):
        assert offered(name, base) == ()
    assert "id_token" not in offered("kind_in_claims", base)


def test_a_token_for_the_issuer_is_right_where_the_issuer_is_the_audience() -> None:
    base = good(audience=ISSUER)
    for name in ("refresh_token", "id_jag", "client_assertion", "audience_of_issuer"):
        assert offered(name, base) == ()


def test_a_token_for_everybody_is_right_where_that_is_the_audience() -> None:
    assert offered("session_token", good(audience="authenticated")) == ("no_audience_typed_jwt",)


def test_a_client_that_acts_for_itself_has_no_assertion_to_be_mistaken() -> None:
    service = Identity(name="service", subject="mcp-auth-contract")
    assert offered("client_assertion", good(identity=service)) == ()


def test_what_the_good_token_says_too_is_no_other_kind() -> None:
    federated = Identity(name="alice", subject="alice", claims={"token_use": "id"})
    assert "token_use_id" not in offered("kind_in_claims", good(identity=federated))


@pytest.mark.parametrize("name", ["expired", "expired_oddly_written", "expired_long_ago"])
@pytest.mark.parametrize("leeway", [0, 60, 300])
def test_what_has_expired_has_done_so_beyond_every_known_leeway(name: str, leeway: float) -> None:
    base = good(leeway=leeway)
    for variant in offered(name, base):
        claims = mint_case(base, name, variant).claims
        assert claims is not None
        assert float(str(claims["exp"])) < base.now - leeway - 301


@pytest.mark.parametrize("lifetime", [30, 300, 3600])
def test_a_token_that_begins_after_its_end_begins_beyond_every_known_leeway(lifetime: float) -> None:
    base = good(lifetime=lifetime, leeway=0)
    claims = mint_case(base, "not_before_after_expiry").claims
    assert claims is not None
    begins, ends = claims["nbf"], claims["exp"]
    assert isinstance(begins, int)
    assert isinstance(ends, int)
    assert begins > max(ends, base.now + 301)


def test_nothing_about_iat_is_ever_a_fault() -> None:
    base = good()
    about = [
        defect
        for defect in DEFECTS.values()
        for variant in defect.variants_for(base, published_key)
        if mint_case(base, defect.name, variant).change == "claims.iat"
    ]
    assert about
    assert all(defect.expectation is Expectation.DISPUTED for defect in about)


def test_zero_below_zero_is_written_as_such() -> None:
    assert '"exp":-0.0' in good().with_claim("exp", -0.0).payload_bytes.decode()
    assert mint_case(good(), "expiry_zero", "negative_zero").claims is not None


MADE: list[tuple[Callable[[str], str | None], str, str | None]] = [
    (urls.scheme_upper, AUDIENCE, "HTTPS://mcp.example.com/mcp"),
    (urls.host_upper, AUDIENCE, "https://MCP.EXAMPLE.COM/mcp"),
    (urls.host_upper, "http://127.0.0.1:8000/mcp", None),
    (urls.homoglyph_host, AUDIENCE, "https://m\u0441p.example.com/mcp"),
    (urls.homoglyph_host, "http://127.0.0.1/mcp", None),
    (urls.homoglyph_host, "urn:mcp", None),
    (urls.punycode_host, AUDIENCE, "https://xn--mp-omc.example.com/mcp"),
    (urls.trailing_dot_host, "https://mcp.example.com:8443/mcp", "https://mcp.example.com.:8443/mcp"),
    (urls.trailing_dot_host, "https://[::1]/mcp", None),
    (urls.full_width_host, AUDIENCE, "https://\uff4dcp.example.com/mcp"),
    (urls.ideographic_dots, AUDIENCE, "https://mcp\u3002example\u3002com/mcp"),
    (urls.ideographic_dots, "http://localhost/mcp", None),
    (urls.subdomains, AUDIENCE, "https://*.example.com"),
    (urls.subdomains, "http://localhost/mcp", None),
    (urls.subdomains, "http://127.0.0.1/mcp", None),
    (urls.default_port, AUDIENCE, "https://mcp.example.com:443/mcp"),
    (urls.default_port, "http://mcp.example.com", "http://mcp.example.com:80"),
    (urls.default_port, "https://mcp.example.com:8443/mcp", None),
    (urls.default_port_padded, AUDIENCE, "https://mcp.example.com:0443/mcp"),
    (urls.with_user, AUDIENCE, "https://u@mcp.example.com/mcp"),
    (urls.with_query, AUDIENCE, "https://mcp.example.com/mcp?a=1"),
    (urls.with_query, "https://mcp.example.com/mcp?b=2", None),
    (urls.with_fragment, AUDIENCE, "https://mcp.example.com/mcp#f"),
    (urls.scheme_alone, AUDIENCE, "https:"),
    (urls.scheme_alone, "4711", None),
    (urls.dot_segments, AUDIENCE, "https://mcp.example.com/x/../mcp"),
    (urls.dot_segments, "https://mcp.example.com/", None),
    (urls.path_percent_encoded, AUDIENCE, "https://mcp.example.com/%6dcp"),
    (urls.path_percent_encoded, "https://mcp.example.com", None),
    (urls.backslashes, AUDIENCE, "https:\\\\mcp.example.com\\mcp"),
    (urls.scheme_without_slashes, AUDIENCE, "https:mcp.example.com/mcp"),
    (urls.inside("\t"), AUDIENCE, "https://mcp.e\txample.com/mcp"),
    (urls.inside("\t"), "4711", None),
]


@pytest.mark.parametrize(("make", "identifier", "expected"), MADE)
def test_a_resembling_identifier_is_what_it_is_called(
    make: Callable[[str], str | None], identifier: str, expected: str | None
) -> None:
    assert make(identifier) == expected
