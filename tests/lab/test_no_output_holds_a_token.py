"""Whatever the server does with its tokens, no output of the kit holds one, nor the half of one that counts."""

import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from tests.lab.lab_runs import CHECKS, run_lab

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.execution import Options, plan_run
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Error, Fail
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.text import print_report
from mcp_auth_contract.wire import Redactor
from mcp_auth_contract_lab.breaks import read_breaks
from mcp_auth_contract_lab.faults import FAULTS

_LONG = re.compile(r"[A-Za-z0-9_-]{32,}")
"""Shorter tokens, and parts of tokens, are words of the kit such as `not-a-token`."""


@pytest.fixture
def minted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every token that the run sends."""
    tokens: list[str] = []
    register = Redactor.register

    def remembering(self: Redactor, secret: str, name: str) -> str:
        tokens.append(secret)
        return register(self, secret, name)

    monkeypatch.setattr(Redactor, "register", remembering)
    return tokens


def outputs(report: Report) -> dict[str, str]:
    text = StringIO()
    print_report(report, Console(file=text, width=4000), verbose=True)
    shown = {"text": text.getvalue(), "JSON": render_json(report), "JUnit": render_junit(report)}
    return {**shown, "report": repr(report), "evidence": repr(dict(report.exchanges))}


def secrets(tokens: Sequence[str]) -> set[str]:
    """The payload and signature of each token, and tokens of another form as they are."""
    parts = {part for token in tokens for part in (token.split(".")[1:] if token.count(".") > 1 else [token])}
    return {part for part in parts if _LONG.fullmatch(part)}


def assert_clean(report: Report, tokens: Sequence[str]) -> None:
    searched = secrets(tokens)
    assert searched
    for name, text in outputs(report).items():
        runs = "\n".join(set(_LONG.findall(text)))
        assert [secret[:12] for secret in searched if secret in runs] == [], name


def test_no_output_of_a_whole_run_holds_a_token(issuer: EmbeddedIssuer, minted: list[str]) -> None:
    report = run_lab(issuer, fault=FAULTS["token-in-error"], freeze=True)
    assert len(set(minted)) > 300
    assert_clean(report, minted)


@pytest.mark.parametrize("name", ["token-in-header", "token-in-result", "token-in-log", "token-passed-on"])
def test_a_leak_is_told_without_repeating_it(
    name: str, issuer: EmbeddedIssuer, minted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(
        checks=CHECKS, environ={}, name="sample.toml", selection=Selection(select=("leak-", "challenge-"))
    )
    report = run_lab(issuer, fault=FAULTS[name], freeze=True, behind=True, options=options)
    assert {one.check.id for one in report.results if isinstance(one.outcome, Fail)} == set(read_breaks()[name])
    capsys.readouterr()
    assert_clean(report, minted)


def test_an_exception_of_the_kit_is_told_without_the_token_in_it(
    issuer: EmbeddedIssuer, minted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaking(_question: Question, context: Context) -> Observation:
        raise ValueError(f"cannot send {context.minter.mint('alice', 'good').token}")

    broken = replace(PROBES["method"], ask=breaking)
    monkeypatch.setattr(plan_run, "PROBES", {**PROBES, "method": broken})
    options = Options(checks=CHECKS, environ={}, name="sample.toml", selection=Selection(select=("challenge-",)))
    report = run_lab(issuer, options=options)
    assert any(isinstance(one.outcome, Error) for one in report.results)
    assert_clean(report, minted)
