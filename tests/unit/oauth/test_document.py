"""Strict JSON: what a lenient parser forgives is told, and nothing raises."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work import growth

from mcp_auth_contract.oauth.document import JsonDocument, read_json_object

patiently = settings(deadline=None)  # a busy machine is no failure

numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=5)


@patiently
@given(objects, st.booleans(), st.booleans())
def test_every_object_is_read_as_it_was_written(value: dict[str, object], escaped: bool, in_bytes: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert read_json_object(text.encode() if in_bytes else text) == JsonDocument(value, ())


@patiently
@given(st.binary() | st.text() | st.text('{}[]":,\\ud80eE+-.019ntfINa \ufeff\ud800'))
def test_no_body_raises_and_none_is_both_faultless_and_unread(body: bytes | str) -> None:
    document = read_json_object(body)
    assert document.value is not None or document.faults
    json.dumps(document.value, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        (b"", ("not JSON", "an empty body")),
        (b" \n", ("not JSON", "an empty body")),
        (b"<html></html>", ("not JSON",)),
        (b"{'a': 1}", ("not JSON",)),
        (b'{"a": 1,}', ("not JSON",)),
        (b'{"a": 1} {}', ("not JSON",)),
        (b'{"a": "\n"}', ("not JSON",)),
        (b"[]", ("not a JSON object",)),
        (b'"{}"', ("not a JSON object",)),
        (b"null", ("not a JSON object",)),
        (b'{"a": NaN}', ("not JSON", "NaN is not a JSON number")),
        (b'{"a": Infinity}', ("not JSON", "Infinity is not a JSON number")),
        (b'{"a": -Infinity}', ("not JSON", "-Infinity is not a JSON number")),
        (b'{"a": "\xff"}', ("not UTF-8",)),
        ('{"a": 1}'.encode("utf-16"), ("not UTF-8",)),
        (b"[" * 101 + b"]" * 101, ("nested deeper than 100 levels",)),
        (b'{"a":' * 100_000, ("nested deeper than 100 levels",)),
    ],
)
def test_body_that_is_no_json_object_has_no_value(body: bytes, faults: tuple[str, ...]) -> None:
    assert read_json_object(body) == JsonDocument(None, faults)


@pytest.mark.parametrize(
    ("body", "value", "faults"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, ("byte order mark",)),
        ('\ufeff{"a": 1}', {"a": 1}, ("byte order mark",)),
        (b'{"a": 1, "a": 2, "a": 3}', {"a": 3}, ("duplicate member 'a'",)),
        (
            b'{"x": [{"b": 1, "b": 1}], "c": 1, "\\u0063": 2}',
            {"x": [{"b": 1}], "c": 2},
            ("duplicate member 'b'", "duplicate member 'c'"),
        ),
        (b'{"a": 1e999}', {"a": None}, ("a number out of range",)),
        (b'{"a": ' + b"9" * 100_000 + b"}", {"a": None}, ("a number of more than 1000 digits",)),
        (b'{"a": "\\ud800", "b": "\\ud83d\\ude00"}', {"a": "?", "b": "😀"}, ("an unpaired surrogate",)),
        ('{"a": "\udcff"}', {"a": "?"}, ("an unpaired surrogate",)),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "😀"}, ()),
    ],
)
def test_odd_object_is_read_and_its_oddity_told(body: bytes | str, value: object, faults: tuple[str, ...]) -> None:
    assert read_json_object(body) == JsonDocument(value, faults)  # type: ignore[arg-type]


def test_hundred_levels_are_read() -> None:
    assert read_json_object('{"a":' + "[" * 99 + "]" * 99 + "}").faults == ()


def test_brackets_in_strings_are_no_depth() -> None:
    assert read_json_object(json.dumps({"a": '["{' * 200, "b\\": "[" * 200})).faults == ()


def test_name_of_a_duplicate_member_is_shown_in_printable_ascii() -> None:
    (fault,) = read_json_object('{"\\u001b\\u202eü": 1, "\\u001b\\u202eü": 2}').faults
    assert fault == r"duplicate member '\x1b\u202e\xfc'"


@pytest.mark.slow
@pytest.mark.parametrize("unit", ['"', '\\"', '"\\', "[]", '{"a":1},', "\\ud800", '"a":1,"a":2,', "1", "-", "\ud800"])
@pytest.mark.parametrize("prefix", ["", "{", '{"a":"', "[", '{"a":['])
def test_work_grows_linearly_for_hostile_documents(prefix: str, unit: str) -> None:
    # Ten times the characters are a hundred times the work where the reading is quadratic.
    assert growth(lambda size: read_json_object(prefix + unit * (size // len(unit))), 10_000) < 40
