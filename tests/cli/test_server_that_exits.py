"""An application in process that ends its process does not end the kit with success."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.in_process import in_process_contract
from tests.plugin.contracts import PLUGIN

COMMAND = [sys.executable, "-m", "mcp_auth_contract"]

LEAVING = """
import asyncio, atexit, os, signal, sys, threading, time

sound = app
asked = 0


async def leave():
    sys.exit(0)


async def app(scope, receive, send):
    global asked
    asked += scope["type"] == "http"
    if asked == 20:
        {how}
    await sound(scope, receive, send)
"""

IN_A_TASK = "asyncio.get_running_loop().kept = asyncio.ensure_future(leave())"
IN_A_CALLBACK = "asyncio.get_running_loop().call_later(0, sys.exit, 0)"


def leaving(folder: Path, how: str) -> None:
    in_process_contract(folder)
    server = folder / "invoices_server.py"
    server.write_text(server.read_text("utf-8") + LEAVING.format(how=how), "utf-8")


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, "run", *words], cwd=folder, capture_output=True, text=True, timeout=200)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("os._exit(0)", "exit code 0"),
        ("os._exit(7)", "exit code 7"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "signal SIGKILL"),
        ("threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(1)", "exit code 0"),
    ],
)
def test_a_server_that_ends_the_process_makes_a_kit_error_and_one_line(how: str, told: str, tmp_path: Path) -> None:
    leaving(tmp_path, how)
    done = run(tmp_path, "--quick", "--json", "r.json")
    assert done.returncode == 4, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"the server ended the process of the kit ({told})" in done.stderr
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize("how", [IN_A_TASK, IN_A_CALLBACK], ids=["task", "callback"])
def test_a_server_that_leaves_the_loop_shuts_the_gate_and_is_named(how: str, tmp_path: Path) -> None:
    leaving(tmp_path, how)
    done = run(tmp_path, "--quick", "--json", "r.json")
    assert done.returncode in (1, 3), done.stderr
    assert "the server tried to end the process of the kit (code 0)" in done.stderr
    assert "Traceback" not in done.stderr
    assert not json.loads((tmp_path / "r.json").read_text("utf-8"))["gate"]["open"]


@pytest.mark.parametrize("how", [IN_A_TASK, IN_A_CALLBACK], ids=["task", "callback"])
def test_pytest_is_red_where_a_server_leaves_the_loop(how: str, tmp_path: Path) -> None:
    leaving(tmp_path, how)
    words = [
        sys.executable,
        "-m",
        "pytest",
        *PLUGIN,
        "-p",
        "no:cacheprovider",
        "-q",
        "-k",
        "token-expired or token-alg",
    ]
    words += ["--mcp-auth-contract", "mcp-auth-contract.toml"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "the server tried to end the process" in done.stdout


def test_what_ends_after_the_report_does_not_change_the_exit_code(tmp_path: Path) -> None:
    leaving(tmp_path, "atexit.register(os._exit, 9)")
    done = run(tmp_path, "--quick", "-q")
    assert done.returncode == 0, done.stderr
    assert "gate open" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_blocks_the_process_does_not_keep_it_from_ending(number: signal.Signals, tmp_path: Path) -> None:
    leaving(tmp_path, "open('blocked', 'w').close(); time.sleep(600)")
    process = subprocess.Popen(
        [*COMMAND, "run"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 100
    while not (tmp_path / "blocked").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (3, "mcp-auth-contract: interrupted\n")
