"""The wheel carries its data: installed elsewhere, it lists its checks."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(300)
def test_an_installed_wheel_lists_its_checks_and_carries_its_keys(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("mcp_auth_contract/_data/keys/") and name.endswith(".json") for name in names)
    assert "mcp_auth_contract/_data/scenarios/not-tested.toml" in names
    assert "mcp_auth_contract_lab/app.py" in names
    assert {f"mcp_auth_contract/reports/page/page.{kind}" for kind in ("html", "css", "js")} <= set(names)
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    # The dependencies are those of this environment; what is proved is where the wheel finds its own files.
    (site,) = venv.glob("lib/python*/site-packages")
    own = Path(next(path for path in sys.path if path.endswith("site-packages")))
    (site / "borrowed.pth").write_text(f"{own}\n")
    install = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    for words in (["list"], ["lab", "--list"]):
        command = [str(venv / "bin" / "mcp-auth-contract"), *words]
        listed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        assert "token-expired-refused" in listed.stdout
    where = subprocess.run(
        [
            str(venv / "bin" / "python"),
            "-c",
            "from mcp_auth_contract.datafiles import data_folder; print(data_folder('scenarios'))",
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(venv)
