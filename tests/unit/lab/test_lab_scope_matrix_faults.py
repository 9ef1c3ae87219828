"""Each fault of the scope matrix, seen from one request: what it lets through, and what it still refuses."""

import json

import pytest

from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.profile import Profile

READ, WRITE, EXPORT, ADMIN = "invoices:read", "invoices:write", "invoices:export", "invoices:admin"
ONE = {"invoice_id": "INV-1"}


def faulty(make_lab, name):
    return make_lab(fault=FAULTS[name])


def named(response):
    return response.headers["www-authenticate"]


def test_approval_needs_both_scopes_and_administrators_have_them(lab, keys):
    for scope in (READ, WRITE, f"{READ} {EXPORT}", "invoices:adm"):
        refused = lab.call("approve_invoice", ONE, keys.token(scope=scope))
        assert refused.status_code == 403
        assert f'scope="{READ} {WRITE}"' in named(refused)
    for scope in (f"{READ} {WRITE}", ADMIN):
        assert lab.call("approve_invoice", ONE, keys.token(scope=scope)).json()["result"]["isError"] is False


def test_a_tool_without_scopes_needs_a_token_and_no_scope(lab, keys):
    assert lab.call("list_currencies", token=keys.token(scope="")).status_code == 200
    assert lab.call("list_currencies").status_code == 401


@pytest.mark.parametrize(
    ("name", "scope", "tool"),
    [
        ("scope-any-of", READ, "approve_invoice"),
        ("scope-write-implies-read", WRITE, "get_invoice"),
        ("scope-write-is-all", WRITE, "export_invoices"),
        ("scope-only-in-list", READ, "export_invoices"),
    ],
)
def test_a_right_that_nobody_gave(make_lab, keys, name, scope, tool):
    arguments = ONE if tool in ("approve_invoice", "get_invoice") else {}
    assert faulty(make_lab, name).call(tool, arguments, keys.token(scope=scope)).status_code == 200
    assert make_lab().call(tool, arguments, keys.token(scope=scope)).status_code == 403


def test_a_tool_hidden_in_the_list_runs_all_the_same(make_lab, keys):
    lab = faulty(make_lab, "scope-only-in-list")
    listed = lab.modern("tools/list", {}, keys.token(scope=READ)).json()["result"]["tools"]
    assert "export_invoices" not in [tool["name"] for tool in listed]
    assert "result" in lab.call("export_invoices", {}, keys.token(scope=READ)).json()


def test_headers_that_disagree_with_the_body(make_lab, keys):
    weak = keys.token(scope=EXPORT)
    params = {"name": "get_invoice", "arguments": ONE}
    for name, headers in (
        ("scope-by-name-header", {"mcp-name": "export_invoices"}),
        ("scope-by-method-header", {"mcp-method": "tools/list"}),
    ):
        assert "INV-1" in faulty(make_lab, name).modern("tools/call", params, weak, headers).text
        assert make_lab().modern("tools/call", params, weak, headers).status_code == 400


def test_a_name_in_meta_and_an_argument_that_names_scopes(make_lab, keys):
    weak = keys.token(scope=EXPORT)
    claimed = {"name": "get_invoice", "arguments": {**ONE, "scopes": [READ]}}
    assert "INV-1" in faulty(make_lab, "scope-by-argument").legacy("tools/call", claimed, weak).text
    assert make_lab().legacy("tools/call", claimed, weak).status_code == 403


def test_the_challenge_that_names_one_scope_after_the_other(make_lab, keys):
    lab = faulty(make_lab, "scope-challenge-first-only")
    assert f'scope="{READ}"' in named(lab.call("approve_invoice", ONE, keys.token(scope=EXPORT)))
    assert f'scope="{WRITE}"' in named(lab.call("approve_invoice", ONE, keys.token(scope=f"{EXPORT} {READ}")))


def test_the_challenge_that_changes(make_lab, keys):
    lab, weak = faulty(make_lab, "scope-challenge-changes"), keys.token(scope=EXPORT)
    assert named(lab.call("get_invoice", ONE, weak)) != named(lab.call("get_invoice", ONE, weak))


def test_the_challenge_for_a_scope_that_does_not_help(make_lab, keys):
    lab = faulty(make_lab, "scope-challenge-leads-nowhere")
    assert f'scope="{ADMIN}"' in named(lab.call("get_invoice", ONE, keys.token(scope=EXPORT)))
    assert lab.call("get_invoice", ONE, keys.token(scope=ADMIN)).status_code == 403


def test_a_tool_that_is_gone_and_one_that_nobody_declared(make_lab, keys):
    gone = faulty(make_lab, "scope-declared-tool-gone").call("export_invoices", {}, keys.token())
    assert gone.json()["error"]["code"] == -32602
    listed = faulty(make_lab, "scope-undeclared-tool").modern("tools/list", {}, keys.token()).text
    assert "debug_dump" in json.dumps(listed)


def test_hidden_and_unknown_is_a_refusal_in_both_eras(make_lab, keys):
    lab, weak = make_lab(Profile.HIDDEN_AND_UNKNOWN), keys.token(scope=READ)
    call = {"name": "export_invoices", "arguments": {}}
    for send in (lab.modern, lab.legacy):
        assert send("tools/call", call, weak).json()["error"]["code"] == -32602
        assert "result" in send("tools/call", call, keys.token()).json()
    assert lab.legacy("resources/read", {"uri": "invoice://INV-1"}, keys.token(scope=EXPORT)).status_code == 403
