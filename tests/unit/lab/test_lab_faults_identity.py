"""The faults of identity, of the scope claim and of sender constraint: each lets in what it says, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from mcp_auth_contract_lab.faults import FAULTS

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
READ, WRITE = "invoices:read", "invoices:write"


def call(lab, token: str):
    return lab.modern("tools/call", CALL, token)


def reads(**changes: Any) -> Callable[..., bool]:
    """A good token with other claims brings alice's record."""
    return lambda lab, keys: CANARY in call(lab, keys.token(**changes)).text


def refused(**changes: Any) -> Callable[..., bool]:
    """A token that a sound server accepts is answered 403."""
    return lambda lab, keys: call(lab, keys.token(**changes)).status_code == 403


def breaks(**changes: Any) -> Callable[..., bool]:
    """A good token with other claims is answered 500."""
    return lambda lab, keys: call(lab, keys.token(**changes)).status_code == 500


SEEN: dict[str, Callable[..., bool]] = {
    "subject-blank-accepted": reads(sub=" "),
    "subject-unpacked": reads(sub=["nobody", "alice"]),
    "subject-operator-applied": reads(sub={"$ne": None}),
    "subject-injected": reads(sub="' OR '1'='1"),
    "subject-cut-at-nul": reads(sub="alice\0nobody"),
    "subject-case-ignored": reads(sub="ALICE"),
    "subject-trimmed": reads(sub="alice\u00a0"),
    "subject-normalized": reads(sub="ａｌｉｃｅ"),
    "subject-unknown-is-default": reads(sub="nobody"),
    "subject-from-email": reads(sub="nobody", email="alice"),
    "subject-from-actor": reads(sub="nobody", act={"sub": "alice"}),
    "subject-from-client": reads(sub="nobody", client_id="alice"),
    "client-only-is-default": reads(sub="kit", client_id="kit"),
    "tenant-blank-accepted": reads(tenant_id=[]),
    "tenant-unpacked": reads(tenant_id={"id": "t1"}),
    "tenant-operator-applied": reads(tenant_id={"$gt": ""}),
    "tenant-list-breaks": breaks(tenant_id=["t1"]),
    "tenant-case-ignored": reads(tenant_id="T1"),
    "tenant-beginning-suffices": reads(tenant_id="t"),
    "tenant-begins-alike": reads(tenant_id="t1-eu"),
    "tenant-trimmed": reads(tenant_id="t1\t"),
    "tenant-normalized": reads(tenant_id="ｔ１"),
    "tenant-unknown-is-default": reads(tenant_id="t9"),
    "tenant-as-pattern": reads(tenant_id="t_"),
    "tenant-last-part": reads(tenant_id="t2/../t1"),
    "tenant-from-alias": reads(tenant_id="t9", org_id="t1"),
    "unusual-client-breaks": breaks(azp="other"),
    "token-id-missing-breaks": breaks(jti=...),
    "actor-breaks": breaks(act={"sub": "agent"}),
    "privileges-break": breaks(roles=["admin"]),
    "bound-token-breaks": breaks(cnf={"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}),
    "confirmation-breaks": breaks(cnf=None),
    "scope-beginning-suffices": reads(scope="invoices"),
    "scope-decoded": reads(scope="invoices%3Aread"),
    "scope-normalized": reads(scope="ｉｎｖｏｉｃｅｓ：ｒｅａｄ"),
    "scope-members-searched": reads(scope={READ: True}),
    "scope-list-joined": reads(scope=[f"{READ} {WRITE}"]),
    "scope-empty-is-all": reads(scope=""),
    "scope-unknown-spoils": refused(scope=f"{READ} openid"),
    "scope-separator-breaks": breaks(scope=f"{READ},{WRITE}"),
    "scope-space-breaks": breaks(scope=f"{READ}  {WRITE}"),
    "scope-list-breaks": breaks(scope=[READ]),
    "scope-alias-breaks": breaks(scope="openid", scp=[READ]),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_of_identity_shows_and_the_sound_server_does_not_show_it(make_lab, keys, name):
    assert SEEN[name](make_lab(fault=FAULTS[name]), keys)
    assert not SEEN[name](make_lab(), keys)
    assert CANARY in call(make_lab(fault=FAULTS[name]), keys.token(jti="one")).text


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_of_identity_leaves_the_rest_alone(make_lab, keys, name):
    lab = make_lab(fault=FAULTS[name])
    assert CANARY not in call(lab, keys.token("bob", jti="two")).text
    assert call(lab, keys.forged()).status_code == 401
    assert call(lab, keys.token(jti="three", exp=1)).status_code == 401
    assert call(lab, keys.token(jti="four", scope="openid")).status_code == 403
