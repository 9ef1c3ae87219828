"""Operations: what can be called, by whom, and which call tells acceptance from refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.contract.texts import MINIMAL, RECORD, read, resolved, with_more, with_table

from mcp_auth_contract.contract import control_operation, implying, operations, principal_for, satisfies
from mcp_auth_contract.contract.templates import expand, matches, template_variables
from mcp_auth_contract.model import Effect, OperationKind

BOB = '[principals.bob]\nsubject = "bob"\nscopes = ["invoices:read"]\n'
WIDE = '[policy]\nimplies = { admin = ["write"], write = ["invoices:read"], "invoices:read" = ["admin"] }'


def test_operations_are_tools_then_resources_then_prompts() -> None:
    more = '[[prompts]]\nname = "p"\narguments = { b = "2", a = "1" }\n[[resources]]\nuri = "x://y"\nscopes = []\n'
    found = operations(read(with_more(more)))
    assert [(each.kind, each.name, each.public) for each in found] == [
        (OperationKind.TOOL, "get_invoice", False),
        (OperationKind.RESOURCE, "x://y", True),
        (OperationKind.PROMPT, "p", False),
    ]
    assert found[2].call_arguments == '{"a":"1","b":"2"}'
    assert found[2].arguments == {"a": "1", "b": "2"}


def test_without_scopes_any_token_will_do_and_with_none_no_token_is_needed() -> None:
    more = '[[tools]]\nname = "any"\n[[tools]]\nname = "open"\nscopes = []\n'
    _, any_token, no_token = operations(read(with_more(more)))
    assert (any_token.scopes, any_token.public) == ((), False)
    assert (no_token.scopes, no_token.public) == ((), True)


@pytest.mark.parametrize(
    ("template", "values", "uri"),
    [
        ("x://{id}", {"id": "a b/c"}, "x://a%20b%2Fc"),
        ("x://{+path}", {"path": "a/b c%20"}, "x://a/b%20c%20"),
        ("x://{+path}", {"path": "50%"}, "x://50%25"),
        ("x://{path*}", {"path": "a"}, "x://a"),
        ("x://y{?q,n}", {"q": "a&b", "n": "1"}, "x://y?q=a%26b&n=1"),
        ("x://y?a=1{&q}", {"q": "2"}, "x://y?a=1&q=2"),
        ("x://y{/one,two}", {"one": "1", "two": "2"}, "x://y/1/2"),
        ("x://y{.ext}", {"ext": "txt"}, "x://y.txt"),
        ("x://y{;k}", {"k": "v"}, "x://y;k=v"),
        ("x://y{;k}", {"k": ""}, "x://y;k"),
        ("x://{a:b}/{}", {"a": "no expression"}, "x://{a:b}/{}"),
        ("x://y{#part}", {"part": "a/b"}, "x://y#a/b"),
        ("x://{id:3}", {"id": "abcdef"}, "x://abc"),
        ("x://{a,b}", {"a": "1", "b": "2"}, "x://1,2"),
        ("x://y{?q}", {}, "x://y"),
        ("x://${env:A}/{id}", {"id": "${env:B}"}, "x://${env:A}/${env:B}"),
    ],
)
def test_a_template_is_expanded_as_rfc_6570_says(template: str, values: dict[str, str], uri: str) -> None:
    assert expand(template, values) == uri
    assert matches(template, uri)


@given(
    st.sampled_from(["x://{a}/{b}", "x://{+a}/{b}", "x://y{?a,b}", "x://{a}{/b}", "x://y{;a}{.b}", "x://{a*}/z{#b}"]),
    st.text(min_size=1, max_size=8),
    st.text(min_size=1, max_size=8),
)
def test_a_template_makes_what_it_matches(template: str, one: str, other: str) -> None:
    one, other = (text.encode("utf-8", "replace").decode().replace("${", "") or "x" for text in (one, other))
    assert template_variables(template) == ("a", "b")
    assert matches(template, expand(template, {"a": one, "b": other}))


def test_a_plain_variable_stands_for_one_segment() -> None:
    assert matches("invoice://{id}/lines", "invoice://1/lines")
    assert not matches("invoice://{id}/lines", "invoice://1/2/lines")
    assert not matches("invoice://{id}", "invoices://1")


def test_the_resource_of_a_uri_is_the_exact_one_before_a_template() -> None:
    more = '[[resources]]\nuri = "x://{id}"\narguments = { id = "2" }\n[[resources]]\nuri = "x://1"\n'
    contract = read(with_more(more))
    found = [contract.resource_for(uri) for uri in ("x://1", "x://2", "y://1")]
    assert [each.uri if each else None for each in found] == ["x://1", "x://{id}", None]
    assert [each.name for each in operations(contract)[1:]] == ["x://2", "x://1"]


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("", "get_invoice"),
        ('[[tools]]\nname = "named"\nscopes = ["invoices:read"]\ncontrol = true\n', "named"),
        ('[[resources]]\nuri = "x://y"\nscopes = ["invoices:read"]\n', "get_invoice"),
    ],
)
def test_the_control_is_the_named_tool_else_the_first_read_with_scopes(more: str, name: str) -> None:
    assert control_operation(read(with_more(more))).name == name


@pytest.mark.parametrize(
    ("tools", "name"),
    [
        ([("w", "write", '["s"]'), ("any", "read", None), ("r", "read", '["s"]')], "r"),
        ([("w", "write", '["s"]'), ("any", "read", None)], "any"),
        ([("open", "read", "[]"), ("e", "export", '["s"]')], "e"),
        ([("open", "read", "[]"), ("w", "write", '["s"]')], "w"),
    ],
)
def test_the_control_prefers_reads_then_scopes(tools: list[tuple[str, str, str | None]], name: str) -> None:
    text = MINIMAL.partition("[[tools]]")[0] + "[policy]\nwrites = true\n"
    for tool, effect, scopes in tools:
        text += f'[[tools]]\nname = "{tool}"\neffect = "{effect}"\n' + (f"scopes = {scopes}\n" if scopes else "")
    assert control_operation(read(text)).name == name


def test_a_scope_is_implied_over_several_steps_and_in_a_circle() -> None:
    contract = read(with_table(WIDE))
    assert implying(contract, "invoices:read") == {"invoices:read", "write", "admin"}
    assert implying(contract, "other") == {"other"}


@pytest.mark.parametrize(
    ("granted", "needed", "enough"),
    [
        ({"admin"}, ("invoices:read",), True),
        ({"admin", "x"}, ("invoices:read", "x"), True),
        ({"admin"}, ("invoices:read", "x"), False),
        ({"invoices"}, ("invoices:read",), False),
        (set(), ("invoices:read",), False),
        (set(), (), True),
    ],
)
def test_all_needed_scopes_have_to_be_granted_or_implied(
    granted: set[str], needed: tuple[str, ...], *, enough: bool
) -> None:
    assert satisfies(read(with_table(WIDE)), frozenset(granted), needed) is enough


def test_an_implied_scope_makes_a_principal() -> None:
    text = with_table(WIDE).replace(
        'scopes = ["invoices:read"]\n[[', 'scopes = ["none"]\n[principals.root]\nsubject = "r"\nscopes = ["admin"]\n[['
    )
    contract = read(text)
    assert principal_for(contract, control_operation(contract)) == "root"


def test_a_principal_who_lacks_the_scopes_is_passed_over() -> None:
    contract = read(with_more(BOB).replace('"alice"\nscopes = ["invoices:read"]', '"alice"\nscopes = []'))
    assert principal_for(contract, control_operation(contract)) == "bob"


def test_the_owner_of_the_record_that_is_read_makes_the_call() -> None:
    contract = read(with_more(BOB + RECORD.replace('"alice"', '"bob"')))
    assert principal_for(contract, control_operation(contract)) == "bob"


def test_a_call_with_other_arguments_reads_another_record() -> None:
    record = RECORD.replace('"alice"', '"bob"').replace(
        "get_invoice", 'get_invoice", arguments = { id = "2" } }, { tool = "other'
    )
    contract = read(with_more(BOB + record + '[[tools]]\nname = "other"\n'))
    get, other = operations(contract)
    assert principal_for(contract, get) == "alice"
    assert principal_for(contract, other) == "bob"


def test_a_prompt_of_the_same_name_is_another_operation() -> None:
    record = RECORD.replace('"alice"', '"bob"').replace("tool =", "prompt =")
    contract = read(with_more(BOB + record + '[[prompts]]\nname = "get_invoice"\n'))
    tool, prompt = operations(contract)
    assert principal_for(contract, tool) == "alice"
    assert principal_for(contract, prompt) == "bob"


def test_what_a_record_says_is_written_is_written_by_its_owner() -> None:
    tool = '[[tools]]\nname = "w"\neffect = "write"\narguments = { n = 2 }\n'
    record = RECORD.replace('"alice"', '"bob"') + 'writes = [{ tool = "w", arguments = { n = 1 } }]\n'
    contract = read(with_more(BOB + record + tool))
    written = operations(contract)[1]
    assert written.effect is Effect.WRITE
    assert principal_for(contract, written) == "bob"


def test_a_template_is_read_by_the_owner_of_what_it_makes() -> None:
    record = RECORD.replace('"alice"', '"bob"').replace('tool = "get_invoice"', 'resource = "x://a%20b"')
    text = with_more(BOB + record + '[[resources]]\nuri = "x://{id}"\narguments = { id = "${env:ID}" }\n')
    contract = resolved(text, {"ID": "a b"})
    resource = operations(contract)[1]
    assert resource.name == "x://a%20b"
    assert principal_for(contract, resource) == "bob"
