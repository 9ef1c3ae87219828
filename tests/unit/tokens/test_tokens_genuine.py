"""A genuine token keeps its octets, and only what needs no signature of its issuer can be made of it."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace

import pytest

from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    CannotSign,
    GenuineToken,
    Role,
    TokenProfile,
    TokenSpec,
    genuine_spec,
    mint_case,
    obstacle,
    opaque_spec,
    parse_genuine,
    published_key,
    strangers_keys,
)
from mcp_auth_contract.tokens.genuine import tampering
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.mint import mint
from mcp_auth_contract.tokens.spec import compact_json, difference

BY_TAMPERING = frozenset(
    {
        "alg_none",
        "alg_none_with_signature",
        "alg_twice",
        "alg_unknown_unsigned",
        "algorithm_of_other_key_type",
        "client_assertion",
        "deep_json",
        "ed25519_above_order",
        "embedded_jwk",
        "encrypted_by_costly_password",
        "es256_degenerate",
        "es256_encoding",
        "extra_segments",
        "header_swapped",
        "hmac_with_public_key",
        "hmac_with_weak_secret",
        "jku_of_stranger",
        "json_serialization",
        "kid_leads_elsewhere",
        "kid_names_file",
        "kid_names_prototype",
        "kid_names_query",
        "malformed",
        "members_in_prototype",
        "odd_base64url",
        "other_token_family",
        "oversized",
        "payload_swapped",
        "signature_bit_flipped",
        "signature_removed",
        "signature_segment_missing",
        "signature_truncated",
        "signature_zeroed",
        "signed_by_stranger",
        "signed_by_stranger_unknown_kid",
        "stray_characters",
        "x5c_of_stranger",
        "x5u_of_stranger",
    }
)

KEYS = strangers_keys(lambda alg, _kid: published_key(Role.STRANGER, alg))
CLAIMS = {"sub": "alice", "iss": "https://as.test", "aud": "https://rs.test/mcp", "exp": 4102444800, "scope": "read"}


def signed(by: Algorithm, claims: Mapping[str, object], **header: object) -> str:
    """Write a token with spaces in its JSON, as the kit itself never does."""
    members = {"alg": str(by), "kid": "k1", "typ": "at+jwt", **header}
    head, body = (json.dumps(one, indent=1).encode() for one in (members, claims))
    message = f"{b64url(head)}.{b64url(body)}"
    return f"{message}.{b64url(published_key(Role.ISSUER, by).sign(message.encode()))}"


def written(header: str, payload: str) -> str:
    return f"{b64url(header.encode())}.{b64url(payload.encode())}.AAAA"


def parsed(token: str) -> GenuineToken:
    parts = parse_genuine(token)
    assert parts is not None
    return parts


def spec_of(token: str, algorithm: Algorithm = Algorithm.RS256) -> TokenSpec:
    profile = TokenProfile(issuer="https://as.test", audience="https://rs.test/mcp", algorithm=algorithm)
    return genuine_spec(parsed(token), profile, time.time())


@pytest.mark.parametrize("alg", Algorithm)
def test_a_genuine_token_is_minted_octet_for_octet(alg: Algorithm) -> None:
    token = signed(alg, CLAIMS)
    good = spec_of(token, alg)
    assert mint(good) == token
    assert good.header_bytes != compact_json(good.header)
    assert mint(good.with_claim("sub", "alice")) == token


def test_a_changed_claim_or_header_cannot_be_signed() -> None:
    good = spec_of(signed(Algorithm.RS256, CLAIMS))
    with pytest.raises(CannotSign, match="a changed claim would be refused for its signature"):
        mint(good.with_claim("sub", "bob"))
    with pytest.raises(CannotSign, match="a changed claim"):
        mint(good.with_claim("exp", float(4102444800)))
    with pytest.raises(CannotSign, match="a changed header would be refused for its signature"):
        mint(good.without_header("kid"))


def test_the_issuers_key_is_in_nobodys_hands() -> None:
    key = spec_of(signed(Algorithm.RS256, CLAIMS)).key
    for look in (lambda: key.private, key.public_jwk, key.public_pem, lambda: replace(key, kid="other")):
        with pytest.raises(CannotSign):
            look()
    for role in set(Role) - {Role.STRANGER}:
        with pytest.raises(CannotSign, match="the kit's own issuer"):
            KEYS(role, Algorithm.RS256)


def test_a_stranger_keeps_to_one_key() -> None:
    find = strangers_keys()
    assert find(Role.STRANGER, Algorithm.ES256) == find(Role.STRANGER, Algorithm.ES256)
    assert find(Role.STRANGER, Algorithm.ES256) != strangers_keys()(Role.STRANGER, Algorithm.ES256)


def test_a_token_by_an_algorithm_of_others_can_still_lose_its_signature() -> None:
    good = spec_of(signed(Algorithm.RS256, CLAIMS, alg="RS512"))
    assert obstacle(good, "signature_removed", None, KEYS) is None
    assert obstacle(good, "alg_none", "none", KEYS) is None
    assert obstacle(good, "signed_by_stranger", None, KEYS) == "the kit does not sign with the algorithm of this token"


ODD: list[dict[str, object]] = [
    {},
    {"sub": 7, "iss": None, "aud": ["a", 2], "exp": "soon", "scope": 5, "tenant": {}},
    {"exp": 4.1e9, "aud": []},
]


@pytest.mark.parametrize("alg", Algorithm)
@pytest.mark.parametrize("claims", [CLAIMS, *ODD])
def test_every_faulty_token_that_can_be_made_differs_from_the_genuine_token(
    alg: Algorithm, claims: Mapping[str, object]
) -> None:
    token = signed(alg, claims)
    good = spec_of(token, alg)
    made = 0
    for defect in DEFECTS.values():
        for variant in defect.variants or ("",):
            if obstacle(good, defect.name, variant, KEYS) is None:
                made += 1
                assert mint_case(good, defect.name, variant, keys=KEYS).token != token
    assert made > 80


def test_tampering_alone_makes_these_faults_and_no_others() -> None:
    assert {name for name in DEFECTS if tampering(name)} == BY_TAMPERING


def test_an_opaque_token_takes_other_forms_only() -> None:
    profile = TokenProfile(issuer="", audience="https://rs.test/mcp", opaque=True)
    good = opaque_spec("2YotnFZFEjr1zCsicMWpAA", profile, time.time())
    assert mint(good) == "2YotnFZFEjr1zCsicMWpAA"
    able = {
        name for name, one in DEFECTS.items() for v in one.variants or ("",) if obstacle(good, name, v, KEYS) is None
    }
    assert able == {"malformed", "oversized", "encrypted_by_costly_password"}


@pytest.mark.parametrize(
    "token",
    [
        "2YotnFZFEjr1zCsicMWpAA",
        "a.b.c",
        "e30.e30.",
        written("{}", "{}"),
        written("[]", "{}"),
        written('{"alg":256}', "{}"),
        written('{"alg":"RS256"}', "7"),
        written('{"alg":"RS256"}', '{"exp":NaN}'),
        written('{"alg":"RS256"}', '{"sub":"\\ud800"}'),
        written('{"alg":"RS256"}', "{}").replace(".", "=.", 1),
    ],
)
def test_what_is_no_compact_jwt_is_opaque(token: str) -> None:
    assert parse_genuine(token) is None


def test_no_repr_shows_a_part_of_the_token() -> None:
    token = signed(Algorithm.ES256, CLAIMS)
    good = spec_of(token, Algorithm.ES256)
    shown = repr((good.key, parsed(token), mint_case(good, "signature_removed")))
    assert not any(part in shown for part in token.split("."))
    assert "alice" not in repr((good.key, parsed(token)))


def test_a_token_that_need_not_make_sense_is_a_jwt() -> None:
    assert parse_genuine(written('{"alg":"RS256"}', "{}")) is not None


def test_a_changed_header_is_told_by_its_path() -> None:
    good = spec_of(signed(Algorithm.RS256, CLAIMS))
    assert difference(good, good.with_header(alg="none")) == {"header.alg"}
