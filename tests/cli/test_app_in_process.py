"""A contract with target.app, run as a user does: the application is in the kit's process, its clock the kit's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "mcp_auth_contract"]

SERVER = """
import os
from contextlib import asynccontextmanager

from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.server import settings_from
from starlette.applications import Starlette
from starlette.routing import Mount

print("noise on stdout")
lab = create_app(settings_from(os.environ, 8000))


@asynccontextmanager
async def lifespan(app):
    if os.environ.get("NO_DATABASE"):
        raise OSError("no database")
    yield {"pool": "open"}


def make():
    return Starlette(routes=[Mount("/", lab)], lifespan=lifespan)
"""


def run(folder: Path, *words: str, app: str = "my_server:make()", env: str = "") -> "subprocess.CompletedProcess[str]":
    sample = (ROOT / "scenarios" / "contracts" / "sample.toml").read_text("utf-8")
    lines = [line for line in sample.splitlines() if not line.startswith(("url =", "start =", "env ="))]
    known = 'ISSUER = "${issuer.url}", JWKS_URI = "${issuer.jwks_uri}", RESOURCE = "${target.resource}"'
    given = f'{known}, ALGORITHMS = "RS256 ES256 PS256 EdDSA"{env}'
    target = f'[target]\napp = "{app}"\nenv = {{ {given} }}'
    (folder / "c.toml").write_text("\n".join(lines).replace("[target]", target, 1), "utf-8")
    (folder / "my_server.py").write_text(SERVER, "utf-8")
    return subprocess.run([*COMMAND, "run", "c.toml", *words], cwd=folder, capture_output=True, text=True, timeout=300)


def test_an_application_in_process_is_green_and_only_the_report_is_on_stdout(tmp_path: Path) -> None:
    done = run(tmp_path, "--json", "-", "--all-evidence")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["counts"]["pass"] > 300
    assert report["counts"]["fail"] == report["counts"]["error"] == report["counts"]["inconclusive"] == 0
    assert report["target"]["url"] == "http://127.0.0.1:8000/mcp"
    assert 0 < report["duration_s"] < 60
    assert any(exchange["duration"] > 0 for exchange in report["exchanges"].values())
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("app", "env", "code", "told"),
    [
        (
            "my_servr:make()",
            "",
            2,
            "c.toml: target.app: there is no module my_servr; name one in the contract's folder",
        ),
        ("my_server:mak()", "", 2, 'c.toml: target.app: no "mak" in my_server:mak; did you mean "make"?'),
        ("my_server:make()", ', NO_DATABASE = "1"', 3, "c.toml: target.app: its startup failed: OSError: no database"),
        (
            "my_server:make()",
            ', LEEWAY = "x"',
            2,
            "c.toml: target.app: importing my_server failed (my_server.py, line 11)",
        ),
    ],
)
def test_an_application_that_does_not_start_is_told_in_one_line(
    app: str, env: str, code: int, told: str, tmp_path: Path
) -> None:
    done = run(tmp_path, app=app, env=env)
    assert done.stderr.startswith(f"mcp-auth-contract: {told}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert (done.returncode, done.stdout) == (code, "")


def test_waiting_is_an_option_of_run(tmp_path: Path) -> None:
    done = run(tmp_path, "--wait", "-1")
    assert done.returncode == 2
    assert "--wait" in done.stderr
