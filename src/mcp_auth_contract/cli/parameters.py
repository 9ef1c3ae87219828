"""The arguments and options that several commands share, with their help."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Annotations",
    "ContractFile",
    "Deselect",
    "EveryRevision",
    "FailOn",
    "Jobs",
    "Json",
    "Junit",
    "Markdown",
    "Quiet",
    "Scenarios",
    "Select",
    "ShardOf",
    "Speaker",
    "Summary",
    "TokenEnv",
    "Wait",
    "WaiversFile",
    "WriteWaivers",
]

ContractFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CONTRACT]",
        help="The contract file; default: mcp-auth-contract.toml here, else the built-in sample server.",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        help="Only these checks: an id, a family, a case or a pattern. Case ids name tools, scopes, principals and "
        "records, so '*[update_invoice*' is all about one tool, '*bob*' all about one principal. May be repeated.",
    ),
]
Deselect = Annotated[list[str] | None, typer.Option("--deselect", help="All but these checks. May be repeated.")]
Scenarios = Annotated[
    list[Path] | None, typer.Option("--scenarios", help="A folder of further checks in the kit's vocabulary.")
]
EveryRevision = Annotated[bool, typer.Option("--every-revision", help="Run every check on every revision.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the JSON report (version 1) here; - for stdout.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write the report as Markdown here.")]
Summary = Annotated[
    Path | None,
    typer.Option("--summary", help="Add the Markdown report to this file, as a job summary; - for stdout."),
]
Annotations = Annotated[
    str | None,
    typer.Option("--annotations", metavar="github", help="Print annotations for this service after the report."),
]
WaiversFile = Annotated[
    Path | None,
    typer.Option(
        "--waivers",
        help="The waivers file; default: mcp-auth-contract-waivers.toml beside the contract, if there is one.",
        show_default=False,
    ),
]
WriteWaivers = Annotated[
    Path | None,
    typer.Option("--write-waivers", help="Draft waivers for the failures of this run into a new file."),
]
ShardOf = Annotated[
    str | None, typer.Option("--shard", metavar="I/N", help="Run part I of N; `report merge` joins the parts.")
]
FailOn = Annotated[str, typer.Option("--fail-on", help="Which failed checks shut the gate: must or should.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=64, help="Requests under way at once.")]
Wait = Annotated[
    float,
    typer.Option("--wait", min=0, metavar="SECONDS", help="Wait so long in all for what only time can show."),
]
TokenEnv = Annotated[
    str | None,
    typer.Option(
        "--token-env",
        metavar="NAME",
        help="Use the one access token in this environment variable; start no issuer, ask what that token allows.",
    ),
]
Speaker = Annotated[
    str | None,
    typer.Option("--principal", help="With --token-env: the principal that the token speaks for."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the gate's decision only.")]
