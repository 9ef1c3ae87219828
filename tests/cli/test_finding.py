"""Which contract a command means: never the sample by accident, and the one of the folder or above it."""

import re
from pathlib import Path

import pytest
from tests.cli.in_process import in_process_contract
from tests.cli.test_bad_use import CONTRACT

from mcp_auth_contract.cli import finding
from mcp_auth_contract.cli.app import call
from mcp_auth_contract.cli.finding import Sample, find_contract
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract_lab.faults import FAULTS

TEXT = CONTRACT.format(more="", port=9)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("more", [["-q"], ["--junit", "r.xml"], ["--json", "-"], ["--annotations", "github"]])
def test_without_a_contract_nothing_is_tested_unless_somebody_watches(
    more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mcp_auth_contract.cli.running.somebody_watches", lambda: True)
    assert call(["run", *more]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no mcp-auth-contract.toml here or above" in said
    assert "`mcp-auth-contract run --sample`" in said


@pytest.mark.parametrize(
    "name", ["mcp-auth-contracts.toml", "mcp_auth_contract.toml", "mcp-auth-contact.toml", "c.toml"]
)
def test_a_contract_under_another_name_is_told_and_not_replaced(name: str, folder: Path) -> None:
    (folder / name).write_text(TEXT, "utf-8")
    with pytest.raises(UsageError, match=f"{name} looks like a contract"):
        find_contract(None, Sample(attended=True))


def test_somebody_who_watches_sees_the_sample() -> None:
    assert find_contract(None, Sample(attended=True)).name == "(the built-in sample)"


def test_a_contract_is_found_above_the_folder_up_to_the_checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mcp-auth-contract.toml").write_text(TEXT, "utf-8")
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert find_contract(None).name == "../../mcp-auth-contract.toml"
    (deep / ".git").mkdir()
    with pytest.raises(UsageError, match="here or above"):
        find_contract(None)


def test_no_contract_is_taken_from_a_folder_of_somebody_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mcp-auth-contract.toml").write_text(TEXT, "utf-8")
    (folder / "a").mkdir()
    monkeypatch.chdir(folder / "a")
    monkeypatch.setattr(finding.os, "getuid", lambda: 4242)
    with pytest.raises(UsageError, match="here or above"):
        find_contract(None)


def test_a_table_of_pyproject_is_a_contract(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n', "utf-8")
    with pytest.raises(UsageError, match="none in pyproject"):
        find_contract(None)
    table = re.sub(r"^(\[+)", r"\1tool.mcp-auth-contract.", TEXT, flags=re.MULTILINE)
    (folder / "pyproject.toml").write_text(table, "utf-8")
    found = find_contract(None)
    assert found.name == "pyproject.toml"
    assert found.contract == find_contract(Path("pyproject.toml")).contract
    (folder / "mcp-auth-contract.toml").write_text(TEXT, "utf-8")
    assert find_contract(None).name == "mcp-auth-contract.toml"


def test_a_named_contract_that_is_not_there_is_refused_with_the_nearest(folder: Path) -> None:
    in_process_contract(folder, name="invoices.toml")
    with pytest.raises(UsageError, match=r'invoice\.toml: no such contract file; did you mean "invoices\.toml"\?'):
        find_contract(Path("invoice.toml"))


def test_the_sample_takes_no_contract_besides() -> None:
    with pytest.raises(UsageError, match="--sample: tests the kit's own sample server"):
        find_contract(Path("c.toml"), Sample(asked=True))


@pytest.mark.parametrize(
    "fault", ["audience-ignored", *{one.within: name for name, one in FAULTS.items()}.values(), "token-passed-on"]
)
def test_the_sample_has_a_contract_for_each_fault(fault: str) -> None:
    found = find_contract(None, Sample(fault=fault))
    assert "--fault" in found.contract.target.start
    assert found.words == ("--sample", "--fault", fault)


def test_an_unknown_fault_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match='did you mean "audience-ignored"'):
        find_contract(None, Sample(fault="audience-ignore"))
