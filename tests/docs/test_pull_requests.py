"""docs/pull-requests.md is true: its servers are run against its contract, sound, with each fault, and waived."""

import json
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.in_process import ROOT
from tests.plugin.contracts import PLUGIN

from mcp_auth_contract.cli import main
from mcp_auth_contract.contract import read_contract

pytestmark = [
    pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning"),  # the servers here warn
    pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning"),
]

TEXT = (ROOT / "docs" / "pull-requests.md").read_text("utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
CONTRACT = "mcp-auth-contract.toml"
SOUND = (
    "prm",
    "as",
    "isolation-read-denied",
    "transport",
    "token-audience-other-refused",
    "token-deep-json-*",
    "token-expired-refused",
    "token-number-not-json-refused",
    "token-subject-empty-refused",
)
"""What a sound server is asked here; whole runs of servers on both SDKs are in tests/servers."""


def blocks(language: str, section: str = "") -> list[str]:
    """The blocks of a language, of the whole page or of the section whose heading begins so."""
    text = TEXT
    if section:
        (text,) = re.findall(rf"^##+ {re.escape(section)}.*?\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def contract_of(kind: str) -> str:
    """The contract of (a), changed for another kind as the page says."""
    whole, policy, process, url = blocks("toml", "3.")
    if kind == "b":
        return whole.replace("[claims]", f"{policy}\n[claims]", 1)
    head = {"a": "", "c": process, "d": url}[kind]
    return (
        whole
        if not head
        else re.sub(r"^\[target\]\n.*?\n\n", f"{head}\n", whole, count=1, flags=re.MULTILINE | re.DOTALL)
    )


def server_of(kind: str) -> str:
    (code,) = blocks("python", f"({kind})")
    return code


def faults() -> dict[str, tuple[str, str]]:
    """For (a) and (b) what stands in the server, and what is put in its place."""
    found = [re.fullmatch(r"-(.*)\n\+(.*)\n", block) for block in blocks("diff", "7.")]
    return {kind: one.groups() for kind, one in zip("ab", found, strict=True) if one}  # type: ignore[misc]


def first_writings() -> list[tuple[str, str, set[str]]]:
    """The rows about FastMCP: what stands in the server, what one writes first, and the checks that break by it."""
    rows = re.findall(r"^\| `(.+?)` \| (?:`(.+?)`)? ?\| (`.+) \|$", TEXT, re.MULTILINE)
    return [(above, first, set(re.findall(r"`([a-z]+-[a-z-]+)`", red))) for above, first, red in rows]


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "1")
    return tmp_path


def run(folder: Path, kind: str, server: str, *checks: str) -> tuple[int, dict[str, Any]]:
    """Run some checks in process; return the exit code and the report."""
    (folder / "server.py").write_text(server, "utf-8")
    (folder / CONTRACT).write_text(contract_of(kind), "utf-8")
    words = [word for check in checks for word in ("--select", check)]
    code = main(["run", *words, "--json", "report.json"])
    return code, json.loads((folder / "report.json").read_text("utf-8"))


def broken(report: dict[str, Any]) -> set[str]:
    failed = (one for one in report["results"] if one["outcome"] == "fail" and one["level"] == "MUST")
    return {one["check"] for one in failed}


@pytest.mark.parametrize("kind", ["a", "b"])
def test_a_server_of_the_page_is_green(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run(here, kind, server_of(kind), *SOUND)
    said = capsys.readouterr().out
    assert code == 0, said
    assert broken(report) == set()
    shown = blocks("text", "4.")[0]
    (control,) = [one for one in shown.splitlines() if one.startswith("control ")]
    assert control in said


@pytest.mark.parametrize(("kind", "check"), [("a", "isolation-read-denied"), ("b", "token-audience-other-refused")])
def test_a_planted_fault_is_red_and_told_in_the_words_of_the_page(
    kind: str, check: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = run(here, kind, changed(server_of(kind), *faults()[kind]), check)
    assert code == 1
    assert broken(report) == {check}
    said = joined(capsys.readouterr().out)
    shown = blocks("text", "7.")["ab".index(kind)]
    quoted = re.findall(r"   (?:so|decide|again) .*?(?=\n   [a-z]|\n\n)", shown, re.DOTALL)
    assert [part.split()[0] for part in quoted[:3]] == ["so", "decide", "again"]
    for part in (shown.splitlines()[0].split(" (")[0], *quoted[:3]):
        assert joined(part) in said


def test_each_first_writing_of_fastmcp_is_red_at_its_checks(here: Path) -> None:
    code = server_of("b")
    rows = first_writings()
    assert len(rows) == 4
    for above, first, _ in rows:
        code = changed(code, above, first)
    code = changed(
        code, "from fastmcp import FastMCP\n", "from fastmcp import FastMCP\nfrom pydantic import AnyHttpUrl\n"
    )
    named = set().union(*(checks for *_, checks in rows))
    status, report = run(here, "b", code, "prm", "as", "transport", "token-deep-json-refused", "token-number-*")
    assert status == 1
    assert broken(report) == named


def test_the_waiver_opens_the_gate_of_the_server_that_it_is_for(here: Path) -> None:
    (text,) = blocks("toml", "8.")
    ((above, first, checks),) = [row for row in first_writings() if row[1] == "http_app()"]
    server = changed(server_of("b"), above, first)
    assert run(here, "b", server, *checks)[0] == 1
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    waivers = re.sub(r"^expires = .*$", f"expires = {tomorrow}", text, flags=re.MULTILINE)
    (here / "mcp-auth-contract-waivers.toml").write_text(waivers, "utf-8")
    code, report = run(here, "b", server, *checks)
    assert (code, broken(report)) == (0, checks)


def test_the_first_contract_is_drafted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "server.py").write_text(server_of("a"), "utf-8")
    (line,) = blocks("sh", "3.")
    assert main(shlex.split(line)[1:]) == 0
    assert blocks("text", "3.")[0].strip() in capsys.readouterr().err
    draft, whole = (
        read_contract(text, Path(CONTRACT)) for text in (Path(CONTRACT).read_text("utf-8"), contract_of("a"))
    )
    assert [(tool.name, tool.scopes) for tool in draft.tools] == [(tool.name, tool.scopes) for tool in whole.tools]
    assert (draft.target.app, draft.target.env) == (whole.target.app, whole.target.env)


def test_the_contract_as_tests(here: Path) -> None:
    (here / "server.py").write_text(server_of("a"), "utf-8")
    (here / CONTRACT).write_text(contract_of("a"), "utf-8")
    (line,) = [line for line in "".join(blocks("sh", "5.")).splitlines() if line.startswith("pytest ")]
    words = [sys.executable, "-P", "-m", *shlex.split(line), *PLUGIN, "-q", "-m", "family_isolation"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (passed,) = re.findall(r"(\d+) passed", done.stdout)
    assert int(passed) > 10


def test_every_contract_of_the_page_can_be_read() -> None:
    for kind in "abcd":
        contract = read_contract(contract_of(kind), Path(CONTRACT))
        assert [record.owner for record in contract.records] == ["alice", "bob"]
    assert read_contract(contract_of("c"), Path(CONTRACT)).target.start == ("npx", "tsx", "server.ts")
    assert read_contract(contract_of("d"), Path(CONTRACT)).issuer.port == 9000
    (deployed,) = blocks("toml", "6.")
    assert read_contract(deployed, Path(CONTRACT)).target.authorized


def test_the_workflows_give_the_action_inputs_that_it_has() -> None:
    flows = [yaml.safe_load(block) for block in blocks("yaml")]
    assert len(flows) == 2
    for flow in flows:
        ((*_, step),) = [job["steps"] for job in flow["jobs"].values()]
        assert step["uses"] == "OWNER/mcp-auth-contract@v0"
        assert set(step["with"]) <= set(ACTION["inputs"])


def test_every_link_and_option_of_the_page_is_there() -> None:
    for name in re.findall(r"\]\(([^)#:]+)(?:#[a-z]+)?\)", TEXT):
        assert (ROOT / "docs" / name).resolve().is_file(), name
    source = "".join(file.read_text("utf-8") for file in (ROOT / "src" / "mcp_auth_contract" / "cli").glob("*.py"))
    lines = [line for block in blocks("sh") for line in block.splitlines() if "mcp-auth-contract " in line]
    options = set(re.findall(r" (--[a-z-]+)", " ".join(line for line in lines if not line.startswith("pytest "))))
    assert options >= {"--app", "--token-env", "--write-waivers"}
    assert [option for option in options if f'"{option}"' not in source] == []
