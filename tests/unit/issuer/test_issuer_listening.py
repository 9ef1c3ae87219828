"""The listening post hears who fetches a key URL out of a token, and serves a stranger's keys there."""

from collections.abc import Iterator

import httpx
import pytest
from cryptography import x509

from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.issuer.odd_keys import self_signed
from mcp_auth_contract.tokens import Algorithm, Role, published_key


@pytest.fixture
def issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer(IssuerSettings(algorithms=(Algorithm.ES256,)), clock=lambda: 1_790_000_000.0) as running:
        yield running


def test_a_listening_url_serves_the_strangers_keys_and_hears_who_asks(issuer: EmbeddedIssuer) -> None:
    assert issuer.heard("jku-1") == ()
    answer = httpx.get(issuer.listening_url("jku-1"))
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"keys": [issuer.signing_key(role=Role.STRANGER).public_jwk()]}
    assert [request.path for request in issuer.heard("jku-1")] == ["/heard/jku-1"]
    assert (issuer.heard("jku-2"), issuer.heard("jku"), issuer.heard("jku-1", after=issuer.mark())) == ((), (), ())


def test_the_certificate_is_of_the_strangers_rsa_key(issuer: EmbeddedIssuer) -> None:
    answer = httpx.get(issuer.certificate_url("x5u-1"))
    certificate = x509.load_pem_x509_certificate(answer.content)
    stranger = issuer.key_of(Role.STRANGER, Algorithm.RS256)
    assert certificate.public_key() == stranger.private.public_key()
    assert certificate.not_valid_before_utc.timestamp() < 1_790_000_000 < certificate.not_valid_after_utc.timestamp()
    certificate.verify_directly_issued_by(certificate)
    assert len(issuer.heard("x5u-1")) == 1


def test_a_name_is_one_segment_and_any_other_character_is_escaped(issuer: EmbeddedIssuer) -> None:
    assert httpx.get(issuer.listening_url("a b%c?d")).status_code == 200
    assert len(issuer.heard("a b%c?d")) == 1
    for name in ("", "a/b", ".", ".."):
        with pytest.raises(ValueError, match="segment"):
            issuer.listening_url(name)


def test_a_certificate_needs_an_rsa_key() -> None:
    with pytest.raises(TypeError, match="RSA"):
        self_signed(published_key(Role.STRANGER, Algorithm.ES256), 0)
