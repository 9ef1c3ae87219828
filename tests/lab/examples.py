"""Writes scenarios/examples.toml: of each check a failure that was really observed, for `explain` to show.

`python -m tests.lab.examples` takes a few minutes; `--check ID`, which may be repeated, writes those of some checks and
keeps the others. Each check is shown by the first fault of the sample server that breaks it. What differs from run to
run is written as an ellipsis.
"""

import argparse
import json
import re
import sys
from collections.abc import Collection

from tests.lab.lab_runs import CHECKS, EDITS, run_lab
from tests.provider.provider_runs import CHECKS as PROVIDER_CHECKS
from tests.provider.provider_runs import run_sample

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.model import Fail
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.examples import FILE, Example, load_examples
from mcp_auth_contract.tokens import Algorithm
from mcp_auth_contract_lab.breaks import PROVIDER_FILE, read_breaks
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.provider.faults import FAULTS as PROVIDER_FAULTS

BREAKS = read_breaks()
PROVIDER_BREAKS = read_breaks(PROVIDER_FILE)

_HEAD = """\
# Of each check a failure as it was observed on the sample server with one fault; `explain` shows it.
# Written by `python -m tests.lab.examples`; do not edit.
"""
_RANDOM = re.compile(r"(?<=#)[0-9a-f]{6,}|(?<=/heard/)[0-9a-f]+|(?<=127\.0\.0\.1:)(?!8000)\d+")
"""The label of a token, the path of a listening URL, a port of the issuer's."""


def normalised(text: str) -> str:
    """Return a text without what differs from run to run."""
    return _RANDOM.sub("…", text)


def failures(issuer: EmbeddedIssuer, name: str, wanted: dict[str, Check]) -> dict[str, Example]:
    """Run the wanted checks against one fault, and return the first failure of each."""
    fault = FAULTS[name]
    tried = {check: wanted[check] for check in BREAKS[name] if check in wanted}
    if not tried:
        return {}
    report = run_lab(
        issuer,
        fault=fault,
        edits=[] if fault.within is None else EDITS[fault.within],
        options=Options(checks=CHECKS, environ={}, name="sample.toml", selection=Selection(tuple(tried))),
        freeze=any(check.probe in ("timeline", "leeway") for check in tried.values()),
        behind=name == "token-passed-on",
    )
    found: dict[str, Example] = {}
    for result in report.results:
        if isinstance(result.outcome, Fail) and result.check.id in tried:
            said = Example(*map(normalised, (result.case, result.outcome.expected, result.outcome.observed)))
            found.setdefault(result.check.id, said)
    return found


def provider_failures(name: str, wanted: Collection[str]) -> dict[str, Example]:
    """Run the wanted checks of providers against one fault of the sample authorization server."""
    tried = [check for check in PROVIDER_BREAKS[name] if check in wanted]
    found: dict[str, Example] = {}
    for secret in (False, True) if tried else ():
        report = run_sample(PROVIDER_FAULTS[name], secret=secret, select=tried)
        for result in report.results:
            if isinstance(result.outcome, Fail):
                said = Example(*map(normalised, (result.case, result.outcome.expected, result.outcome.observed)))
                found.setdefault(result.check.id, said)
    return found


def written(examples: dict[str, Example]) -> str:
    """Return the text of the file."""
    entries = [
        f"[{check}]\n"
        f"case = {json.dumps(example.case, ensure_ascii=False)}\n"
        f"expected = {json.dumps(example.expected, ensure_ascii=False)}\n"
        f"observed = {json.dumps(example.observed, ensure_ascii=False)}\n"
        for check, example in examples.items()
    ]
    return "\n".join([_HEAD, *entries])


def main() -> int:
    """Write the file; 1 where no fault breaks some check."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.examples", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="append", default=[], help="only this check")
    every = load_builtin()
    chosen = parser.parse_args().check or [check.id for check in every]
    wanted = {check.id: check for check in every if check.id in chosen}
    known = load_examples()
    found: dict[str, Example] = {}
    with EmbeddedIssuer(IssuerSettings(algorithms=tuple(Algorithm))) as issuer:
        for name in FAULTS:
            found |= failures(issuer, name, {check: one for check, one in wanted.items() if check not in found})
    for name in PROVIDER_FAULTS:
        found |= provider_failures(name, {check.id for check in PROVIDER_CHECKS} & wanted.keys() - found.keys())
    kept = {check.id: example for check in every if (example := found.get(check.id) or known.get(check.id))}
    (data_folder("scenarios") / FILE).write_text(written(kept), "utf-8")
    for check in wanted.keys() - found.keys():
        sys.stderr.write(f"no fault breaks {check}\n")
    return int(wanted.keys() != found.keys())


if __name__ == "__main__":
    sys.exit(main())
