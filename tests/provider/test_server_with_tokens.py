"""`provider --server`: the server of the contract with a token of the provider, in the same report."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.lab_runs import SAMPLE
from tests.provider.provider_runs import ENVIRON, options

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.errors import Unreachable
from mcp_auth_contract.execution import run_provider
from mcp_auth_contract.model import Error, Fail, Inconclusive
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.provider.app import SampleProvider
from mcp_auth_contract_lab.provider.rules import PUBLIC_CLIENT
from mcp_auth_contract_lab.settings import LabSettings

_TABLE = f"""
[provider]
issuer = "ISSUER"
client_id = "{PUBLIC_CLIENT}"
scopes = ["invoices:read", "invoices:write", "invoices:export"]
max_rate = 100000.0
[provider.login]
fields = {{ username = "alice", password = "${{env:TEST_PASSWORD}}" }}
"""


def run(fault: str | None = None, select: tuple[str, ...] = (), *, up: bool = True) -> tuple[Report, SampleProvider]:
    with bind() as of_provider, bind() as of_server:
        issuer, base = url_of(of_provider), url_of(of_server)
        sample = SampleProvider(issuer, (f"{base}/mcp",), claims={"tenant_id": "t1"})
        settings = LabSettings(
            issuer=issuer,
            resource=f"{base}/mcp",
            base=base,
            jwks_uri=f"{issuer}/jwks",
            fault=FAULTS[fault] if fault else None,
        )
        lines = [line for line in SAMPLE.read_text("utf-8").splitlines() if not line.startswith(("start =", "env ="))]
        text = "\n".join(lines).replace("http://127.0.0.1:0/mcp", f"{base}/mcp") + _TABLE.replace("ISSUER", issuer)
        contract = read_contract(text, Path("sample.toml"))
        with serve_in_thread(sample.app(), listener=of_provider):
            if not up:
                of_server.close()
                return asyncio.run(run_provider(contract, replace(options(select), server=True))), sample
            with serve_in_thread(create_app(settings), listener=of_server):
                return asyncio.run(run_provider(contract, replace(options(select), server=True, jobs=8))), sample


def test_a_sound_server_is_green_with_a_token_of_the_provider() -> None:
    report, sample = run(select=("token-", "challenge-", "grant-"))
    bad = [one.sentence for one in report.results if isinstance(one.outcome, Fail | Inconclusive | Error)]
    assert bad == []
    assert report.gate.exit_code == 0
    assert [one.accepted for one in report.controls] == [True] * len(report.controls) != []
    assert {"grant-code-used-once", "token-alg-none-refused"} <= {one.check.id for one in report.results}
    shown = render_json(report)
    assert not [one for one in (*sample.secrets(), ENVIRON["TEST_PASSWORD"]) if one in shown]


@pytest.mark.parametrize(
    ("fault", "check"),
    [("alg-none-accepted", "token-alg-none-refused"), ("any-scheme-accepted", "token-other-scheme-refused")],
)
def test_a_fault_of_the_server_is_found(fault: str, check: str) -> None:
    report, _ = run(fault, (check,))
    assert {one.check.id for one in report.results if isinstance(one.outcome, Fail)} == {check}


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(Unreachable, match=r"target\.url: nothing accepts connections"):
        run(select=("token-",), up=False)
