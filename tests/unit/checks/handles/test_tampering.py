"""Altered texts: each differs, keeps its form where it can, and is found again in another text of the same make."""

import base64
import json

import pytest

from mcp_auth_contract.checks.handles.tampering import alterations

PAYLOAD = {"for": ["alice", "t1"], "until": 17, "step": {"done": False, "none": None}, "rate": 1.5}
TEXT = json.dumps(PAYLOAD, separators=(",", ":"))
URL = base64.urlsafe_b64encode(TEXT.encode()).decode()


def opened(part: str) -> object:
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@pytest.mark.parametrize(
    "text",
    ["3f9a1c2e-7b41-4c55-9a0d-0123456789ab", "ABCDEFabcdef0123456789", "zZyY.xXwW", TEXT, URL, f"{URL.rstrip('=')}.ab12"],
)  # fmt: skip
def test_each_altered_text_is_another_one(text: str) -> None:
    made = list(alterations(text))
    assert len(made) >= 3
    assert all(changed != text for _, changed in made)
    assert len({changed for _, changed in made}) == len(made)
    assert [name for name, _ in made] == list(dict.fromkeys(name for name, _ in made))


def test_a_character_is_replaced_by_one_of_its_kind_whatever_the_case() -> None:
    for text in ("0123456789abcdef" * 3, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "uvwxyzUVWXYZ"):
        for name, changed in alterations(text):
            assert name.startswith("with another character after ")
            (pair,) = [(old, new) for old, new in zip(text, changed, strict=True) if old != new]
            assert pair[0].lower() != pair[1].lower()
            assert pair[0].isdigit() == pair[1].isdigit()
            assert pair[0].isupper() == pair[1].isupper()
            assert (pair[0] in "abcdefABCDEF") == (pair[1] in "abcdefABCDEF")


def test_the_last_part_is_left_out_or_empty() -> None:
    made = dict(alterations("abc.def.ghi"))
    assert made["without its last part"] == "abc.def"
    assert made["with an empty last part"] == "abc.def."
    assert "without its last part" not in dict(alterations("abcdef"))


@pytest.mark.parametrize("padded", [True, False])
def test_values_of_json_in_base64_are_altered_one_at_a_time(padded: bool) -> None:
    body = URL if padded else URL.rstrip("=")
    made = {name: changed for name, changed in alterations(f"{body}.seal") if "value of" in name}
    assert list(made) == [
        f"with another value of {where}" for where in ("for/0", "for/1", "until", "step/done", "rate")
    ]
    for changed in made.values():
        part, _, seal = changed.partition(".")
        assert seal == "seal"
        assert opened(part) != PAYLOAD
    later = opened(made["with another value of until"].partition(".")[0])
    assert later == {**PAYLOAD, "until": 17 + 3600}


def test_values_of_plain_json_are_altered_too() -> None:
    made = dict(alterations(TEXT))
    assert json.loads(made["with another value of step/done"])["step"]["done"] is True


def test_texts_of_one_make_are_altered_alike() -> None:
    other = base64.urlsafe_b64encode(TEXT.replace("17", "18").encode()).decode()
    assert [name for name, _ in alterations(URL)] == [name for name, _ in alterations(other)]


@pytest.mark.parametrize("text", ["", "-", "…", "=", "." * 5])
def test_what_cannot_be_altered_is_left_alone(text: str) -> None:
    assert all(changed != text for _, changed in alterations(text))
