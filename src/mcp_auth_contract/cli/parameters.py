"""The arguments and options that several commands share, with their help."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from mcp_auth_contract.reports.formats import FORMATS

ContractFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CONTRACT]",
        help="The contract file; default: mcp-auth-contract.toml in this folder.",
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
Sample = Annotated[
    bool, typer.Option("--sample", help="Test the sample server that comes with the kit, which needs no contract.")
]
FaultOfSample = Annotated[
    str | None,
    typer.Option("--fault", metavar="NAME", help="With --sample: plant this fault in it; `lab --list` names them."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Ask the core checks alone, in one revision: the most for the fewest requests.")
]
EveryRevision = Annotated[bool, typer.Option("--every-revision", help="Run every check on every revision.")]
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
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0,
        metavar="SECONDS",
        help="Ask so long at most; what is not known then is inconclusive, and the report is made of the rest.",
        show_default=False,
    ),
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

    @property
    def wanted(self) -> bool:
        """Whether anything but the report on the terminal is asked for."""
        return self.quiet or self.annotations or self.summary is not None or any(self.files.values())


_OUTPUTS: Mapping[str, tuple[Any, object]] = {
    **{one.name: (Annotated[Path | None, typer.Option(f"--{one.name}", help=one.help)], None) for one in FORMATS},
    "summary": (
        Annotated[
            Path | None,
            typer.Option("--summary", help="Add the Markdown report to this file, as a job summary; - for stdout."),
        ],
        None,
    ),
    "annotations": (
        Annotated[
            str | None,
            typer.Option(
                "--annotations",
                metavar="github",
                help="Print annotations for this service after the report.",
                callback=_github,
            ),
        ],
        None,
    ),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="Print the gate's decision only.")], False),
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
            command(**given, outputs=Outputs(files, told.get("summary"), annotations, told["quiet"]))

        wrapped.__signature__ = Signature([*own, *added])  # type: ignore[attr-defined]  # what Typer reads
        wrapped.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
        return wrapped

    return decorate
