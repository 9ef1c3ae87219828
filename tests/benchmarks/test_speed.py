"""Ratios, printed and not judged: `pytest -m benchmark -s tests/benchmarks`."""

import asyncio
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import httpx
import pytest
from tests.lab.lab_runs import CHECKS, run_lab

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Selection, make_plan
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.settings import LabSettings

pytestmark = pytest.mark.benchmark

_JOBS = 8


async def replay(report: Report, base: str, old: str) -> float:
    """Send the requests of a report to another server of the same kind, bare, at the same concurrency."""
    gate = asyncio.Semaphore(_JOBS)
    begun = time.perf_counter()
    async with httpx.AsyncClient(timeout=10) as client:

        async def one(exchange: dict[str, object]) -> None:
            request = exchange["request"]
            assert isinstance(request, dict)
            sent = (line for line in request["headers"] if line[0].lower() not in ("host", "content-length"))
            headers = [(name.encode(), value.encode()) for name, value in sent]
            url = str(request["url"]).replace(old, base)
            async with gate, client.stream(request["method"], url, headers=headers, content=request["body"]) as got:
                async for _ in got.aiter_raw():
                    break

        wanted = [dict(exchange) for exchange in report.exchanges.values() if exchange["request"]["method"] != "GET"]
        await asyncio.gather(*(one(exchange) for exchange in wanted))
    return (time.perf_counter() - begun) * len(report.exchanges) / max(1, len(wanted))


def test_a_run_against_the_sample_server_compared_with_a_bare_replay() -> None:
    with EmbeddedIssuer() as issuer:
        report = run_lab(issuer, options=Options(checks=CHECKS, environ={}, jobs=_JOBS), sockets=True)
        listener = bind("127.0.0.1", 0)
        base = url_of(listener, tls=False)
        settings = LabSettings(issuer=issuer.url, jwks_uri=issuer.jwks_uri, resource=f"{base}/mcp", base=base)
        with serve_in_thread(create_app(settings), listener=listener):
            bare = asyncio.run(replay(report, base, report.server.url.removesuffix("/mcp")))
    print(f"\nrun / bare replay of {len(report.exchanges)} requests: {report.duration_s / bare:.2f} (goal 1.5)")


def test_the_start_of_the_command() -> None:
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "mcp_auth_contract", "--version"], check=True, capture_output=True)
        times.append(time.perf_counter() - begun)
    bare = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - begun)
    print(f"\n--version: {min(times) * 1000:.0f} ms (goal 150), {min(times) / min(bare):.1f} x an empty interpreter")


def test_every_token_and_the_life_of_keys_in_process() -> None:
    families = Selection(select=("token-", "time-", "keys-"))
    with EmbeddedIssuer(IssuerSettings(algorithms=tuple(Algorithm))) as issuer:
        tracemalloc.start()
        peaks, times = [], []
        for _ in range(3):
            tracemalloc.reset_peak()
            begun = time.perf_counter()
            report = run_lab(issuer, options=Options(checks=CHECKS, environ={}, selection=families), freeze=True)
            times.append(time.perf_counter() - begun)
            peaks.append(tracemalloc.get_traced_memory()[1])
            cases = len(report.results)
            del report  # else the next run is measured beside it
        tracemalloc.stop()
    print(f"\n{cases} token, time and key cases in process: {min(times):.1f} s (goal 20)")
    print(f"peak of the third run / of the first: {peaks[-1] / peaks[0]:.2f} (goal 1)")


def test_planning_a_large_contract() -> None:
    """Fifty tools, ten principals, a hundred records."""
    lines = ["[target]", 'url = "http://127.0.0.1:8000/mcp"', "[policy]", "writes = true"]
    for number in range(10):
        lines += [f"[principals.p{number}]", f'subject = "p{number}"', 'tenant = "t"', 'scopes = ["a", "b", "c"]']
    for number in range(50):
        lines += ["[[tools]]", f'name = "tool_{number}"', 'scopes = ["a", "b"]', f'arguments = {{ id = "R-{number}" }}']
    for number in range(100):
        path = f'{{ tool = "tool_{number % 50}", arguments = {{ id = "R-{number}" }} }}'
        lines += ["[[records]]", f'name = "R-{number}"', f'owner = "p{number % 10}"']
        lines += [f'canary = "canary-of-record-{number:03d}"', f"reads = [{path}]"]
    contract = read_contract("\n".join(lines), Path("large.toml"))
    begun = time.perf_counter()
    plan = make_plan(CHECKS, contract, (Revision.R2026_07_28, Revision.R2025_11_25))
    print(f"\n{len(plan.cases)} cases planned in {time.perf_counter() - begun:.2f} s (goal 1)")
