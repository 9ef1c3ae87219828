"""`explain` works for every check, and shows a failure of that very check."""

import re

import pytest

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.cli import main
from mcp_auth_contract.cli.reading import explain
from mcp_auth_contract.reports.examples import load_examples

CHECKS = load_builtin()
EXAMPLES = load_examples()


def test_every_check_has_an_example_and_every_example_a_check() -> None:
    assert list(EXAMPLES) == [check.id for check in CHECKS], "python -m tests.lab.examples writes them"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_an_example_is_a_case_of_its_check_and_is_shown(check: Check) -> None:
    example = EXAMPLES[check.id]
    assert example.case.partition("[")[0] == check.id
    out = explain(check, example)
    assert out.startswith(f"{check.id}\n  {check.title}\n")
    for line in (f"example   {example.case}", f"expected  {example.expected}", f"observed  {example.observed}"):
        assert line in out.splitlines()


def test_no_example_differs_from_run_to_run() -> None:
    random = re.compile(r"#[0-9a-f]{6,}|127\.0\.0\.1:(?!8000)\d|\b[0-9a-f]{12,}\b")
    assert [
        check for check, example in EXAMPLES.items() if random.search(f"{example.expected} {example.observed}")
    ] == []


def test_a_check_is_explained_with_its_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "isolation-read-denied"]) == 0
    assert "\nobserved  200 with a result, INV-1 of alice in the body for bob\n" in capsys.readouterr().out


def test_an_unknown_check_is_one_line_with_the_nearest_known_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "token-expired-refusd"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        'mcp-auth-contract: no check is called "token-expired-refusd"; did you mean "token-expired-refused", "'
    )
    assert err.count("\n") == 1
