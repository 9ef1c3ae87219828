"""Runs against the sample authorization server."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.contract import Contract, read_contract
from mcp_auth_contract.execution import Options, run_provider
from mcp_auth_contract.model import Error, Fail
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract_lab.provider.app import SampleProvider
from mcp_auth_contract_lab.provider.faults import ProviderFault
from mcp_auth_contract_lab.provider.rules import (
    CLIENT_SECRET,
    CONFIDENTIAL_CLIENT,
    OTHER_CLIENT,
    PASSWORD,
    PUBLIC_CLIENT,
    REDIRECT_URI,
    Rules,
)

CHECKS = tuple(check for check in load_builtin() if PROBES[check.probe].provider)
"""The checks that provider runs alone make."""

RESOURCE = "https://mcp.example.com/mcp"
ENVIRON: Mapping[str, str] = {"TEST_PASSWORD": PASSWORD, "CLIENT_SECRET": CLIENT_SECRET}

_CONTRACT = f"""
[target]
url = "{RESOURCE}"
authorized = true
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
[provider]
issuer = "ISSUER"
client_id = "CLIENT"
SECRET
redirect_uri = "{REDIRECT_URI}"
scopes = ["invoices:read", "invoices:write"]
resource = "{RESOURCE}"
writes = true
max_rate = 100000.0
other_client = {{ client_id = "{OTHER_CLIENT}" }}
[provider.capabilities]
registration = "required"
[provider.login]
fields = {{ username = "alice", password = "${{env:TEST_PASSWORD}}" }}
"""


def contract_text(issuer: str, *, secret: bool = False, edits: Iterable[tuple[str, str]] = ()) -> str:
    """Return the text of a contract for the sample authorization server, with its public or confidential client."""
    text = _CONTRACT.replace("ISSUER", issuer)
    text = text.replace("CLIENT", CONFIDENTIAL_CLIENT if secret else PUBLIC_CLIENT, 1)
    text = text.replace("SECRET\n", 'client_secret = "${env:CLIENT_SECRET}"\n' if secret else "", 1)
    for old, new in edits:
        assert old in text, f"{old!r} is not in the contract"
        text = text.replace(old, new)
    return text


def provider_contract(issuer: str, *, secret: bool = False, edits: Iterable[tuple[str, str]] = ()) -> Contract:
    """Return that contract."""
    return read_contract(contract_text(issuer, secret=secret, edits=edits), Path("provider.toml"))


@contextmanager
def sample_provider(fault: ProviderFault | None = None) -> Iterator[SampleProvider]:
    """Serve the sample authorization server."""
    rules = Rules() if fault is None else fault.of(Rules())
    with bind("127.0.0.1", 0) as listener:
        sample = SampleProvider(url_of(listener), (RESOURCE,), rules)
        with serve_in_thread(sample.app(), listener=listener):
            yield sample


def options(select: Iterable[str] = (), environ: Mapping[str, str] = ENVIRON) -> Options:
    """Return options for a provider run."""
    return Options(
        checks=load_builtin(), environ=environ, name="provider.toml", jobs=1, selection=Selection(tuple(select))
    )


def run_sample(
    fault: ProviderFault | None = None,
    *,
    secret: bool = False,
    select: Iterable[str] = (),
    edits: Iterable[tuple[str, str]] = (),
) -> Report:
    """Run the checks of providers against the sample authorization server."""
    with sample_provider(fault) as sample:
        contract = provider_contract(sample.issuer, secret=secret, edits=edits)
        return asyncio.run(run_provider(contract, options(select)))


def failed_checks(fault: ProviderFault) -> set[str]:
    """Return which checks fail on a fault, with a client of either kind."""
    failed: set[str] = set()
    for secret in (False, True):
        report = run_sample(fault, secret=secret)
        assert [one.sentence for one in report.results if isinstance(one.outcome, Error)] == []
        failed |= {one.check.id for one in report.results if isinstance(one.outcome, Fail)}
    return failed
