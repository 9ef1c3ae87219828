"""A clock that moves by hours, while all that waits goes on waiting in real time."""

import asyncio
import datetime as dates
import queue
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import anyio
import pytest

from mcp_auth_contract.asgi import serve_in_thread
from mcp_auth_contract.clock import RealTime, stopwatch, system_clock
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.server import FrozenTime

HOURS = 5 * 3600.0


@pytest.fixture
def frozen() -> Iterator[FrozenTime]:
    with FrozenTime() as clock:
        yield clock


def test_the_clock_starts_at_the_present_and_ticks() -> None:
    before = time.time()
    with FrozenTime() as clock:
        first = system_clock()
        assert 0 <= first - before < 5
        threading.Event().wait(0.02)
        clock.move(1)
        threading.Event().wait(0.02)
        assert 1.04 <= system_clock() - first < 5
    assert 0 <= time.time() - before < 5


def test_a_deadline_that_is_polled_comes(frozen: FrozenTime) -> None:
    deadline = time.monotonic() + 0.02
    while time.monotonic() < deadline:
        threading.Event().wait(0.001)
    assert time.monotonic() >= deadline


def test_every_clock_moves_together(frozen: FrozenTime) -> None:
    clocks = {
        "time": time.time,
        "time_ns": lambda: time.time_ns() / 1e9,
        "monotonic": time.monotonic,
        "perf_counter": time.perf_counter,
        "datetime": lambda: datetime.now(dates.UTC).timestamp(),
        "module": lambda: dates.datetime.now(dates.UTC).timestamp(),
        "gmtime": lambda: time.mktime(time.gmtime()),
    }
    before = {name: read() for name, read in clocks.items()}
    assert asyncio.run(frozen.pass_time(HOURS)) is True
    after = {name: read() - before[name] for name, read in clocks.items()}
    assert after == pytest.approx(dict.fromkeys(clocks, HOURS), abs=5)


def test_the_clock_does_not_go_back(frozen: FrozenTime) -> None:
    with pytest.raises(ValueError, match="forwards"):
        frozen.move(-1)


def test_code_in_a_worker_thread_sees_the_moved_clock(frozen: FrozenTime) -> None:
    frozen.move(HOURS)

    async def run() -> tuple[float, float]:
        return await asyncio.to_thread(time.time), await anyio.to_thread.run_sync(time.time)

    assert asyncio.run(run()) == pytest.approx((time.time(), time.time()), abs=5)


def test_a_module_is_moved_whatever_its_name(frozen: FrozenTime) -> None:
    names: dict[str, Any] = {"__name__": "gift_server"}
    exec("import time\ndef now(): return time.time()", names)
    frozen.move(HOURS)
    assert names["now"]() == pytest.approx(time.time(), abs=5)


def test_event_loops_go_on_waiting_after_a_move(frozen: FrozenTime) -> None:
    async def run() -> None:
        for _ in range(2):
            begun = stopwatch()
            await asyncio.sleep(0.02)
            await anyio.sleep(0.02)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await asyncio.Event().wait()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.02)
            with anyio.move_on_after(0.02) as scope:
                await anyio.Event().wait()
            assert scope.cancelled_caught
            assert 0.1 <= stopwatch() - begun < 5
            frozen.move(HOURS)

    asyncio.run(run())


def test_a_move_does_not_expire_what_waits(frozen: FrozenTime) -> None:
    async def run() -> None:
        async with asyncio.timeout(60):
            assert await frozen.pass_time(HOURS)
            await asyncio.sleep(0)

    asyncio.run(run())


def test_threads_queues_and_processes_time_out_in_real_time(frozen: FrozenTime) -> None:
    frozen.move(HOURS)
    assert not threading.Event().wait(0.02)
    condition = threading.Condition()
    with condition:
        assert not condition.wait(0.02)
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.02)
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.1)


def test_a_server_on_a_thread_answers_before_and_after_a_move(frozen: FrozenTime) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = str(time.time()).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with serve_in_thread(app, lifespan="off") as served:
        for _ in range(2):
            with urllib.request.urlopen(served.url, timeout=5) as answer:
                assert float(answer.read()) == pytest.approx(time.time(), abs=5)
            frozen.move(HOURS)


def test_a_socket_times_out_in_real_time(frozen: FrozenTime) -> None:
    async def app(scope: object, receive: object, send: object) -> None:
        await asyncio.Event().wait()

    frozen.move(HOURS)
    with serve_in_thread(app, lifespan="off") as served, pytest.raises(TimeoutError):
        urllib.request.urlopen(served.url, timeout=0.05)


@pytest.mark.parametrize("first", [True, False])
def test_an_issuer_served_before_or_after_answers_over_tls_with_a_moved_clock(first: bool) -> None:
    issuer, frozen = EmbeddedIssuer(IssuerSettings(tls=True)), FrozenTime()
    with issuer if first else frozen, frozen if first else issuer:
        frozen.move(60)
        context = ssl.create_default_context(cafile=str(issuer.ca_file))
        with urllib.request.urlopen(issuer.jwks_uri, timeout=5, context=context) as answer:
            assert answer.status == 200


def test_a_second_clock_can_be_frozen_after_the_first() -> None:
    for _ in range(2):
        with FrozenTime() as clock:
            before = time.time()
            clock.move(1000)
            assert time.time() == pytest.approx(before + 1000, abs=500)


def test_real_time_waits_while_its_budget_lasts() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def run() -> list[bool]:
        clock = RealTime(10, sleep)
        return [await clock.pass_time(seconds) for seconds in (6, 5, 4, 3.5)]

    assert asyncio.run(run()) == [True, False, True, False]
    assert waited == [6, 4]
