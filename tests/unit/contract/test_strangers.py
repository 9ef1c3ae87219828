"""Who the strangers beside an owner are: each of them resembles the owner in what their name says, and no more."""

import pytest
from tests.lab.lab_runs import SAMPLE

from mcp_auth_contract.contract import Contract, namesake_of, nearest, read_contract, stranger_named, strangers

WITHOUT_TENANTS = (
    ('subject = "alice"\ntenant = "t2"\n', 'subject = "zoe"\n'),
    ('tenant = "t1"\n', ""),
    ('tenant = "t2"\n', ""),
    ('required = ["sub", "tenant_id"]', 'required = ["sub"]'),
)


def contract(*edits: tuple[str, str]) -> Contract:
    text = SAMPLE.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return read_contract(text, SAMPLE)


def test_each_stranger_shares_with_the_owner_what_the_name_says() -> None:
    owner = contract().principals["bob"]
    shared = {
        name: {what for what in ("subject", "tenant", "client") if getattr(one, what) == getattr(owner, what)}
        for name, one in strangers(contract(), "bob").items()
    }
    assert shared == {
        "namesake-of-bob": {"subject", "client"},
        nearest("bob"): {"tenant", "client"},
        "outsider-to-bob": {"client"},
        "unknown-to-bob": set(),
    }


def test_strangers_have_the_owners_scopes_and_no_further_claims() -> None:
    roles = contract(('subject = "bob"\n', 'subject = "bob"\nclaims = { roles = ["admin"] }\n'))
    for one in strangers(roles, "bob").values():
        assert one.scopes == roles.principals["bob"].scopes
        assert not one.claims


def test_a_namesake_is_in_a_tenant_where_the_contract_knows_nobody_of_that_name() -> None:
    known = {(one.subject, one.tenant) for one in contract().principals.values()}
    for owner in contract().principals:
        name = namesake_of(contract(), owner)
        assert name is not None
        namesake = stranger_named(contract(), name)
        assert (namesake.subject, namesake.tenant) not in known


def test_without_tenants_there_is_no_namesake() -> None:
    plain = contract(*WITHOUT_TENANTS)
    assert namesake_of(plain, "alice") is None
    assert list(strangers(plain, "alice")) == [nearest("alice"), "unknown-to-alice"]
    with pytest.raises(KeyError):
        stranger_named(plain, "namesake-of-alice")
