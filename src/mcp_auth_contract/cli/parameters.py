"""The arguments and options that several commands share, with their help."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from mcp_auth_contract.reports.formats import FORMATS


def check_ids(incomplete: str) -> list[str]:
    """The checks that a shell may complete a word to."""
    from mcp_auth_contract.catalogue import load_builtin

    return [check.id for check in load_builtin() if check.id.startswith(incomplete)]


def fault_names(incomplete: str) -> list[str]:
    """The faults of the sample server that a shell may complete a word to."""
    from mcp_auth_contract.cli.serving import known_faults

    return [name for name in known_faults() if name.startswith(incomplete)]


ContractFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="CONTRACT",
        help="The contract file; by default mcp-auth-contract.toml, or [tool.mcp-auth-contract] in pyproject.toml, "
        "in this folder or the nearest one above it.",
        show_default=False,
    ),
]
CaFile = Annotated[
    Path | None,
    typer.Option(
        "--ca-file",
        metavar="FILE",
        help="Also trust the certificate authorities in this PEM file, as with the variable SSL_CERT_FILE.",
    ),
]
AllEvidence = Annotated[
    bool,
    typer.Option(
        "--all-evidence", help="Keep the HTTP traffic of passed cases in the JSON report, too; it gets large."
    ),
]
UseSample = Annotated[
    bool, typer.Option("--sample", help="Use the kit's own sample server and its contract instead of yours.")
]
SampleFault = Annotated[
    str | None,
    typer.Option(
        "--fault",
        metavar="NAME",
        autocompletion=fault_names,
        help="Use the sample server with this one fault; `mcp-auth-contract lab --list` names them all.",
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="CHECK",
        autocompletion=check_ids,
        help="Run only these checks: a check id, a family, a case id or a pattern. Case ids name tools, scopes, "
        "principals and records, so '*[update_invoice*' selects everything about one tool, and '*bob*' everything "
        "about one principal. May be repeated.",
    ),
]
Deselect = Annotated[
    list[str] | None,
    typer.Option("--deselect", metavar="CHECK", help="Leave out these checks; written like --select. May be repeated."),
]
Scenarios = Annotated[
    list[Path] | None,
    typer.Option(
        "--scenarios", metavar="FOLDER", help="Also load the checks in this folder, written like the kit's own."
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Run only the core checks, in one revision: the quickest useful run.")
]
EveryRevision = Annotated[bool, typer.Option("--every-revision", help="Run every check on every revision.")]
WaiversFile = Annotated[
    Path | None,
    typer.Option(
        "--waivers",
        metavar="FILE",
        help="The waivers file; by default mcp-auth-contract-waivers.toml beside the contract, if it exists.",
        show_default=False,
    ),
]
WriteWaivers = Annotated[
    Path | None,
    typer.Option(
        "--write-waivers", metavar="FILE", help="Write draft waivers for the failures of this run to a new file."
    ),
]
ShardOf = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Run only part I of N parts; `report merge` combines their reports."),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="LEVEL",
        help="What makes the run fail: failed checks of level `must` only, or of `should` as well.",
    ),
]
Jobs = Annotated[
    int, typer.Option("--jobs", metavar="NUMBER", min=1, max=64, help="How many requests may be in flight at once.")
]
Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        min=0,
        metavar="SECONDS",
        help="Spend at most this long, in total, waiting for things that only time can show, such as expiry.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0,
        metavar="SECONDS",
        help="Stop after this long; cases without an answer by then are reported as inconclusive.",
        show_default=False,
    ),
]
TokenEnv = Annotated[
    str | None,
    typer.Option(
        "--token-env",
        metavar="NAME",
        help="Use the access token in this environment variable instead of the kit's issuer, "
        "and run the checks that one token allows.",
    ),
]
Speaker = Annotated[
    str | None,
    typer.Option("--principal", metavar="NAME", help="With --token-env: the principal whose token it is."),
]


def _github(word: str | None) -> str | None:
    if word not in (None, "github"):
        raise typer.BadParameter(f'"{word}": write github')
    return word


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the reports go: `files` by the name of their format; JSON's and `summary` may be `-` for stdout.

    Stdout then holds nothing else. `summary` is added to a file that exists, as GitHub wants it; all others are
    overwritten. With `annotations` stdout carries GitHub's workflow commands as well.
    """

    files: Mapping[str, Path] = field(default_factory=dict)
    summary: Path | None = None
    annotations: bool = False
    quiet: bool = False
    verbose: bool = False


_OUTPUTS: Mapping[str, tuple[Any, object]] = {
    **{
        one.name: (Annotated[Path | None, typer.Option(f"--{one.name}", metavar="FILE", help=one.help)], None)
        for one in FORMATS
    },
    "summary": (
        Annotated[
            Path | None,
            typer.Option(
                "--summary",
                metavar="FILE",
                help="Append the Markdown report to this file, as for a job summary; `-` means stdout.",
            ),
        ],
        None,
    ),
    "annotations": (
        Annotated[
            str | None,
            typer.Option(
                "--annotations",
                metavar="github",
                help="After the report, print annotations for this CI service.",
                callback=_github,
            ),
        ],
        None,
    ),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="Print only the decision.")], False),
    "verbose": (
        Annotated[
            bool,
            typer.Option("--verbose", "-v", help="Print every failed case, every remark, and what did not apply."),
        ],
        False,
    ),
}


def with_outputs(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of all outputs but some; it takes them together, as its last parameter `outputs`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [one for one in signature(command).parameters.values() if one.name != "outputs"]
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in _OUTPUTS.items()
            if name not in without
        ]

        @wraps(command)
        def wrapped(**given: Any) -> None:
            told = {one.name: given.pop(one.name) for one in added}
            files = {one.name: told[one.name] for one in FORMATS if told.get(one.name) is not None}
            annotations = told.get("annotations") is not None
            command(**given, outputs=Outputs(files, told.get("summary"), annotations, told["quiet"], told["verbose"]))

        wrapped.__signature__ = Signature([*own, *added])  # type: ignore[attr-defined]  # what Typer reads
        wrapped.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
        return wrapped

    return decorate
