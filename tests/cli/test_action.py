"""action.yml, its steps run by the shell that GitHub would take, with GitHub's environment simulated."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.in_process import ROOT, in_process_contract

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SELECT = "scope-missing-denied\n"

PYTHON = f"""#!/bin/sh
if [ "$1 $2" = "-m pip" ]; then echo "$@" >> "$PIP_LOG"; exit "${{PIP_EXIT:-0}}"; fi
if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit 0; fi
exec "{sys.executable}" "$@"
"""
"""An interpreter that installs nothing, as everything is there."""


@dataclass
class Job:
    """What a job of GitHub's left behind."""

    code: int
    out: str
    outputs: dict[str, str]
    summary: str
    pip: str
    steps: dict[str, dict[str, str]]


def expand(text: str, inputs: dict[str, str], steps: dict[str, dict[str, str]]) -> str:
    """Replace expressions of the few forms that the action uses."""

    def value(found: "re.Match[str]") -> str:
        match found[1].split("."):
            case ["inputs", name]:
                return inputs[name]
            case ["steps", step, "outputs", name]:
                return steps.get(step, {}).get(name, "")
            case ["github", "action_path"]:
                return str(ROOT)
        raise AssertionError(found[0])

    return re.sub(r"\$\{\{ ([a-z_.\-]+) \}\}", value, text)


def run_action(workspace: Path, *, env: dict[str, str] | None = None, **given: str) -> Job:
    """Run the shell steps in turn until one fails."""
    inputs = {name: one["default"] for name, one in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    machine = workspace.parent / "machine"
    for folder in ("bin", "temp"):
        (machine / folder).mkdir(parents=True, exist_ok=True)
    python = machine / "bin" / "python3"
    python.write_text(PYTHON, "utf-8")
    python.chmod(0o755)
    base = {
        "PATH": f"{machine / 'bin'}:{os.environ['PATH']}",
        "HOME": str(machine),
        "LANG": "C.UTF-8",
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_STEP_SUMMARY": str(machine / "summary.md"),
        "RUNNER_TEMP": str(machine / "temp"),
        "PYTHONPATH": str(ROOT / "src"),
        "PIP_LOG": str(machine / "pip.log"),
        **(env or {}),
    }
    (machine / "summary.md").touch()
    steps: dict[str, dict[str, str]] = {}
    out, code = "", 0
    for step in STEPS:
        if "run" not in step or code:
            continue
        assert step["shell"] == "bash"
        written = machine / f"output-{step['id']}"
        written.write_text("", "utf-8")
        own = {name: expand(value, inputs, steps) for name, value in step["env"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=workspace / expand(step["working-directory"], inputs, steps),
            env={**base, **own, "GITHUB_OUTPUT": str(written)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        lines = written.read_text("utf-8").splitlines()
        steps[step["id"]] = dict(line.split("=", 1) for line in lines)
        out, code = out + done.stdout + done.stderr, done.returncode
    outputs = {name: expand(one["value"], inputs, steps) for name, one in ACTION["outputs"].items()}
    log = machine / "pip.log"
    pip = log.read_text("utf-8") if log.exists() else ""
    return Job(code, out, outputs, (machine / "summary.md").read_text("utf-8"), pip, steps)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "my checkout"
    folder.mkdir()
    return folder


def test_a_sound_server_is_green_with_a_summary_and_the_reports_to_keep(workspace: Path) -> None:
    in_process_contract(workspace)
    job = run_action(workspace, select=SELECT)
    assert job.code == 0, job.out
    assert job.outputs["exit-code"] == "0"
    assert {file.name for file in Path(job.outputs["reports"]).iterdir()} == {"report.json", "junit.xml"}
    assert job.summary.startswith("## Authentication contract: gate open (exit 0)\n")
    assert "::error" not in job.out
    assert job.pip.split() == ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]


def test_a_broken_server_is_red_and_annotates_the_contract(workspace: Path) -> None:
    (workspace / "server").mkdir()
    in_process_contract(workspace / "server", fault="expiry-ignored", name="auth.toml")
    job = run_action(
        workspace,
        contract="auth.toml",
        working_directory="server",
        select="token-expired-refused\r\nscope-missing-*\r\n",
    )
    assert (job.code, job.outputs["exit-code"]) == (1, "1"), job.out
    assert "::error file=server/auth.toml,title=MUST%3A An expired token is refused::token-expired-refused" in job.out
    assert "### Failed (shuts the gate)" in job.summary
    assert (Path(job.outputs["reports"]) / "junit.xml").stat().st_size > 500


def test_a_run_that_ends_before_its_report_says_so(workspace: Path) -> None:
    job = run_action(workspace)
    assert (job.code, job.outputs["exit-code"]) == (2, "2")
    assert "mcp-auth-contract.toml: no such contract file" in job.out
    assert "::error title=mcp-auth-contract::no report was made (exit 2)" in job.out
    assert job.summary == "## Authentication contract: no report (exit 2)\n"


def test_every_input_reaches_the_command(workspace: Path) -> None:
    in_process_contract(workspace)
    (workspace / "w.toml").write_text("", "utf-8")
    job = run_action(
        workspace, select=SELECT, fail_on="should", waivers="w.toml", shard="1/2", args="--every-revision\n--jobs\n2\n"
    )
    assert job.code == 0, job.out
    assert "| shard | `` 1 of 2; " in job.summary
    refused = run_action(workspace, select=SELECT, fail_on="may")
    assert refused.code == 2
    assert "write must or should" in refused.out


def test_no_input_is_ever_run_as_a_command(workspace: Path) -> None:
    evil = "$(touch pwned)`touch pwned`; touch pwned #' \""
    for name in ("contract", "select", "fail_on", "waivers", "shard", "args", "python"):
        job = run_action(workspace, **{name: evil})
        assert job.code != 0
        assert not list(workspace.parent.rglob("pwned"))
    job = run_action(workspace, contract="--help")
    assert job.code == 2
    for step in STEPS:
        assert "${{" not in step.get("run", "")


def test_the_kit_comes_from_the_action_a_version_or_a_path(workspace: Path) -> None:
    in_process_contract(workspace)
    assert run_action(workspace, version="1.2.3", contract="none").pip.split()[-1] == "mcp-auth-contract==1.2.3"
    assert run_action(workspace, path="dist/kit.whl", contract="none").pip.split()[-1] == "dist/kit.whl"
    both = run_action(workspace, path="x", version="1")
    assert both.code == 2
    assert "version and path: give one of them" in both.out


def test_an_interpreter_may_be_named_and_a_failed_installation_stops(workspace: Path) -> None:
    in_process_contract(workspace)
    own = workspace / ".venv" / "bin"
    own.mkdir(parents=True)
    run_action(workspace, contract="none")
    shutil.copy(workspace.parent / "machine" / "bin" / "python3", own / "python")
    job = run_action(workspace, python=".venv/bin/python", select=SELECT)
    assert job.code == 0, job.out
    assert job.steps["install"]["python"] == ".venv/bin/python"
    stopped = run_action(workspace, env={"PIP_EXIT": "1"})
    assert stopped.code == 1
    assert "run" not in stopped.steps


def test_the_steps_that_other_actions_do_are_the_expected_ones() -> None:
    uses = {step["uses"]: step for step in STEPS if "uses" in step}
    assert set(uses) == {"actions/setup-python@v5", "actions/upload-artifact@v4"}
    assert uses["actions/setup-python@v5"]["if"] == "${{ inputs.python-version != '' }}"
    upload = uses["actions/upload-artifact@v4"]
    assert upload["if"].startswith("${{ always() && ")
    assert upload["with"]["path"] == "${{ steps.run.outputs.reports }}"
    assert STEPS[-1] is upload
    named = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert named == set(ACTION["inputs"])
    assert all(one["description"] for one in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))
