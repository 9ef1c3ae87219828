"""Every lower bound of a dependency is true: installed exactly, the sample runs, and a pytest with the plugin too."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = [*PROJECT["dependencies"], *(one for more in PROJECT["optional-dependencies"].values() for one in more)]
# Releases of others that the bounds pull in; what warns at import is no business of this project.
WARNINGS = ("-W", "error", "-W", "ignore::DeprecationWarning:authlib")


def lowest(requirement: str) -> str:
    """Turn "httpx>=0.28,<1" into "httpx==0.28"."""
    found = re.match(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", requirement)
    assert found is not None, f"{requirement}: has no lower bound"
    return f"{found[1]}=={found[2]}"


def test_every_dependency_has_a_lower_bound() -> None:
    assert [lowest(one) for one in DECLARED]


@pytest.mark.bounds
@pytest.mark.timeout(600)
def test_the_sample_runs_on_every_lower_bound_at_once(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    wanted = [lowest(one) for one in DECLARED]
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    installed = subprocess.run(install, capture_output=True, text=True, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([python, *words], cwd=tmp_path, env=env, capture_output=True, text=True)

    done = run(*WARNINGS, "-m", "mcp_auth_contract", "run", "--sample", "--quiet", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["counts"]["pass"] > 1000
    (tmp_path / "test_it.py").write_text("def test_a_token(mcp_auth_mint):\n    assert mcp_auth_mint\n", "utf-8")
    tested = run("-m", "pytest", "-q", "-p", "mcp_auth_contract.pytest_plugin", "--collect-only", "test_it.py")
    assert tested.returncode == 0, tested.stdout + tested.stderr
