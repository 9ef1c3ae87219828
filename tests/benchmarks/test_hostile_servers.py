"""Time and memory of a whole run against each hostile server, printed: `pytest -m benchmark -s tests/benchmarks`."""

import asyncio
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.hostile.servers import BEHAVIOURS, hostile
from tests.hostile.test_hostile_runs import CONTRACT

pytestmark = pytest.mark.benchmark

_KIB_PER_MIB = 1024


def _measured(command: list[str], folder: Path) -> tuple[int, float, int, str]:
    """Run a command; return its exit code, its seconds, its peak of resident memory in MiB and what it wrote."""
    begun = time.perf_counter()
    output = folder / "output"
    with output.open("w") as written, subprocess.Popen(command, cwd=folder, stdout=written, stderr=written) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, time.perf_counter() - begun, _mib(used), output.read_text("utf-8", "replace")


def _mib(used: "resource.struct_rusage") -> int:
    return used.ru_maxrss // (_KIB_PER_MIB if sys.platform != "darwin" else _KIB_PER_MIB**2)


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_a_run_against_a_hostile_server(name: str, tmp_path: Path) -> None:
    async def whole() -> tuple[int, float, int, str]:
        async with hostile(BEHAVIOURS[name]) as server:
            (tmp_path / "c.toml").write_text(CONTRACT.format(url=server.url))
            command = [sys.executable, "-m", "mcp_auth_contract", "run", "c.toml", "--quiet"]
            return await asyncio.to_thread(_measured, command, tmp_path)

    code, seconds, peak, said = asyncio.run(whole())
    print(f"\n{name}: exit {code}, {seconds:.1f} s, {peak} MiB at most")
    assert code in (1, 3)
    assert "Traceback" not in said
