"""The verdicts over hosts as lines of a terminal and as Markdown."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from mcp_auth_contract.hosts.verdicts import Connection, HostVerdict, Reason
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import printable

_TONES = {
    Connection.CONNECTS: "green",
    Connection.DEGRADED: "yellow",
    Connection.FAILS: "bold red",
    Connection.UNKNOWN: "yellow",
}
_LONGEST = 400


def print_hosts(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Print a table of the verdicts, each with what decides it; `verbose` adds sources and what no server shows."""
    console.print(Text(f"MCP hosts and {printable(report.server.url, limit=200)}", style="bold"), soft_wrap=True)
    if report.finding:
        console.print(Text(f"{report.finding[0].upper()}{report.finding[1:]}.", style="bold red"), soft_wrap=True)
    console.print()
    width = max((len(one.name) for one in report.hosts), default=0)
    for one in report.hosts:
        line = Text(f"{one.name:<{width}}  ")
        line.append(one.verdict.value, _TONES[one.verdict])
        console.print(line, soft_wrap=True)
        for said in _lines(one, verbose=verbose):
            for number, part in enumerate(Text(said).wrap(console, max(console.width - width - 2, 40))):
                indent = " " * (width + 2 if number == 0 else width + 4)
                console.print(Text(f"{indent}{part.plain.strip()}"), soft_wrap=True)
    console.print()
    console.print("A prediction: what a host does changes with its releases. Sources and their age: -v.", style="dim")


def _lines(one: HostVerdict, *, verbose: bool) -> Iterator[str]:
    for reason in one.reasons:
        yield told(reason)
        if verbose and reason.url is not None:
            yield f"source: {reason.url}, read {reason.checked}"
    if verbose:
        yield f"not seen here: {one.unseen}"


def told(reason: Reason) -> str:
    """Return what decides, and what was seen, in one sentence."""
    if not reason.seen:
        return reason.says
    seen = printable(reason.seen, limit=_LONGEST)
    return f"{reason.says} (not seen: {seen})" if reason.effect is Connection.UNKNOWN else f"{reason.says} ({seen})"


def counted(hosts: Sequence[HostVerdict]) -> str:
    """Return how many hosts there are of each verdict, as in `6 will connect, 1 degraded`."""
    numbers = {verdict: sum(one.verdict is verdict for one in hosts) for verdict in Connection}
    return ", ".join(f"{number} {verdict.value}" for verdict, number in numbers.items() if number)
