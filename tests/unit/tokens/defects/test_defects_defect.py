"""A defect is registered where it is defined, and says nothing twice."""

import time
from dataclasses import replace

import pytest

from mcp_auth_contract.tokens import Algorithm, Identity, Role, TokenProfile, TokenSpec, good_token, published_key
from mcp_auth_contract.tokens.defects.defect import (
    ABSENT,
    DISPUTED,
    Capability,
    Defects,
    Expectation,
    claim,
    header,
    own,
)


def good(profile: TokenProfile | None = None) -> TokenSpec:
    read = profile or TokenProfile(issuer="https://as.test", audience="https://rs.test/mcp")
    return good_token(read, Identity(name="a", subject="a"), published_key(Role.ISSUER, Algorithm.ES256), time.time())


def test_a_function_names_its_defect_and_its_docstring_tells_it() -> None:
    defects = Defects()

    @defects.single(DISPUTED)
    def renamed(spec: TokenSpec) -> TokenSpec:
        """The token is of somebody else.

        RFC 0000 §1 forbids that.
        """
        return spec.with_claim("sub", "b")

    (defect,) = defects
    assert (defect.name, defect.sentence) == ("renamed", "The token is of somebody else.")
    assert (defect.expectation, defect.variants) == (Expectation.DISPUTED, ())
    assert renamed(good()).claims["sub"] == "b"


def test_each_value_is_a_variant() -> None:
    defects = Defects()

    @defects.each({"one": 1, "two": 2})
    def counted(spec: TokenSpec, value: int) -> TokenSpec:
        """The token counts."""
        return spec.with_claim("n", value)

    assert defects[0].variants == ("one", "two")
    all_faulty = [defects[0].faulty(good(), name) for name in defects[0].variants]
    assert [faulty.claims["n"] for faulty in all_faulty if faulty] == [1, 2]
    assert counted(good(), 3).claims["n"] == 3


def test_needs_of_a_subject_are_those_of_each_of_its_defects() -> None:
    defects = Defects(Capability.OPAQUE)
    defects.table(claim("n"), "n", "N.", {"": 1}, needs={Capability.RSA_KEY})
    assert defects[0].needs == {Capability.OPAQUE, Capability.RSA_KEY}
    assert defects[0].introspected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1), (None, None), (lambda spec: spec.key.kid, "issuer-es256-published")],
)
def test_a_value_is_fixed_or_made_of_the_valid_spec(value: object, expected: object) -> None:
    for put, part in ((claim("n"), "claims"), (header("n"), "header")):
        faulty = put(value)(good())
        assert faulty is not None
        assert getattr(faulty, part)["n"] == expected


def test_a_function_without_an_answer_and_a_missing_member_make_no_token() -> None:
    defects = Defects()
    defects.table(claim("n"), "n", "N.", {"made": lambda _: None, "gone": ABSENT})
    defects.table(claim("n", own("n")), "own", "Own.", {"": str.upper})
    assert [defect.variants_for(good(), published_key) for defect in defects] == [(), ()]


def test_claims_are_named_by_the_profile() -> None:
    profile = TokenProfile(issuer="i", audience="a", subject_claim="oid", tenant_claim="tid", client_claim="azp")
    faulty = claim("{subject}", own("{subject}"))(str.upper)(good(profile))
    assert faulty is not None
    assert faulty.claims["oid"] == "A"
    assert [profile.claim_name(f"{{{name}}}") for name in ("tenant", "scope", "client")] == ["tid", "scope", "azp"]
    assert replace(profile, scope_claim="scp").claim_name("{scope}") == "scp"
    assert profile.claim_name("exp") == "exp"
