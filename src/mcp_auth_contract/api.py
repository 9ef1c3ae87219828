"""The public interface: load a contract, run it, read the report, mint a token."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.contract import Contract
from mcp_auth_contract.contract import load_contract as _load_contract
from mcp_auth_contract.errors import ContractError, KitError, Unreachable, UsageError
from mcp_auth_contract.execution import Options, mint_offline, run_contract
from mcp_auth_contract.model import Error, Fail, Inconclusive, Level, NotApplicable, Pass
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.model import Gate, Report, Result
from mcp_auth_contract.reports.reading import read_report as _read_report
from mcp_auth_contract.suggest import suggest

__all__ = [
    "Contract",
    "ContractError",
    "Error",
    "Fail",
    "Gate",
    "Inconclusive",
    "KitError",
    "Level",
    "NotApplicable",
    "Pass",
    "Report",
    "Result",
    "Unreachable",
    "UsageError",
    "load_contract",
    "mint_token",
    "read_report",
    "run",
    "write_report",
]


def load_contract(file: str | Path) -> Contract:
    """Read and check a contract file; its variables are still in it.

    Raises ContractError with one line for each problem: `file: key: what is wrong (value); repair`.
    """
    return _load_contract(Path(file))


def run(
    contract: Contract,
    *,
    select: Iterable[str] = (),
    deselect: Iterable[str] = (),
    fail_on: Level = Level.MUST,
    every_revision: bool = False,
    wait: float = 0.0,
    environ: Mapping[str, str] | None = None,
) -> Report:
    """Run a contract and return the report: start the issuer, and the server if the contract says how, ask and judge.

    `select` and `deselect` are ids, families (`token-`) or patterns, as on the command line; `wait` is the time in
    seconds that may be spent on waiting; `environ` stands for the process environment. Not to be called where an event
    loop runs. Raises ContractError or UsageError for what is wrong with the contract or the selection, Unreachable
    when the server cannot be started or reached.
    """
    options = Options(
        checks=load_builtin(),
        selection=Selection(tuple(select), tuple(deselect)),
        fail_on=fail_on,
        every_revision=every_revision,
        wait=wait,
        environ=dict(os.environ if environ is None else environ),
    )
    return asyncio.run(run_contract(contract, options))


def read_report(file: str | Path) -> Report:
    """Return the report that a JSON file of version 1 holds. Raises UsageError for anything else."""
    path = Path(file)
    try:
        text = path.read_bytes()
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror or fault}") from None
    return _read_report(text, str(path), load_builtin())


def write_report(report: Report, file: str | Path) -> None:
    """Write a report as JSON of version 1, whose schema is docs/report-v1.schema.json."""
    Path(file).write_text(render_json(report), "utf-8")


def mint_token(
    contract: Contract,
    principal: str,
    *,
    defect: str | None = None,
    variant: str | None = None,
    scopes: Iterable[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Return a token of a principal of the contract, unbroken or with one defect (`mcp-auth-contract defects`).

    A server trusts it if it trusts the contract's issuer with fixed keys and a fixed port (`issuer.keys`,
    `issuer.port`). Raises UsageError for a principal, a defect or a variant that nobody knows.
    """
    if principal not in contract.principals:
        raise UsageError(f'the contract has no principal "{principal}"; {suggest(principal, contract.principals)}')
    minted, _ = mint_offline(
        contract,
        principal,
        defect=defect,
        variant=variant,
        scopes=None if scopes is None else frozenset(scopes),
        environ=dict(os.environ if environ is None else environ),
        clock=system_clock,
    )
    return minted.token
