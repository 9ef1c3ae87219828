"""What a report holds of a contract: its lines, without comments and secrets; and where each thing is declared."""

from pathlib import Path

import pytest

from mcp_auth_contract.contract.source import MARK, declared_lines, published_source

CONTRACT = '''# the password is hunter2-hunter2
[target]  # behind the gateway, key 4711-4711
url = "https://mcp.example.com/mcp#part"
headers = { X-Gateway = "gateway-secret-1", X-Free = "${env:GATEWAY}" }
start = ["server", "--client-secret=start-secret-2", "--token", "start-secret-3", "--port", "8000"]

[target.env]
PLAIN = """
several-lines-4
"""
ISSUER = "${issuer.url}"

[provider]
client_id = "kit"
client_secret = 'provider-secret-5'

[principals.alice]
subject = "alice of gateway-secret-1"
scopes = ["a"]

[[tools]]
name = "one" # first
scopes = []

[[tools]]
arguments = { text = """
[[tools]]
""" }
name = "two"

[[resources]]
uri = "invoice://1"

[[records]]
name = "INV-1"
'''


def test_neither_a_comment_nor_a_secret_is_published() -> None:
    shown = published_source(CONTRACT)
    assert shown is not None
    for secret in (
        "hunter2",
        "4711",
        "gateway-secret-1",
        "start-secret",
        "several-lines",
        "provider-secret",
        "# first",
    ):
        assert secret not in shown
    for kept in ("mcp#part", "${env:GATEWAY}", "${issuer.url}", '"--port", "8000"', 'client_id = "kit"', MARK):
        assert kept in shown


def test_the_lines_stay_where_they_are() -> None:
    shown = published_source(CONTRACT)
    assert shown is not None
    lines = CONTRACT.splitlines()
    assert len(shown.splitlines()) == len(lines)
    assert declared_lines(shown) == declared_lines(CONTRACT)


def test_each_thing_is_found_on_its_line() -> None:
    lines = CONTRACT.splitlines()
    found = declared_lines(CONTRACT)
    assert lines[found["target", ""] - 1].startswith("[target]")
    assert lines[found["principals", "alice"] - 1] == "[principals.alice]"
    first, second = found["tools", "one"], found["tools", "two"]
    assert lines[first - 1] == lines[second - 1] == "[[tools]]"
    assert lines[first] == 'name = "one" # first'
    assert lines[second].startswith("arguments")
    assert {("resources", "invoice://1"), ("records", "INV-1")} <= set(found)


@pytest.mark.parametrize("text", ["", "not toml", "[target", 'a = """'])
def test_what_is_no_toml_is_not_published(text: str) -> None:
    assert published_source(text) in (None, "")
    assert declared_lines(text) == {}


def test_the_sample_contract_can_be_published() -> None:
    sample = (Path(__file__).parents[3] / "scenarios" / "contracts" / "sample.toml").read_text("utf-8")
    shown = published_source(sample)
    assert shown is not None
    assert "#" not in shown
    assert ("records", "INV-1 of alice") in declared_lines(shown)
