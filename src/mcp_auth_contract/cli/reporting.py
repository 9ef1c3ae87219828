"""Commands over reports that were written before: merge the shards of a run, render one in another format."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mcp_auth_contract.reports.model import Report

from mcp_auth_contract.cli.parameters import Outputs, with_outputs

report_app = typer.Typer(help="Combine the reports of shards, or render one.", no_args_is_help=True)


@report_app.command()
@with_outputs()
def merge(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The JSON report of each shard.")],
    *,
    outputs: Outputs,
) -> None:
    """Combine the reports of all shards of a run and decide on the whole; exits like `run`."""
    from mcp_auth_contract.catalogue import load_builtin
    from mcp_auth_contract.cli.outputs import demand_writable, write
    from mcp_auth_contract.execution.merge import merge_shards

    demand_writable(outputs)
    order = [check.id for check in load_builtin()]
    merged = merge_shards([(str(file), _read(file)) for file in files], order)
    raise typer.Exit(write(merged, outputs))


@report_app.command()
@with_outputs(without=("json",))
def render(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON report.")],
    *,
    outputs: Outputs,
) -> None:
    """Print a JSON report as text, or write it in other formats; exits with 0 whatever it says."""
    from mcp_auth_contract.cli.outputs import demand_writable, write

    demand_writable(outputs)
    write(_read(file), outputs)


def _read(file: Path) -> "Report":
    from mcp_auth_contract.catalogue import load_builtin
    from mcp_auth_contract.errors import UsageError
    from mcp_auth_contract.reports.reading import read_report

    try:
        text = file.read_bytes()
    except OSError as fault:
        raise UsageError(f"{file}: cannot be read: {fault.strerror}") from None
    return read_report(text, str(file), load_builtin())
