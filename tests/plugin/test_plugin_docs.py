"""Each example of docs/pytest.md is a test that passes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.plugin.contracts import write_server

pytest_plugins = ["pytester"]

DOCS = Path(__file__).parents[2] / "docs" / "pytest.md"
EXAMPLES = {
    found[1]: found[2] for found in re.finditer(r"```python\n# (\w+\.py)\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
}

VALIDATOR = """
from mcp_auth_contract.tokens import Algorithm, Role, published_key
from tests.support.strict_verifier import Refused, StrictVerifier


class Validator:
    def __init__(self, jwks, issuer, audience):
        key = published_key(Role.ISSUER, Algorithm.RS256)
        assert key.kid in [one["kid"] for one in jwks["keys"]]
        self._strict = StrictVerifier([key], issuer=issuer, audience=audience, typ="at+jwt")

    def principal(self, token):
        return self._strict.verify(token)["sub"]
"""


def test_every_fixture_has_an_example_of_ten_lines() -> None:
    assert set(EXAMPLES) == {
        "test_client.py",
        "test_clock.py",
        "test_issuer.py",
        "test_mint.py",
        "test_refusals.py",
        "test_validator.py",
        "test_without_sockets.py",
    }
    for name, text in EXAMPLES.items():
        assert len([line for line in text.splitlines() if line.strip()]) <= 10, name


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example(pytester: pytest.Pytester, run: Callable[..., pytest.RunResult], name: str) -> None:
    write_server(pytester)
    pytester.makepyfile(my_validator=VALIDATOR)
    (pytester.path / name).write_text(EXAMPLES[name], "utf-8")
    result = run("-q", name)
    outcomes = result.parseoutcomes()
    assert set(outcomes) - {"warnings"} == {"passed"}, str(result.stdout)
    if name == "test_validator.py":
        assert outcomes["passed"] > 300
