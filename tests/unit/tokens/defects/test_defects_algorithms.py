"""Defects that need more than one of the issuer's keys, and the secrets that no JOSE library would sign with."""

import hashlib
import hmac
import json
import time
import zlib
from base64 import b64decode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.strict_verifier import Refused, StrictVerifier
from tests.unit.tokens.defects import reasons

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
from mcp_auth_contract.tokens.defects.defect import Expectation
from mcp_auth_contract.tokens.keys import unb64url
from mcp_auth_contract.tokens.mint import decode_parts
from mcp_auth_contract.tokens.spec import compact_json

ISSUER, AUDIENCE = "http://127.0.0.1:9000", "https://mcp.example.com/mcp"
OF_SEVERAL_KEYS = (
    "pss_key_with_pkcs1_signature",
    "pss_salt_length",
    "hmac_with_es256_key",
    "hmac_with_eddsa_key",
    "es256_degenerate",
    "es256_encoding",
    "ed25519_above_order",
)
HONEST = ("signed_with_es256", "signed_with_ps256", "signed_with_eddsa")


def good(alg: Algorithm = Algorithm.RS256, algorithms: frozenset[Algorithm] = frozenset(Algorithm)) -> TokenSpec:
    profile = TokenProfile(issuer=ISSUER, audience=AUDIENCE, algorithm=alg, algorithms=algorithms)
    alice = Identity(name="alice", subject="alice", scopes=("read",))
    return good_token(profile, alice, published_key(Role.ISSUER, alg), time.time())


def strict() -> StrictVerifier:
    keys = [published_key(Role.ISSUER, alg) for alg in Algorithm]
    return StrictVerifier(keys, issuer=ISSUER, audience=AUDIENCE, algorithms=Algorithm)


def cases(names: tuple[str, ...]) -> list[tuple[Algorithm, str, str]]:
    return [
        (alg, name, variant)
        for alg in Algorithm
        for name in names
        for variant in DEFECTS[name].variants_for(good(alg), published_key)
    ]


@pytest.mark.parametrize(("alg", "name", "variant"), cases(OF_SEVERAL_KEYS))
def test_a_token_by_another_key_of_the_issuer_is_refused_for_the_stated_reason(alg, name, variant) -> None:
    with pytest.raises(Refused) as refused:
        strict().verify(mint_case(good(alg), name, variant).token)
    stated = reasons.REASONS.get(name)
    assert refused.value.reason in stated if stated else DEFECTS[name].expectation is Expectation.DISPUTED


@pytest.mark.parametrize(("alg", "name", "variant"), cases(HONEST))
def test_an_honest_token_by_another_key_of_the_issuer_is_accepted(alg, name, variant) -> None:
    minted = mint_case(good(alg), name, variant)
    assert strict().verify(minted.token)["sub"] == "alice"
    assert f"signed_with_{str(minted.header['alg']).lower()}" == name


@pytest.mark.parametrize("name", [*OF_SEVERAL_KEYS, *HONEST])
def test_a_contract_without_the_algorithm_has_no_such_token(name) -> None:
    alone = good(algorithms=frozenset({Algorithm.RS256}))
    assert DEFECTS[name].variants_for(alone, published_key) == ()


@pytest.mark.parametrize("alg", Algorithm)
def test_a_defect_has_each_variant_once_whatever_the_issuer_signs_with(alg) -> None:
    for defect in DEFECTS.values():
        assert len(set(defect.variants)) == len(defect.variants)
        offered = defect.variants_for(good(alg), published_key)
        assert len(set(offered)) == len(offered)


def signed_part(token: str) -> tuple[bytes, bytes]:
    message, _, signature = token.rpartition(".")
    return message.encode(), unb64url(signature)


@pytest.mark.parametrize("digest", ["sha384", "sha512"])
def test_longer_hashes_are_keyed_with_the_same_secrets(digest) -> None:
    public = published_key(Role.ISSUER, Algorithm.RS256).private.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for name, secret in (("pem", pem), ("empty", b"")):
        message, signature = signed_part(mint_case(good(), "hmac_with_public_key", f"hs{digest[3:]}_{name}").token)
        assert signature == hmac.digest(secret, message, digest)


def test_the_whole_key_set_is_a_secret_where_its_order_is_known() -> None:
    alone = good(algorithms=frozenset())
    message, signature = signed_part(mint_case(alone, "hmac_with_public_key", "key_set").token)
    encryption = {**published_key(Role.ENCRYPTION, Algorithm.RS256).public_jwk(), "use": "enc", "alg": "RSA-OAEP-256"}
    served = compact_json({"keys": [published_key(Role.ISSUER, Algorithm.RS256).public_jwk(), encryption]})
    assert signature == hmac.digest(served, message, "sha256")
    assert "key_set" not in DEFECTS["hmac_with_public_key"].variants_for(good(), published_key)


@pytest.mark.parametrize(("name", "role"), [("hmac_with_es256_key", "ES256"), ("hmac_with_eddsa_key", "EdDSA")])
def test_the_octets_of_a_key_on_a_curve_are_a_secret(name, role) -> None:
    key = published_key(Role.ISSUER, Algorithm(role))
    message, signature = signed_part(mint_case(good(), name, "x").token)
    assert signature == hmac.digest(unb64url(key.public_jwk()["x"]), message, "sha256")


@pytest.mark.parametrize("variant", DEFECTS["pkcs1_padding_edited"].variants)
def test_the_edited_padding_holds_the_hash_and_is_otherwise_wrong(variant) -> None:
    public = published_key(Role.ISSUER, Algorithm.RS256).private.public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    message, signature = signed_part(mint_case(good(), "pkcs1_padding_edited", variant).token)
    numbers = public.public_numbers()
    encoded = pow(int.from_bytes(signature), numbers.e, numbers.n).to_bytes(256)
    assert encoded[:1] == b"\x00"
    assert hashlib.sha256(message).digest() in encoded
    assert encoded.endswith(hashlib.sha256(message).digest()) is (variant in {"block_type_two", "length_in_long_form"})


def test_a_signature_with_sha1_verifies_as_one() -> None:
    public = published_key(Role.ISSUER, Algorithm.RS256).private.public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    message, signature = signed_part(mint_case(good(), "sha1_signature", "rs1").token)
    recovered = public.recover_data_from_signature(signature, padding.PKCS1v15(), None)
    assert recovered.endswith(hashlib.sha1(message, usedforsecurity=False).digest())


def test_the_certificate_in_the_header_is_of_the_key_that_signed() -> None:
    minted = mint_case(good(), "x5c_of_stranger", "own_kid")
    (encoded,) = minted.header["x5c"]
    public = x509.load_der_x509_certificate(b64decode(encoded)).public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    message, signature = signed_part(minted.token)
    public.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
    assert mint_case(good(), "x5c_of_stranger", "own_kid").header["x5c"] == [encoded]


def decrypted(token: str) -> bytes:
    key = published_key(Role.ENCRYPTION, Algorithm.RS256).private
    assert isinstance(key, rsa.RSAPrivateKey)
    protected, wrapped, vector, sealed, tag = token.split(".")
    content = key.decrypt(unb64url(wrapped), padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None))
    return AESGCM(content).decrypt(unb64url(vector), unb64url(sealed) + unb64url(tag), protected.encode())


def test_an_encrypted_token_opens_with_the_published_encryption_key() -> None:
    base = good()
    plaintexts = {
        name: decrypted(mint_case(base, f"encrypted_{name}", "encryption_key").token)
        for name in ("unsigned", "claims", "forgery", "honest")
    }
    assert json.loads(plaintexts["claims"]) == dict(base.claims)
    assert plaintexts["unsigned"].endswith(b".")
    assert strict().verify(plaintexts["honest"].decode())["sub"] == "alice"
    with pytest.raises(Refused):
        strict().verify(plaintexts["forgery"].decode())


def test_a_costly_password_names_its_rounds_and_costs_nothing_to_make() -> None:
    header, _ = decode_parts(mint_case(good(), "encrypted_by_costly_password").token)
    assert header is not None
    assert header["p2c"] == 10_000_000


def test_a_bomb_unpacks_to_two_megabytes_of_claims_and_weighs_less_than_five_kilobytes() -> None:
    token = mint_case(good(), "encrypted_bomb", "encryption_key").token
    assert len(token) < 5000
    unpacked = zlib.decompress(decrypted(token), -zlib.MAX_WBITS)
    assert len(unpacked) > 2_000_000
    assert json.loads(unpacked)["sub"] == "alice"
