"""Whole runs against the sample server, served on a thread of this process."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import Contract, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.execute import Options, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.lab.app import create_app
from mcp_auth_contract.lab.fault import Fault
from mcp_auth_contract.lab.settings import LabSettings
from mcp_auth_contract.lab.variants import Variant
from mcp_auth_contract.runner import Report

CHECKS = load_builtin()
SAMPLE = data_folder("scenarios") / "contracts" / "sample.toml"


def sample_contract(url: str, edits: Iterable[tuple[str, str]] = ()) -> Contract:
    """Return the built-in contract for a server that is up already, with further edits of its text."""
    lines = [line for line in SAMPLE.read_text("utf-8").splitlines() if not line.startswith(("start =", "env ="))]
    text = "\n".join(lines).replace("http://127.0.0.1:0/mcp", url)
    for old, new in edits:
        assert old in text, f"{old!r} is not in the sample contract"
        text = text.replace(old, new)
    return read_contract(text, Path("sample.toml"))


def run_lab(
    issuer: EmbeddedIssuer,
    *,
    fault: Fault | None = None,
    variants: Iterable[Variant] = (),
    edits: Iterable[tuple[str, str]] = (),
    options: Options | None = None,
    **settings: object,
) -> Report:
    """Run the whole contract against the sample server, sound or with a fault or legal variants."""
    listener = bind("127.0.0.1", 0)
    base = url_of(listener, tls=False)
    url = f"{base}/mcp"
    lab = LabSettings(
        issuer=issuer.url,
        jwks_uri=issuer.jwks_uri,
        resource=url,
        base=base,
        fault=fault,
        variant=frozenset(variants),
    )
    lab = replace(lab, **settings)
    with serve_in_thread(create_app(lab), listener=listener):
        chosen = options or Options(checks=CHECKS, environ={}, name="sample.toml")
        return asyncio.run(run_contract(sample_contract(url, edits), chosen, issuer))
