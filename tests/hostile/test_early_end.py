"""A run that cannot go on ends soon, and says why; what was not asked is inconclusive."""

import asyncio
import json
import time
from typing import Any

import pytest
from tests.lab.lab_runs import CHECKS, INSIDE, sample_contract

from mcp_auth_contract.execution import Options, Progress, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.model import Inconclusive, Level, NotApplicable
from mcp_auth_contract.plan import Case, Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.settings import LabSettings

_SOUND_FOR = 100
_REST = 120
"""So many requests are under way, sent twice, or part of the control calls when silence is noticed."""


class Failing:
    """The sample server, sound for a hundred requests."""

    def __init__(self, app: Any, manner: str) -> None:
        self.app, self.manner, self.asked, self.refused = app, manner, 0, 0
        self.started: list[float] = []

    def allowed(self) -> bool:
        """Whether a request is one of the fifty that are served in any second."""
        now = time.monotonic()
        self.started = [one for one in self.started if one > now - 1]
        if len(self.started) >= 50:
            self.refused += 1
            return False
        self.started.append(now)
        return True

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += scope["type"] == "http"
        if self.manner == "limited" and scope["type"] == "http" and not self.allowed():
            await send({"type": "http.response.start", "status": 429, "headers": [(b"retry-after", b"1")]})
            await send({"type": "http.response.body", "body": b""})
            return
        if self.manner == "limited" or scope["type"] != "http" or self.asked <= _SOUND_FOR or self.manner == "sound":
            await self.app(scope, receive, send)
            return
        if self.manner == "comments":
            start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
            await send(start)
            while True:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
                await asyncio.sleep(0.01)
        if self.manner == "slow":
            await asyncio.sleep(0.05)
            await self.app(scope, receive, send)
            return
        await asyncio.sleep(3600)


def run(manner: str, **options: Any) -> tuple[Report, Failing]:
    with EmbeddedIssuer(IssuerSettings()) as issuer:
        settings = LabSettings(issuer=issuer.url, jwks_uri=issuer.jwks_uri, resource=f"{INSIDE}/mcp", base=INSIDE)
        app = Failing(create_app(settings), manner)
        contract = sample_contract(f"{INSIDE}/mcp", issuer.settings.algorithms)
        limit = 0.3 if manner in ("silent", "comments") else 60.0
        chosen = Options(checks=CHECKS, environ={}, time_limit=limit, **options)
        return asyncio.run(run_contract(contract, chosen, issuer, app=app, freeze=False)), app


def reasons(report: Report) -> set[str]:
    return {one.outcome.reason for one in report.results if isinstance(one.outcome, Inconclusive)}


@pytest.mark.parametrize("manner", ["silent", "comments"])
def test_a_server_that_stops_answering_is_not_asked_on_and_on(manner: str) -> None:
    report, app = run(manner)
    told = [one for one in reasons(report) if one.startswith("the server stopped answering")]
    assert len(told) == 1
    assert "control call" in told[0]
    assert app.asked < _SOUND_FOR + _REST
    assert (report.gate.open, report.gate.exit_code, report.interrupted) == (False, 3, False)
    assert told[0] in report.notes
    assert len(report.results) > 900


def test_a_run_ends_at_its_time_limit_with_what_it_has() -> None:
    report, _ = run("slow", deadline=1.0)
    assert "the time limit of 1 s was reached" in reasons(report)
    assert "the time limit of 1 s was reached" in report.notes
    assert report.counts["error"] == report.counts["fail"] == 0
    assert report.gate.exit_code == 3


def test_the_end_is_the_same_whether_or_not_there_is_a_limit_that_is_not_reached() -> None:
    report, _ = run("sound", deadline=300.0)
    assert report.gate.open, json.dumps(report.gate.reasons)


def test_a_limited_rate_is_learned_and_kept_to_and_the_rest_is_told() -> None:
    told: list[tuple[float, float]] = []
    progress = Progress(paced=lambda rate, rest: told.append((rate, rest)))
    report, app = run("limited", selection=Selection(core=True), progress=progress)
    assert report.gate.open, json.dumps(report.gate.reasons)
    assert report.counts["inconclusive"] == 0
    assert 1 <= len(told) < 8
    assert all(1 <= rate <= 60 and rest > 0 for rate, rest in told)
    assert app.refused < 60
    assert any("limits the rate" in note for note in report.notes)


def test_the_core_is_asked_in_few_requests() -> None:
    report, app = run("sound", selection=Selection(core=True))
    assert report.gate.open
    assert app.asked < 400
    assert {one.check.core for one in report.results} == {True}


def test_what_matters_most_is_asked_first() -> None:
    order: list[bool] = []

    def settled(case: Case, outcome: object) -> None:
        if not isinstance(outcome, NotApplicable) and case.check.probe not in ("timeline", "exchanges", "leeway"):
            order.append(case.check.core or case.check.level is Level.MUST)

    run("sound", progress=Progress(settled=settled), selection=Selection(("prm-", "challenge-", "token-")))
    last = len(order) - order[::-1].index(True)
    assert order[: last // 2].count(False) == 0
