"""One decision over a release: a run, the live records of the hosts it claims, and the difference to the last one."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mcp_auth_contract.cli.finding import find_contract
from mcp_auth_contract.cli.outputs import print_text
from mcp_auth_contract.cli.parameters import Outputs
from mcp_auth_contract.cli.reporting import read_json_report
from mcp_auth_contract.cli.running import RunOptions, run_and_report
from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.live.file import find_records
from mcp_auth_contract.live.judging import decide_release, draft_record
from mcp_auth_contract.reports.diff import Difference, compare
from mcp_auth_contract.reports.diff_text import render_diff_text
from mcp_auth_contract.reports.model import Report


def release_and_report(
    file: Path | None, options: RunOptions, outputs: Outputs, *, live: Path | None, against: Path | None
) -> int:
    """Run a contract, decide over the release, write the reports, and return the exit code."""
    found = find_contract(file, options.sample)
    if found.path is None:
        raise UsageError("release: there is no contract here; name one, the sample is nothing to release")
    records = find_records(live, found.path)
    last = None if against is None else read_json_report(against)
    claimed = () if found.contract.release is None else found.contract.release.hosts
    difference: Difference | None = None

    def decided(report: Report) -> Report:
        nonlocal difference
        difference = None if last is None else compare(last, report)
        today = datetime.fromtimestamp(system_clock(), UTC).date()
        return decide_release(report, claimed, records, today, difference)

    code = run_and_report(file, replace(options, hosts=True), outputs, decided)
    if difference is not None and not outputs.quiet and str(outputs.files.get("json")) != "-":
        print_text(f"\nAgainst {against}\n{render_diff_text(difference)}")
    return code


def print_draft(host: str) -> None:
    """Print a live record of a host with the steps to walk."""
    sys.stdout.write(draft_record(host))
