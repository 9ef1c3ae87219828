"""Writes scenarios/provider-breaks.toml: which checks fail on each fault of the sample authorization server.

`python -m tests.provider.breaks` takes two minutes; `--fault NAME`, which may be repeated, runs a part of it.
"""

import argparse
from collections.abc import Mapping

from tests.lab.breaks import rendered
from tests.provider.provider_runs import failed_checks

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract_lab.breaks import PROVIDER_FILE, read_breaks
from mcp_auth_contract_lab.provider.faults import FAULTS

_HEAD = """\
# The checks that fail on each fault of the sample authorization server (`lab --provider --fault NAME`).
# Written by `python -m tests.provider.breaks`.
"""


def main() -> None:
    """Run the faults that the command line names, and rewrite the file."""
    parser = argparse.ArgumentParser(prog="python -m tests.provider.breaks", description=__doc__.partition("\n")[0])
    parser.add_argument("--fault", action="append", default=[], help="only faults whose name begins so")
    chosen: list[str] = parser.parse_args().fault
    known: Mapping[str, tuple[str, ...]] = read_breaks(PROVIDER_FILE)
    breaks = {name: set(known.get(name, ())) for name in FAULTS}
    for name, fault in FAULTS.items():
        if not chosen or name.startswith(tuple(chosen)):
            breaks[name] = failed_checks(fault)
    (data_folder("scenarios") / PROVIDER_FILE).write_text(rendered(breaks, _HEAD), "utf-8")


if __name__ == "__main__":
    main()
