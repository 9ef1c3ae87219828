"""One decision over a release: a run, live records, hosts, and the last release."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from tests.cli.in_process import ROOT, in_process_contract

from mcp_auth_contract.cli import main
from mcp_auth_contract.live.file import STEPS

TODAY = datetime.now(UTC).date()
LATER, EARLIER = TODAY + timedelta(days=30), TODAY - timedelta(days=30)
FILE = "mcp-auth-contract-live.toml"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "1")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    claiming(tmp_path)
    return tmp_path


def claiming(folder: Path, *hosts: str, fault: str | None = None) -> None:
    """Write a contract for the sample server in this process, with the hosts that a release claims."""
    in_process_contract(folder, fault=fault) if fault else in_process_contract(folder)
    file = folder / "mcp-auth-contract.toml"
    if hosts:
        file.write_text(f"{file.read_text('utf-8')}\n[release]\nhosts = {json.dumps(hosts)}\n", "utf-8")


def record(host: str, date: date = TODAY, expires: date = LATER, **steps: str) -> str:
    ended = "\n".join(f'{step} = "{steps.get(step.replace("-", "_"), "passed")}"' for step in STEPS)
    return (
        f'[[record]]\nhost = "{host}"\nversion = "1.2"\ndate = {date}\nwho = "jane"\nexpires = {expires}\n'
        f"[record.steps]\n{ended}\n"
    )


def release(*words: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    """Decide with few checks, so that the test is about the decision."""
    code = main(["release", "--select", "token-expired-refused", *words, "--json", "r.json"])
    value = json.loads(Path("r.json").read_text("utf-8"))
    jsonschema.validate(value, json.loads((ROOT / "docs" / "report-v1.schema.json").read_text("utf-8")))
    return code, value


def test_a_release_that_claims_no_host_is_a_run(here: Path) -> None:
    code, report = release()
    assert (code, report["claimed"], report["live"]) == (0, [], [])
    assert {one["id"] for one in report["hosts"]} > {"chatgpt", "claude"}


def test_a_claimed_host_needs_a_record(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claiming(here, "claude-code")
    code, report = release()
    assert code == 3
    (reason,) = report["gate"]["reasons"]
    assert reason == "live record of claude-code: there is none; `release --record claude-code` drafts one"
    assert reason in capsys.readouterr().out.replace("\n  ", " ")
    (here / FILE).write_text(record("claude-code"), "utf-8")
    code, report = release("--html", "r.html", "--markdown", "r.md")
    assert (code, report["gate"]["reasons"]) == (0, [])
    assert report["live"][0]["who"] == "jane"
    assert "Live records: what people saw in real hosts" in Path("r.html").read_text("utf-8")
    assert "### Live records" in Path("r.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (record("vscode", expires=TODAY), 0, ""),
        (record("vscode", EARLIER, TODAY - timedelta(days=1)), 1, "live record of vscode: expired on "),
        (record("vscode", step_up="failed"), 1, "live record of vscode: failed at step-up ("),
        (record("vscode", LATER, LATER), 1, "a day to come"),
        (record("vscode", unlink="not applicable"), 0, ""),
        (record("vscode", EARLIER, step_up="failed") + record("vscode"), 0, ""),  # the newest counts
        (record("cursor"), 3, "live record of vscode: there is none"),
    ],
)
def test_a_record_counts_as_long_as_it_says_and_as_it_ended(here: Path, text: str, code: int, said: str) -> None:
    claiming(here, "vscode")
    (here / FILE).write_text(text, "utf-8")
    found, report = release()
    assert found == code, report["gate"]
    assert said in " ".join(report["gate"]["reasons"])


def test_a_drafted_record_is_refused_until_it_is_filled_in(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claiming(here, "vscode")
    assert main(["release", "--record", "vscode"]) == 0
    draft = capsys.readouterr().out
    assert all(f'{step} = ""' in draft for step in STEPS)
    (here / FILE).write_text(draft, "utf-8")
    assert main(["release"]) == 2
    assert f"{FILE}: record 1 (vscode): date: left to fill in; write the day of the walk" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[records]]\n", 'records: unknown table; did you mean "record"?'),
        (record("vscode").replace("who", "whom"), 'whom: unknown key; did you mean "who"?'),
        (record("vscode", TODAY, EARLIER), "expires: lies before the day of the walk"),
        (
            record("vscode", connect="yes"),
            'steps.connect: unknown outcome; write "passed", "failed" or "not applicable"',
        ),
        (record("vscode").replace('\nconnect = "passed"', ""), "steps.connect: missing"),
        ("= nonsense", "not readable as TOML"),
    ],
)
def test_a_faulty_record_is_told_with_its_repair(
    here: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / FILE).write_text(text, "utf-8")
    assert main(["release"]) == 2
    err = capsys.readouterr().err
    assert FILE in err
    assert said in err


def test_a_regression_against_the_last_release_shuts_the_gate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release()[0] == 0
    Path("r.json").rename("last.json")
    assert release("--against", "last.json")[0] == 0
    claiming(here, fault="expiry-ignored")
    waived = '[[waiver]]\ncheck = "token-expired-refused"\nreason = "#1"\nowner = "jane"\nexpires = ' + str(LATER)
    (here / "mcp-auth-contract-waivers.toml").write_text(waived, "utf-8")
    assert release()[0] == 0  # somebody has accepted it
    (here / "mcp-auth-contract-waivers.toml").unlink()
    code, report = release("--against", "last.json")
    assert code == 1
    assert any(one.startswith("regression against the release of ") for one in report["gate"]["reasons"])
    assert "Against last.json" in capsys.readouterr().out


def test_the_sample_is_nothing_to_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["release"]) == 2
