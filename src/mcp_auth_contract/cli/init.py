"""The command init: inspect a server, ask its user on a terminal, and write the first text of a contract."""

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from mcp_auth_contract.cli.finding import DEFAULT_NAME
from mcp_auth_contract.cli.outputs import demand_writable_file
from mcp_auth_contract.cli.running import demand_http, given_token_of, interruptible, shown_progress, trusted_files
from mcp_auth_contract.cli.supervisor import supervised
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.errors import ContractError, Unreachable, UsageError
from mcp_auth_contract.init import (
    Draft,
    ServerSettings,
    draft_contract,
    how_to_see_more,
    inspect_server,
    interview,
    questions_in,
    render,
    shown,
)

_STDOUT = "-"
_STARTED = "http://127.0.0.1:0/mcp"
"""Where a started server is by default: at a port that is picked for it."""


@dataclass(frozen=True, slots=True)
class InitOptions:
    """What the command line says: where the server is, how it is started, and where the contract goes.

    `env` are settings of the server as NAME=VALUE, `token_env` names a variable of the kit's environment. With `yes`
    nothing is asked.
    """

    url: str | None = None
    app: str | None = None
    start: str | None = None
    env: tuple[str, ...] = ()
    output: Path = Path(DEFAULT_NAME)
    token_env: str | None = None
    yes: bool = False
    ca_file: Path | None = None


def inspect_and_draft(options: InitOptions) -> int:
    """Inspect the server, draft its contract, and write it to a new file; return the exit code."""
    to_stdout = str(options.output) == _STDOUT
    source = Path(DEFAULT_NAME) if to_stdout else options.output
    trusted = trusted_files(options.ca_file)
    settings = _settings(options, source)
    if not to_stdout:
        _demand_new(options.output)
        demand_writable_file(options.output)
    given = given_token_of(options.token_env)
    if options.app is not None and (code := supervised()) is not None:
        return code
    try:
        with contextlib.nullcontext() if options.yes else shown_progress():
            seen = interruptible(
                inspect_server(settings, source, environ=dict(os.environ), given=given, ca_files=trusted)
            )
    except ContractError as error:
        raise ContractError(str(error).replace("it needs in target.env", "it needs with --env")) from None
    except Unreachable as error:
        raise Unreachable(str(error).replace("let target.start do it", "let --start do it")) from None
    draft = draft_contract(seen)
    if not options.yes and _is_interactive():
        draft = interview(draft, _ask)
    text = render(draft)
    if to_stdout:
        typer.echo(text, nl=False)
    else:
        _write_new(options.output, text)
    for line in _summary(draft, text, source, written=not to_stdout, quiet=options.yes):
        sys.stderr.write(f"mcp-auth-contract: {line}\n")
    return 0


def _settings(options: InitOptions, source: Path) -> ServerSettings:
    if options.url is None and options.app is None and options.start is None:
        raise UsageError(
            "init: name the server: its URL, --app module:attribute, or --start with the command that runs it"
        )
    if options.env and options.app is None and options.start is None:
        raise UsageError("--env: belongs to --app or --start; a server that runs already has its settings")
    words = () if options.start is None else _words(options.start)
    url = options.url
    if url is None and options.app is None:
        url = _STARTED
    ca_file = None if options.ca_file is None else os.path.relpath(options.ca_file, source.absolute().parent)
    settings = ServerSettings(url, options.app, words, _environment(options.env), ca_file)
    said = "".join((url or "", options.app or "", *words, *settings.env.values()))
    if any("\ud800" <= character <= "\udfff" for character in said):  # how Python reads octets that are no UTF-8
        raise UsageError("init: a word of the command line is not UTF-8, and a contract can hold nothing else")
    if url is not None and "${" not in url:
        demand_http(re.sub(r"\A(https?://[^/?#]*:)0+(?=[/?#]|\Z)", r"\g<1>1", url))  # port 0: a free one is picked
    return settings


def _words(command: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--start: not a command line ({error}); close the quotation") from None
    if not words:
        raise UsageError("--start: empty; write the command that runs the server")
    return tuple(words)


def _environment(pairs: Iterable[str]) -> Mapping[str, str]:
    settings: dict[str, str] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise UsageError("--env: write NAME=VALUE, with a name of letters, digits and _")
        settings[name] = value
    return settings


def _demand_new(file: Path) -> None:
    if os.path.lexists(file) and not file.is_dir():
        raise UsageError(f"{file}: exists; it is never overwritten: name another file with --output")


def _write_new(file: Path, text: str) -> None:
    """Write a file that must not exist yet, wholly or not at all."""
    try:
        with file.open("x", encoding="utf-8", newline="\n") as opened:
            try:
                opened.write(text)
                opened.flush()
            except BaseException:
                file.unlink()
                raise
    except FileExistsError:
        _demand_new(file)
        raise
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None


def _is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def _ask(question: str) -> str:
    """Ask on stderr, for stdout may be the contract's."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stderr.write("\n")
        raise typer.Abort
    return line.strip()


def _summary(draft: Draft, text: str, file: Path, *, written: bool, quiet: bool) -> Iterable[str]:
    """Yield what to say after the work: what is there, what is lacking, and for people what comes next."""
    counts = (("tool", draft.tools), ("resource", draft.resources), ("prompt", draft.prompts))
    had = ", ".join(f"{len(things)} {word}{'' if len(things) == 1 else 's'}" for word, things in counts)
    asked = questions_in(text)
    yield f'{file if written else "stdout"}: {had}; {asked} questions are marked "# ?"'
    seen = draft.seen
    if seen.token_said:
        yield f"the token was refused: {shown(seen.token_said)}"
    if seen.closed:
        said = shown(seen.lists[seen.closed[0]].said)
        yield f"not shown: {', '.join(seen.closed)} ({said}). {how_to_see_more(draft)}"
    try:
        read_contract(text, file)
    except ContractError as problems:
        yield "before it can be used, this has to be answered:"
        yield from str(problems).splitlines()
    if not quiet and sys.stderr.isatty() and not os.environ.get("CI"):
        named = "" if str(file) == DEFAULT_NAME else f" {shlex.quote(str(file))}"
        yield f"next: answer them, then `mcp-auth-contract plan{named}` and `mcp-auth-contract run{named}`"
