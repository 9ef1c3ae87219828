"""Each fault of algorithm, key, extension and encryption lets in, or breaks over, exactly the token it is about."""

import json
import time

import pytest

from mcp_auth_contract.issuer.odd_keys import self_signed
from mcp_auth_contract.tokens import Algorithm, Identity, Role, TokenProfile, good_token, mint_case, published_key
from mcp_auth_contract_lab.faults import FAULTS, extensions, selection
from mcp_auth_contract_lab.fetching import Reply

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
ISSUER, RESOURCE = "https://issuer.test", "https://mcp.test/mcp"
LISTENING = "https://listening.test/heard/x"

LET_IN = {
    "algorithm-of-any-type": ("algorithm_of_wrong_type", "object"),
    "key-type-unbound": ("algorithm_of_other_key_type", "es256"),
    "hmac-with-curve-octets": ("hmac_with_es256_key", "point"),
    "hmac-with-modulus": ("hmac_with_public_key", "modulus_text"),
    "hmac-with-weak-secret": ("hmac_with_weak_secret", "your_256_bit_secret"),
    "sha1-accepted": ("sha1_signature", "rs1"),
    "pkcs1-padding-unread": ("pkcs1_padding_edited", "cut_short"),
    "es256-zero-accepted": ("es256_degenerate", "zero_zero"),
    "es256-der-accepted": ("es256_encoding", "der"),
    "kid-of-any-type": ("kid_of_wrong_type", "list"),
    "kid-compared-loosely": ("kid_lookalike", "upper"),
    "kid-opens-file": ("kid_names_file", "relative"),
    "kid-in-query": ("kid_names_query", "union"),
    "kid-in-object": ("kid_names_prototype", "constructor"),
    "kid-resolved-as-url": ("kid_leads_elsewhere", "url"),
    "jku-followed": ("jku_of_stranger", "own_kid"),
    "x5u-followed": ("x5u_of_stranger", "own_kid"),
    "x5c-trusted": ("x5c_of_stranger", "own_kid"),
    "second-issuer-shares-keys": ("signed_by_second_issuer", ""),
    "issuer-of-token-trusted": ("issued_by_second_issuer", ""),
    "critical-without-parameter-ignored": ("critical_extension_named", "absent"),
    "critical-of-other-type-ignored": ("critical_of_wrong_type", "text"),
    "payload-unencoded-read": ("payload_unencoded", "in_the_middle"),
    "payload-unpacked": ("payload_compressed", ""),
    "nested-not-verified": ("nested_unsigned", ""),
    "header-claims-win": ("claim_repaired_in_header", "aud_in_header"),
    "encrypted-unsigned-believed": ("encrypted_unsigned", "encryption_key"),
    "encrypted-claims-believed": ("encrypted_claims", "encryption_key"),
    "encrypted-token-not-verified": ("encrypted_forgery", "encryption_key"),
    "encryption-with-public-key": ("encrypted_with_public_key", "encryption_key"),
    "disclosures-ignored": ("other_token_family", "sd_jwt"),
}
BROKEN_OVER = {
    "algorithm-letters-break": ("algorithm_in_other_case", "lower"),
    "algorithm-sister-breaks": ("other_algorithm_of_key", "rs512"),
    "pss-parameters-break": ("pss_salt_length", "none"),
    "ed25519-range-breaks": ("ed25519_above_order", ""),
    "kid-missing-breaks": ("kid_missing", "absent"),
    "kid-too-long-breaks": ("kid_long", ""),
    "jku-breaks": ("jku_with_trusted_signature", ""),
    "issuer-jwk-breaks": ("jwk_of_issuer", ""),
    "encryption-key-breaks": ("signed_with_encryption_key", ""),
    "critical-list-breaks": ("critical_list_pointless", "empty"),
    "payload-called-unencoded-breaks": ("payload_called_unencoded", ""),
    "payload-called-compressed-breaks": ("payload_called_compressed", ""),
    "nested-breaks": ("nested_signed", ""),
    "header-issuer-breaks": ("claim_contradicted_in_header", "issuer"),
    "encrypted-breaks": ("encrypted_honest", "encryption_key"),
    "costly-password-derived": ("encrypted_by_costly_password", ""),
    "encrypted-bomb-unpacked": ("encrypted_bomb", "encryption_key"),
}
KEEPING_OUT = {"rs256-alone": ("signed_with_es256", "")}


def answered(url, **_):
    """Stand in for the network: a stranger's keys and certificate, and the keys of the second issuer."""
    stranger, second = (published_key(role, Algorithm.RS256) for role in (Role.STRANGER, Role.SECOND))
    bodies = {
        LISTENING: json.dumps({"keys": [stranger.public_jwk()]}).encode(),
        f"{LISTENING}/cert.pem": self_signed(stranger, time.time()),
        f"{ISSUER}/second/jwks": json.dumps({"keys": [second.public_jwk()]}).encode(),
        f"{ISSUER}/jwks": json.dumps(PUBLISHED).encode(),
    }
    return Reply(200, bodies[url]) if url in bodies else Reply(404, b"")


PUBLISHED = {
    "keys": [
        *(published_key(Role.ISSUER, alg).public_jwk() for alg in Algorithm),
        {**published_key(Role.ENCRYPTION, Algorithm.RS256).public_jwk(), "use": "enc", "alg": "RSA-OAEP-256"},
    ]
}


def token(defect=None, variant=None, subject="alice", tenant="t1"):
    profile = TokenProfile(
        issuer=ISSUER,
        audience=RESOURCE,
        tenant_claim="tenant_id",
        algorithms=frozenset(Algorithm),
        required=frozenset({"sub", "tenant_id"}),
    )
    identity = Identity(name=subject, subject=subject, tenant=tenant, scopes=("invoices:read",))
    good = good_token(profile, identity, published_key(Role.ISSUER, Algorithm.RS256), time.time())
    return mint_case(good, defect, variant, listening=lambda _: LISTENING).token


@pytest.fixture
def lab_with(make_lab, monkeypatch):
    monkeypatch.setattr(selection, "exchange", answered)

    def make(fault=None):
        private = published_key(Role.ENCRYPTION, Algorithm.RS256).private
        settings = {"keys": PUBLISHED, "jwks_uri": f"{ISSUER}/jwks", "decryption_key": private}
        return make_lab(fault=fault and FAULTS[fault], **settings)

    return make


def read(lab, sent):
    return CANARY in lab.modern("tools/call", CALL, sent).text


@pytest.mark.parametrize("name", LET_IN)
def test_a_fault_lets_its_token_in_and_the_sound_server_does_not(lab_with, name):
    sent = token(*LET_IN[name])
    assert read(lab_with(name), sent)
    assert lab_with().modern("tools/call", CALL, sent).status_code in (400, 401)


@pytest.mark.parametrize("name", BROKEN_OVER)
def test_a_fault_breaks_over_its_token_and_the_sound_server_does_not(lab_with, name):
    sent = token(*BROKEN_OVER[name])
    assert lab_with(name).modern("tools/call", CALL, sent).status_code == 500
    assert lab_with().modern("tools/call", CALL, sent).status_code in (200, 401)


@pytest.mark.parametrize("name", KEEPING_OUT)
def test_a_fault_keeps_an_honest_token_out_and_the_sound_server_does_not(lab_with, name):
    sent = token(*KEEPING_OUT[name])
    assert lab_with(name).modern("tools/call", CALL, sent).status_code == 401
    assert read(lab_with(), sent)


@pytest.mark.parametrize("name", [*LET_IN, *BROKEN_OVER, *KEEPING_OUT])
def test_such_a_fault_leaves_the_rest_alone(lab_with, name):
    lab = lab_with(name)
    assert read(lab, token())
    assert not read(lab, token(subject="bob"))
    assert lab.modern("tools/call", CALL).status_code == 401
    for defect in ("signed_by_stranger", "signature_bit_flipped", "alg_none", "expired"):
        assert lab.modern("tools/call", CALL, token(defect)).status_code == 401


def test_every_such_fault_has_been_seen_to_show():
    rooms = (selection, extensions)
    assert {*LET_IN, *BROKEN_OVER, *KEEPING_OUT} == {name for room in rooms for name in room.FAULTS}


@pytest.mark.parametrize("name", ["encrypted-claims-believed", "encryption-with-public-key"])
def test_a_server_without_a_decryption_key_does_not_show_the_fault(lab_with, make_lab, name):
    lab = make_lab(fault=FAULTS[name], keys=PUBLISHED)
    assert lab.modern("tools/call", CALL, token(*LET_IN[name])).status_code == 401
