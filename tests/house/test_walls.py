"""The walls of the house are checked, and each check can be seen to fail: a judge that reaches the network is found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path("src/mcp_auth_contract")


def linted(root: Path) -> subprocess.CompletedProcess[str]:
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", lint, "--no-cache"]
    environment = {"PYTHONPATH": str(root / "src"), "PATH": "", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("module", "forbidden", "wall"),
    [
        ("checks/tokens/judges.py", "import mcp_auth_contract.wire", "A judge has no socket and no token"),
        ("checks/sessions/judges.py", "import mcp_auth_contract.tokens", "A judge has no socket and no token"),
        ("checks/leaks/observation.py", "import mcp_auth_contract.wire", "A judge has no socket and no token"),
        ("checks/scopes/probe.py", "import mcp_auth_contract.plan", "The layers of the house"),
        ("contract/load.py", "import httpx", "One client to the network"),
        ("gate.py", "import jwt", "Cryptography stays with tokens and the issuer"),
        ("reports/junit.py", "import pytest", "pytest stays with its plugin"),
        ("plan/case.py", "import mcp_auth_contract_lab", "The sample server stays apart"),
    ],
)
def test_a_wall_can_be_seen_to_fail(copy: Path, module: str, forbidden: str, wall: str) -> None:
    file = copy / PACKAGE / module
    file.write_text(f"{file.read_text('utf-8')}\n{forbidden}\n", "utf-8")
    run = linted(copy)
    assert run.returncode == 1, run.stdout + run.stderr
    assert f"{wall} BROKEN" in run.stdout


def test_every_subject_keeps_its_judges_behind_the_wall() -> None:
    subjects = [folder for folder in (ROOT / PACKAGE / "checks").iterdir() if (folder / "__init__.py").is_file()]
    named = [path for folder in subjects for path in folder.rglob("*judge*")]
    behind = {path for folder in subjects for path in (folder / "judges.py", folder / "judges")}
    assert subjects
    assert {path for path in named if "__pycache__" not in path.parts} <= behind
