"""The command provider: a run against a real authorization server, and what it would do there."""

import json
from dataclasses import replace
from pathlib import Path

import typer

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.cli.finding import find_contract
from mcp_auth_contract.cli.outputs import demand_writable, demand_writable_file, remove_old, save, write
from mcp_auth_contract.cli.parameters import Outputs
from mcp_auth_contract.cli.running import RunOptions, interruptible, options_of, shown_progress
from mcp_auth_contract.contract import Contract
from mcp_auth_contract.errors import KitError, UsageError
from mcp_auth_contract.execution import run_provider
from mcp_auth_contract.model import Fail, Revision
from mcp_auth_contract.plan import Selection, make_provider_plan
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.waivers import find_waivers

_ASSUMED = (Revision.R2026_07_28, Revision.R2025_11_25)


def check_provider(file: Path | None, options: RunOptions, outputs: Outputs, log: Path | None, *, server: bool) -> int:
    """Run the checks of the contract's provider, write the reports, and return the exit code."""
    demand_writable(outputs)
    if log is not None:
        demand_writable_file(log)
    remove_old(outputs)
    path, contract = _contract(file)
    checks = load_builtin(options.scenarios)
    waivers = find_waivers(options.waivers, path, checks)
    limit = options.deadline if contract.provider is None else options.deadline or contract.provider.time_limit
    with shown_progress() as progress:
        chosen = options_of(replace(options, deadline=limit), checks, str(path), progress)
        try:
            report = interruptible(run_provider(contract, replace(chosen, waivers=waivers, server=server)))
        except KitError as fault:
            if log is not None:
                save(log, json.dumps({"contract": str(path), "exit_code": fault.exit_code}) + "\n", mode="a")
            raise
    if log is not None:
        save(log, json.dumps(line_of(report)) + "\n", mode="a")
    return write(report, outputs)


def line_of(report: Report) -> dict[str, object]:
    """Return a run in one line of JSON: when, what, how it ended, and which checks failed."""
    failed = sorted({one.check.id for one in report.results if isinstance(one.outcome, Fail) and one.waived is None})
    return {
        "contract": report.contract,
        "server": report.server.url,
        "started": report.started,
        "duration_s": round(report.duration_s, 1),
        "requests": report.sent,
        "exit_code": report.gate.exit_code,
        "counts": report.counts,
        "failed": failed,
    }


def print_provider_plan(file: Path | None, options: RunOptions) -> None:
    """Print one line per case, and what a run does to the tenant."""
    _, contract = _contract(file)
    checks = load_builtin(options.scenarios)
    selection = Selection(options.select, options.deselect)
    plan = make_provider_plan(checks, contract.target.revisions or _ASSUMED, selection=selection)
    for case in plan.cases:
        typer.echo(f"{case.check.level:<6} {case.id}")
    asked = {case.check.probe for case in plan.cases}
    for line in effects(contract, asked):
        typer.echo(line, err=True)
    typer.echo(
        f"{len(plan.cases)} cases of {len({case.check.id for case in plan.cases})} checks. Nothing was sent.", err=True
    )


def effects(contract: Contract, probes: set[str]) -> list[str]:
    """Return what a run with these probes does to the tenant, in sentences."""
    provider = contract.provider
    if provider is None or not any(PROBES[name].provider for name in probes):
        return ["Reads metadata only."]
    signs_in = "The test user of provider.login is signed in once" if provider.login else "Nobody is signed in"
    said = [f"{signs_in}; codes and tokens are issued to the client, and some refresh tokens are replayed."]
    if "revocation" in probes:
        said.append("Tokens of this run are revoked.")
    if "registration" in probes:
        registers = "Clients are registered, and deleted where the provider lets them be" if provider.writes else None
        said.append(f"{registers or 'No client is registered, since provider.writes is false'}.")
    said.append(f"At most {provider.max_rate:g} requests per second are sent; no wrong password is tried.")
    return said


def _contract(file: Path | None) -> tuple[Path, Contract]:
    found = find_contract(file)
    contract = found.contract
    if contract.provider is None:
        raise UsageError(f"{contract.label}: provider: missing; add a table [provider] with issuer and client_id")
    return found.path or Path(found.name), contract
