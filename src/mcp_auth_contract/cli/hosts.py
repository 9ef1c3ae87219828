"""The command hosts: what MCP hosts would make of a server."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.cli.finding import find_contract
from mcp_auth_contract.cli.outputs import demand_writable, remove_old, write
from mcp_auth_contract.cli.parameters import Outputs
from mcp_auth_contract.cli.running import RunOptions, demand_http, interruptible, options_of, shown_progress
from mcp_auth_contract.cli.supervisor import supervised
from mcp_auth_contract.contract import at_url
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import probe_url, run_contract
from mcp_auth_contract.hosts.verdicts import Connection, load_hosts
from mcp_auth_contract.reports.hosts import print_hosts

_OF_A_URL = ("prm-served",)
_OF_A_CONTRACT = ("challenge-missing-token-401",)
"""Checks that ask little else; that of a contract is bracketed by a call with a good token."""


def hosts_and_report(target: str | None, wanted: Sequence[str], options: RunOptions, outputs: Outputs) -> int:
    """Say what MCP hosts would make of a URL, or of the server of a contract, and return the exit code.

    Hosts that are named decide: 1 where one of them will not connect, 3 where that cannot be told of one.
    """
    known = [host.id for host in load_hosts().host]
    for name in wanted:
        if name not in known:
            raise UsageError(f"--host {name}: no such host; write one of {', '.join(known)}")
    demand_writable(outputs)
    remove_old(outputs)
    if target is not None and "://" in target:
        demand_http(target)
        chosen = replace(options, select=_OF_A_URL, hosts=True)
        with shown_progress() as progress:
            asked = options_of(chosen, load_builtin(), "(none: anonymous probe)", progress)
            report = interruptible(probe_url(target, asked))
    else:
        found = find_contract(None if target is None else Path(target), options.sample)
        contract = found.contract if options.url is None else at_url(found.contract, options.url)
        if contract.target.app is not None and (code := supervised()) is not None:
            return code
        chosen = replace(options, select=_OF_A_CONTRACT, hosts=True)
        with shown_progress() as progress:
            asked = options_of(chosen, load_builtin(), found.name, progress)
            report = interruptible(run_contract(contract, asked))
    write(report, outputs, print_hosts)
    decisive = {one.verdict for one in report.hosts if one.id in wanted}
    if Connection.FAILS in decisive:
        return 1
    return 3 if Connection.UNKNOWN in decisive or not report.hosts else 0
