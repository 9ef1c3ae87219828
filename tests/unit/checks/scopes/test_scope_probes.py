"""What the probes of scopes compare and write, without a server."""

import gc
from pathlib import Path

import pytest

from mcp_auth_contract.checks.probing import REGISTERED
from mcp_auth_contract.checks.scopes.bypasses import _honoured
from mcp_auth_contract.checks.scopes.probe import _compared, _views
from mcp_auth_contract.contract import Operation, implying, operations, principal_for, read_contract
from mcp_auth_contract.contract.operations import _DERIVED
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.wire import Listing

TEXT = """
[target]
url = "http://127.0.0.1:8000/mcp"
[policy]
implies = { all = ["read"] }
[principals.alice]
subject = "alice"
scopes = ["read"]
[[tools]]
name = "get"
scopes = ["read"]
[[resources]]
uri = "item://1"
scopes = ["read"]
"""


def compared(**listed: tuple[str, ...]) -> tuple[dict[str, tuple[str, ...]], dict[str, list[str]]]:
    every = {"tools": ("get",), "resources": ("item://1",), "templates": (), "prompts": (), **listed}
    undeclared, unlisted = _compared(read_contract(TEXT, Path("c.toml")), every)
    return undeclared, {kind: [one.name for one in ways] for kind, ways in unlisted.items()}


def test_a_view_is_declared_by_the_tool_that_shows_it() -> None:
    shown = {"name": "get", "_meta": {"ui": {"resourceUri": "ui://item"}}}
    other = {"name": "list", "_meta": {"ui": {"resourceUri": "ui://list"}}}
    contract = read_contract(f'{TEXT}[[views]]\ntool = "get"\n', Path("c.toml"))
    views = _views(contract, Listing((shown, other), ()))
    assert views == {"ui://item"}
    listed = {"tools": ("get",), "resources": ("item://1", "ui://item", "ui://list"), "templates": (), "prompts": ()}
    assert _compared(contract, listed, views)[0]["resources"] == ("ui://list",)


def test_a_surface_that_is_the_contract() -> None:
    undeclared, unlisted = compared()
    assert not any(undeclared.values())
    assert not any(unlisted.values())


def test_what_only_one_side_names() -> None:
    undeclared, unlisted = compared(tools=("other",), prompts=("p",), templates=("note://{id}",))
    assert (undeclared["tools"], undeclared["prompts"], undeclared["templates"]) == (
        ("other",),
        ("p",),
        ("note://{id}",),
    )
    assert unlisted["tools"] == ["get"]


def test_an_instance_in_the_contract_covers_its_template_and_its_siblings() -> None:
    undeclared, unlisted = compared(templates=("item://{id}",), resources=("item://2",))
    assert not any(undeclared.values())
    assert unlisted["resources"] == []
    assert compared(resources=("item://2",))[0]["resources"] == ("item://2",)


@pytest.mark.parametrize("kind", OperationKind)
def test_ways_that_do_not_exist_are_not_tried(kind: OperationKind) -> None:
    exists, operation = REGISTERED["bypass"].exists, Operation(kind, "x")
    assert exists("completion", operation, Revision.R2025_11_25) is (kind is not OperationKind.TOOL)
    assert exists("subscription", operation, Revision.R2025_11_25) is (kind is OperationKind.RESOURCE)
    assert not exists("header_name", operation, Revision.R2025_11_25)
    assert exists("header_name", operation, Revision.R2026_07_28)
    assert all(exists("batch_tail", operation, revision) for revision in Revision)


def test_a_subscription_may_be_acknowledged_without_the_resource() -> None:
    def told(*uris: str) -> dict[str, object]:
        return {"method": "acknowledged", "params": {"notifications": {"resourceSubscriptions": [*uris]}}}

    assert _honoured([told("item://1")], "item://1")
    assert not _honoured([told()], "item://1")
    assert not _honoured([{"params": {"notifications": {}}}], "item://1")
    assert _honoured([], "item://1")


def test_what_is_derived_from_a_contract_belongs_to_it_alone() -> None:
    first = read_contract(TEXT, Path("c.toml"))
    second = read_contract(TEXT.replace('name = "get"', 'name = "put"').replace("all =", "most ="), Path("c.toml"))
    assert operations(first) is operations(first)
    assert operations(second)[0].name == "put"
    assert (implying(first, "read"), implying(second, "read")) == ({"read", "all"}, {"read", "most"})
    assert principal_for(first, operations(first)[0]) == "alice"
    key = id(first)
    assert key in _DERIVED
    del first
    gc.collect()
    assert key not in _DERIVED
