"""What becomes of each fact: a line that is filled in, or a question with an example of an answer."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.init import Draft, ServerSettings, draft_contract, render
from mcp_auth_contract.init.arguments import arguments_of
from mcp_auth_contract.init.inspection import KIT, Inspection, Listed, NeededScopes, TokenShape
from mcp_auth_contract.init.render import provisional
from mcp_auth_contract.model import OperationKind, Revision

URL = "http://127.0.0.1:8000/mcp"
READS = {"readOnlyHint": True}
KINDS = ("tools", "resources", "templates", "prompts")


def seen(**more: Any) -> Inspection:
    kinds = {kind: more.pop(kind) for kind in KINDS if kind in more}
    lists = {kind: Listed(tuple(kinds.get(kind, ())), complete=True) for kind in KINDS}
    return Inspection(**{"settings": ServerSettings(url=URL), "endpoint": URL, "lists": lists, **more})


def text(**more: Any) -> str:
    return render(draft_contract(seen(**more)))


def tables(**more: Any) -> dict[str, Any]:
    return tomllib.loads(text(**more))


def tool(**more: Any) -> dict[str, Any]:
    """The only tool, with a read beside it so that the draft can be used."""
    first = {"name": "a", **more.pop("entry", {})}
    (one, _) = tables(tools=[first, {"name": "list_all", "annotations": READS}], **more)["tools"]
    return one


def uncommented(drafted: str, header: str) -> str:
    """The example under a header, as its reader would uncomment it."""
    lines = drafted.splitlines()
    start = lines.index(f"# [[{header}]]")
    block = []
    for line in lines[start:]:
        if not line.startswith("# "):
            break
        block.append(line.removeprefix("# "))
    return "\n".join(block) + "\n"


def test_what_was_seen_of_the_server_is_filled_in() -> None:
    filled = tables(
        revisions=(Revision.R2026_07_28, Revision.R2025_11_25),
        public=("initialize", "tools/list"),
        challenge="tool",
        scopes=("r", "w"),
        scopes_from="its challenge names",
    )
    assert filled["target"] == {"url": URL, "revisions": ["2026-07-28", "2025-11-25"]}
    assert filled["policy"] == {"public": ["initialize", "tools/list"], "challenge": "tool"}
    assert filled["principals"]["alice"] == {"subject": "alice", "tenant": "t1", "scopes": ["r", "w"]}
    assert filled["principals"]["bob"]["scopes"] == ["r", "w"]


@pytest.mark.parametrize(
    ("schemes", "scopes"),
    [
        ([{"type": "oauth2", "scopes": ["r", "w"]}], ["r", "w"]),
        ([{"type": "noauth"}], []),
        ([{"type": "noauth"}, {"type": "oauth2", "scopes": ["r"]}], []),
        ([{"type": "oauth2"}], None),
        ([{"type": "oauth2", "scopes": ["two words"]}], None),
        ("nonsense", None),
    ],
)
def test_scopes_come_from_the_security_schemes(schemes: object, scopes: list[str] | None) -> None:
    assert tool(entry={"securitySchemes": schemes}).get("scopes") == scopes
    assert tool(entry={"_meta": {"securitySchemes": schemes}}).get("scopes") == scopes


def test_scopes_come_from_challenges_else_from_what_everything_needs_else_they_are_asked() -> None:
    name = (OperationKind.TOOL, "a")
    assert tool(needed={name: NeededScopes(("r",), all=True)})["scopes"] == ["r"]
    assert "scopes" not in tool(needed={name: NeededScopes((), all=True)})
    assert tool(base=("b",))["scopes"] == ["b"]
    assert tool(open_tools=frozenset({"a"}))["scopes"] == []
    asked = text(tools=[{"name": "a"}], scopes=("r", "w"))
    assert '# ? which scopes does it need? The server offers r, w.\n# scopes = ["r"]\n' in asked
    assert "# ? nothing is served without what is written here" in text(tools=[{"name": "a"}], base=("b",))


@pytest.mark.parametrize(
    ("name", "hints", "effect", "asked"),
    [
        ("a", {"readOnlyHint": True}, "read", False),
        ("a", {"readOnlyHint": False}, "write", False),
        ("get_a", {"destructiveHint": True}, "write", False),
        ("exportAll", {"readOnlyHint": True}, "export", True),
        ("get_a", {}, "read", True),
        ("listThings", None, "read", True),
        ("target", None, "write", True),
        ("a", None, "write", True),
    ],
)
def test_the_effect_comes_from_annotations_else_it_is_a_guess(
    name: str, hints: object, effect: str, asked: bool
) -> None:
    entry = {"name": name, "annotations": hints}
    assert tool(entry=entry)["effect"] == effect
    assert ("# ? read, export or write?" in text(tools=[entry])) is asked


def test_the_control_is_the_read_that_needs_the_least() -> None:
    argued = {"required": ["id"], "properties": {"id": {"type": "string"}}}
    drafted = tables(
        tools=[
            {"name": "delete", "annotations": {"readOnlyHint": False}},
            {"name": "open", "annotations": READS, "securitySchemes": [{"type": "noauth"}]},
            {"name": "get", "annotations": READS, "inputSchema": argued},
            {"name": "get_guess"},
            {"name": "whoami", "annotations": READS},
        ]
    )
    assert [one["name"] for one in drafted["tools"] if one.get("control")] == ["whoami"]


def test_a_server_that_shows_nothing_gets_examples_and_the_reader_names_what_lacks() -> None:
    lists = {kind: Listed(said="401") for kind in KINDS}
    drafted = text(lists=lists, scopes=("r",))
    assert "Not shown to `init`: tools, resources, resource templates, prompts (401)." in drafted
    assert "init --token-env NAME" in drafted
    with pytest.raises(ContractError, match=r"c\.toml: tools: no tool, resource or prompt is declared"):
        read_contract(drafted, Path("c.toml"))
    read_contract(drafted + uncommented(drafted, "tools"), Path("c.toml"))


def test_the_examples_of_records_and_cursors_can_be_uncommented() -> None:
    argued = {"required": ["id"], "properties": {"id": {"type": "string"}}}
    paged = {"properties": {"cursor": {"type": "string"}}}
    drafted = text(
        tools=[
            {"name": 'get"it\n', "annotations": READS, "inputSchema": argued},
            {"name": "list", "annotations": READS, "inputSchema": paged},
        ],
        templates=[{"uriTemplate": "x://{id}"}],
        prompts=[{"name": "p", "arguments": [{"name": "id", "required": True}, {"name": "more"}]}],
    )
    contract = read_contract(
        drafted + uncommented(drafted, "records") + uncommented(drafted, "cursors"), Path("c.toml")
    )
    assert [(path.kind, path.name) for _, _, path in contract.paths()] == [
        ("tool", 'get"it\n'),
        ("resource", "x://id-1"),
        ("prompt", "p"),
        ("tool", "list"),
    ]
    assert contract.cursors[0].tool == "list"
    assert dict(contract.prompts[0].arguments) == {"id": "id-1"}


def test_listed_resources_give_the_values_of_arguments() -> None:
    drafted = tables(
        tools=[{"name": "get", "annotations": READS, "inputSchema": {"required": ["id"]}}],
        resources=[{"uri": "y://1"}, {"uri": "x://INV%201"}],
        templates=[{"uriTemplate": "x://{id}"}, {"uriTemplate": "z://{a}/{b}"}],
    )
    assert drafted["resources"][2]["arguments"] == {"id": "INV 1"}
    assert drafted["resources"][3]["arguments"] == {"a": "a-1", "b": "b-1"}


def test_a_hundred_of_a_kind_are_enough_and_what_is_left_out_is_said() -> None:
    entries = [{"name": f"get_{number}"} for number in range(130)]
    drafted = text(tools=[*entries, {"name": "get_1"}, {"name": ""}, {"name": "x" * 400}, {}])
    assert len(tomllib.loads(drafted)["tools"]) == 100
    said = drafted.replace("\n# ", " ")
    assert "3 tools with a name that no contract can hold; 1 tool listed more than once" in said
    assert "30 tools after the first 100" in said


def test_an_endless_list_is_said() -> None:
    lists = {kind: Listed(complete=True) for kind in KINDS} | {"tools": Listed(({"name": "get"},))}
    assert "whatever follows in the list of tools, which did not end" in text(lists=lists)


@pytest.mark.parametrize(
    ("resource", "written"),
    [
        (URL, None),
        (f"{URL}/", f"{URL}/"),
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
    ],
)
def test_a_resource_that_is_not_the_url_is_asked_about(resource: str, written: str | None) -> None:
    assert tables(resource=resource)["target"].get("resource") == written
    assert ("# ? is this the audience" in text(resource=resource)) is (written is not None)


def test_the_port_that_was_picked_is_not_written() -> None:
    place = ServerSettings(url="http://127.0.0.1:0/mcp", start=("s", "${target.port}"))
    drafted = tables(settings=place, endpoint="http://127.0.0.1:4711/mcp", resource="http://127.0.0.1:4711/")
    assert drafted["target"]["resource"] == "http://127.0.0.1:${target.port}/"


def test_a_server_elsewhere_needs_the_authors_word() -> None:
    more = {"settings": ServerSettings(url="https://mcp.example.com/mcp"), "endpoint": "https://mcp.example.com/mcp"}
    drafted = text(tools=[{"name": "get_a"}], **more)
    assert "# ? may you test this server?" in drafted
    with pytest.raises(ContractError, match=r"target\.url: the host is not this machine and authorized is not set"):
        read_contract(drafted, Path("c.toml"))
    read_contract(drafted.replace("authorized = false", "authorized = true"), Path("c.toml"))


def test_the_shape_of_a_token_becomes_claims() -> None:
    shape = TokenShape(scope="scp", scope_list=True, client="azp", typ="JWT", algorithm="ES256")
    drafted = tables(shape=shape, token_from="T")
    assert drafted["claims"] == {"scope": "scp", "client": "azp", "typ": "JWT", "scope_format": "list"}
    assert drafted["issuer"] == {"algorithms": ["ES256"]}
    assert tables(shape=TokenShape(opaque=True), token_from="T")["issuer"] == {"tokens": "opaque"}


def test_how_a_server_is_started_stands_in_the_contract() -> None:
    env = {"ISSUER": "${issuer.url}", "I": "${issuer.introspection_uri}", "CA": "${issuer.ca_file}"}
    place = ServerSettings(app="m:app", env=env)
    drafted = tables(settings=place, token_from=KIT)
    assert drafted["target"] == {"app": "m:app", "env": env}
    assert drafted["issuer"] == {"tokens": "opaque", "tls": True}
    assert "# ? by which environment variables" in text(settings=ServerSettings(app="m:app"))
    assert "Listed with a token of the kit's issuer: tools." in text(
        settings=place, token_from=KIT, tools=[{"name": "a"}]
    )


def test_the_least_contract_of_a_place_can_be_read() -> None:
    contract = read_contract(provisional(ServerSettings(url="https://mcp.example.com/mcp")), Path("c.toml"))
    assert contract.target.authorized


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "v-1"),
        ({"type": "string", "format": "date"}, "2026-01-31"),
        ({"type": "string", "minLength": 6}, "v-1xxx"),
        ({"type": "string", "maxLength": 2}, "v-"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 10}, 10),
        ({"type": "integer", "exclusiveMaximum": 0}, -1),
        ({"type": "number"}, 1.0),
        ({"type": "boolean"}, False),
        ({"type": "array"}, []),
        ({"type": "array", "minItems": 1, "items": {"type": "integer"}}, [1]),
        ({"type": "object", "required": ["a"], "properties": {"a": {"enum": ["x"]}}}, {"a": "x"}),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"$ref": "#/$defs/Colour"}, "red"),
        ({"type": ["null", "boolean"]}, False),
        ({"default": 7}, 7),
        ({"examples": ["e"]}, "e"),
        ({"const": "c"}, "c"),
        (True, "v-1"),
    ],
)
def test_an_argument_has_a_value_that_its_schema_allows(schema: object, value: object) -> None:
    whole = {"required": ["v"], "properties": {"v": schema}, "$defs": {"Colour": {"enum": ["red", "blue"]}}}
    made = arguments_of(whole, {})
    assert made.values == {"v": value}
    assert bool(made.made_up) == (
        not isinstance(schema, dict) or not {"default", "examples", "const", "$ref"} & schema.keys()
    )


def test_only_required_arguments_are_given_and_hostile_schemas_end() -> None:
    assert arguments_of({"properties": {"v": {}}}, {}).values == {}
    wide = {"type": "object", "required": [f"m{n}" for n in range(30)], "properties": {}}
    wide["properties"] = {f"m{n}": {"$ref": "#"} for n in range(30)}
    assert len(arguments_of(wide, {}).missing) == 30
    loop = {"required": ["v"], "properties": {"v": {"$ref": "#/properties/v"}}}
    assert arguments_of(loop, {}).missing == ("v",)


def test_a_schema_that_branches_at_every_level_is_given_up() -> None:
    class Counted(dict[str, Any]):
        asked = 0

        def get(self, name: str, default: Any = None) -> Any:
            Counted.asked += 1
            return super().get(name, default)

    def branching(target: str) -> Counted:
        names = [f"m{n}" for n in range(30)]
        return Counted(
            type="object", required=names, properties=Counted({one: Counted({"$ref": target}) for one in names})
        )

    levels = {f"L{n}": branching(f"#/$defs/L{n + 1}") for n in range(4)} | {"L4": Counted(type="string")}
    whole = Counted(branching("#/$defs/L2"))
    whole["$defs"] = Counted(levels)
    assert arguments_of(whole, {}).values == {}
    assert Counted.asked < 20_000


def test_a_draft_says_that_arguments_are_missing() -> None:
    drafted = text(tools=[{"name": "get", "inputSchema": {"required": ["${a}"]}}])
    assert "# ? it needs arguments that could not be made up: ${a}" in drafted


def test_drafts_are_values() -> None:
    assert draft_contract(seen()) == draft_contract(seen())
    assert isinstance(draft_contract(seen()), Draft)


SHOWS = {
    "name": "show",
    "annotations": READS,
    "_meta": {"ui": {"resourceUri": "ui://a", "visibility": ["model", "app"]}},
}
HELPS = {"name": "refresh", "annotations": READS, "_meta": {"ui": {"resourceUri": "ui://a", "visibility": ["app"]}}}


def test_a_view_is_written_for_the_tool_that_shows_it() -> None:
    view = {"csp": {"connectDomains": ["https://api.example.com"], "frameDomains": []}, "permissions": {"camera": {}}}
    resources = [{"uri": "ui://a"}, {"uri": "record://1"}]
    filled = tables(tools=[SHOWS, HELPS], resources=resources, views={"ui://a": view})
    assert [one["visibility"] for one in filled["tools"]] == [["model", "app"], ["app"]]
    assert filled["views"] == [{"tool": "show"}]
    assert filled["apps"] == {"csp": {"connect": ["https://api.example.com"]}, "permissions": ["camera"]}
    assert [one["uri"] for one in filled["resources"]] == ["record://1"]


def test_views_that_could_not_be_read_or_differ_are_questions() -> None:
    drafted = text(tools=[SHOWS], resources=[])
    assert "# ? which origins and permissions may Views ask for?" in drafted
    assert 'secrets = ["${env:UPSTREAM_KEY}"]' in drafted
    other = {"name": "list", "annotations": READS, "_meta": {"ui/resourceUri": "ui://b"}}
    views = {"ui://a": {}, "ui://b": {"permissions": {"camera": {}}}}
    filled = tables(tools=[SHOWS, other], views=views)
    assert filled["apps"] == {}
    assert filled["views"] == [{"tool": "show"}, {"tool": "list"}]


@pytest.mark.parametrize(
    "meta", ["ui", {"ui": 1}, {"ui": {"resourceUri": 1}}, {"ui": {"visibility": "app"}}, {"ui": None}]
)
def test_metadata_that_says_nothing_drafts_no_view(meta: Any) -> None:
    filled = tables(tools=[{**SHOWS, "_meta": meta}])
    assert "views" not in filled
    assert "visibility" not in filled["tools"][0]
