"""Commands over reports that were written before: merge the shards of a run, render one in another format."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from mcp_auth_contract.reports.model import Report

from mcp_auth_contract.cli.parameters import Outputs, with_outputs


class _FileOrCommand(TyperGroup):
    """The group `report`, whose command `render` need not be named: `report FILE --html …`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in self.commands and Path(args[0]).is_file():
            args = ["render", *args]
        return super().parse_args(ctx, args)


report_app = typer.Typer(
    cls=_FileOrCommand,
    help="Render, compare or merge JSON reports. `report FILE` is short for `report render`.",
    no_args_is_help=True,
)


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
    merged = merge_shards([(str(file), read_json_report(file)) for file in files], order)
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
    write(read_json_report(file), outputs)


@report_app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The JSON report of the last release.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The JSON report of this one.")],
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write Markdown here, as a comment on a pull request; - for stdout."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write JSON (version 1) here; - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the decision only.")] = False,
) -> None:
    """Compare two JSON reports: what broke, was fixed, can no longer be seen; the exit code is 1 on a regression."""
    from mcp_auth_contract.cli.outputs import demand_writable_file, print_text, save
    from mcp_auth_contract.errors import UsageError
    from mcp_auth_contract.reports.diff import compare
    from mcp_auth_contract.reports.diff_json import render_diff_json
    from mcp_auth_contract.reports.diff_text import diff_headline, render_diff_markdown, render_diff_text

    files = {"--markdown": markdown, "--json": json}
    on_stdout = [name for name, file in files.items() if str(file) == "-"]
    if len(on_stdout) > 1:
        raise UsageError("--markdown - leaves no room on stdout for --json -; name a file for one of them")
    for file in files.values():
        if file is not None and str(file) != "-":
            demand_writable_file(file)
    difference = compare(read_json_report(old), read_json_report(new))
    texts = {"--markdown": render_diff_markdown(difference), "--json": render_diff_json(difference)}
    for name, file in files.items():
        if file is not None and name not in on_stdout:
            save(file, texts[name])
    if on_stdout:
        print_text(texts[on_stdout[0]])
    else:
        print_text(f"{diff_headline(difference)}\n" if quiet else render_diff_text(difference))
    raise typer.Exit(1 if difference.regression else 0)


def read_json_report(file: Path) -> "Report":
    """Return the report of a JSON file; raises UsageError for anything else."""
    from mcp_auth_contract.catalogue import load_builtin
    from mcp_auth_contract.errors import UsageError
    from mcp_auth_contract.reports.reading import read_report

    try:
        text = file.read_bytes()
    except OSError as fault:
        raise UsageError(f"{file}: cannot be read: {fault.strerror}") from None
    return read_report(text, str(file), load_builtin())
