"""The public interface is what docs/api.md names, and nothing else is public."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.in_process import in_process_contract

import mcp_auth_contract
from mcp_auth_contract import Fail, UsageError, api, load_contract, mint_token, read_report, run, write_report

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")


def test_nothing_but_the_interface_is_public() -> None:
    modules = {name for name in vars(mcp_auth_contract) if f"mcp_auth_contract.{name}" in sys.modules}
    words = {"TYPE_CHECKING", "Any", "import_module"}
    public = {name for name in vars(mcp_auth_contract) if name.isidentifier() and name[0] != "_"} - modules - words
    assert public <= set(mcp_auth_contract.__all__)
    assert sorted(mcp_auth_contract.__all__) == sorted([*api.__all__, "__version__"])


@pytest.mark.parametrize("name", api.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(mcp_auth_contract, name).__doc__
    assert re.search(rf"`{name}[`(]", PAGE)


def test_what_is_documented_is_public() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)[^`]*`", row.split("|")[1])}
    assert named == set(api.__all__)


def test_the_package_imports_nothing_heavy() -> None:
    code = "import sys, mcp_auth_contract; print([n for n in ('httpx', 'pydantic', 'jwt', 'rich') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'run_all'"):
        mcp_auth_contract.run_all  # noqa: B018


def test_the_example_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    in_process_contract(tmp_path)
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "docs/api.md", "exec"), {})
    assert capsys.readouterr().out == "open\n"
    report = read_report(tmp_path / "report.json")
    assert report.gate.open
    assert any(result.check.id == "token-expired-refused" for result in report.results)


def test_a_fault_is_in_the_report(tmp_path: Path) -> None:
    report = run(load_contract(in_process_contract(tmp_path, fault="expiry-ignored")), select=["token-expired-refused"])
    assert report.gate.exit_code == 1
    assert any(isinstance(result.outcome, Fail) for result in report.results)
    write_report(report, tmp_path / "report.json")
    assert read_report(tmp_path / "report.json").gate == report.gate


def test_a_token_is_minted_for_a_principal_of_the_contract(tmp_path: Path) -> None:
    contract = load_contract(in_process_contract(tmp_path))
    assert mint_token(contract, "alice").count(".") == 2
    assert mint_token(contract, "alice", defect="alg_none").endswith(".")
    with pytest.raises(UsageError, match='no principal "alcie"; did you mean "alice"'):
        mint_token(contract, "alcie")
    with pytest.raises(UsageError, match='did you mean "expired"'):
        mint_token(contract, "alice", defect="expird")
