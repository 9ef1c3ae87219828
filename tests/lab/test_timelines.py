"""Timelines change what the issuer publishes; whatever happens to the run, they put it back."""

import asyncio
import socket
import time

import pytest
from tests.lab.lab_runs import CHECKS, INSIDE, sample_contract

from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.issuer.behaviours import Behaviour
from mcp_auth_contract.model import Error, Inconclusive
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.settings import LabSettings

TOUCHING = ["keys-rotation-followed", "keys-outage-fails-closed", "keys-hanging-issuer-harmless"]


async def interrupted(issuer: EmbeddedIssuer, check: str) -> Report:
    """Cancel a run, as Ctrl-C does, in the moment in which its timeline has changed the issuer."""
    settings = LabSettings(issuer=issuer.url, jwks_uri=issuer.jwks_uri, resource=f"{INSIDE}/mcp", base=INSIDE)
    options = Options(checks=CHECKS, environ={}, selection=Selection(select=(check,)))
    contract = sample_contract(settings.resource, issuer.settings.algorithms)
    first = issuer.control.state()
    running = asyncio.create_task(run_contract(contract, options, issuer, app=create_app(settings)))
    while issuer.control.state() == first:
        assert not running.done(), "the timeline changed nothing"
        await asyncio.sleep(0)
    running.cancel()
    return await running


@pytest.mark.parametrize("check", TOUCHING)
def test_an_interrupted_timeline_puts_the_issuer_back_and_hides_nothing(check: str) -> None:
    with EmbeddedIssuer(IssuerSettings()) as issuer:
        before = issuer.control.state()
        report = asyncio.run(interrupted(issuer, check))
        assert issuer.control.state() == before
        assert issuer.control.state().behaviour == Behaviour()
    assert report.interrupted
    assert report.gate.exit_code != 0
    outcomes = [result.outcome for result in report.results]
    assert any(isinstance(outcome, Inconclusive) for outcome in outcomes)
    assert not any(isinstance(outcome, Error) for outcome in outcomes)


def test_a_client_that_never_finishes_its_request_does_not_keep_the_issuer_open() -> None:
    with EmbeddedIssuer() as issuer:
        host, port = issuer.url.removeprefix("http://").split(":")
        lazy = [socket.create_connection((host, int(port))) for _ in range(20)]
        for number, each in enumerate(lazy):
            each.sendall(b"POST /introspect HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n"[: 20 + 2 * number])
        lazy[-1].sendall(b"POST /introspect HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\ntoken=")
        begun = time.perf_counter()
    assert time.perf_counter() - begun < 60  # such a client would wait for ever
    for each in lazy:
        each.close()
