"""Writes scenarios/lab-breaks.toml: which checks fail on each fault of the sample server.

`python -m tests.lab.breaks` runs every check against every fault, which takes an hour. `--fault NAME` and `--check ID`,
which may be repeated, run a part of it; what the file says of the rest stays. A name may be the beginning of several.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence

from tests.lab.lab_runs import CHECKS, failed_checks

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.tokens import Algorithm
from mcp_auth_contract_lab.breaks import FILE, read_breaks
from mcp_auth_contract_lab.faults import FAULTS

_HEAD = """\
# The checks that fail on each fault of the sample server (`mcp-auth-contract lab --fault NAME`), and no others do.
# Written by `python -m tests.lab.breaks`.
"""
_WIDTH = 120


def rendered(breaks: Mapping[str, Iterable[str]], head: str = _HEAD) -> str:
    """Return the text of the file: faults and checks by name."""
    return "\n".join((head, *(_entry(fault, sorted(breaks[fault])) for fault in sorted(breaks)), ""))


def _entry(fault: str, checks: Sequence[str]) -> str:
    line = f"{fault} = [{', '.join(map(_quoted, checks))}]"
    if len(line) <= _WIDTH:
        return line
    return "\n".join((f"{fault} = [", *(f"    {_quoted(check)}," for check in checks), "]"))


def _quoted(check: str) -> str:
    return f'"{check}"'


def _chosen(names: Iterable[str], beginnings: Sequence[str]) -> list[str]:
    return [name for name in names if not beginnings or name.startswith(tuple(beginnings))]


def main() -> None:
    """Run the faults and checks that the command line names, and rewrite the file."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.breaks", description=__doc__.partition("\n")[0])
    parser.add_argument("--fault", action="append", default=[], help="only faults whose name begins so")
    parser.add_argument("--check", action="append", default=[], help="only checks whose id begins so")
    words = parser.parse_args()
    asked = _chosen((check.id for check in CHECKS), words.check)
    known = read_breaks()
    breaks = {name: set(known.get(name, ())) for name in FAULTS}
    with EmbeddedIssuer(IssuerSettings(algorithms=tuple(Algorithm))) as issuer:
        for name in _chosen(FAULTS, words.fault):
            failed = failed_checks(issuer, FAULTS[name], asked)
            for mark, ids in (("+", failed - breaks[name]), ("-", breaks[name] & set(asked) - failed)):
                print("".join(f"{name}: {mark}{check}\n" for check in sorted(ids)), end="", flush=True)
            breaks[name] = breaks[name] - set(asked) | failed
    (data_folder("scenarios") / FILE).write_text(rendered(breaks), "utf-8")


if __name__ == "__main__":
    main()
