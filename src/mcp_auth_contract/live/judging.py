"""What a release makes of live records and of the last release: reasons that shut its gate."""

import datetime
import json
from collections.abc import Sequence
from dataclasses import replace

from mcp_auth_contract.hosts.verdicts import Connection
from mcp_auth_contract.live.file import DEFAULT_NAME, OUTCOMES, STEPS
from mcp_auth_contract.reports.diff import Difference
from mcp_auth_contract.reports.model import Gate, LiveRecord, Report


def decide_release(
    report: Report,
    hosts: Sequence[str],
    records: Sequence[LiveRecord],
    today: datetime.date,
    difference: Difference | None = None,
) -> Report:
    """Return the report with the decision over the whole release.

    The gate of the run stays shut if it is. It is shut besides, with exit code 1, by a failed or expired record of a
    claimed host, by one that will not connect as far as its needs are known, and by a regression against the last
    release, and with 3 by a host without a record: nobody looked. The newest record of a host counts.
    """
    broken, unseen = [], []
    for host in hosts:
        own = [record for record in records if record.host == host]
        newest = max(own, key=lambda record: record.date, default=None)
        if newest is None:
            unseen.append(f"live record of {host}: there is none; `release --record {host}` drafts one")
        elif newest.date > today:
            broken.append(f"live record of {host}: of {newest.date}, a day to come")
        elif newest.failed:
            broken.append(f"live record of {host}: failed at {', '.join(newest.failed)} ({newest.date}, {newest.who})")
        elif newest.expires < today:
            broken.append(f"live record of {host}: expired on {newest.expires}")
    broken += [
        f"{verdict.id} will not connect: it {verdict.reasons[0].says}"
        for verdict in report.hosts
        if verdict.id in hosts and verdict.verdict is Connection.FAILS
    ]
    if difference is not None and difference.regression:
        broken.append(f"regression against the release of {difference.old.started}: {'; '.join(difference.reasons)}")
    return replace(report, live=tuple(records), claimed=tuple(hosts), gate=_decided(report.gate, broken, unseen))


def _decided(gate: Gate, broken: Sequence[str], unseen: Sequence[str]) -> Gate:
    if not (broken or unseen):
        return gate
    code = gate.exit_code
    if code != 4:
        code = 1 if broken or code == 1 else 3
    told = (*broken, *unseen)
    return replace(gate, open=False, exit_code=code, reasons=(*gate.reasons, *told), stale=(*gate.stale, *told))


def draft_record(host: str) -> str:
    """Return the text of a record with the steps to walk; what only a person can know is left to fill in."""
    steps = [line for step, what in STEPS.items() for line in (f"# {what}", f'{step} = ""')]
    return "\n".join(
        [
            f"# To be added to {DEFAULT_NAME} beside the contract. Walk the steps in the host, in this order.",
            "# Until all is filled in, the file is refused.",
            "[[record]]",
            f"host = {json.dumps(host)}",
            'version = ""  # of the host',
            'date = ""     # the day of the walk, as in 2027-02-01, without quotes',
            'who = ""      # who walked the steps',
            'expires = ""  # the last day on which the record counts',
            'note = ""',
            "",
            "[record.steps]",
            f"# each one: {', '.join(OUTCOMES)}",
            *steps,
            "",
        ]
    )
