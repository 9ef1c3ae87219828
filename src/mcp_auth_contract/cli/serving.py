"""Commands that mint or serve: mint, serve, lab."""

import ipaddress
import os
import signal
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterable
from pathlib import Path

import typer

from mcp_auth_contract.cli.finding import find_contract
from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.contract import Contract, load_contract, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import issuer_settings, mint_offline, resolved_for
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.suggest import suggest
from mcp_auth_contract.tokens import holds_published_key


def print_token(
    file: Path,
    principal: str,
    *,
    defect: str | None,
    variant: str | None,
    scopes: frozenset[str] | None,
    show: bool,
) -> None:
    """Print one token to stdout and nothing else there, so that `$(mcp-auth-contract mint …)` is the token."""
    contract = load_contract(file)
    if principal not in contract.principals:
        hint = suggest(principal, contract.principals)
        raise UsageError(f'{file}: no principal is called "{principal}"; {hint}')
    if variant is not None and defect is None:
        raise UsageError("--variant: needs --defect, whose variant it is; `mcp-auth-contract defects` lists both")
    minted, warning = mint_offline(
        contract, principal, defect=defect, variant=variant, scopes=scopes, environ=os.environ, clock=system_clock
    )
    if warning:
        sys.stderr.write(f"mcp-auth-contract: {warning}\n")
    if show:
        sys.stderr.write(f"{minted.label}\nheader {minted.header}\nclaims {minted.claims}\n")
    typer.echo(minted.token)


def serve_issuer(file: Path | None) -> None:
    """Serve a contract's issuer until it is told to stop."""
    contract = find_contract(file).contract
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with EmbeddedIssuer(issuer_settings(contract, os.environ)) as issuer:
        typer.echo(f"issuer    {issuer.url}")
        typer.echo(f"jwks      {issuer.jwks_uri}")
        if issuer.ca_file is not None:
            typer.echo(f"ca file   {issuer.ca_file}")
        if contract.target.url is not None and not contract.target.wants_free_port:
            resolved = resolved_for(contract, issuer, os.environ)
            typer.echo(f"resource  {resolved.target.resource or resolved.target.endpoint}")
        if contract.issuer.keys == "fresh":
            typer.echo("keys      fresh: `mint` cannot sign for this process; set issuer.keys to a folder for that")
        keys, bind = issuer.settings.keys, issuer.settings.bind
        if isinstance(keys, Path) and not ipaddress.ip_address(bind).is_loopback and holds_published_key(keys):
            sys.stderr.write(
                f"mcp-auth-contract: issuer.keys: anybody can sign with the published keys, and {bind} can be reached "
                'from elsewhere; write keys = "fresh"\n'
            )
        typer.echo("Stop it with Ctrl-C.")
        stop.wait()


def sample_contract(fault: str | None) -> Contract:
    """Return the contract of the sample server, which starts it, sound or with one fault."""
    file = data_folder("scenarios") / "contracts" / "sample.toml"
    if fault is None:
        return load_contract(file)
    from mcp_auth_contract_lab.faults import FAULTS
    from mcp_auth_contract_lab.profile import Profile
    from mcp_auth_contract_lab.sample import EDITS, UPSTREAM, audited, edited

    if fault not in FAULTS:
        raise UsageError(f'no fault is called "{fault}"; {_alike(fault, FAULTS)}')
    within = FAULTS[fault].within
    more = 'INTROSPECTION_URI = "${issuer.introspection_uri}"' if within is Profile.OPAQUE else ""
    edits = [('"${target.port}"]', f'"${{target.port}}", "--fault", "{fault}"]')]
    if within is Profile.AUDITED:
        log = str(Path(tempfile.mkdtemp()) / "audit.jsonl")
        edits.append(audited(log))
        more = f'AUDIT = "{log}"'
    elif within is not None:
        edits += EDITS[within]
    if fault == "token-passed-on":
        edits.append(UPSTREAM)
        more = 'UPSTREAM = "${upstream.url}"'
    if more:
        edits.append(("env = { ", f"env = {{ {more}, "))
    return read_contract(edited(file.read_text("utf-8"), *edits), file)


def serve_lab(port: int, fault: str | None, profiles: tuple[str, ...]) -> None:
    """Serve the sample server until it is told to stop; ISSUER and JWKS_URI come from the environment."""
    from mcp_auth_contract_lab.faults import FAULTS
    from mcp_auth_contract_lab.profile import Profile
    from mcp_auth_contract_lab.server import run_lab

    if fault is not None and fault not in FAULTS:
        raise UsageError(f'no fault is called "{fault}"; {_alike(fault, FAULTS)}')
    known = {profile.value for profile in Profile}
    for name in profiles:
        if name not in known:
            raise UsageError(f'no profile is called "{name}"; {suggest(name, known)}')
    run_lab(port, os.environ, FAULTS[fault] if fault else None, [Profile(name) for name in profiles])


def known_faults() -> Iterable[str]:
    """The faults of the sample server, by name."""
    from mcp_auth_contract_lab.faults import FAULTS

    return FAULTS


def _alike(fault: str, known: Iterable[str]) -> str:
    return suggest(fault, known, "`mcp-auth-contract lab --list` names them all")


def print_faults() -> None:
    """Print the faults of the sample server with the checks that fail on each, and its legal profiles."""
    from mcp_auth_contract_lab.breaks import read_breaks
    from mcp_auth_contract_lab.faults import FAULTS
    from mcp_auth_contract_lab.profile import Profile

    broken = read_breaks()
    for name, fault in FAULTS.items():
        within = "" if fault.within is None else f" (with the profile {fault.within})"
        typer.echo(f"{name}{within}\n  {fault.summary}\n{_indented('breaks ' + ', '.join(broken[name]))}\n")
    typer.echo(_indented(f"legal profiles: {', '.join(Profile)}").strip())


def _indented(text: str) -> str:
    return textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
