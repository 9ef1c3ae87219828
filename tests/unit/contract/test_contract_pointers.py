"""JSON Pointers as RFC 6901 has them, and as little else."""

import pytest

from mcp_auth_contract.contract.pointers import is_pointer, pointed_at

DOCUMENT = {"a": ["x", {"b/c": 1, "~": 2, "": 3}], "text": "xyz", "none": None}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/a/0", "x"),
        ("/a/1/b~1c", 1),
        ("/a/1/~0", 2),
        ("/a/1/", 3),
        ("/a/2", None),
        ("/a/01", None),
        ("/a/-1", None),
        ("/a/-", None),
        ("/text/0", None),
        pytest.param("/a/" + "9" * 5000, None, id="endless"),
        ("/a/x", None),
        ("/nowhere/else", None),
        ("/none/below", None),
        ("no pointer", None),
    ],
)
def test_a_pointer_leads_to_a_value_or_nowhere(pointer: str, value: object) -> None:
    assert pointed_at(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    ("text", "valid"),
    [("/a", True), ("/", True), ("/a~1b/0", True), ("", False), ("a", False), ("/a~2", False), ("/~", False)],
)
def test_a_pointer_of_a_contract_leads_below_the_root(text: str, valid: bool) -> None:
    assert is_pointer(text) is valid
