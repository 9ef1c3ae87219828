"""Commands that mint or serve: mint, serve, lab."""

import ipaddress
import os
import signal
import sys
import threading
from pathlib import Path

import typer

from mcp_auth_contract.cli.finding import find_contract
from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.contract import load_contract
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execute import issuer_settings, mint_offline, resolved_for
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.lab.faults import FAULTS
from mcp_auth_contract.lab.server import run_lab
from mcp_auth_contract.lab.variants import Variant
from mcp_auth_contract.tokens import holds_published_key

__all__ = ["print_faults", "print_token", "serve_issuer", "serve_lab"]


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
        known = ", ".join(contract.principals)
        raise UsageError(f'{file}: no principal is called "{principal}"; declared are {known}')
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
    found = find_contract(file)
    contract = load_contract(found.path)
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


def serve_lab(port: int, fault: str | None, variants: tuple[str, ...]) -> None:
    """Serve the sample server until it is told to stop; ISSUER and JWKS_URI come from the environment."""
    from mcp_auth_contract.catalogue import nearest

    if fault is not None and fault not in FAULTS:
        raise UsageError(f'no fault is called "{fault}"{nearest(fault, FAULTS)}')
    known = {variant.value for variant in Variant}
    for name in variants:
        if name not in known:
            raise UsageError(f'no variant is called "{name}"{nearest(name, known)}')
    run_lab(port, os.environ, FAULTS[fault] if fault else None, [Variant(name) for name in variants])


def print_faults() -> None:
    """Print the faults and legal variants of the sample server."""
    width = max(map(len, FAULTS))
    for name, fault in FAULTS.items():
        typer.echo(f"{name:<{width}}  {fault.summary}")
    typer.echo("")
    typer.echo(f"legal variants: {', '.join(variant.value for variant in Variant)}")
