"""The commands and their options. Each imports what it needs when it is called, so that --help stays quick."""

import errno
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from mcp_auth_contract import __version__
from mcp_auth_contract.cli.parameters import (
    ContractFile,
    Deselect,
    EveryRevision,
    FailOn,
    FaultOfSample,
    Jobs,
    Outputs,
    Quick,
    Sample,
    Scenarios,
    Select,
    ShardOf,
    Speaker,
    TimeLimit,
    TokenEnv,
    Wait,
    WaiversFile,
    WriteWaivers,
    with_outputs,
)
from mcp_auth_contract.cli.reporting import report_app
from mcp_auth_contract.cli.supervisor import WORDS, said_by
from mcp_auth_contract.errors import KitError
from mcp_auth_contract.model import Level

app = typer.Typer(
    name="mcp-auth-contract",
    help="An authentication contract test kit for protected MCP servers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(report_app, name="report")

_NO_OUTPUT = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG})
_INTERRUPTED = 130
"""What Typer makes of a KeyboardInterrupt."""


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        typer.echo(f"mcp-auth-contract {__version__}")
        raise typer.Exit


@app.command()
@with_outputs()
def run(
    contract: ContractFile = None,
    url: Annotated[str | None, typer.Option("--url", help="Run the contract against this URL instead.")] = None,
    select: Select = None,
    deselect: Deselect = None,
    quick: Quick = False,
    fail_on: FailOn = "must",
    jobs: Jobs = 8,
    scenarios: Scenarios = None,
    every_revision: EveryRevision = False,
    wait: Wait = 0.0,
    time_limit: TimeLimit = None,
    token_env: TokenEnv = None,
    principal: Speaker = None,
    waivers: WaiversFile = None,
    write_waivers: WriteWaivers = None,
    shard: ShardOf = None,
    sample: Sample = False,
    fault: FaultOfSample = None,
    *,
    outputs: Outputs,
) -> None:
    """Prove the authentication contract of a protected MCP server."""
    from mcp_auth_contract.cli.running import RunOptions, run_and_report

    options = RunOptions(
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        scenarios=tuple(scenarios or ()),
        every_revision=every_revision,
        jobs=jobs,
        fail_on=_level(fail_on),
        url=url,
        wait=wait,
        deadline=time_limit,
        token_env=token_env,
        principal=principal,
        waivers=waivers,
        write_waivers=write_waivers,
        shard=shard,
        quick=quick,
        sample=sample,
        fault=fault,
    )
    raise typer.Exit(run_and_report(contract, options, outputs))


@app.command()
def plan(
    contract: ContractFile = None,
    select: Select = None,
    deselect: Deselect = None,
    scenarios: Scenarios = None,
    every_revision: EveryRevision = False,
) -> None:
    """Print every case that a run would make, and send nothing."""
    from mcp_auth_contract.cli.reading import print_plan

    print_plan(
        contract,
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        scenarios=tuple(scenarios or ()),
        every_revision=every_revision,
    )


@app.command()
@with_outputs(without=("summary", "annotations"))
def probe(
    url: Annotated[str, typer.Argument(metavar="URL", help="The MCP endpoint.")],
    select: Select = None,
    deselect: Deselect = None,
    fail_on: FailOn = "must",
    jobs: Jobs = 4,
    time_limit: TimeLimit = None,
    *,
    outputs: Outputs,
) -> None:
    """Look at any server, without contract or token.

    Asks for discovery, challenges, metadata and transport.
    """
    from mcp_auth_contract.cli.running import RunOptions, probe_and_report

    options = RunOptions(
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        jobs=jobs,
        fail_on=_level(fail_on),
        deadline=time_limit,
    )
    raise typer.Exit(probe_and_report(url, options, outputs))


@app.command()
def init(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="URL", help="The MCP endpoint; with --app, the URL that it answers to.", show_default=False
        ),
    ] = None,
    app_name: Annotated[
        str | None, typer.Option("--app", metavar="MODULE:NAME", help="An ASGI application, run in this process.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="COMMAND", help="The command that starts the server; ${target.port} is a free port."
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            metavar="NAME=VALUE",
            help="An environment variable for --app or --start, as in 'ISSUER=${issuer.url}'. May be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; - for stdout. No file is overwritten.")
    ] = Path("mcp-auth-contract.toml"),
    token_env: Annotated[
        str | None,
        typer.Option("--token-env", metavar="NAME", help="Use the access token in this environment variable, too."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, even on a terminal.")] = False,
) -> None:
    """Inspect a server and draft its contract.

    What it shows is filled in; what only you can know is a question in it.
    """
    from mcp_auth_contract.cli.init import InitOptions, inspect_and_draft

    options = InitOptions(url, app_name, start, tuple(env or ()), output, token_env, yes)
    raise typer.Exit(inspect_and_draft(options))


@app.command("list")
def list_checks(
    family: Annotated[str | None, typer.Argument(help="Only this family, as in token.", show_default=False)] = None,
    scenarios: Scenarios = None,
) -> None:
    """List the checks: id, level, impact, title."""
    from mcp_auth_contract.cli.reading import print_list

    print_list(family, tuple(scenarios or ()))


@app.command()
def explain(
    check: Annotated[str, typer.Argument(metavar="CHECK", help="The id of a check.")],
    scenarios: Scenarios = None,
) -> None:
    """Explain one check: why, source, fix, example."""
    from mcp_auth_contract.cli.reading import print_explanation

    print_explanation(check, tuple(scenarios or ()))


@app.command()
def mint(
    contract: Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract file.")],
    principal: Annotated[str, typer.Argument(help="A principal of the contract.")],
    defect: Annotated[
        str | None,
        typer.Option("--defect", help="Break this one thing; the command `defects` lists them all."),
    ] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="Which variant of the defect.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="These scopes instead of the principal's; may be repeated."),
    ] = None,
    no_scope: Annotated[bool, typer.Option("--no-scope", help="No scope at all.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the decoded token to stderr as well.")] = False,
) -> None:
    """Print a token for a principal, sound or faulty.

    The contract's issuer signs it, with at most one defect.
    """
    from mcp_auth_contract.cli.serving import print_token

    scopes = frozenset() if no_scope else frozenset(scope) if scope else None
    print_token(contract, principal, defect=defect, variant=variant, scopes=scopes, show=show)


@app.command("defects")
def list_defects() -> None:
    """List the defects that `mint --defect` knows."""
    from mcp_auth_contract.cli.reading import print_defects

    print_defects()


@app.command()
def serve(contract: ContractFile = None) -> None:
    """Run the contract's issuer alone.

    For a server that is configured by hand.
    """
    from mcp_auth_contract.cli.serving import serve_issuer

    serve_issuer(contract)


@app.command()
def lab(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port on 127.0.0.1.")] = 8000,
    fault: Annotated[str | None, typer.Option("--fault", help="Serve with this one fault.")] = None,
    profile: Annotated[
        list[str] | None, typer.Option("--profile", "--variant", help="Serve this legal profile; may be repeated.")
    ] = None,
    faults: Annotated[
        bool, typer.Option("--list", help="List the faults with the checks that find them, and the profiles.")
    ] = False,
) -> None:
    """Serve the sample MCP server: sound, or with one named fault."""
    from mcp_auth_contract.cli.serving import print_faults, serve_lab

    if faults:
        print_faults()
        return
    serve_lab(port, fault, tuple(profile or ()))


def _level(word: str) -> Level:
    if word.lower() not in ("must", "should"):
        raise typer.BadParameter(f'"{word}": write must or should', param_hint="--fail-on")
    return Level(word.upper())


def call(words: Sequence[str], *, of_process: bool = False) -> int:
    """Run one command line and return its exit code; `of_process` says that this process is there for it alone."""
    if not of_process:
        return _called(words)
    WORDS.set(tuple(words))
    return said_by(lambda: _called(words))


def _called(words: Sequence[str]) -> int:
    try:
        code = app(args=list(words), prog_name="mcp-auth-contract", standalone_mode=False)
    except KitError as fault:
        _say(str(fault))
        return fault.exit_code
    except TyperException as fault:
        said = " ".join(fault.format_message().split()).rstrip(".")
        _say(f"{said}; see `mcp-auth-contract --help`")
        return 2
    except (typer.Abort, KeyboardInterrupt):
        _say("interrupted")
        return 3
    except BrokenPipeError:
        return 0
    except OSError as fault:
        if fault.errno not in _NO_OUTPUT or fault.filename is not None:
            return _kit_fault()
        return cannot_write(fault)
    except Exception:  # noqa: BLE001  whatever comes here is a fault of the kit and is told as one
        return _kit_fault()
    if code == _INTERRUPTED:
        _say("interrupted")
        return 3
    return code if isinstance(code, int) else 0


def cannot_write(fault: OSError) -> int:
    """Say in one line that standard output takes nothing more, and return the exit code."""
    _say(f"standard output cannot be written: {fault.strerror}")
    return 3


def _kit_fault() -> int:
    _say("a fault in mcp-auth-contract itself; please report it with the lines below")
    traceback.print_exc()
    return 4


def _say(text: str) -> None:
    for line in text.splitlines() or [""]:
        sys.stderr.write(f"mcp-auth-contract: {line}\n")
