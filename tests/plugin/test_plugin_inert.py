"""Unless asked, the plugin is not there."""

import json
import subprocess
import sys

import pytest
from tests.plugin.contracts import PLUGIN, write_server

pytest_plugins = ["pytester"]

_SPY = """
import json, sys

def pytest_unconfigure(config):
    heavy = ("httpx", "pydantic", "jwt", "cryptography", "starlette", "freezegun", "respx", "rich", "uvicorn")
    found = [name for name in heavy if name in sys.modules]
    found += [name for name in sys.modules if name.startswith("mcp_auth_contract.") and "pytest_plugin" not in name]
    config.rootpath.joinpath("imported.json").write_text(json.dumps(found))
"""


def in_a_process(pytester: pytest.Pytester, *words: str) -> str:
    command = [sys.executable, "-P", "-m", "pytest", *PLUGIN, "-p", "no:respx", *words]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def test_an_unrelated_run_collects_nothing_and_imports_nothing(pytester: pytest.Pytester) -> None:
    write_server(pytester)
    pytester.makeconftest(_SPY)
    pytester.makepyfile(test_own="def test_own(): pass")
    said = in_a_process(pytester, "-v")
    assert "1 passed" in said
    assert "mcp-auth-contract.toml" not in said
    assert json.loads((pytester.path / "imported.json").read_text()) == []


def test_loading_the_plugin_imports_pytest_and_the_standard_library_only() -> None:
    program = (
        "import sys, pytest, _pytest.fixtures; before = set(sys.modules)\n"
        "import mcp_auth_contract.pytest_plugin\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['mcp_auth_contract']"


def test_the_command_line_works_without_pytest() -> None:
    program = (
        "import sys; sys.modules['pytest'] = None; sys.modules['respx'] = None\n"
        "from mcp_auth_contract.cli import main\n"
        "import mcp_auth_contract.execution, mcp_auth_contract.cli.running\n"
        "print('fine')"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.benchmark
def test_loading_the_plugin_costs_less_than_15_ms() -> None:
    program = (
        "import time, pytest, _pytest.fixtures\n"
        "begun = time.perf_counter(); import mcp_auth_contract.pytest_plugin\n"
        "print(time.perf_counter() - begun)"
    )
    times = [
        float(subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    print(f"loading the plugin: {min(times) * 1000:.1f} ms")
    assert min(times) < 0.015
