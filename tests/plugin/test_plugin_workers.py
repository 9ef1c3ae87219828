"""pytest-xdist: a contract stays on one worker, each worker has its own issuer and server."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from tests.plugin.contracts import PLUGIN, log, write_server

pytest_plugins = ["pytester"]

pytest.importorskip("xdist")

_OWN = """
import os
import pytest

@pytest.mark.parametrize("number", range(6))
def test_own(number, record_property):
    record_property("worker", os.environ["PYTEST_XDIST_WORKER"])
"""


@pytest.mark.parametrize("dist", ["load", "loadgroup"])
def test_each_case_runs_once_on_one_worker(pytester: pytest.Pytester, dist: str) -> None:
    write_server(pytester)
    pytester.makepyfile(test_own=_OWN)
    words = ["-n", "2", "--dist", dist, "-k", "token-expired or challenge-missing-token or test_own"]
    words += ["--mcp-auth-contract", "mcp-auth-contract.toml", "--junitxml", "j.xml", "-p", "no:cacheprovider"]
    command = [sys.executable, "-P", "-m", "pytest", *PLUGIN, *words]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = ET.parse(pytester.path / "j.xml").getroot().findall(".//testcase")
    names = [(case.get("name") or "").partition("@")[0] for case in cases]
    assert len(names) == len(set(names))
    assert sum(name.startswith("test_own") for name in names) == 6
    assert any(name.startswith("token-expired-refused[") for name in names)
    assert len([line for line in log(pytester) if line.startswith("started")]) == 1
