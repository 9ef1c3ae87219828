"""Whole runs against the sample server, in this process or served on a thread of it."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

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
from mcp_auth_contract.tokens import Algorithm, Role

CHECKS = load_builtin()
INSIDE = "http://127.0.0.1:8000"
SAMPLE = data_folder("scenarios") / "contracts" / "sample.toml"
OPAQUE = (("[issuer]", '[issuer]\ntokens = "opaque"'), ("[policy]", "[policy]\nrevocation = 60"))
"""What a contract says about a server that introspects its tokens."""

_ALGORITHMS = 'algorithms = ["RS256", "ES256", "PS256", "EdDSA"]'


def sample_contract(
    url: str, algorithms: Iterable[Algorithm] = tuple(Algorithm), edits: Iterable[tuple[str, str]] = ()
) -> Contract:
    """Return the built-in contract for a server that is up already, with further edits of its text."""
    lines = [line for line in SAMPLE.read_text("utf-8").splitlines() if not line.startswith(("start =", "env ="))]
    text = "\n".join(lines).replace("http://127.0.0.1:0/mcp", url)
    written = ", ".join(f'"{algorithm}"' for algorithm in algorithms)
    for old, new in ((_ALGORITHMS, f"algorithms = [{written}]"), *edits):
        assert old in text, f"{old!r} is not in the sample contract"
        text = text.replace(old, new)
    return read_contract(text, Path("sample.toml"))


def decryption_key(issuer: EmbeddedIssuer) -> RSAPrivateKey:
    """Return the private half of the key that the issuer publishes for encryption, for the faults that decrypt."""
    private = issuer.key_of(Role.ENCRYPTION, Algorithm.RS256).private
    assert isinstance(private, RSAPrivateKey)
    return private


def run_lab(
    issuer: EmbeddedIssuer,
    *,
    fault: Fault | None = None,
    variants: Iterable[Variant] = (),
    edits: Iterable[tuple[str, str]] = (),
    options: Options | None = None,
    sockets: bool = False,
    freeze: bool = False,
    **settings: object,
) -> Report:
    """Run the whole contract against the sample server, sound or with a fault or legal variants.

    In this process, or with `sockets` over the network; with `freeze` on a clock that probes move.
    """
    chosen = options or Options(checks=CHECKS, environ={}, name="sample.toml")
    lab = LabSettings(
        issuer=issuer.url,
        jwks_uri=issuer.jwks_uri,
        resource=f"{INSIDE}/mcp",
        base=INSIDE,
        decryption_key=decryption_key(issuer),
        fault=fault,
        algorithms=issuer.settings.algorithms,
        variant=frozenset(variants),
    )

    def contract() -> Contract:
        return sample_contract(lab.resource, issuer.settings.algorithms, edits)

    if not sockets:
        app = create_app(replace(lab, **settings))
        return asyncio.run(run_contract(contract(), chosen, issuer, app=app, freeze=freeze))
    with bind("127.0.0.1", 0) as listener:
        base = url_of(listener, tls=False)
        lab = replace(lab, resource=f"{base}/mcp", base=base)
        with serve_in_thread(create_app(replace(lab, **settings)), listener=listener):
            return asyncio.run(run_contract(contract(), chosen, issuer))
