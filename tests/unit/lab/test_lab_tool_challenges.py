"""Sign-in for single tools: what results and descriptions tell, and each fault by what it changes."""

import pytest

from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.profile import Profile

MEMBER = "mcp/www_authenticate"
INVOICE = {"invoice_id": "INV-1"}
CANARY = "alice-t1-INV-1"
OURS = [name for name in FAULTS if name.startswith("tool-challenge-")]


def tools(lab, token=None):
    return {tool["name"]: tool for tool in lab.modern("tools/list", None, token).json()["result"]["tools"]}


def told(answer):
    return answer.json()["result"]["_meta"][MEMBER][0]


@pytest.mark.parametrize("profile", [Profile.TOOL_CHALLENGE, Profile.EITHER_CHALLENGE])
def test_tools_state_their_security_schemes_and_mirror_them(make_lab, profile):
    listed = tools(make_lab(profile))
    for tool in listed.values():
        assert tool["_meta"]["securitySchemes"] == tool["securitySchemes"]
    assert listed["export_invoices"]["securitySchemes"] == [{"type": "oauth2", "scopes": ["invoices:export"]}]
    assert listed["whoami"]["securitySchemes"] == [{"type": "noauth"}, {"type": "oauth2", "scopes": []}]


def test_a_server_of_statuses_states_none(make_lab, keys):
    assert all("securitySchemes" not in tool for tool in tools(make_lab(), keys.token()).values())


@pytest.mark.parametrize("profile", [Profile.TOOL_CHALLENGE, Profile.EITHER_CHALLENGE])
def test_one_tool_is_open_to_everybody_but_not_to_bad_tokens(make_lab, keys, profile):
    lab = make_lab(profile)
    assert lab.call("whoami").json()["result"]["structuredContent"]["subject"] == ""
    assert lab.call("whoami", None, keys.token(scope="")).json()["result"]["structuredContent"]["subject"] == "alice"
    refused = lab.call("whoami", None, keys.forged())
    assert (refused.status_code == 401) is (profile is Profile.EITHER_CHALLENGE)
    assert "structuredContent" not in refused.text


def test_either_tells_in_the_result_only_where_no_token_came(make_lab, keys):
    lab = make_lab(Profile.EITHER_CHALLENGE)
    assert 'error="invalid_token"' in told(lab.call("get_invoice", INVOICE))
    assert lab.call("get_invoice", INVOICE, keys.forged()).status_code == 401
    assert lab.call("get_invoice", INVOICE, keys.token(scope="")).status_code == 403
    assert lab.modern("resources/read", {"uri": "invoice://INV-1"}).status_code == 401


def test_a_fault_of_this_family_brings_its_profile_along(make_lab):
    assert {FAULTS[name].within for name in OURS} == {Profile.TOOL_CHALLENGE}
    lab = make_lab(fault=FAULTS["tool-challenge-without-error"])
    assert told(lab.call("get_invoice", INVOICE)).startswith("Bearer resource_metadata=")


@pytest.mark.parametrize("name", OURS)
def test_with_a_fault_the_good_are_still_served_and_the_open_tool_listed(make_lab, keys, name):
    lab = make_lab(fault=FAULTS[name])
    assert CANARY in lab.call("get_invoice", INVOICE, keys.token()).text
    assert "whoami" in tools(lab)


WITHOUT_A_TOKEN = {
    "tool-challenge-without-text": lambda answer: answer.json()["result"]["content"] == [],
    "tool-challenge-beside-data": lambda answer: CANARY in answer.text,
    "tool-challenge-commas-missing": lambda answer: '", ' not in told(answer),
    "tool-challenge-as-object": lambda answer: isinstance(answer.json()["result"]["_meta"][MEMBER], dict),
    "tool-challenge-of-another-scheme": lambda answer: told(answer).startswith("Token "),
    "tool-challenge-without-error": lambda answer: "error=" not in told(answer) and "error_desc" in told(answer),
    "tool-challenge-without-description": lambda answer: "description" not in told(answer) and "error=" in told(answer),
    "tool-challenge-without-pointer": lambda answer: "metadata" not in told(answer) and "error=" in told(answer),
    "tool-challenge-pointer-to-nowhere": lambda answer: '/oauth-protected-resource/gone"' in told(answer),
    "tool-challenge-pointer-to-another": lambda answer: '/oauth-protected-resource/other"' in told(answer),
    "tool-challenge-401-without-token": lambda answer: answer.status_code == 401 and MEMBER not in answer.text,
    "tool-challenge-in-401": lambda answer: answer.status_code == 401 and MEMBER in answer.text,
}


@pytest.mark.parametrize("name", WITHOUT_A_TOKEN)
def test_a_fault_changes_what_is_told_without_a_token(make_lab, name):
    told_so = WITHOUT_A_TOKEN[name]
    assert told_so(make_lab(fault=FAULTS[name]).call("get_invoice", INVOICE))
    assert not told_so(make_lab(Profile.TOOL_CHALLENGE).call("get_invoice", INVOICE))


WITHOUT_A_SCOPE = {
    "tool-challenge-403-on-missing-scope": lambda answer: answer.status_code == 403,
    "tool-challenge-left-out": lambda answer: answer.json()["result"]["_meta"] == {},
    "tool-challenge-no-error-result": lambda answer: answer.json()["result"]["isError"] is False,
    "tool-challenge-scope-misnamed": lambda answer: 'error="invalid_token"' in told(answer),
    "tool-challenge-scope-not-named": lambda answer: "scope=" not in told(answer),
}


@pytest.mark.parametrize("name", WITHOUT_A_SCOPE)
def test_a_fault_changes_what_is_told_without_a_scope(make_lab, keys, name):
    told_so = WITHOUT_A_SCOPE[name]
    weak = keys.token(scope="invoices:read")
    assert told_so(make_lab(fault=FAULTS[name]).call("export_invoices", None, weak))
    assert not told_so(make_lab(Profile.TOOL_CHALLENGE).call("export_invoices", None, weak))


def test_a_bad_token_is_misnamed_left_unexplained_or_legally_answered_by_status(make_lab, keys):
    expired = keys.token(exp=1)
    misnamed = make_lab(fault=FAULTS["tool-challenge-bad-token-misnamed"]).call("get_invoice", INVOICE, expired)
    assert 'error="insufficient_scope"' in told(misnamed)
    unexplained = make_lab(fault=FAULTS["tool-challenge-expired-unexplained"]).call("get_invoice", INVOICE, expired)
    assert unexplained.json()["result"]["isError"] is True
    assert "_meta" not in unexplained.json()["result"] or not unexplained.json()["result"]["_meta"]
    assert make_lab(Profile.INVALID_TOKEN_401).call("get_invoice", INVOICE, expired).status_code == 401


def test_the_other_document_is_about_another_resource(make_lab):
    lab = make_lab(fault=FAULTS["tool-challenge-pointer-to-another"])
    document = lab.send("GET", "/.well-known/oauth-protected-resource/other").json()
    assert document["resource"] == "https://other.example.com/mcp"


def test_a_success_with_a_challenge_and_an_open_tool_that_is_gated(make_lab, keys):
    marked = make_lab(fault=FAULTS["tool-challenge-on-success"])
    assert "Bearer " in told(marked.call("get_invoice", INVOICE, keys.token()))
    gated = make_lab(fault=FAULTS["tool-challenge-for-public-tool"])
    assert gated.call("whoami").json()["result"]["isError"] is True


READ = {"type": "oauth2", "scopes": ["invoices:read"]}
STATED = {
    "tool-challenge-schemes-missing": ("get_invoice", None, None),
    "tool-challenge-schemes-unknown": ("get_invoice", [{"type": "http", "scheme": "bearer"}], ...),
    "tool-challenge-schemes-scopes-as-text": ("get_invoice", [{"type": "oauth2", "scopes": "invoices:read"}], ...),
    "tool-challenge-schemes-noauth": ("get_invoice", [{"type": "noauth"}, READ], ...),
    "tool-challenge-schemes-linked-only": ("whoami", [READ], ...),
    "tool-challenge-schemes-other-scopes": (
        "get_invoice", [{"type": "oauth2", "scopes": ["invoices:read", "invoices:write"]}], ...
    ),
    "tool-challenge-schemes-mirror-differs": ("get_invoice", [READ], [{"type": "noauth"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_a_fault_states_other_schemes_for_one_tool(make_lab, name):
    tool, stated, mirror = STATED[name]
    listed = tools(make_lab(fault=FAULTS[name]))
    sound = tools(make_lab(Profile.TOOL_CHALLENGE))
    assert listed[tool].get("securitySchemes") == stated
    assert listed[tool].get("_meta", {}).get("securitySchemes") == (stated if mirror is ... else mirror)
    assert {other: entry for other, entry in listed.items() if other != tool} == {
        other: entry for other, entry in sound.items() if other != tool
    }
