import dataclasses
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.strict_verifier import Refused, StrictVerifier
from tests.unit.tokens.defects import reasons

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    Identity,
    KeyFinder,
    Minted,
    Role,
    SigningKey,
    TokenProfile,
    TokenSpec,
    good_token,
    mint_case,
    published_key,
)
from mcp_auth_contract.tokens.defects.defect import Capability, Expectation
from mcp_auth_contract.tokens.defects.secrets import SECRETS
from mcp_auth_contract.tokens.keys import b64url, fresh_key
from mcp_auth_contract.tokens.mint import decode_parts
from mcp_auth_contract.tokens.spec import compact_json

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
        typ=chosen.typ,
    )


def cases(alg: Algorithm) -> Iterator[tuple[str, str]]:
    for name, defect in DEFECTS.items():
        for variant in defect.variants_for(good(alg), published_key):
            yield name, variant


def minted(name: str, variant: str, alg: Algorithm = Algorithm.RS256) -> Minted:
    return mint_case(good(alg), name, variant or None)


EVERY = [(alg, *case) for alg in Algorithm for case in cases(alg)]

REASONS = reasons.REASONS


@pytest.mark.parametrize("alg", Algorithm)
def test_the_good_token_is_accepted(alg: Algorithm) -> None:
    assert strict(alg).verify(mint_case(good(alg)).token)["sub"] == "alice"


def test_every_defect_is_refused_for_its_own_reason_or_not_refused_by_everybody() -> None:
    refused = {
        name
        for name, defect in DEFECTS.items()
        if defect.expectation is Expectation.REFUSED and not defect.introspected
    }
    assert refused <= set(REASONS)
    assert set(REASONS) <= {name for name, defect in DEFECTS.items() if not defect.legal}


@pytest.mark.parametrize(("alg", "name", "variant"), EVERY)
def test_the_token_is_refused_for_the_stated_reason(alg: Algorithm, name: str, variant: str) -> None:
    token = minted(name, variant, alg).token
    verifier = strict(alg)
    if DEFECTS[name].legal or DEFECTS[name].expectation is Expectation.FORBIDDEN:
        assert verifier.verify(token)["sub"] == "alice"
        return
    if name not in REASONS:
        assert DEFECTS[name].expectation is Expectation.DISPUTED
        return
    with pytest.raises(Refused) as refused:
        verifier.verify(token)
    assert refused.value.reason in REASONS[name]


@pytest.mark.parametrize(
    ("name", "variant"),
    [case for case in cases(Algorithm.ES256) if DEFECTS[case[0]].expectation is Expectation.FORBIDDEN],
)
def test_a_token_that_only_grants_too_little_grants_nothing_of_what_the_good_one_does(name: str, variant: str) -> None:
    _, claims = decode_parts(minted(name, variant, Algorithm.ES256).token)
    assert claims is not None
    scope = claims.get("scope", "")
    words = scope.split(" ") if isinstance(scope, str) else scope
    assert isinstance(words, list)
    assert set(ALICE.scopes).isdisjoint(words)


@pytest.mark.parametrize(("name", "variant"), [case[1:] for case in EVERY if case[0] is Algorithm.ES256])
def test_the_minted_token_differs_from_the_good_one_where_declared(name: str, variant: str) -> None:
    base = good(Algorithm.ES256)
    honest, faulty = mint_case(base), mint_case(base, name, variant or None)
    assert faulty.token != honest.token
    if {"serialization", "header", "claims"} & set(faulty.change.split(", ")):
        return
    for part, one, other in (
        ("header", honest.header, faulty.header),
        ("claims", honest.claims, faulty.claims),
    ):
        assert one is not None
        assert other is not None
        missing = object()
        differing = {f"{part}.{key}" for key in {*one, *other} if one.get(key, missing) != other.get(key, missing)}
        assert differing == {path for path in faulty.change.split(", ") if path.startswith(f"{part}.")}


@pytest.mark.parametrize(("name", "variant"), [case[1:] for case in EVERY if case[0] is Algorithm.RS256])
def test_a_token_fits_into_an_authorization_header_and_stays_out_of_its_repr(name: str, variant: str) -> None:
    case = minted(name, variant)
    assert case.token.isascii()
    assert case.token.isprintable()
    assert case.token == case.token.strip()
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
    assert DEFECTS["algorithm_mismatch"].needs == {Capability.RSA_KEY}
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
    with pytest.raises(UsageError, match='did you mean "sibling_path"'):
        mint_case(base, "audience_lookalike", "sibling_pat")
    with pytest.raises(UsageError, match="no variants"):
        mint_case(base, "expired", "x")
    with pytest.raises(UsageError, match='did you mean "expired"'):
        mint_case(base, "expird")


CHANGES: dict[str, str] = json.loads(
    (Path(__file__).parents[3] / "data" / "defect_changes.json").read_text(encoding="utf-8")
)
"""Where each faulty token differs from the good token: by defect, and by variant where one of them differs elsewhere."""


def test_a_faulty_token_differs_in_its_own_place_and_nowhere_else() -> None:
    several = {"tenant_claim": "tenant_id", "required": frozenset({"sub", "tenant_id"}), "leeway": LEEWAY}
    rs256 = TokenProfile(
        issuer="http://127.0.0.1:9000",
        audience="https://mcp.example.com/mcp",
        algorithms=frozenset(Algorithm),
        **several,
    )
    jwts, opaque = good(how=rs256), good(how=dataclasses.replace(rs256, opaque=True))
    for name, defect in DEFECTS.items():
        base = opaque if defect.introspected else jwts
        for variant in defect.variants_for(base, published_key):
            change = mint_case(base, name, variant).change
            paths = sorted({re.sub(r"^claims\.c\d+$", "claims.c#", path) for path in change.split(", ")})
            assert ", ".join(paths) == CHANGES.get(f"{name}[{variant}]", CHANGES[name]), (name, variant)
    assert {name.partition("[")[0] for name in CHANGES} == set(DEFECTS)


def test_what_makes_no_difference_is_not_minted() -> None:
    how = profile()
    federated = Identity(name="alice", subject="alice", tenant="t1", claims={"roles": ["admin"]})
    base = good_token(how, federated, published_key(Role.ISSUER, Algorithm.ES256), time.time())
    assert DEFECTS["privileges_named"].variants_for(base, published_key) == ("groups", "is_admin")
    with pytest.raises(UsageError, match="no difference"):
        mint_case(base, "privileges_named", "roles")


def test_a_member_that_is_not_there_cannot_be_left_out() -> None:
    base = good().without_claim("jti")
    assert DEFECTS["token_id_missing"].variants_for(base, published_key) == ()


@pytest.mark.parametrize("variant", [name for name in SECRETS if name not in {"point", "x"}])
def test_a_server_that_takes_the_public_key_for_a_secret_would_be_fooled(variant: str) -> None:
    key = published_key(Role.ISSUER, Algorithm.RS256)
    public = key.private.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    secrets = {
        "pem": pem,
        "pem_without_newline": pem.rstrip(b"\n"),
        "pem_with_crlf": pem.replace(b"\n", b"\r\n"),
        "pem_behind_newline": b"\n" + pem,
        "pem_behind_space": b" " + pem,
        "pkcs1_pem_without_newline": public.public_bytes(Encoding.PEM, PublicFormat.PKCS1).rstrip(b"\n"),
        "pkcs1_der": public.public_bytes(Encoding.DER, PublicFormat.PKCS1),
        "modulus": public.public_numbers().n.to_bytes(256),
        "modulus_text": key.public_jwk()["n"].encode(),
        "thumbprint_input": compact_json({name: key.public_jwk()[name] for name in ("e", "kty", "n")}),
        "pkcs1_pem": public.public_bytes(Encoding.PEM, PublicFormat.PKCS1),
        "der": public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        "jwk": compact_json(key.public_jwk()),
        "empty": b"",
    }
    message, _, signature = minted("hmac_with_public_key", variant).token.rpartition(".")
    assert signature == b64url(hmac.digest(secrets[variant], message.encode(), "sha256"))
