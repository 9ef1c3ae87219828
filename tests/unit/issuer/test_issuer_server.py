import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.strict_verifier import Reason, Refused, StrictVerifier

from mcp_auth_contract.asgi import bind
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError, UsageError
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerName, IssuerSettings
from mcp_auth_contract.issuer.behaviours import Behaviour
from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    Identity,
    Role,
    TokenProfile,
    good_token,
    mint_case,
    published_key,
)
from mcp_auth_contract.tokens.defects.defect import Expectation
from mcp_auth_contract.tokens.keys import PRIVATE_MEMBERS

EVERY_ALG = tuple(Algorithm)
WELL_KNOWN = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


@pytest.fixture
def issuer() -> Iterator[EmbeddedIssuer]:
    settings = IssuerSettings(algorithms=EVERY_ALG, keys=data_folder("keys"))
    with EmbeddedIssuer(settings) as running:
        yield running


@pytest.fixture
def client(issuer: EmbeddedIssuer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=issuer.url) as opened:
        yield opened


def locations(name: IssuerName) -> list[str]:
    appended = [f"{name.path}{OPENID}"] if name.path else []
    return [f"{WELL_KNOWN}{name.path}", f"{OPENID}{name.path}", *appended]


@pytest.mark.parametrize("name", IssuerName)
def test_each_issuer_states_its_own_identifier_at_every_location(
    issuer: EmbeddedIssuer, client: httpx.Client, name: IssuerName
) -> None:
    for path in locations(name):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["issuer"] == issuer.url_of(name)


@pytest.mark.parametrize("name", IssuerName)
def test_every_url_in_the_metadata_is_served(client: httpx.Client, name: IssuerName) -> None:
    metadata = client.get(f"{WELL_KNOWN}{name.path}").json()
    assert client.get(metadata["jwks_uri"]).status_code == 200
    assert client.get(metadata["authorization_endpoint"]).status_code == 400
    assert client.post(metadata["token_endpoint"]).status_code == 400
    named = {member for member in metadata if member.endswith(("_endpoint", "_uri"))}
    of_trusted = {"introspection_endpoint", "revocation_endpoint"}
    for member in named & of_trusted:
        assert client.post(metadata[member], data={"token": "x"}).status_code == 200
    expected = {"jwks_uri", "authorization_endpoint", "token_endpoint"}
    assert named == (expected if name.path else expected | of_trusted)


def test_both_documents_agree_and_hold_no_empty_member(client: httpx.Client) -> None:
    oauth, openid = client.get(WELL_KNOWN).json(), client.get(OPENID).json()
    assert oauth.items() <= openid.items()
    assert all(value not in ([], None, "") for value in openid.values())
    assert oauth["code_challenge_methods_supported"] == ["S256"]
    assert oauth["response_types_supported"] == ["code"]
    assert openid["id_token_signing_alg_values_supported"] == list(EVERY_ALG)


def test_metadata_is_the_same_with_a_protocol_version_header(client: httpx.Client) -> None:
    with_header = client.get(WELL_KNOWN, headers={"MCP-Protocol-Version": "2025-11-25"})
    assert with_header.content == client.get(WELL_KNOWN).content


def test_metadata_is_not_served_at_the_appended_oauth_location(client: httpx.Client) -> None:
    assert client.get(f"/second{WELL_KNOWN}").status_code == 404
    assert client.get(f"{WELL_KNOWN}/").status_code == 404


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "authorization_code"}, "invalid_request"),
        ({"grant_type": "authorization_code", "code": "x"}, "invalid_grant"),
    ],
)
def test_the_token_endpoint_refuses_truthfully(client: httpx.Client, form: dict[str, str], error: str) -> None:
    answer = client.post("/token", data=form)
    assert answer.status_code == 400
    assert answer.json()["error"] == error
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("body", [b"\xff\xfe=\xff", b"x" * 100_000, b"&&==&"])
def test_a_hostile_form_is_refused_as_any_other(client: httpx.Client, body: bytes) -> None:
    assert client.post("/token", content=body).json()["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("", "invalid_request"),
        ("response_type=token", "unsupported_response_type"),
        ("response_type=code&client_id=x&redirect_uri=http://evil.test/", "unauthorized_client"),
    ],
)
def test_the_authorization_endpoint_refuses_without_a_redirect(client: httpx.Client, query: str, error: str) -> None:
    for answer in (client.get(f"/authorize?{query}"), client.post("/authorize", content=query)):
        assert answer.status_code == 400
        assert answer.json()["error"] == error
        assert "location" not in answer.headers


def test_each_issuer_publishes_its_own_keys_one_per_algorithm(client: httpx.Client) -> None:
    sets = {name: client.get(f"{name.path}/jwks").json()["keys"] for name in IssuerName}
    encryption = sets[IssuerName.TRUSTED].pop()
    assert (encryption["use"], encryption["alg"], encryption["kty"]) == ("enc", "RSA-OAEP-256", "RSA")
    for keys in sets.values():
        assert [key["alg"] for key in keys] == list(EVERY_ALG)
        assert {key["use"] for key in keys} == {"sig"}
    kids = [key["kid"] for keys in sets.values() for key in keys]
    assert len(set(kids)) == len(kids) == 12


def test_no_jwks_holds_a_private_member_or_a_strangers_key(client: httpx.Client) -> None:
    strangers = {published_key(Role.STRANGER, alg).public_jwk()["kid"] for alg in Algorithm}
    for name in IssuerName:
        for key in client.get(f"{name.path}/jwks").json()["keys"]:
            assert not PRIVATE_MEMBERS & set(key)
            assert key["kid"] not in strangers


def test_the_encryption_key_is_one_key_whichever_algorithm_signs_with_it() -> None:
    issuer = EmbeddedIssuer(IssuerSettings(algorithms=(Algorithm.PS256,)))
    one, other = (issuer.key_of(Role.ENCRYPTION, alg) for alg in (Algorithm.PS256, Algorithm.RS256))
    assert (one.kid, one.thumbprint) == (other.kid, other.thumbprint)
    assert issuer.control.state().kids[-1] == one.kid


def test_the_jwks_shows_changes_at_once(issuer: EmbeddedIssuer, client: httpx.Client) -> None:
    issuer.control.withdraw(issuer.signing_key(Algorithm.RS256).kid)
    assert [key["alg"] for key in client.get("/jwks").json()["keys"]] == ["PS256", "ES256", "EdDSA", "RSA-OAEP-256"]


def test_the_jwks_is_answered_as_told(issuer: EmbeddedIssuer, client: httpx.Client) -> None:
    issuer.control.behave(Behaviour(status=503, content_type="text/html", body=b"<p>down</p>"))
    answer = client.get("/jwks")
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (
        503,
        "text/html",
        "<p>down</p>",
    )
    assert client.get("/second/jwks").status_code == 200
    issuer.control.restore()
    assert client.get("/jwks").status_code == 200


def test_every_request_is_remembered_unknown_paths_too(issuer: EmbeddedIssuer, client: httpx.Client) -> None:
    client.get("/jwks", headers={"Authorization": "Bearer s3cret"})
    client.get("/evil/keys.json?token=s3cret")
    client.post("/token", data={"client_secret": "s3cret"})
    seen = issuer.memory.requests()
    assert [(request.method, request.path) for request in seen] == [
        ("GET", "/jwks"),
        ("GET", "/evil/keys.json"),
        ("POST", "/token"),
    ]
    assert "s3cret" not in "".join(f"{request.path}{dict(request.headers)}" for request in seen)


@pytest.mark.parametrize("alg", Algorithm)
def test_a_verifier_that_follows_the_jwks_accepts_the_good_and_refuses_the_faulty(
    issuer: EmbeddedIssuer, alg: Algorithm
) -> None:
    profile = TokenProfile(issuer=issuer.url, audience="http://127.0.0.1:8000/mcp", algorithm=alg)
    alice = Identity(name="alice", subject="alice", scopes=("read",))
    verifier = StrictVerifier(
        issuer.jwks_uri, issuer=profile.issuer, audience=profile.audience, algorithms=[alg], typ=profile.typ
    )
    good = good_token(profile, alice, issuer.signing_key(alg), time.time())
    assert verifier.verify(mint_case(good).token)["sub"] == "alice"
    for name, defect in DEFECTS.items():
        if defect.expectation is Expectation.REFUSED and defect.variants_for(good, issuer.key_of):
            with pytest.raises(Refused):
                verifier.verify(mint_case(good, name, keys=issuer.key_of).token)
    assert len(issuer.memory.requests("/jwks")) == 1


def test_a_verifier_says_when_keys_cannot_be_had(issuer: EmbeddedIssuer) -> None:
    issuer.control.behave(Behaviour(status=500))
    profile = TokenProfile(issuer=issuer.url, audience="http://a.test", algorithm=Algorithm.ES256)
    good = good_token(profile, Identity(name="a", subject="a"), issuer.signing_key(Algorithm.ES256), time.time())
    verifier = StrictVerifier(
        issuer.jwks_uri, issuer=issuer.url, audience="http://a.test", algorithms=[Algorithm.ES256]
    )
    with pytest.raises(Refused) as refused:
        verifier.verify(mint_case(good).token)
    assert refused.value.reason is Reason.KEYS_UNAVAILABLE


def test_fresh_keys_differ_between_issuers_and_between_runs() -> None:
    settings = IssuerSettings(algorithms=(Algorithm.ES256,))
    with EmbeddedIssuer(settings) as one, EmbeddedIssuer(settings) as other:
        keys = [running.signing_key(role=role) for running in (one, other) for role in Role]
        assert one.signing_key() is one.signing_key(Algorithm.ES256, Role.ISSUER)
        published = httpx.get(one.jwks_uri).json()["keys"]
        assert published[:-1] == [one.signing_key().public_jwk()]
    assert len({key.thumbprint for key in keys}) == len({key.kid for key in keys}) == 2 * len(Role)


def test_https_is_trusted_through_the_ca_file_only_and_the_file_goes_away() -> None:
    with EmbeddedIssuer(IssuerSettings(tls=True, algorithms=(Algorithm.ES256,))) as issuer:
        ca_file = issuer.ca_file
        assert ca_file is not None
        assert issuer.url.startswith("https://")
        assert "PRIVATE" not in ca_file.read_text()
        trust = ssl.create_default_context(cafile=ca_file)
        assert httpx.get(f"{issuer.url}{WELL_KNOWN}", verify=trust).json()["issuer"] == issuer.url
        with pytest.raises(httpx.ConnectError):
            httpx.get(issuer.url)
        verifier = StrictVerifier(
            issuer.jwks_uri,
            issuer=issuer.url,
            audience="http://a.test",
            algorithms=[Algorithm.ES256],
            ca_file=str(ca_file),
        )
        profile = TokenProfile(issuer=issuer.url, audience="http://a.test")
        good = good_token(profile, Identity(name="a", subject="a"), issuer.signing_key(), time.time())
        verifier.verify(mint_case(good).token)
    assert issuer.ca_file is None
    assert not ca_file.parent.exists()


def test_without_tls_there_is_no_ca_file(issuer: EmbeddedIssuer) -> None:
    assert issuer.ca_file is None


def test_a_port_in_use_is_a_usage_error_and_leaves_nothing_behind() -> None:
    with bind() as taken:
        port = taken.getsockname()[1]
        running = EmbeddedIssuer(IssuerSettings(port=port, tls=True, algorithms=(Algorithm.ES256,)))
        with pytest.raises(UsageError, match=f"port {port}"), running:
            pass
        assert running.ca_file is None
        with pytest.raises(RuntimeError, match="not being served"):
            _ = running.url


def test_a_public_url_is_the_issuers_identifier() -> None:
    settings = IssuerSettings(public_url="http://issuer.test:9000/", algorithms=(Algorithm.ES256,))
    with EmbeddedIssuer(settings) as issuer:
        assert issuer.url == "http://issuer.test:9000"
        assert issuer.jwks_uri == "http://issuer.test:9000/jwks"
        assert issuer.introspection_uri == "http://issuer.test:9000/introspect"


@pytest.mark.parametrize("url", ["issuer:9000", "ftp://i", "http://i/path", "http://u:s3cret@i", "http://i?x=1"])
def test_a_public_url_beyond_an_origin_is_refused(url: str) -> None:
    settings = IssuerSettings(public_url=url, algorithms=(Algorithm.ES256,))
    with pytest.raises(UsageError, match="public_url") as told, EmbeddedIssuer(settings):
        pass
    assert "s3cret" not in str(told.value)


def test_a_folder_without_a_configured_algorithm_is_refused(tmp_path: Path) -> None:
    jwk = json.loads((data_folder("keys") / "issuer-es256.json").read_text())
    (tmp_path / "mine.json").write_text(json.dumps(jwk))
    settings = IssuerSettings(keys=tmp_path, algorithms=(Algorithm.ES256, Algorithm.RS256))
    with pytest.raises(ContractError, match="RS256"), EmbeddedIssuer(settings):
        pass


def test_a_folder_of_ones_own_is_completed_with_fresh_keys(tmp_path: Path) -> None:
    jwk = json.loads((data_folder("keys") / "issuer-es256.json").read_text())
    (tmp_path / "mine.json").write_text(json.dumps(jwk | {"kid": "mine"}))
    with EmbeddedIssuer(IssuerSettings(keys=tmp_path, algorithms=(Algorithm.ES256,))) as issuer:
        assert issuer.signing_key().kid == "mine"
        assert issuer.signing_key(role=Role.SECOND) != issuer.signing_key()


def test_the_time_of_a_request_comes_from_the_clock() -> None:
    with EmbeddedIssuer(IssuerSettings(algorithms=(Algorithm.ES256,)), clock=lambda: 42.0) as issuer:
        httpx.get(issuer.jwks_uri)
    assert [request.at for request in issuer.memory.requests()] == [42.0]


def test_an_issuer_without_algorithms_is_refused() -> None:
    with pytest.raises(ContractError, match="algorithms"), EmbeddedIssuer(IssuerSettings(algorithms=())):
        pass
