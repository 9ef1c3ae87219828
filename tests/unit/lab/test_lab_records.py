"""Who sees which invoice, and which scopes it takes."""

import pytest

CANARIES = {
    "alice": ("INV-1", "alice-t1-INV-1-7f3a"),
    "bob": ("INV-2", "bob-t1-INV-2-91bd"),
    "carol": ("INV-1", "carol-t2-INV-1-c04e"),
}


def ways(invoice_id: str):
    read = {"invoice_id": invoice_id}
    return [
        ("tools/call", {"name": "get_invoice", "arguments": read}),
        ("tools/call", {"name": "list_invoices", "arguments": {}}),
        ("tools/call", {"name": "search_invoices", "arguments": {"query": "INV"}}),
        ("tools/call", {"name": "export_invoices", "arguments": {}}),
        ("tools/call", {"name": "update_invoice", "arguments": {**read, "amount": 5}}),
        ("resources/read", {"uri": f"invoice://{invoice_id}"}),
        ("prompts/get", {"name": "summarise_invoice", "arguments": read}),
    ]


@pytest.mark.parametrize("owner", CANARIES)
def test_the_owner_sees_the_canary_on_every_way_and_nobody_else_does(lab, keys, owner):
    invoice_id, canary = CANARIES[owner]
    for method, params in ways(invoice_id):
        for caller in CANARIES:
            for answer in (
                lab.modern(method, params, keys.token(caller)),
                lab.legacy(method, params, keys.token(caller)),
            ):
                assert (canary in answer.text + str(answer.headers)) is (caller == owner), (method, caller)


def test_a_foreign_id_looks_like_one_that_does_not_exist(lab, keys):
    answers = [lab.call("get_invoice", {"invoice_id": one}, keys.token("bob")).json() for one in ("INV-1", "INV-9")]
    assert answers[0] == answers[1]
    assert answers[0]["result"]["isError"] is True
    assert answers[0]["result"]["content"][0]["text"] == "not found"


def test_a_foreign_write_changes_nothing(lab, keys):
    written = lab.call("update_invoice", {"invoice_id": "INV-1", "amount": 5}, keys.token("bob"))
    assert written.json()["result"]["isError"] is True
    got = lab.call("get_invoice", {"invoice_id": "INV-1"}, keys.token())
    assert got.json()["result"]["structuredContent"]["amount"] == 120


def test_a_write_changes_the_own_record_of_that_id(lab, keys):
    lab.call("update_invoice", {"invoice_id": "INV-1", "amount": 5}, keys.token("carol"))
    amounts = [
        lab.call("get_invoice", {"invoice_id": "INV-1"}, keys.token(one)).json()["result"]["structuredContent"][
            "amount"
        ]
        for one in ("alice", "carol")
    ]
    assert amounts == [120, 5]


def test_a_page_token_leads_on_and_belongs_to_one_caller(lab, keys):
    def page(caller, **arguments):
        return lab.call("list_invoices", arguments, keys.token(caller)).json()["result"]

    cursor = page("alice")["structuredContent"]["nextCursor"]
    last = page("alice", cursor=cursor)["structuredContent"]
    assert [one["invoice_id"] for one in last["invoices"]] == ["INV-11"]
    assert "nextCursor" not in last
    for caller, wrong in (
        ("bob", cursor),
        ("carol", cursor),
        ("alice", "x"),
        ("alice", cursor[:-1]),
        ("alice", "é"),
    ):
        assert page(caller, cursor=wrong)["isError"] is True


def test_whoami_says_what_the_token_says(lab, keys):
    who = lab.call("whoami", token=keys.token("carol", scope="b invoices:read")).json()["result"]
    assert who["structuredContent"] == {"subject": "carol", "tenant": "t2", "scopes": ["b", "invoices:read"]}


def test_a_stranger_with_a_good_token_has_no_invoices(lab, keys):
    listed = lab.call("list_invoices", token=keys.token("mallory")).json()["result"]
    assert listed["structuredContent"] == {"invoices": []}


def test_headers_arguments_and_client_info_do_not_change_who_calls(lab, keys):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "alice", "version": "t1"},
        "tenant": "t1",
    }
    arguments = {"invoice_id": "INV-1", "user": "alice", "tenant_id": "t1"}
    call = {"name": "get_invoice", "arguments": arguments, "_meta": meta}
    headers = {"x-tenant-id": "t1", "x-user-id": "alice", "x-forwarded-user": "alice"}
    answer = lab.modern("tools/call", call, keys.token("carol"), headers)
    assert "carol-t2" in answer.text
    assert "alice-t1" not in answer.text


def test_resources_are_listed_and_completed_for_the_caller(lab, keys):
    listed = lab.modern("resources/list", None, keys.token("bob")).json()["result"]["resources"]
    assert [one["uri"] for one in listed] == ["invoice://INV-2", "invoice://INV-12"]
    reference = {"type": "ref/prompt", "name": "summarise_invoice"}
    params = {"ref": reference, "argument": {"name": "invoice_id", "value": "INV-2"}}
    completed = lab.modern("completion/complete", params, keys.token("bob")).json()["result"]["completion"]
    assert completed["values"] == ["INV-2"]
    template = {"ref": {"type": "ref/resource", "uri": "invoice://{invoice_id}"}, "argument": {"value": ""}}
    assert lab.modern("completion/complete", template, keys.token("bob")).status_code == 200
    assert lab.modern("completion/complete", {"ref": 1}, keys.token("bob")).status_code == 400


def test_wrong_arguments_are_a_tool_error_and_an_unknown_tool_a_protocol_error(lab, keys):
    for tool, arguments in (("get_invoice", {}), ("get_invoice", {"invoice_id": 1}),
                            ("update_invoice", {"invoice_id": "INV-1", "amount": True})):  # fmt: skip
        assert lab.call(tool, arguments, keys.token()).json()["result"]["isError"] is True
    assert lab.call("no_such_tool", {}, keys.token()).json()["error"]["code"] == -32602
    assert lab.legacy("prompts/get", {"name": "x"}, keys.token()).json()["error"]["code"] == -32602


NEEDS = {
    "list_invoices": "invoices:read",
    "whoami": "invoices:read",
    "export_invoices": "invoices:export",
    "update_invoice": "invoices:write",
}


@pytest.mark.parametrize("tool", NEEDS)
def test_a_tool_runs_with_just_its_scope_and_is_403_without(lab, keys, tool):
    arguments = {"invoice_id": "INV-1", "amount": 3} if tool == "update_invoice" else {}
    call = {"name": tool, "arguments": arguments}
    others = " ".join({*NEEDS.values()} - {NEEDS[tool]})
    for send in (lab.modern, lab.legacy):
        assert "error" not in send("tools/call", call, keys.token(scope=NEEDS[tool])).text
        for scope in (
            others,
            "",
            ...,
            NEEDS[tool] + "x",
            NEEDS[tool].upper(),
            "*",
            "invoices:*",
            {NEEDS[tool]: 1},
        ):
            refused = send("tools/call", call, keys.token(scope=scope))
            assert refused.status_code == 403
            assert "result" not in refused.text
            challenge = refused.headers["www-authenticate"]
            assert challenge.startswith('Bearer error="insufficient_scope", error_description="')
            assert f'scope="{NEEDS[tool]}"' in challenge
            assert 'resource_metadata="http://lab.test/.well-known' in challenge


def test_resources_prompts_and_completion_need_the_read_scope(lab, keys):
    token = keys.token(scope="invoices:write")
    reference = {"type": "ref/prompt", "name": "summarise_invoice"}
    for method, params in (
        ("resources/read", {"uri": "invoice://INV-1"}),
        ("resources/read", {"uri": "invoice://INV-9"}),
        ("prompts/get", {"name": "summarise_invoice", "arguments": {"invoice_id": "INV-1"}}),
        ("completion/complete", {"ref": reference, "argument": {"name": "invoice_id", "value": ""}}),
    ):
        assert lab.modern(method, params, token).status_code == 403
        assert lab.legacy(method, params, token).status_code == 403


def test_an_expired_token_without_scopes_is_401(lab, keys):
    assert lab.call("whoami", token=keys.token(scope="", exp=1)).status_code == 401
