"""Ctrl-C and SIGTERM end a run at once, in a partial report, and nothing that the kit started outlives it.

"At once" is counted in the requests that the server still gets: a whole run makes hundreds.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.plugin.contracts import PLUGIN

SLOW = """
import json, os, signal, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
apart = "apart" in sys.argv
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], start_new_session=apart)
with open("pids", "w") as file:
    print(os.getpid(), child.pid, file=file)
if "deaf" in sys.argv:
    time.sleep(120)


class Slow(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(404, b"")

    do_HEAD = do_DELETE = do_OPTIONS = do_GET

    def do_POST(self):
        with open("asked", "a") as file:
            file.write(".")
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if "brisk" not in sys.argv:
            time.sleep(0.2)
        result = {"content": [], "supportedVersions": ["2026-07-28"]}
        body = {"jsonrpc": "2.0", "id": message.get("id"), "result": result}
        self.answer(200, json.dumps(body).encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Slow).serve_forever()
"""

CONTRACT = """[target]
url = "http://127.0.0.1:0/mcp"
{rate}start = ["${{python}}", "slow.py", "${{target.port}}"{more}]
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""


RATE = "max_rate = 5\n"
MOST_AFTERWARDS = 20
"""What was under way when the signal came, pytest's eight jobs included, and its controls."""

pytestmark = pytest.mark.timeout(300)

KIT = ("mcp_auth_contract", "run", "c.toml", "--json", "r.json", "--jobs", "1")
PYTEST = ("pytest", *PLUGIN, "-p", "no:cacheprovider", "--mcp-auth-contract", "c.toml")


@contextmanager
def running(
    folder: Path, *manners: str, module: tuple[str, ...] = KIT, rate: str = ""
) -> Iterator["subprocess.Popen[str]"]:
    (folder / "slow.py").write_text(SLOW, "utf-8")
    more = "".join(f', "{manner}"' for manner in manners)
    (folder / "c.toml").write_text(CONTRACT.format(more=more, rate=rate), "utf-8")
    words = [sys.executable, "-m", *module]
    (folder / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(folder / "tmp")}
    process = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def asked(folder: Path) -> int:
    file = folder / "asked"
    return len(file.read_text()) if file.exists() else 0


def pids(folder: Path) -> list[int]:
    file = folder / "pids"
    return [int(word) for word in file.read_text().split()] if file.exists() else []


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    # An orphan that nobody has reaped yet is dead all the same.
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def gone(folder: Path) -> bool:
    started = pids(folder)
    assert len(started) == 2
    return not any(map(alive, started))


def interrupted(process: "subprocess.Popen[str]", folder: Path, number: signal.Signals) -> tuple[str, str]:
    """Send the signal, and see the process end without going on asking."""
    before = asked(folder)
    process.send_signal(number)
    out, err = process.communicate(timeout=200)
    assert asked(folder) - before <= MOST_AFTERWARDS
    assert "Traceback" not in err
    return out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("manners", "rate"), [((), ""), (("brisk",), RATE)], ids=["waits for it", "spares it"])
def test_an_interrupted_run_of_a_slow_server_reports_in_part_and_stops_it(
    manners: tuple[str, ...], rate: str, number: signal.Signals, tmp_path: Path
) -> None:
    with running(tmp_path, *manners, rate=rate) as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        out, err = interrupted(process, tmp_path, number)
    assert process.returncode in (1, 3), out + err
    assert "interrupted" in out
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert report["interrupted"] is True
    assert "the run was interrupted" in {result["reason"] for result in report["results"]}
    assert "the run was interrupted" in report["gate"]["reasons"]
    assert not report["gate"]["open"]
    wait_until(lambda: gone(tmp_path))


def test_a_server_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    with running(tmp_path, "stubborn") as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        interrupted(process, tmp_path, signal.SIGINT)
    assert process.returncode in (1, 3)
    wait_until(lambda: gone(tmp_path))


def test_an_interrupted_pytest_stops_the_server(tmp_path: Path) -> None:
    with running(tmp_path, module=PYTEST) as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        out, _ = interrupted(process, tmp_path, signal.SIGINT)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out
    assert "KeyboardInterrupt" in out
    wait_until(lambda: gone(tmp_path))


def test_a_second_interrupt_does_not_leave_the_server_behind(tmp_path: Path) -> None:
    with running(tmp_path, "stubborn") as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        interrupted(process, tmp_path, signal.SIGINT)
    assert process.returncode in (1, 3)
    wait_until(lambda: gone(tmp_path))


def test_an_interrupt_before_the_server_is_ready_ends_in_one_line(tmp_path: Path) -> None:
    with running(tmp_path, "deaf") as process:
        wait_until(lambda: len(pids(tmp_path)) == 2)
        out, err = interrupted(process, tmp_path, signal.SIGINT)
    assert process.returncode == 3
    assert out == ""
    assert err == "mcp-auth-contract: interrupted\n"
    wait_until(lambda: gone(tmp_path))


def left(folder: Path) -> list[str]:
    return sorted(one.name for one in (folder / "tmp").iterdir() if one.name.startswith("mcp-auth-contract-"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT, signal.SIGABRT])
@pytest.mark.parametrize("manners", [(), ("stubborn", "apart")], ids=["plain", "apart"])
def test_a_kit_that_is_killed_leaves_no_server_behind(
    number: signal.Signals, manners: tuple[str, ...], tmp_path: Path
) -> None:
    with running(tmp_path, *manners) as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        assert left(tmp_path)
        process.send_signal(number)
        process.wait(timeout=60)
        wait_until(lambda: gone(tmp_path))
        wait_until(lambda: not left(tmp_path))


def test_a_kit_that_is_killed_while_the_server_starts_leaves_none_behind(tmp_path: Path) -> None:
    with running(tmp_path, "deaf", "apart") as process:
        wait_until(lambda: len(pids(tmp_path)) == 2)
        process.kill()
        process.wait(timeout=60)
        wait_until(lambda: gone(tmp_path))
        wait_until(lambda: not left(tmp_path))


def test_a_killed_pytest_leaves_no_server_behind(tmp_path: Path) -> None:
    with running(tmp_path, "apart", module=PYTEST) as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        process.kill()
        process.wait(timeout=60)
        wait_until(lambda: gone(tmp_path))


def test_a_grandchild_in_a_session_of_its_own_is_stopped_too(tmp_path: Path) -> None:
    with running(tmp_path, "apart") as process:
        wait_until(lambda: asked(tmp_path) >= 12)
        interrupted(process, tmp_path, signal.SIGTERM)
        assert not left(tmp_path)
    wait_until(lambda: gone(tmp_path))


def test_under_nohup_a_run_goes_on_after_a_hang_up(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does, for those that are started
        try:
            process = stack.enter_context(running(tmp_path))
        finally:
            signal.signal(signal.SIGHUP, before)
        wait_until(lambda: asked(tmp_path) >= 12)
        process.send_signal(signal.SIGHUP)
        more = asked(tmp_path) + 5
        wait_until(lambda: asked(tmp_path) >= more)
        assert process.poll() is None
