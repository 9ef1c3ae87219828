"""docs/adding-a-check.md is followed in a copy of the repository, step by step."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-check.md").read_text("utf-8")
CHECK, FAULT = "token-audience-path-parameter-refused", "audience-cut-at-semicolon"

pytestmark = pytest.mark.slow


def followed(copy: Path, *words: str) -> str:
    environment = {"PYTHONPATH": f"{copy / 'src'}:{copy}", "PATH": "", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("kit")
    for name in ("src", "scenarios", "keys", "docs", "tests"):
        shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", made)
    appended = re.findall(r"Append to `([^`]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert len(appended) == 3
    for name, text in appended:
        with (made / name).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{text}")
    return made


def test_the_page_is_true_from_the_defect_to_the_generated_files(copy: Path) -> None:
    (commands,) = (block for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "tests.lab.breaks" in block)
    breaks, examples, generate = (shlex.split(line)[1:] for line in commands.splitlines())
    # Every check against one fault takes minutes; the checks of audiences are those that could fail as well.
    told = followed(copy, sys.executable, *breaks, "--check", "token-audience")
    assert told in PAGE
    followed(copy, sys.executable, *examples)
    followed(copy, sys.executable, *generate)
    scenarios = copy / "scenarios"
    assert tomllib.loads((scenarios / "lab-breaks.toml").read_text("utf-8"))[FAULT] == [CHECK]
    example = tomllib.loads((scenarios / "examples.toml").read_text("utf-8"))[CHECK]
    assert example["case"].startswith(CHECK)
    assert CHECK in (copy / "docs" / "checks.md").read_text("utf-8")
    explained = followed(copy, sys.executable, "-m", "mcp_auth_contract", "explain", CHECK)
    assert example["observed"].split(" (")[0] in " ".join(explained.split())


def test_no_more_files_are_written_by_hand_than_the_page_says(copy: Path) -> None:
    changed = {
        path.relative_to(copy).as_posix()
        for path in copy.rglob("*")
        if path.is_file() and path.suffix in (".py", ".toml", ".md") and path.relative_to(copy).parts[0] != "tests"
        if not (ROOT / path.relative_to(copy)).is_file()
        or path.read_bytes() != (ROOT / path.relative_to(copy)).read_bytes()
    }
    generated = {"scenarios/lab-breaks.toml", "scenarios/examples.toml", "docs/checks.md", "docs/traceability.md"}
    assert changed - generated == {
        "src/mcp_auth_contract/tokens/defects/identifiers.py",
        "scenarios/catalogue/token-audience.toml",
        "src/mcp_auth_contract_lab/faults/claims.py",
    }
