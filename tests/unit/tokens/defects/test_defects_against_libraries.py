"""The mint as PyJWT and joserfc see it: two verifiers that share no line with it."""

import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joserfc import jws as joserfc_jws
from joserfc import jwt as joserfc_jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import KeySet

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
from mcp_auth_contract.tokens.mint import decode_parts, mint
from mcp_auth_contract.tokens.spec import COMPACT, difference

pytestmark = pytest.mark.filterwarnings("ignore:EdDSA is deprecated via RFC 9864")

LEEWAY = 60
ISSUER = "http://127.0.0.1:9000"
AUDIENCE = "https://mcp.example.com/mcp"
REQUIRED = ("iss", "aud", "exp", "iat", "sub")
ALICE = Identity(name="alice", subject="alice", tenant="t1", scopes=("read", "write"))
ALL = frozenset(Algorithm)


@dataclass(frozen=True)
class Library:
    """A verifier. `claims` and `payload` return what they name or raise one of `refusals`.

    `claims` checks all that the library can check, `payload` the signature only.
    """

    name: str
    claims: Callable[[frozenset[Algorithm], str], Mapping[str, object]]
    payload: Callable[[frozenset[Algorithm], str], bytes]
    refusals: tuple[type[Exception], ...]
    bad_signature: type[Exception]


@cache
def jwks(algorithms: frozenset[Algorithm]) -> Any:
    """What the issuer of these algorithms publishes."""
    roles = (Role.ISSUER, Role.LOOKALIKE)
    return {"keys": [published_key(role, alg).public_jwk() for alg in sorted(algorithms) for role in roles]}


@cache
def for_pyjwt(algorithms: frozenset[Algorithm]) -> Mapping[object, jwt.PyJWK]:
    return {key.key_id: key for key in jwt.PyJWKSet.from_dict(jwks(algorithms)).keys}


@cache
def for_joserfc(algorithms: frozenset[Algorithm]) -> KeySet:
    return KeySet.import_key_set(jwks(algorithms))


def pyjwt_key(algorithms: frozenset[Algorithm], token: str) -> jwt.PyJWK:
    kid = jwt.get_unverified_header(token).get("kid")
    known = for_pyjwt(algorithms)
    if kid not in known:
        raise jwt.PyJWKSetError("no such key")
    return known[kid]


def pyjwt_claims(algorithms: frozenset[Algorithm], token: str) -> Mapping[str, object]:
    return jwt.decode(
        token,
        pyjwt_key(algorithms, token),
        sorted(algorithms),
        audience=AUDIENCE,
        issuer=ISSUER,
        leeway=LEEWAY,
        options={"require": list(REQUIRED)},
    )


def pyjwt_payload(algorithms: frozenset[Algorithm], token: str) -> bytes:
    payload: bytes = jwt.PyJWS().decode(token, pyjwt_key(algorithms, token), sorted(algorithms))
    return payload


def joserfc_claims(algorithms: frozenset[Algorithm], token: str) -> Mapping[str, object]:
    claims = joserfc_jwt.decode(token, for_joserfc(algorithms), algorithms=sorted(algorithms)).claims
    wanted: dict[str, Any] = {name: {"essential": True} for name in REQUIRED}
    wanted["iss"]["value"], wanted["aud"]["value"] = ISSUER, AUDIENCE
    joserfc_jwt.JWTClaimsRegistry(leeway=LEEWAY, **wanted).validate(claims)
    return claims


def joserfc_payload(algorithms: frozenset[Algorithm], token: str) -> bytes:
    # Some claim defects repeat the claim in the header, where joserfc would refuse any unregistered member.
    registry = joserfc_jws.JWSRegistry(algorithms=sorted(algorithms), strict_check_header=False)
    return joserfc_jws.deserialize_compact(token, for_joserfc(algorithms), registry=registry).payload


STUMBLES = (TypeError, OverflowError, RecursionError)
"""What they raise at faults that they do not look for, such as a crit that is no list: no acceptance either."""

LIBRARIES = (
    Library("PyJWT", pyjwt_claims, pyjwt_payload, (jwt.PyJWTError, *STUMBLES), jwt.InvalidSignatureError),
    Library("joserfc", joserfc_claims, joserfc_payload, (JoseError, *STUMBLES), BadSignatureError),
)


@dataclass(frozen=True)
class Beyond:
    """A fault that these libraries accept or cannot judge, in one variant or (None) in all, and why."""

    why: str
    defect: str
    variant: str | None = None
    libraries: frozenset[str] = frozenset({"PyJWT", "joserfc"})


BEYOND = (
    *(
        Beyond("a private claim means nothing to a library", name)
        for name in (
            "scope_other_type",
            "tenant_blank",
            "tenant_empty",
            "tenant_missing",
            "tenant_null",
            "tenant_operator",
            "tenant_other_type",
        )
    ),
    Beyond("any string is a subject (RFC 7519 §4.1.2)", "subject_blank"),
    Beyond("any string is a subject, the empty one too", "subject_empty", libraries=frozenset({"PyJWT"})),
    Beyond("the caller compares typ (RFC 9068 §4)", "typ_other_kind"),
    Beyond(
        "it implements b64, which has no place in a JWT (RFC 7797 §7)",
        "payload_unencoded",
        "in_the_middle",
        frozenset({"joserfc"}),
    ),
)


def spec(alg: Algorithm, algorithms: frozenset[Algorithm] = frozenset()) -> TokenSpec:
    profile = TokenProfile(
        issuer=ISSUER,
        audience=AUDIENCE,
        tenant_claim="tenant_id",
        algorithm=alg,
        algorithms=algorithms,
        required=frozenset({"sub", "tenant_id"}),
        leeway=LEEWAY,
    )
    return good_token(profile, ALICE, published_key(Role.ISSUER, alg), time.time())


@cache
def changes(alg: Algorithm, name: str, variant: str) -> frozenset[str]:
    """Where the faulty token differs."""
    return frozenset(mint_case(spec(alg, ALL), name, variant).change.split(", "))


def asked_with(alg: Algorithm, name: str, variant: str) -> bool:
    """Signatures differ by algorithm; one of them stands for all where something else is wrong."""
    parts = {path.partition(".")[0] for path in changes(alg, name, variant)}
    return "signature" in parts or alg is (Algorithm.ES256 if parts == {"claims"} else Algorithm.RS256)


EVERY = [
    (alg, name, variant)
    for alg in Algorithm
    for name, defect in DEFECTS.items()
    if not defect.introspected
    for variant in defect.variants_for(spec(alg, ALL), published_key)
    if asked_with(alg, name, variant)
]


FAULTY = [case for case in EVERY if DEFECTS[case[1]].expectation is Expectation.REFUSED]
MISSIGNED = [case for case in FAULTY if changes(*case) == {"signature"}]
HONEST = [case for case in EVERY if DEFECTS[case[1]].legal or DEFECTS[case[1]].expectation is Expectation.FORBIDDEN]
FAULTY_IN_CLAIMS = sorted(
    {name for alg, name, variant in EVERY if all(path.startswith("claims") for path in changes(alg, name, variant))}
)


def judged_by(name: str, variant: str) -> list[Library]:
    beyond = {
        library for one in BEYOND for library in one.libraries if one.defect == name and one.variant in {None, variant}
    }
    return [library for library in LIBRARIES if library.name not in beyond]


def minted(alg: Algorithm, name: str, variant: str) -> str:
    return mint_case(spec(alg, ALL), name, variant).token


def of_every(cases: list[tuple[Algorithm, str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("alg", "name", "variant"), cases)


@pytest.mark.parametrize("alg", Algorithm)
def test_both_libraries_accept_the_good_token_with_every_check_on(alg: Algorithm) -> None:
    good = spec(alg)
    for library in LIBRARIES:
        assert library.claims(frozenset({alg}), mint(good)) == dict(good.claims)


@of_every(FAULTY)
def test_both_libraries_refuse_what_is_to_be_refused(alg: Algorithm, name: str, variant: str) -> None:
    token = minted(alg, name, variant)
    for library in judged_by(name, variant):
        with pytest.raises(library.refusals):
            library.claims(ALL, token)


@of_every(MISSIGNED)
def test_nothing_is_wrong_with_a_token_of_wrong_signature_but_that(alg: Algorithm, name: str, variant: str) -> None:
    token = minted(alg, name, variant)
    for library in LIBRARIES:
        with pytest.raises(library.bad_signature):
            library.claims(ALL, token)


@of_every(HONEST)
def test_both_libraries_accept_what_a_right_server_accepts(alg: Algorithm, name: str, variant: str) -> None:
    token = minted(alg, name, variant)
    for library in LIBRARIES:
        assert library.claims(ALL, token)["sub"] == "alice"


@pytest.mark.parametrize("name", FAULTY_IN_CLAIMS)
def test_a_token_with_a_faulty_claim_is_honestly_signed(name: str) -> None:
    good = spec(Algorithm.ES256, ALL)
    for variant in DEFECTS[name].variants_for(good, published_key):
        if {"signature", "header.alg", "header.kid"}.isdisjoint(changes(Algorithm.ES256, name, variant)):
            token = mint_case(good, name, variant).token
            for library in LIBRARIES:
                assert library.payload(ALL, token) == urlsafe_b64decode(token.split(".")[1] + "=="), variant


def test_what_is_beyond_the_libraries_is_a_fault_that_the_kit_makes() -> None:
    for one in BEYOND:
        assert one.libraries <= {library.name for library in LIBRARIES}
        assert DEFECTS[one.defect].expectation is Expectation.REFUSED
        assert one.variant is None or one.variant in DEFECTS[one.defect].variants


TEXT = st.text(max_size=12)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
CLAIMS = st.dictionaries(TEXT, VALUE, max_size=5)


@pytest.mark.parametrize("alg", Algorithm)
@given(private=CLAIMS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_private_claims_come_out_of_a_verified_token_as_they_went_in(
    alg: Algorithm, private: dict[str, object]
) -> None:
    good = spec(alg)
    claims = {**private, **good.claims}
    token = mint(replace(good, claims=claims))
    assert decode_parts(token)[1] == claims
    for library in LIBRARIES:
        assert library.claims(frozenset({alg}), token) == claims


SPECS = st.builds(
    lambda alg, claims, header, raw, form: replace(
        spec(alg), claims=claims, header=header, raw_header=raw, raw_payload=raw, form=form
    ),
    st.sampled_from(Algorithm),
    CLAIMS,
    CLAIMS,
    st.none() | st.binary(max_size=2),
    st.sampled_from([COMPACT, f"{COMPACT}."]),
)


@pytest.mark.slow
@given(SPECS, SPECS, TEXT, VALUE)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_two_specs_differ_from_each_other_in_the_same_paths(
    one: TokenSpec, other: TokenSpec, name: str, value: object
) -> None:
    assert difference(one, other) == difference(other, one)
    assert difference(one, one) == frozenset()
    assert difference(one, one.with_claim(name, value)) <= {f"claims.{name}"}
