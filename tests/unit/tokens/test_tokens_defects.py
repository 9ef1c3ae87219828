import hashlib
import hmac
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import mcp_auth_contract.tokens.defects as defects
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    Expectation,
    Identity,
    KeyFinder,
    Minted,
    MintedWrongly,
    Need,
    Role,
    SigningKey,
    TokenProfile,
    TokenSpec,
    decode_parts,
    fresh_key,
    good_token,
    mint_case,
    published_key,
)
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.spec import compact_json
from mcp_auth_contract.tokens.verify import Reason, Refused, StrictVerifier

ALICE = Identity(name="alice", subject="alice", tenant="t1", scopes=("read", "write"))
LEEWAY = 60


def profile(audience: str = "https://mcp.example.com/mcp", issuer: str = "http://127.0.0.1:9000") -> TokenProfile:
    return TokenProfile(
        issuer=issuer,
        audience=audience,
        tenant_claim="tenant_id",
        required=frozenset({"sub", "tenant_id"}),
        leeway=LEEWAY,
    )


def good(alg: Algorithm = Algorithm.RS256, how: TokenProfile | None = None) -> TokenSpec:
    return good_token(how or profile(), ALICE, published_key(Role.ISSUER, alg), time.time())


def strict(alg: Algorithm = Algorithm.RS256, how: TokenProfile | None = None) -> StrictVerifier:
    chosen = how or profile()
    keys = [published_key(Role.ISSUER, alg), published_key(Role.LOOKALIKE, alg)]
    return StrictVerifier(
        keys,
        issuer=chosen.issuer,
        audience=chosen.audience,
        algorithms=[alg],
        leeway=LEEWAY,
        required=["sub", "tenant_id"],
    )


def cases(alg: Algorithm) -> Iterator[tuple[str, str]]:
    for name, defect in DEFECTS.items():
        for variant in defect.variants_for(good(alg), published_key):
            yield name, variant


def minted(name: str, variant: str, alg: Algorithm = Algorithm.RS256) -> Minted:
    return mint_case(good(alg), name, variant or None)


EVERY = [(alg, *case) for alg in Algorithm for case in cases(alg)]

REASONS: Mapping[str, set[Reason]] = {
    "expired": {Reason.EXPIRED},
    "expired_long_ago": {Reason.EXPIRED},
    "expired_and_unscoped": {Reason.EXPIRED},
    "not_yet_valid": {Reason.NOT_YET_VALID},
    "without_expiry": {Reason.CLAIM},
    "issuer_missing": {Reason.ISSUER},
    "issuer_other": {Reason.ISSUER},
    "issuer_lookalike": {Reason.ISSUER},
    "issuer_trailing_slash": {Reason.ISSUER},
    "audience_missing": {Reason.AUDIENCE},
    "audience_other": {Reason.AUDIENCE},
    "audience_empty_list": {Reason.AUDIENCE},
    "audience_list_without_own": {Reason.AUDIENCE},
    "audience_lookalike": {Reason.AUDIENCE},
    "audience_wildcard": {Reason.AUDIENCE},
    "audience_of_issuer": {Reason.AUDIENCE},
    "audience_trailing_slash": {Reason.AUDIENCE},
    "audience_object": {Reason.AUDIENCE},
    "subject_missing": {Reason.CLAIM},
    "subject_empty": {Reason.CLAIM},
    "subject_null": {Reason.CLAIM},
    "tenant_missing": {Reason.CLAIM},
    "tenant_empty": {Reason.CLAIM},
    "tenant_null": {Reason.CLAIM},
    "signature_bit_flipped": {Reason.SIGNATURE},
    "signature_removed": {Reason.SIGNATURE},
    "signature_segment_missing": {Reason.MALFORMED},
    "signature_truncated": {Reason.SIGNATURE},
    "signature_zeroed": {Reason.SIGNATURE},
    "signature_of_other_token": {Reason.SIGNATURE},
    "payload_swapped": {Reason.SIGNATURE},
    "header_swapped": {Reason.SIGNATURE},
    "algorithm_mismatch": {Reason.SIGNATURE},
    "signed_by_stranger": {Reason.SIGNATURE},
    "signed_by_stranger_unknown_kid": {Reason.KEY},
    "signed_by_second_issuer": {Reason.KEY},
    "alg_none": {Reason.ALGORITHM},
    "alg_none_with_signature": {Reason.ALGORITHM},
    "alg_unknown_unsigned": {Reason.ALGORITHM},
    "hmac_with_public_key": {Reason.ALGORITHM},
    "embedded_jwk": {Reason.SIGNATURE, Reason.KEY},
    "unknown_critical_extension": {Reason.CRITICAL},
    "hostile_text": {Reason.KEY},
    "oversized": {Reason.MALFORMED},
    "malformed": {Reason.MALFORMED, Reason.SIGNATURE},
}


@pytest.mark.parametrize("alg", Algorithm)
def test_the_good_token_is_accepted(alg: Algorithm) -> None:
    assert strict(alg).verify(mint_case(good(alg)).token)["sub"] == "alice"


def test_every_defect_is_refused_for_its_own_reason_or_legal() -> None:
    assert set(REASONS) == {name for name, defect in DEFECTS.items() if not defect.legal}


@pytest.mark.parametrize(("alg", "name", "variant"), EVERY)
def test_the_twin_is_refused_for_the_stated_reason(alg: Algorithm, name: str, variant: str) -> None:
    token = minted(name, variant, alg).token
    verifier = strict(alg)
    if DEFECTS[name].legal:
        assert verifier.verify(token)["sub"] == "alice"
        return
    with pytest.raises(Refused) as refused:
        verifier.verify(token)
    assert refused.value.reason in REASONS[name]


@pytest.mark.parametrize(("name", "variant"), [case[1:] for case in EVERY if case[0] is Algorithm.ES256])
def test_the_minted_token_differs_from_the_good_one_where_declared(name: str, variant: str) -> None:
    base = good(Algorithm.ES256)
    honest, twin = mint_case(base), mint_case(base, name, variant or None)
    assert twin.token != honest.token
    if "serialization" in twin.change or twin.change in {"header", "claims"}:
        return
    for part, one, other in (
        ("header", honest.header, twin.header),
        ("claims", honest.claims, twin.claims),
    ):
        assert one is not None
        assert other is not None
        missing = object()
        differing = {f"{part}.{key}" for key in {*one, *other} if one.get(key, missing) != other.get(key, missing)}
        assert differing == {path for path in twin.change.split(", ") if path.startswith(f"{part}.")}


@pytest.mark.parametrize(("name", "variant"), [case[1:] for case in EVERY if case[0] is Algorithm.RS256])
def test_a_token_fits_into_an_authorization_header_and_stays_out_of_its_repr(name: str, variant: str) -> None:
    case = minted(name, variant)
    assert case.token.isascii()
    assert case.token.isprintable()
    assert " " not in case.token
    if len(case.token) > 20:
        assert case.token not in repr(case)
        assert all(part not in repr(case) for part in case.token.split(".") if len(part) > 20)
    assert case.label == f"token-{name}#{hashlib.sha256(case.token.encode()).hexdigest()[:8]}"


def test_no_two_forms_of_one_defect_are_the_same_token() -> None:
    base = good(Algorithm.EDDSA)
    for name, defect in DEFECTS.items():
        tokens = [mint_case(base, name, v or None).token for v in defect.variants_for(base, published_key)]
        assert len(set(tokens)) == len(tokens), name


def test_a_good_token_is_labelled_as_such() -> None:
    case = mint_case(good())
    assert case.label == f"token-good#{case.sha8}"
    assert case.change == ""


def test_names_are_lower_case_words_and_sentences_end() -> None:
    for name, defect in DEFECTS.items():
        assert name == defect.name
        for word in (name, *defect.variants):
            assert word.replace("_", "").isalnum()
        assert defect.sentence.endswith(".")
        assert "\n" not in defect.sentence


def test_only_slashes_are_disputed_and_only_lists_legal() -> None:
    by_expectation = {name: defect.expectation for name, defect in DEFECTS.items()}
    assert {name for name, found in by_expectation.items() if found is Expectation.DISPUTED} == {
        "issuer_trailing_slash",
        "audience_trailing_slash",
    }
    assert {name for name, found in by_expectation.items() if found is Expectation.ACCEPTED} == {
        "audience_list_with_own"
    }


def test_expiry_lies_beyond_the_leeway_and_nothing_else_moves() -> None:
    base = good()
    _, claims = decode_parts(mint_case(base, "expired").token)
    assert claims is not None
    assert claims["exp"] == int(base.now - LEEWAY) - 900
    assert claims["iat"] == base.claims["iat"]


def test_other_parties_keys_come_from_the_finder() -> None:
    mine = {role: fresh_key(Algorithm.ES256, f"{role}-mine") for role in (Role.STRANGER, Role.SECOND)}

    def find(role: Role, alg: Algorithm) -> SigningKey:
        assert alg is Algorithm.ES256
        return mine[role]

    finder: KeyFinder = find
    for name, kid in (
        ("signed_by_stranger_unknown_kid", "stranger-mine"),
        ("signed_by_second_issuer", "second-mine"),
    ):
        header, _ = decode_parts(mint_case(good(Algorithm.ES256), name, keys=finder).token)
        assert header is not None
        assert header["kid"] == kid


def test_the_embedded_key_verifies_the_token_it_is_in() -> None:
    token = mint_case(good(Algorithm.ES256), "embedded_jwk").token
    header = jwt.get_unverified_header(token)
    key = jwt.PyJWK.from_dict(header["jwk"])
    assert jwt.decode(token, key, ["ES256"], options={"verify_aud": False})["sub"] == "alice"
    assert "d" not in header["jwk"]


@pytest.mark.parametrize("defect", ["subject_missing", "tenant_missing", "tenant_null"])
def test_a_claim_that_is_not_required_cannot_be_a_defect(defect: str) -> None:
    loose = TokenProfile(issuer="http://i.test", audience="http://a.test", required=frozenset())
    base = good(how=loose)
    assert DEFECTS[defect].variants_for(base, published_key) == ()
    with pytest.raises(UsageError, match="required"):
        mint_case(base, defect)


def test_a_mismatch_of_algorithms_needs_an_rsa_key() -> None:
    assert DEFECTS["algorithm_mismatch"].needs == {Need.RSA_KEY}
    with pytest.raises(UsageError, match="rsa-key"):
        mint_case(good(Algorithm.EDDSA), "algorithm_mismatch")


@pytest.mark.parametrize("audience", ["https://mcp.example.com", "api://4711", "4711", "http://[::1]:8000/a/b/"])
def test_every_lookalike_that_is_offered_is_another_audience(audience: str) -> None:
    how = profile(audience)
    base = good(Algorithm.ES256, how)
    for name in ("audience_lookalike", "audience_wildcard", "audience_trailing_slash", "issuer_lookalike"):
        for variant in DEFECTS[name].variants_for(base, published_key):
            with pytest.raises(Refused):
                strict(Algorithm.ES256, how).verify(mint_case(base, name, variant).token)


def test_an_audience_without_a_path_has_no_sibling_and_no_parent() -> None:
    offered = DEFECTS["audience_lookalike"].variants_for(good(how=profile("https://mcp.example.com")), published_key)
    assert {"sibling_path", "parent_origin", "path_in_other_case"}.isdisjoint(offered)
    assert "host_suffixed" in offered


def test_a_variant_that_makes_no_difference_is_told_apart_from_an_unknown_one() -> None:
    base = good(how=profile("https://mcp.example.com"))
    with pytest.raises(UsageError, match="no difference"):
        mint_case(base, "audience_lookalike", "sibling_path")
    with pytest.raises(UsageError, match="did you mean 'sibling_path'"):
        mint_case(base, "audience_lookalike", "sibling_pat")
    with pytest.raises(UsageError, match="no variants"):
        mint_case(base, "expired", "x")
    with pytest.raises(UsageError, match="did you mean 'expired'"):
        mint_case(base, "expird")


def test_a_break_that_changes_what_it_does_not_declare_is_not_minted(monkeypatch: pytest.MonkeyPatch) -> None:
    lying = replace(DEFECTS["expired"], changes=("claims.nbf",))
    monkeypatch.setattr(defects, "DEFECTS", {"expired": lying})
    with pytest.raises(MintedWrongly, match="declares"):
        mint_case(good(), "expired")


@pytest.mark.parametrize("variant", DEFECTS["hmac_with_public_key"].variants)
def test_a_server_that_takes_the_public_key_for_a_secret_would_be_fooled(variant: str) -> None:
    key = published_key(Role.ISSUER, Algorithm.RS256)
    public = key.private.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    secrets = {
        "pem": pem,
        "pem_without_newline": pem.rstrip(b"\n"),
        "pem_with_crlf": pem.replace(b"\n", b"\r\n"),
        "pkcs1_pem": public.public_bytes(Encoding.PEM, PublicFormat.PKCS1),
        "der": public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        "jwk": compact_json(key.public_jwk()),
        "empty": b"",
    }
    message, _, signature = minted("hmac_with_public_key", variant).token.rpartition(".")
    assert signature == b64url(hmac.digest(secrets[variant], message.encode(), "sha256"))
