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
    AllEvidence,
    CaFile,
    ContractFile,
    Deselect,
    EveryRevision,
    FailOn,
    Jobs,
    Outputs,
    Quick,
    SampleFault,
    Scenarios,
    Select,
    ShardOf,
    Speaker,
    TimeLimit,
    TokenEnv,
    UseSample,
    Wait,
    WaiversFile,
    WriteWaivers,
    check_ids,
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
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(report_app, name="report")

_NO_OUTPUT = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG})
_INTERRUPTED = 130
"""What Typer makes of a KeyboardInterrupt."""


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"mcp-auth-contract {__version__}")
        raise typer.Exit


@app.command()
@with_outputs()
def run(
    contract: ContractFile = None,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Test the server at this URL instead of the one in the contract."),
    ] = None,
    select: Select = None,
    deselect: Deselect = None,
    sample: UseSample = False,
    fault: SampleFault = None,
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
    all_evidence: AllEvidence = False,
    *,
    outputs: Outputs,
) -> None:
    """Test a protected MCP server against its contract.

    Exit codes: 0 the contract holds, 1 a check failed, 2 wrong usage or a faulty contract, 3 something could not be
    observed, 4 an error in mcp-auth-contract itself.
    """
    from mcp_auth_contract.cli.finding import Sample
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
        sample=Sample(sample, fault),
        all_evidence=all_evidence,
    )
    raise typer.Exit(run_and_report(contract, options, outputs))


@app.command()
def reproduce(
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="The case, as a report names it; or a check, for all its cases.")
    ],
    contract: ContractFile = None,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Test the server at this URL instead of the one in the contract."),
    ] = None,
    sample: UseSample = False,
    fault: SampleFault = None,
    scenarios: Scenarios = None,
    every_revision: EveryRevision = False,
    wait: Wait = 0.0,
    token_env: TokenEnv = None,
    principal: Speaker = None,
) -> None:
    """Run one case again and show its HTTP traffic.

    Prints every request and response behind the verdict, with tokens replaced by labels. Starts the issuer, and the
    server if the contract says how. Exits like `run`.
    """
    from mcp_auth_contract.cli.finding import Sample
    from mcp_auth_contract.cli.running import RunOptions, reproduce_case

    options = RunOptions(
        url=url,
        scenarios=tuple(scenarios or ()),
        every_revision=every_revision,
        wait=wait,
        token_env=token_env,
        principal=principal,
        sample=Sample(sample, fault),
    )
    raise typer.Exit(reproduce_case(case, contract, options))


@app.command()
@with_outputs()
def release(
    contract: ContractFile = None,
    select: Select = None,
    deselect: Deselect = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="The JSON report of the last release; a regression shuts the gate.")
    ] = None,
    live: Annotated[
        Path | None,
        typer.Option(
            "--live",
            help="The live records; default: mcp-auth-contract-live.toml beside the contract, if there is one.",
            show_default=False,
        ),
    ] = None,
    record: Annotated[
        str | None, typer.Option("--record", metavar="HOST", help="Run nothing; print a live record to fill in.")
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="Run the contract against this URL instead.")] = None,
    fail_on: FailOn = "must",
    jobs: Jobs = 8,
    scenarios: Scenarios = None,
    every_revision: EveryRevision = False,
    wait: Wait = 0.0,
    waivers: WaiversFile = None,
    *,
    outputs: Outputs,
) -> None:
    """Decide whether a release may go out.

    A whole run, what hosts would make of the server, live records of each host that the contract claims, waivers, and
    the difference to the last release: one report and one decision.
    """
    from mcp_auth_contract.cli.releasing import print_draft, release_and_report
    from mcp_auth_contract.cli.running import RunOptions

    if record is not None:
        print_draft(record)
        return
    options = RunOptions(
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        scenarios=tuple(scenarios or ()),
        every_revision=every_revision,
        jobs=jobs,
        fail_on=_level(fail_on),
        url=url,
        wait=wait,
        waivers=waivers,
    )
    raise typer.Exit(release_and_report(contract, options, outputs, live=live, against=against))


@app.command()
def plan(
    contract: ContractFile = None,
    select: Select = None,
    deselect: Deselect = None,
    sample: UseSample = False,
    scenarios: Scenarios = None,
    every_revision: EveryRevision = False,
) -> None:
    """List every case that `run` would try, without sending anything."""
    from mcp_auth_contract.cli.finding import Sample
    from mcp_auth_contract.cli.reading import print_plan

    print_plan(
        contract,
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        scenarios=tuple(scenarios or ()),
        every_revision=every_revision,
        sample=Sample(sample),
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
    ca_file: CaFile = None,
    *,
    outputs: Outputs,
) -> None:
    """Check what any MCP server shows without a contract or a token.

    Covers discovery, challenges, metadata and transport.
    """
    from mcp_auth_contract.cli.running import RunOptions, probe_and_report

    options = RunOptions(
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        jobs=jobs,
        fail_on=_level(fail_on),
        deadline=time_limit,
        ca_file=ca_file,
    )
    raise typer.Exit(probe_and_report(url, options, outputs))


@app.command()
@with_outputs()
def provider(
    contract: ContractFile = None,
    select: Select = None,
    deselect: Deselect = None,
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Print the cases and what a run does to the tenant, and send nothing.")
    ] = False,
    server: Annotated[
        bool, typer.Option("--server", help="Ask the server too, with a token of the provider, as `run --token-env`.")
    ] = False,
    fail_on: FailOn = "must",
    scenarios: Scenarios = None,
    time_limit: TimeLimit = None,
    waivers: WaiversFile = None,
    log: Annotated[
        Path | None, typer.Option("--log", help="Add one line of JSON about this run to a file, for a dashboard.")
    ] = None,
    *,
    outputs: Outputs,
) -> None:
    """Test a real authorization server with a test user.

    The contract's table [provider] says which, and how to sign in.
    """
    from mcp_auth_contract.cli.provider import check_provider, print_provider_plan
    from mcp_auth_contract.cli.running import RunOptions

    options = RunOptions(
        select=tuple(select or ()),
        deselect=tuple(deselect or ()),
        scenarios=tuple(scenarios or ()),
        jobs=1,
        fail_on=_level(fail_on),
        deadline=time_limit,
        waivers=waivers,
    )
    if plan_only:
        print_provider_plan(contract, options)
        return
    raise typer.Exit(check_provider(contract, options, outputs, log, server=server))


@app.command()
def init(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="URL", help="The MCP endpoint; with --app, the URL at which it would be served.", show_default=False
        ),
    ] = None,
    app_name: Annotated[
        str | None, typer.Option("--app", metavar="MODULE:NAME", help="An ASGI application to run inside this process.")
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
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write; `-` means stdout. An existing file is never overwritten.",
        ),
    ] = Path("mcp-auth-contract.toml"),
    token_env: Annotated[
        str | None,
        typer.Option("--token-env", metavar="NAME", help="Also use the access token in this environment variable."),
    ] = None,
    ca_file: CaFile = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Never ask questions, not even on a terminal.")] = False,
) -> None:
    """Inspect a server and write a draft of its contract.

    What the server shows is filled in; what only you can know is left as a question in the file.
    """
    from mcp_auth_contract.cli.init import InitOptions, inspect_and_draft

    options = InitOptions(url, app_name, start, tuple(env or ()), output, token_env, yes, ca_file)
    raise typer.Exit(inspect_and_draft(options))


@app.command("list")
def list_checks(
    families: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY", help="Only these families: the first word of an id, as in token.", show_default=False
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", metavar="LEVEL", help="Only this level: must, should or may. May be repeated."),
    ] = None,
    impact: Annotated[
        list[str] | None,
        typer.Option("--impact", metavar="IMPACT", help="Only this impact, as in auth-bypass. May be repeated."),
    ] = None,
    scenarios: Scenarios = None,
) -> None:
    """List the checks: id, level, impact and title."""
    from mcp_auth_contract.cli.reading import print_list

    print_list(tuple(families or ()), tuple(level or ()), tuple(impact or ()), tuple(scenarios or ()))


@app.command()
def explain(
    check: Annotated[str, typer.Argument(metavar="CHECK", help="The id of a check.", autocompletion=check_ids)],
    scenarios: Scenarios = None,
) -> None:
    """Explain one check, and how to fix a failure of it."""
    from mcp_auth_contract.cli.reading import print_explanation

    print_explanation(check, tuple(scenarios or ()))


@app.command()
def mint(
    contract: Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract file.")],
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="A principal of the contract.")],
    defect: Annotated[
        str | None,
        typer.Option(
            "--defect",
            metavar="NAME",
            help="Break this one thing; `mcp-auth-contract defects` lists what can be broken.",
        ),
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="NAME", help="Which variant of the defect to use.")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", metavar="SCOPE", help="Use this scope instead of the principal's own. May be repeated."
        ),
    ] = None,
    no_scope: Annotated[bool, typer.Option("--no-scope", help="Leave the token without any scope.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Also print the decoded token, to stderr.")] = False,
) -> None:
    """Print an access token, valid or with one defect.

    The token is for a principal of the contract, and signed with the key of its issuer.
    """
    from mcp_auth_contract.cli.serving import print_token

    scopes = frozenset() if no_scope else frozenset(scope) if scope else None
    print_token(contract, principal, defect=defect, variant=variant, scopes=scopes, show=show)


@app.command()
@with_outputs()
def hosts(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[CONTRACT|URL]", help="The contract, or the MCP endpoint to look at without one."),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option("--host", metavar="NAME", help="A host that has to connect (exit 1 or 3 otherwise); repeatable."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Test the server at this URL instead of the one in the contract."),
    ] = None,
    sample: UseSample = False,
    fault: SampleFault = None,
    ca_file: CaFile = None,
    *,
    outputs: Outputs,
) -> None:
    """Say which MCP hosts would connect.

    For ChatGPT, Claude, VS Code and others: will connect, degraded, will not, or cannot tell, with the facts that
    decide. With a contract a good token is tried too; what the real authorization server publishes shows only at a URL
    whose server trusts it.
    """
    from mcp_auth_contract.cli.finding import Sample
    from mcp_auth_contract.cli.hosts import hosts_and_report
    from mcp_auth_contract.cli.running import RunOptions

    options = RunOptions(url=url, sample=Sample(sample, fault), ca_file=ca_file)
    raise typer.Exit(hosts_and_report(target, host or (), options, outputs))


@app.command("defects")
def list_defects() -> None:
    """List the defects that `mint --defect` knows."""
    from mcp_auth_contract.cli.reading import print_defects

    print_defects()


@app.command()
def serve(contract: ContractFile = None) -> None:
    """Run only the contract's issuer.

    Use it for a server that you configure and start yourself.
    """
    from mcp_auth_contract.cli.serving import serve_issuer

    serve_issuer(contract)


@app.command()
def lab(
    port: Annotated[
        int, typer.Option("--port", metavar="NUMBER", min=0, max=65535, help="The port to listen on, at 127.0.0.1.")
    ] = 8000,
    fault: Annotated[
        str | None, typer.Option("--fault", metavar="NAME", help="Give the server this one fault.")
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", "--variant", metavar="NAME", help="Serve this legal variation. May be repeated."),
    ] = None,
    faults: Annotated[
        bool, typer.Option("--list", help="List the faults, the checks that find them, and the legal variations.")
    ] = False,
) -> None:
    """Run the sample MCP server, without faults or with one."""
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
