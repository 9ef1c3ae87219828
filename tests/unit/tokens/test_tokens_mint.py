import dataclasses
import hashlib
import hmac
import json

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt as joserfc_jwt
from joserfc.jwk import JWKRegistry

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
from mcp_auth_contract.tokens.keys import b64url, unb64url
from mcp_auth_contract.tokens.mint import MintedWrongly, decode_parts, mint
from mcp_auth_contract.tokens.spec import ScopeFormat, difference, keyed, unsigned

NOW = 1_800_000_000.75
PROFILE = TokenProfile(
    issuer="http://127.0.0.1:9000",
    audience="https://mcp.example.com/mcp",
    tenant_claim="tenant_id",
    required=frozenset({"sub", "tenant_id"}),
)
ALICE = Identity(name="alice", subject="alice", tenant="t1", scopes=("read", "write"), claims={"roles": ["user"]})


def spec(alg: Algorithm = Algorithm.ES256, **changes: object) -> TokenSpec:
    good = good_token(PROFILE, ALICE, published_key(Role.ISSUER, alg), NOW, random_id=lambda: "j1")
    return dataclasses.replace(good, **changes)


@pytest.mark.parametrize("alg", Algorithm)
def test_a_good_token_verifies_with_pyjwt(alg: Algorithm) -> None:
    jwk = jwt.PyJWK.from_dict(published_key(Role.ISSUER, alg).public_jwk())
    options = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}
    claims = jwt.decode(mint(spec(alg)), jwk, [alg], audience=PROFILE.audience, issuer=PROFILE.issuer, options=options)
    assert claims["sub"] == "alice"


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated via RFC 9864")
@pytest.mark.parametrize("alg", Algorithm)
def test_a_good_token_verifies_with_joserfc(alg: Algorithm) -> None:
    key = JWKRegistry.import_key(published_key(Role.ISSUER, alg).public_jwk())
    assert joserfc_jwt.decode(mint(spec(alg)), key, algorithms=[alg]).claims["tenant_id"] == "t1"


def test_a_good_token_says_everything_that_rfc_9068_requires() -> None:
    header, claims = decode_parts(mint(spec()))
    assert header == {"alg": "ES256", "typ": "at+jwt", "kid": "issuer-es256-published"}
    assert claims == {
        "iss": PROFILE.issuer,
        "aud": PROFILE.audience,
        "sub": "alice",
        "client_id": "mcp-auth-contract",
        "iat": 1_799_999_995,
        "nbf": 1_799_999_995,
        "exp": 1_800_000_300,
        "jti": "j1",
        "scope": "read write",
        "tenant_id": "t1",
        "roles": ["user"],
    }


def test_claim_names_and_scope_format_follow_the_profile() -> None:
    profile = TokenProfile(
        issuer="i",
        audience="a",
        subject_claim="oid",
        scope_claim="scp",
        scope_format=ScopeFormat.LIST,
        client_claim="azp",
        typ=None,
        extra={"ver": "2.0"},
    )
    good = good_token(profile, ALICE, published_key(Role.ISSUER, Algorithm.ES256), NOW)
    assert good.claims["oid"] == "alice"
    assert good.claims["scp"] == ["read", "write"]
    assert good.claims["ver"] == "2.0"
    assert "azp" in good.claims
    assert "tenant_id" not in good.claims
    assert "typ" not in good.header


def test_scopes_given_at_minting_replace_those_of_the_identity() -> None:
    key = published_key(Role.ISSUER, Algorithm.ES256)
    assert good_token(PROFILE, ALICE, key, NOW, scopes=("read",)).claims["scope"] == "read"
    assert "scope" not in good_token(PROFILE, ALICE, key, NOW, scopes=()).claims


def test_two_good_tokens_have_different_ids_and_no_other_difference() -> None:
    key = published_key(Role.ISSUER, Algorithm.ES256)
    one, other = (good_token(PROFILE, ALICE, key, NOW) for _ in range(2))
    assert one.claims["jti"] != other.claims["jti"]
    assert difference(one, other) == frozenset()


def test_a_spec_cannot_be_changed_in_place() -> None:
    with pytest.raises(TypeError):
        spec().claims["sub"] = "bob"  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec().form = "x"  # type: ignore[misc]


def test_equal_specs_hash_alike() -> None:
    assert spec() == spec()
    assert hash(spec()) == hash(spec())
    assert spec() != spec().with_claim("sub", "bob")


def test_difference_tells_types_apart() -> None:
    assert difference(spec().with_claim("n", 1), spec().with_claim("n", True)) == {"claims.n"}
    assert difference(spec().with_claim("n", None), spec()) == {"claims.n"}
    assert difference(spec(), spec().with_header(kid="x").without_claim("exp")) == {
        "header.kid",
        "claims.exp",
    }


EDITED = [
    ("signature_bit_flipped", None),
    *((name, variant) for name in ("signature_truncated", "signature_zeroed") for variant in DEFECTS[name].variants),
]


@pytest.mark.parametrize(("name", "variant"), EDITED)
@pytest.mark.parametrize("alg", [Algorithm.RS256, Algorithm.ES256, Algorithm.EDDSA])
def test_an_edited_signature_does_not_verify(alg: Algorithm, name: str, variant: str | None) -> None:
    token = mint_case(spec(alg), name, variant).token
    key = jwt.PyJWK.from_dict(published_key(Role.ISSUER, alg).public_jwk())
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(token, key, [alg])


def test_a_flipped_signature_differs_in_one_significant_bit() -> None:
    rsa = spec(Algorithm.RS256)
    honest = unb64url(mint(rsa).rpartition(".")[2])
    flipped = unb64url(mint_case(rsa, "signature_bit_flipped").token.rpartition(".")[2])
    differing = int.from_bytes(honest, "big") ^ int.from_bytes(flipped, "big")
    assert differing.bit_count() == 1


def test_a_signature_that_is_not_what_the_spec_says_is_not_minted() -> None:
    with pytest.raises(MintedWrongly):
        mint(spec(signature=lambda key, message: key.sign(message)))


def test_a_keyed_signature_is_hmac_sha256_of_the_signing_input() -> None:
    token = mint(spec(signature=keyed(b"secret")))
    message, _, signature = token.rpartition(".")
    assert signature == b64url(hmac.new(b"secret", message.encode(), hashlib.sha256).digest())


def test_no_repr_holds_a_secret() -> None:
    assert "very-secret" not in repr(spec(signature=keyed(b"very-secret")))
    private = json.dumps(str(published_key(Role.ISSUER, Algorithm.ES256).private))
    assert private not in repr(spec())


def test_a_header_that_does_not_decode_to_itself_is_not_minted() -> None:
    with pytest.raises(MintedWrongly):
        mint(spec().with_claim("pair", (1, 2)))
    with pytest.raises(MintedWrongly):
        mint(spec(signature=unsigned, form="{header}.{payload}.{signature}").with_claim("x", (1,)))


def test_an_absent_signature_leaves_the_second_dot() -> None:
    assert mint(spec(signature=unsigned)).endswith(".")


@given(st.text(max_size=40))
def test_decoding_parts_of_anything_never_raises(text: str) -> None:
    decode_parts(text)
    decode_parts(f"{text}.{b64url(text.encode())}.")


def test_decoding_parts_of_a_deep_header_yields_nothing() -> None:
    assert decode_parts(f"{b64url(b'[' * 100_000)}.x.y")[0] is None


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9) | st.none(), max_size=4))
def test_any_claims_survive_minting(claims: dict[str, object]) -> None:
    token = mint(spec(claims=claims, signature=unsigned))
    assert decode_parts(token)[1] == claims
