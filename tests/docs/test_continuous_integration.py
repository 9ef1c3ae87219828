"""Every recipe of docs/continuous-integration.md: its YAML is read, its command lines are run, its waivers are loaded."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.in_process import ROOT, in_process_contract

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.cli import main
from mcp_auth_contract.contract import load_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import make_plan
from mcp_auth_contract.waivers import load_waivers

TEXT = (ROOT / "docs" / "continuous-integration.md").read_text("utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL = {
    "pip install mcp-auth-contract",
    "python3 -m venv .venv",
    ".venv/bin/pip install --quiet mcp-auth-contract",
    "python -m venv .venv && .venv/bin/pip install .",
}
"""The lines that install something, which a test cannot do here."""

QUICK = ["--select", "scope-missing-denied"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def steps(value: Any) -> Iterator[dict[str, Any]]:
    """Every step of a workflow, with the environment of its own."""
    if isinstance(value, dict):
        if "run" in value or "uses" in value:
            yield value
        for one in value.values():
            yield from steps(one)
    elif isinstance(value, list):
        for one in value:
            yield from steps(one)


def commands() -> list[tuple[str, ...]]:
    """The command lines of each block, in order; those of a matrix once for each of its parts."""
    found: list[tuple[str, ...]] = [tuple(block.splitlines()) for block in blocks("sh")]
    for block in blocks("yaml"):
        value = yaml.safe_load(block)
        lines: list[str] = []
        for step in steps(value):
            line = step.get("run")
            if line is None:
                continue
            parts = [1, 2, 3, 4] if "PART" in step.get("env", {}) else [None]
            lines += [line.replace("$PART", str(part)) for part in parts]
        if isinstance(value, dict) and "auth-contract" in value:
            lines += value["auth-contract"]["script"]
        found.append(tuple(lines))
    return [lines for lines in found if any("mcp-auth-contract " in line for line in lines)]


@pytest.mark.parametrize("lines", commands(), ids=lambda lines: lines[-1][:60])
def test_the_command_lines_of_a_recipe_do_what_they_say(
    lines: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    in_process_contract(tmp_path)
    if lines[0].startswith("mcp-auth-contract report render"):
        assert main(["run", *QUICK, "--json", "report.json", "-q"]) == 0
    for line in lines:
        if line in INSTALL:
            continue
        program, *words = shlex.split(line.replace("$GITHUB_STEP_SUMMARY", "summary.md"))
        assert program in ("mcp-auth-contract", ".venv/bin/mcp-auth-contract"), line
        written = [word for before, word in pairwise(words) if before in WRITES]
        more = QUICK if words[0] == "run" else []
        assert main([*words, *more]) == 0, capsys.readouterr().err
        assert [name for name in written if not (tmp_path / name).is_file()] == []


WRITES = ("--json", "--junit", "--markdown", "--summary")


def test_all_recipes_are_there() -> None:
    lines = [line for block in commands() for line in block]
    assert len(commands()) >= 6
    assert len([line for line in lines if "report merge" in line]) == 2
    assert len([line for line in lines if "--shard" in line]) == 6


def test_the_recipes_of_the_action_give_it_inputs_that_it_has() -> None:
    found = [step for block in blocks("yaml") for step in steps(yaml.safe_load(block))]
    mine = [step for step in found if "mcp-auth-contract@" in step.get("uses", "")]
    assert len(mine) == 2
    for step in mine:
        assert set(step["with"]) <= set(ACTION["inputs"])
    for step in found:
        assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@v\d", step["uses"])


def test_the_waivers_of_the_page_are_waivers_of_cases_that_there_are(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    (tmp_path / "w.toml").write_text(text, "utf-8")
    checks = load_builtin()
    waivers = load_waivers(tmp_path / "w.toml", checks)
    contract = load_contract(data_folder("scenarios") / "contracts" / "sample.toml")
    plan = make_plan(checks, contract, tuple(Revision))
    assert all(any(one.matches(case.id, case.check.id) for case in plan.cases) for one in waivers)
    assert len(waivers) == 2


def test_every_file_and_option_that_the_page_names_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / "docs" / name).is_file()
    for command in (["run"], ["plan"], ["report", "merge"], ["report", "render"]):
        main([*command, "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(re.findall(r"`(--[a-z-]+)", TEXT)) <= known
