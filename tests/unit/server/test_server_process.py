"""What the kit starts it watches, tells about in one line, and always stops."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_auth_contract.errors import Unreachable, UsageError
from mcp_auth_contract.server import StartedProcess, free_port, process, wait_for_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")

SERVE = """
import os, socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
print("listening in", os.getcwd(), os.environ.get("ISSUER"), flush=True)
time.sleep(60)
"""
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", deaf])
print("pid", child.pid, flush=True)
time.sleep(60)
"""


async def always(_: float) -> bool:
    return True


async def never(time_limit: float) -> bool:
    await asyncio.sleep(time_limit)
    return False


def after_file(file: Path, seconds: float) -> Callable[[float], Awaitable[bool]]:
    """Not ready, as is found some seconds after the process has written a file."""

    async def ready(time_limit: float) -> bool:
        async with asyncio.timeout(30):
            while not file.exists() or not file.read_text():  # noqa: ASYNC240  a test may wait
                await asyncio.sleep(0.01)
        await asyncio.sleep(seconds)
        return False

    return ready


def started(code: str, *arguments: str, folder: Path, **options: Any) -> StartedProcess:
    options.setdefault("ready", always)
    options.setdefault("env", {})
    return StartedProcess((sys.executable, "-c", code, *arguments), folder=folder, **options)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie that its adopter has not collected yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return True


async def output_with(process: StartedProcess, text: str) -> str:
    async with asyncio.timeout(30):
        while text not in process.output:
            await asyncio.sleep(0.01)
    return process.output


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_a_server_runs_in_the_folder_with_its_variables_until_the_end(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"

    async def run() -> str:
        server = started(
            SERVE,
            str(port),
            folder=tmp_path,
            env={"ISSUER": "http://issuer.test"},
            ready=lambda time_limit: wait_for_port(url, time_limit),
        )
        async with server:
            return await output_with(server, "issuer.test")

    output = asyncio.run(run())
    assert f"listening in {tmp_path.resolve()} http://issuer.test" in output
    assert not asyncio.run(wait_for_port(url, 0.2))


def test_a_server_that_dies_early_is_told_in_one_redacted_line(tmp_path: Path) -> None:
    async def run() -> None:
        code = "import sys; print('first'); print('secret-token lost', file=sys.stderr); sys.exit(3)"
        async with started(code, folder=tmp_path, ready=never, redact=lambda text: text.replace("secret-token", "***")):
            raise AssertionError

    with pytest.raises(Unreachable) as fault:
        asyncio.run(run())
    assert "ended with code 3" in str(fault.value)
    assert "*** lost" in str(fault.value)
    assert "secret-token" not in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_server_that_is_never_ready_is_told_and_stopped(tmp_path: Path) -> None:
    async def run() -> None:
        code = "import os,time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
        async with started(code, folder=tmp_path, ready=after_file(tmp_path / "pid", 0), time_limit=1.0):
            raise AssertionError

    with pytest.raises(Unreachable, match=r"not ready after 1 s; it wrote nothing"):
        asyncio.run(run())
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_command_that_does_not_exist_is_a_wrong_use(tmp_path: Path) -> None:
    async def run() -> None:
        async with StartedProcess(["no-such-command-here"], folder=tmp_path, env={}, ready=always):
            raise AssertionError

    with pytest.raises(UsageError, match="no-such-command-here"):
        asyncio.run(run())


def test_children_that_ignore_the_first_signal_are_killed(tmp_path: Path) -> None:
    async def run() -> int:
        async with started(STUBBORN, folder=tmp_path, grace=0.2) as server:
            return int((await output_with(server, "\n")).split()[1])

    assert ends(asyncio.run(run()))


def test_a_cancelled_run_leaves_no_process(tmp_path: Path) -> None:
    async def run() -> int:
        inside: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def use() -> None:
            async with started(STUBBORN, folder=tmp_path, grace=0.2) as server:
                inside.set_result(int((await output_with(server, "\n")).split()[1]))
                await asyncio.sleep(60)

        task = asyncio.create_task(use())
        await asyncio.wait({inside, task}, return_when=asyncio.FIRST_COMPLETED)
        pid = inside.result()
        task.cancel()
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return pid

    assert ends(asyncio.run(run()))


def test_an_interrupt_while_waiting_for_readiness_leaves_no_process(tmp_path: Path) -> None:
    async def run() -> None:
        code = "import os,time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
        async with started(code, folder=tmp_path, ready=after_file(tmp_path / "pid", 30)):
            raise AssertionError

    async def cancelled() -> None:
        task = asyncio.create_task(run())
        await after_file(tmp_path / "pid", 0)(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert ends(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("interrupts", [1, 2])
def test_ctrl_c_leaves_no_process(tmp_path: Path, interrupts: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import asyncio, sys
from pathlib import Path
from mcp_auth_contract.server import StartedProcess

from mcp_auth_contract.server import StartedProcess

async def always(_):
    return True

async def main():
    command = (sys.executable, "-c", {STUBBORN!r})
    async with StartedProcess(command, folder=Path({str(tmp_path)!r}), env={{}}, ready=always, grace=0.5) as server:
        while "\\n" not in server.output:
            await asyncio.sleep(0.01)
        print(server.output.split()[1], flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""
    )
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        for _ in range(interrupts):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        process.wait(60)
    assert ends(pid)


def test_the_output_kept_is_the_last_and_the_log_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "server.log"

    async def run() -> str:
        code = "import time; print('BEGIN' + 'x\\n' * 300_000 + 'END', flush=True); time.sleep(60)"
        async with started(code, folder=tmp_path, log=log) as server:
            return await output_with(server, "END")

    output = asyncio.run(run())
    assert len(output) <= 64 * 1024
    assert "BEGIN" not in output
    assert log.read_text().startswith("BEGIN")
    assert len(log.read_text()) > 300_000


def test_a_flood_of_output_is_cut_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_MOST_LOGGED", 100_000)
    log = tmp_path / "server.log"
    code = "import sys, time; sys.stdout.write('x' * 3_000_000 + 'END'); sys.stdout.flush(); time.sleep(60)"

    async def run() -> None:
        async with started(code, folder=tmp_path, log=log) as server:
            await output_with(server, "END")

    asyncio.run(run())
    kept, note = log.read_text("utf-8").split("\n", 1)
    assert kept == "x" * 100_000
    assert "was not kept" in note
    assert log.stat().st_size < 101_000


def test_what_is_written_while_stopping_is_kept(tmp_path: Path) -> None:
    async def run() -> str:
        code = (
            "import signal,sys,time\n"
            "signal.signal(15, lambda *_: (print('last words', flush=True), sys.exit()))\n"
            "print('up', flush=True); time.sleep(60)"
        )
        async with started(code, folder=tmp_path) as server:
            await output_with(server, "up")
        return server.output

    assert "last words" in asyncio.run(run())


def test_a_port_that_nobody_listens_at_is_waited_for_in_vain() -> None:
    begun = time.monotonic()
    assert not asyncio.run(wait_for_port(f"http://127.0.0.1:{free_port()}/mcp", 0.3))
    assert 0.25 < time.monotonic() - begun < 60


def test_free_ports_can_be_bound() -> None:
    def bind(ports: Sequence[int]) -> None:
        for port in ports:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))

    bind([free_port() for _ in range(5)])


def test_an_error_while_waiting_for_readiness_is_passed_on_and_leaves_no_process(tmp_path: Path) -> None:
    async def broken(_: float) -> bool:
        await after_file(tmp_path / "pid", 0)(0)
        raise ZeroDivisionError

    async def run() -> None:
        code = "import os,time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
        async with started(code, folder=tmp_path, ready=broken):
            raise AssertionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())
    assert ends(int((tmp_path / "pid").read_text()))


def test_an_error_while_it_is_used_is_passed_on_and_leaves_no_process(tmp_path: Path) -> None:
    pids = []

    async def run() -> None:
        async with started(STUBBORN, folder=tmp_path, grace=0.2) as server:
            pids.append(int((await output_with(server, "\n")).split()[1]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())
    assert ends(pids[0])


def test_children_of_a_server_that_died_are_stopped(tmp_path: Path) -> None:
    async def run() -> None:
        code = (
            "import subprocess, sys\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
            " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
            "open('pid', 'w').write(str(child.pid)); sys.exit(1)"
        )
        async with started(code, folder=tmp_path, ready=never):
            raise AssertionError

    with pytest.raises(Unreachable, match="ended with code 1"):
        asyncio.run(run())
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_long_line_is_told_by_its_end_and_commands_no_terminal(tmp_path: Path) -> None:
    async def run() -> None:
        code = "print('x' * 200_000 + chr(27) + '[2J' + chr(7) + 'the end'); raise SystemExit(1)"
        async with started(code, folder=tmp_path, ready=never):
            raise AssertionError

    with pytest.raises(Unreachable) as fault:
        asyncio.run(run())
    assert str(fault.value).endswith("[2Jthe end")
    assert str(fault.value).isprintable()
    assert len(str(fault.value)) < 600


def test_a_log_that_cannot_be_written_is_told_before_anything_is_started(tmp_path: Path) -> None:
    async def run() -> None:
        async with started("open('ran', 'w')", folder=tmp_path, log=tmp_path / "no" / "server.log"):
            raise AssertionError

    with pytest.raises(UsageError, match=r"server\.log: No such file"):
        asyncio.run(run())
    assert not (tmp_path / "ran").exists()
