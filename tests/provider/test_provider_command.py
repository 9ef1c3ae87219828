"""The command `provider`: exit codes, what it says before, and the line for a dashboard."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.provider.provider_runs import ENVIRON, contract_text, sample_provider

from mcp_auth_contract.cli import main
from mcp_auth_contract_lab.provider.app import SampleProvider
from mcp_auth_contract_lab.provider.faults import FAULTS


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> Iterator[SampleProvider]:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    with sample_provider() as served:
        yield served


def written(tmp_path: Path, issuer: str) -> str:
    file = tmp_path / "tenant.toml"
    file.write_text(contract_text(issuer), "utf-8")
    return str(file)


def test_a_sound_provider_ends_with_0_and_a_line(sample: SampleProvider, tmp_path: Path) -> None:
    log, report = tmp_path / "runs.jsonl", tmp_path / "report.json"
    words = ["provider", written(tmp_path, sample.issuer), "--quiet", "--log", str(log), "--json", str(report)]
    assert main(words) == 0
    assert main(words) == 0
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [(line["exit_code"], line["failed"]) for line in lines] == [(0, [])] * 2
    assert json.loads(report.read_text("utf-8"))["target"]["url"] == sample.issuer


def test_a_fault_ends_with_1_and_is_named_in_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    log = tmp_path / "runs.jsonl"
    with sample_provider(FAULTS["code-reusable"]) as served:
        words = ["provider", written(tmp_path, served.issuer), "--quiet", "--log", str(log)]
        assert main([*words, "--select", "grant-"]) == 1
    assert json.loads(log.read_text("utf-8"))["failed"] == ["grant-code-used-once"]


def test_an_unreachable_provider_ends_with_3_and_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    log = tmp_path / "runs.jsonl"
    assert main(["provider", written(tmp_path, "http://127.0.0.1:9"), "--log", str(log)]) == 3
    assert json.loads(log.read_text("utf-8"))["exit_code"] == 3


def test_the_plan_says_what_happens_to_the_tenant_and_sends_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["provider", written(tmp_path, "https://login.example.com"), "--plan"]) == 0
    told = capsys.readouterr()
    assert "MUST   grant-code-used-once\n" in told.out
    assert "Clients are registered, and deleted where the provider lets them be." in told.err
    assert "Tokens of this run are revoked." in told.err
    assert "Nothing was sent." in told.err


def test_a_contract_without_the_table_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "no.toml"
    file.write_text(contract_text("http://127.0.0.1:9").partition("[provider]")[0], "utf-8")
    assert main(["provider", str(file)]) == 2
    assert "add a table [provider]" in capsys.readouterr().err
