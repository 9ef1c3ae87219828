"""Whatever a server says of itself, the drafted text is TOML, and a contract that reads back what was seen."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_auth_contract.contract import Contract, read_contract, resolve
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.init import ServerSettings, draft_contract, questions_in, render
from mcp_auth_contract.init.inspection import Inspection, Listed
from mcp_auth_contract.init.toml import Unwritable, key, shown, value

URL = "http://127.0.0.1:8000/mcp"
VALUES = {"target.port": "8000", "target.resource": URL, "target.url": URL, "python": "python"}
ANSWERABLE = re.compile(
    r"c\.toml: (?:tools: (?:no tool, resource or prompt is declared|everything is open without a token)"
    r"|tools\[.*\]: the control call would write)",
    re.DOTALL,
)
"""What only the author can answer before a draft can be used."""

LINES = {"control": "c\x00\x1b[2J\x7f\x85", "quotes": "\"'\\\"\"\"'''", "lines": "a\r\n[target]\nurl = 1\u2028# ? b"}
NASTY = ["", *LINES.values(), "${env:HOME}", "$${x}", "$$${", "\u202eevil", "\U0001f600é", "a]b:c[", "x" * 5000]
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=20))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
schemas = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["string", "integer", "number", "boolean", "array", "object", "null", ["null", "integer"]]
        ),
        "default": json_values,
        "enum": st.lists(json_values, max_size=2),
        "minimum": st.one_of(st.integers(), st.floats()),
        "minLength": st.integers(-5, 400),
        "maxLength": st.integers(-5, 400),
        "minItems": st.integers(0, 2),
        "items": json_values,
        "anyOf": st.lists(json_values, max_size=2),
        "$ref": st.sampled_from(["#", "#/properties/a", "#/nowhere", "http://elsewhere"]),
        "required": st.one_of(json_values, st.lists(texts, max_size=3)),
        "properties": json_values,
    },
)
tools = st.fixed_dictionaries(
    {"name": st.one_of(texts, json_values)},
    optional={
        "description": json_values,
        "annotations": st.one_of(json_values, st.fixed_dictionaries({"readOnlyHint": st.booleans()})),
        "securitySchemes": st.one_of(
            json_values,
            st.lists(
                st.fixed_dictionaries(
                    {"type": st.sampled_from(["noauth", "oauth2"]), "scopes": st.lists(texts, max_size=2)}
                ),
                max_size=2,
            ),
        ),
        "_meta": st.one_of(
            json_values,
            st.fixed_dictionaries(
                {
                    "ui": st.fixed_dictionaries(
                        {},
                        optional={"resourceUri": texts, "visibility": st.lists(st.sampled_from(["model", "app", 1]))},
                    )
                }
            ),
        ),
        "inputSchema": st.one_of(
            json_values,
            st.builds(
                lambda properties: {"type": "object", "properties": properties, "required": list(properties)},
                st.dictionaries(texts, schemas, max_size=3),
            ),
        ),
    },
)
uris = st.one_of(
    texts, st.sampled_from(["x://{a}", "x://{a}/{b*}{?c}", "x://${env:HOME}", "x://{+a}{%41}", "x:\u2028"])
)
resources = st.fixed_dictionaries({}, optional={"uri": uris, "uriTemplate": uris, "name": texts})
prompts = st.fixed_dictionaries(
    {"name": texts},
    optional={
        "arguments": st.one_of(
            json_values, st.lists(st.fixed_dictionaries({"name": texts, "required": st.booleans()}), max_size=3)
        )
    },
)


def seen(**more: Any) -> Inspection:
    return Inspection(**{"settings": ServerSettings(url=URL), "endpoint": URL, **more})


def listing(**kinds: list[Mapping[str, Any]]) -> dict[str, Listed]:
    return {
        kind: Listed(tuple(kinds.get(kind, ())), complete=True)
        for kind in ("tools", "resources", "templates", "prompts")
    }


def contract_of(text: str) -> Contract | None:
    try:
        return resolve(read_contract(text, Path("c.toml")), VALUES, {})
    except ContractError as fault:
        assert ANSWERABLE.match(str(fault)), fault
        return None


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(tools, max_size=4),
    st.lists(resources, max_size=3),
    st.lists(prompts, max_size=3),
    st.lists(texts, max_size=3),
    st.one_of(st.none(), texts),
)
def test_a_draft_is_a_contract_that_says_what_was_seen(
    listed: list[Any], uris_listed: list[Any], prompts_listed: list[Any], scopes: list[str], word: str | None
) -> None:
    lists = listing(tools=listed, resources=uris_listed, templates=uris_listed, prompts=prompts_listed)
    draft = draft_contract(seen(lists=lists, scopes=tuple(scopes), name=word, issuers=(word or "",)))
    text = render(draft)
    assert all(character == "\n" or character.isprintable() for character in text)
    tomllib.loads(text)
    contract = contract_of(text)
    if contract is None:
        return
    assert [tool.name for tool in contract.tools] == [tool.name for tool in draft.tools]
    assert [tool.scopes for tool in contract.tools] == [tool.scopes for tool in draft.tools]
    assert [dict(tool.arguments) for tool in contract.tools] == [dict(tool.arguments.values) for tool in draft.tools]
    assert [one.uri for one in contract.resources] == [one.name for one in draft.resources]
    assert [one.name for one in contract.prompts] == [one.name for one in draft.prompts]
    assert all(one.scopes == draft.scopes for one in contract.principals.values())


@given(texts)
def test_a_text_comes_back_as_it_was(text: str) -> None:
    written = value(text, variables=True).as_string()
    (read,) = tomllib.loads(f"a = {written}").values()
    assert read == text
    assert written.isprintable()


@given(texts.filter(lambda text: "${" not in text))
def test_a_key_comes_back_as_it_was(name: str) -> None:
    assert list(tomllib.loads(f"{key(name).as_string()} = 1")) == [name]


@given(json_values)
def test_a_value_is_written_exactly_or_not_at_all(json_value: object) -> None:
    try:
        written = value(json_value).as_string()
    except Unwritable:
        return
    (read,) = tomllib.loads(f"a = {written}").values()
    assert _without_variables(read) == json_value


def _without_variables(read: object) -> object:
    if isinstance(read, str):
        return read.replace("$${", "${")
    if isinstance(read, dict):
        return {name: _without_variables(member) for name, member in read.items()}
    return [_without_variables(member) for member in read] if isinstance(read, list) else read


@pytest.mark.parametrize("unwritable", [None, float("inf"), float("nan"), 2**63, "\ud800", {"${a}": 1}, [None]])
def test_what_no_contract_holds_is_not_written(unwritable: object) -> None:
    with pytest.raises(Unwritable):
        value(unwritable)


def test_a_variable_in_a_servers_words_stands_for_itself() -> None:
    assert value("${env:HOME}").as_string() == '"$${env:HOME}"'
    tool = {
        "name": "${env:HOME}",
        "inputSchema": {"required": ["a"], "properties": {"a": {"default": "${issuer.url}"}}},
    }
    contract = contract_of(
        render(draft_contract(seen(lists=listing(tools=[{**tool, "annotations": {"readOnlyHint": True}}]))))
    )
    assert contract is not None
    assert contract.tools[0].name == "${env:HOME}"
    assert contract.tools[0].arguments == {"a": "${issuer.url}"}


@pytest.mark.parametrize("words", LINES.values(), ids=LINES)
def test_words_for_people_are_one_line_without_anything_invisible(words: str) -> None:
    assert shown(words).isprintable()
    assert "\n" not in shown(words)
    assert len(shown("y" * 5000)) == 101


def test_a_comment_cannot_become_a_question_or_a_table() -> None:
    evil = {"name": "get", "description": "x\n# ? y\n[policy]\nwrites = true", "annotations": {"readOnlyHint": True}}
    plain = {"name": "get", "description": "x", "annotations": {"readOnlyHint": True}}
    both = [render(draft_contract(seen(lists=listing(tools=[tool]), name="n\n# ? z"))) for tool in (evil, plain)]
    assert questions_in(both[0]) == questions_in(both[1])
    assert tomllib.loads(both[0])["policy"] == tomllib.loads(both[1])["policy"]
