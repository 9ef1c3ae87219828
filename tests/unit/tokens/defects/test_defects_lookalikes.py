"""Lookalikes are never the thing itself, and none is made of what a contract gives a meaning of its own."""

import time
import unicodedata
from dataclasses import replace

import pytest

from mcp_auth_contract.tokens import DEFECTS, Algorithm, Identity, Role, TokenProfile, TokenSpec, good_token, mint_case
from mcp_auth_contract.tokens import published_key as find
from mcp_auth_contract.tokens.defects.lookalikes import LOOKALIKES
from mcp_auth_contract.tokens.spec import ScopeFormat, difference

PROFILE = TokenProfile(
    issuer="https://issuer.test",
    audience="https://mcp.test/mcp",
    tenant_claim="tenant_id",
    required=frozenset({"sub", "tenant_id"}),
)
READ, WRITE = "invoices:read", "invoices:write"
ALICE = Identity(name="alice", subject="alice", tenant="t1", scopes=(READ, WRITE))


def good(profile: TokenProfile = PROFILE, who: Identity = ALICE) -> TokenSpec:
    return good_token(profile, who, find(Role.ISSUER, Algorithm.ES256), time.time())


def value(defect: str, variant: str | None, spec: TokenSpec, name: str) -> object:
    claims = mint_case(spec, defect, variant).claims
    assert claims is not None
    return claims.get(name)


@pytest.mark.parametrize("text", ["alice", "ALICE", "t1", "4711", "josé", "Kiš", "a", "2f9c-08d1"])
def test_no_lookalike_is_the_text_itself(text: str) -> None:
    made = [one for make in LOOKALIKES.values() if (one := make(text)) is not None]
    assert text not in made
    assert len(made) >= 8


@pytest.mark.parametrize(
    ("name", "confused"),
    [
        ("other_case", str.lower),
        ("folded_letter", lambda text: text.upper().lower()),
        ("full_width", lambda text: unicodedata.normalize("NFKC", text)),
        ("space_appended", str.strip),
        ("no_break_space_appended", str.strip),
        ("nul_appended", lambda text: text.partition("\0")[0]),
        ("accented", lambda text: unicodedata.normalize("NFD", text).replace("\u0301", "")),
        ("zero_width_space", lambda text: text.replace("\u200b", "")),
    ],
)
def test_a_careless_comparison_takes_a_lookalike_for_the_text(name: str, confused) -> None:
    made = LOOKALIKES[name]("alice")
    assert made is not None
    assert confused(made) == "alice"


def test_the_other_unicode_form_is_offered_where_there_is_one() -> None:
    assert LOOKALIKES["other_unicode_form"]("josé") == "jose\u0301"
    assert LOOKALIKES["other_unicode_form"]("jose\u0301") == "josé"
    assert LOOKALIKES["other_unicode_form"]("jose") is None


def test_a_scope_that_the_contract_knows_is_no_lookalike() -> None:
    assert value("scope_wildcard", "star_in_namespace", good(), "scope") == "invoices:*"
    knowing = replace(PROFILE, known_scopes=frozenset({"invoices:*", "invoices"}))
    offered = DEFECTS["scope_wildcard"].variants_for(good(knowing), find)
    assert "star_in_namespace" not in offered
    assert "star" in offered
    assert "namespace" not in DEFECTS["scope_shorter"].variants_for(good(knowing), find)


def test_a_scope_without_parts_has_no_namespace() -> None:
    plain = good(who=replace(ALICE, scopes=("read",)))
    assert DEFECTS["scope_shorter"].variants_for(plain, find) == ("cut",)
    assert "star_in_namespace" not in DEFECTS["scope_wildcard"].variants_for(plain, find)


def test_lookalike_scopes_keep_the_form_of_the_contract() -> None:
    listing = good(replace(PROFILE, scope_claim="scp", scope_format=ScopeFormat.LIST))
    assert value("scope_longer", "narrower", listing, "scp") == [f"{READ}:own", f"{WRITE}:own"]
    assert value("scope_other_form", "string_or_list", listing, "scp") == f"{READ} {WRITE}"
    assert DEFECTS["scope_spaced"].variants_for(listing, find) == ()
    assert "scp" not in DEFECTS["scope_in_other_claim"].variants_for(listing, find)


def test_a_single_scope_has_no_other_order() -> None:
    assert "reversed" not in DEFECTS["scope_arranged"].variants_for(good(who=replace(ALICE, scopes=(READ,))), find)


def test_the_right_name_stands_in_the_other_claim_only() -> None:
    assert value("tenant_in_other_claim", "org_id", good(), "org_id") == "t1"
    assert value("tenant_in_other_claim", "org_id", good(), "tenant_id") != "t1"
    assert "tenant_id" not in DEFECTS["tenant_in_other_claim"].variants_for(good(), find)
    assert value("subject_as_actor", "act", good(), "act") == {"sub": "alice"}
    assert value("client_named_as_user", "other_subject", good(), "client_id") == "alice"


def test_a_missing_jti_counts_as_a_difference_and_a_fresh_one_does_not() -> None:
    one, other = good(), good()
    other = replace(other, claims={**one.claims, "jti": "another"})
    assert difference(one, other) == frozenset()
    assert difference(one, one.without_claim("jti")) == {"claims.jti"}
    assert value("token_id_missing", None, one, "jti") is None


@pytest.mark.parametrize("defect", [name for name in DEFECTS if name.startswith(("subject_", "tenant_", "client_n"))])
def test_nothing_about_a_claim_that_is_not_required_is_a_defect(defect: str) -> None:
    loose = replace(PROFILE, required=frozenset())
    assert DEFECTS[defect].variants_for(good(loose), find) == ()
