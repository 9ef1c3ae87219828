"""Whatever a server does, a whole run ends in a clear report or in one line, and never in a green one."""

import asyncio
import contextlib
import json
import ssl
import tracemalloc
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.hostile.servers import BEHAVIOURS, Asked, Behaviour, hostile

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.errors import Unreachable
from mcp_auth_contract.execution import Options, probe_url, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Error, Fail, Impact, Inconclusive, Level, NotApplicable
from mcp_auth_contract.reports.model import Report

_FAMILIES = frozenset({"prm", "as", "challenge", "transport", "revision"})
CORE = [check for check in load_builtin() if check.core]
CHECKS = [check for check in load_builtin() if check.core or check.family in _FAMILIES]
"""A hostile server answers each of the many tokens and records alike, so those of the core stand for all of them."""

_ENOUGH = 2.0
"""Seconds in which a server that answers at once is heard on a loaded machine too."""

CONTRACT = """
[target]
url = "{url}"
revisions = ["2026-07-28", "2025-11-25"]
[policy]
writes = true
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""


@pytest.fixture(scope="module")
def issuer() -> Any:
    with EmbeddedIssuer() as served:
        yield served


def run(
    behaviour: Behaviour, issuer: EmbeddedIssuer, checks: Any = CHECKS, *, time_limit: float = 0.2, **served: Any
) -> Report:
    async def whole() -> Report:
        async with hostile(behaviour, **served) as server:
            contract = read_contract(CONTRACT.format(url=server.url), Path("c.toml"))
            options = Options(checks=checks, environ={}, time_limit=time_limit, jobs=16)
            return await run_contract(contract, options, issuer)

    return asyncio.run(limited(whole()))


def probe(behaviour: Behaviour, issuer: EmbeddedIssuer | None = None, **served: Any) -> Report:
    async def whole() -> Report:
        async with hostile(behaviour, **served) as server:
            return await probe_url(server.url, Options(checks=CHECKS, environ={}, time_limit=0.2, jobs=16))

    return asyncio.run(limited(whole()))


async def limited(work: Coroutine[Any, Any, Report]) -> Report:
    async with asyncio.timeout(280):  # none of these takes as long, on a busy machine neither
        return await work


def no_kit_fault(report: Report) -> None:
    assert not [result.sentence for result in report.results if isinstance(result.outcome, Error)]
    assert not report.gate.open


def nothing_rests_on_the_control(report: Report) -> None:
    controlled = [result for result in report.results if "control" in result.check.needs]
    assert len(controlled) > 50
    settled = [one.sentence for one in controlled if not isinstance(one.outcome, (Inconclusive, NotApplicable))]
    assert not settled
    assert report.gate.exit_code in (1, 3)


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_a_run_against_a_hostile_server_ends_clearly_and_never_green(name: str, issuer: EmbeddedIssuer) -> None:
    try:
        report = run(BEHAVIOURS[name], issuer, time_limit=_ENOUGH if name == "invalid_utf8" else 0.2)
    except Unreachable as fault:
        assert "\n" not in str(fault)
        return
    no_kit_fault(report)
    if name == "invalid_utf8":  # it serves everybody a result, which is a bypass and told as one
        assert report.gate.exit_code == 1
        return
    nothing_rests_on_the_control(report)


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_a_probe_of_a_hostile_server_ends_clearly(name: str) -> None:
    try:
        report = probe(BEHAVIOURS[name])
    except Unreachable as fault:
        assert "\n" not in str(fault)
        return
    no_kit_fault(report)


async def answer(writer: Any, status: str, body: bytes, *lines: str) -> None:
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *lines]
    writer.write("\r\n".join([*head, "Connection: close", "", ""]).encode() + body)
    await writer.drain()


def metadata(asked: Asked) -> bytes | None:
    if "/.well-known/oauth-protected-resource/mcp" not in asked.target or "no-such" in asked.target:
        return None
    host = next(line for line in asked.raw.decode().splitlines() if line.lower().startswith("host:")).split()[1]
    document = {"resource": f"http://{host}/mcp", "authorization_servers": ["http://127.0.0.1:9"]}
    return json.dumps({**document, "scopes_supported": ["invoices:read"], "resource_name": "x"}).encode()


async def refuses_everything(asked: Asked, writer: Any) -> None:
    document = metadata(asked)
    if document is not None:
        await answer(writer, "200 OK", document)
    elif ".well-known" in asked.target:
        await answer(writer, "404 Not Found", b"")
    else:
        host = next(line for line in asked.raw.decode().splitlines() if line.lower().startswith("host:")).split()[1]
        pointer = f"http://{host}/.well-known/oauth-protected-resource/mcp"
        challenge = f'Bearer error="invalid_token", resource_metadata="{pointer}", scope="invoices:read"'
        await answer(writer, "401 Unauthorized", b"", f"WWW-Authenticate: {challenge}")


async def accepts_everything(asked: Asked, writer: Any) -> None:
    if ".well-known" in asked.target:
        await answer(writer, "404 Not Found", b"")
        return
    result = {"content": [{"type": "text", "text": "INV-1"}], "supportedVersions": ["2026-07-28"]}
    body = json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": result}).encode()
    await answer(writer, "200 OK", body)


def test_a_server_that_refuses_everything_is_inconclusive_and_never_green(issuer: EmbeddedIssuer) -> None:
    report = run(refuses_everything, issuer)
    no_kit_fault(report)
    nothing_rests_on_the_control(report)
    binding = [result for result in report.results if result.check.level is Level.MUST]
    assert not [result.sentence for result in binding if isinstance(result.outcome, Fail)]
    assert report.gate.exit_code == 3


@pytest.mark.parametrize("name", ["rate_limited", "rate_limited_for_long", "rate_limited_untold"])
def test_a_server_that_limits_every_request_is_inconclusive(name: str, issuer: EmbeddedIssuer) -> None:
    report = run(BEHAVIOURS[name], issuer)
    no_kit_fault(report)
    nothing_rests_on_the_control(report)
    assert report.gate.exit_code == 3


def test_a_server_that_answers_500_to_everything_proves_no_refusal(issuer: EmbeddedIssuer) -> None:
    report = run(BEHAVIOURS["server_error"], issuer)
    no_kit_fault(report)
    nothing_rests_on_the_control(report)
    bypasses = [one.sentence for one in report.results if isinstance(one.outcome, Fail) and one.impact == "auth-bypass"]
    assert not bypasses
    assert report.gate.exit_code == 3


def test_a_server_that_accepts_everything_fails_as_a_bypass(issuer: EmbeddedIssuer) -> None:
    report = run(accepts_everything, issuer)
    no_kit_fault(report)
    assert report.gate.exit_code == 1
    bypasses = [
        result
        for result in report.results
        if isinstance(result.outcome, Fail) and result.impact == Impact.AUTH_BYPASS.value
    ]
    assert {"challenge-missing-token-401", "token-expired-refused"} <= {result.check.id for result in bypasses}


class FallsSilent:
    """Answers the first requests, which tell the revisions, and behaves as told from then on."""

    def __init__(self, then: Behaviour, after: int = 4) -> None:
        self.then = then
        self.left = after

    async def __call__(self, asked: Asked, writer: Any) -> None:
        self.left -= 1
        await (accepts_everything if self.left >= 0 else self.then)(asked, writer)


@pytest.mark.parametrize("name", ["silence", "reset", "slow_body", "silent_stream"])
def test_a_server_that_falls_silent_is_not_waited_for_in_every_case(name: str, issuer: EmbeddedIssuer) -> None:
    asked = 0

    async def counting(request: Asked, writer: Any) -> None:
        nonlocal asked
        asked += 1
        await BEHAVIOURS[name](request, writer)

    report = run(FallsSilent(counting), issuer, time_limit=_ENOUGH)
    no_kit_fault(report)
    nothing_rests_on_the_control(report)
    assert asked < len(report.results) / 3


@pytest.mark.parametrize("name", ["huge_body", "huge_header", "gzip_bomb"])
def test_a_whole_run_over_floods_stays_small(name: str, issuer: EmbeddedIssuer) -> None:
    tracemalloc.start()
    try:
        with contextlib.suppress(Unreachable):
            run(BEHAVIOURS[name], issuer, CORE[::4])  # enough to see what a run keeps of each answer
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * 1024 * 1024  # one answer alone is 64 MB or more


@pytest.mark.parametrize("looks", [run, probe])
def test_https_to_a_plain_port_is_unreachable(looks: Any, issuer: EmbeddedIssuer) -> None:
    with pytest.raises(Unreachable, match="no request gets an HTTP answer: TLS"):
        looks(BEHAVIOURS["garbage"], issuer, scheme="https")


@pytest.mark.parametrize("looks", [run, probe])
def test_http_to_a_tls_port_is_unreachable(looks: Any, issuer: EmbeddedIssuer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with pytest.raises(Unreachable, match="no request gets an HTTP answer"):
        looks(BEHAVIOURS["garbage"], issuer, tls=context, scheme="http")


@pytest.mark.parametrize("name", ["server_error", "rate_limited"])
def test_a_door_that_could_not_be_seen_is_not_called_closed(name: str, issuer: EmbeddedIssuer) -> None:
    report = run(BEHAVIOURS[name], issuer)
    seen = [result for result in report.results if result.check.id == "challenge-legacy-sse-gated"]
    assert seen
    assert all(isinstance(result.outcome, Inconclusive) for result in seen)
