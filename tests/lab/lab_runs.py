"""Whole runs against the sample server, in this process or served on a thread of it."""

import asyncio
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.contract import Contract, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Error, Fail, Level
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.server import Upstream
from mcp_auth_contract.tokens import Algorithm, Role
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.sample import EDITS as SAMPLE_EDITS
from mcp_auth_contract_lab.sample import UPSTREAM, audited, edited
from mcp_auth_contract_lab.settings import LabSettings

CHECKS = tuple(check for check in load_builtin() if not PROBES[check.probe].provider)
WHOLE_MATRIX = bool(os.environ.get("MCP_AUTH_CONTRACT_WHOLE_MATRIX"))
"""Whether every check is run against every fault and profile, which takes an hour, and not only a sample of them."""

INSIDE = "http://127.0.0.1:8000"
SAMPLE = data_folder("scenarios") / "contracts" / "sample.toml"
AUDIT_LOG = Path(mkdtemp()) / "audit.jsonl"
"""Where the sample server writes its audit log in these runs, for each worker its own."""

_IN_TIME = {check.id for check in CHECKS if check.probe in ("timeline", "leeway")}
"""The checks that move the clock."""

EDITS = {**SAMPLE_EDITS, Profile.AUDITED: (audited(str(AUDIT_LOG)),)}
"""What a contract has to say about a profile."""

CONCERNED: dict[Profile, list[str]] = {
    Profile.FOREIGN_SESSION_403: ["scope-every-403-explained", "scope-missing-403", "session-lends-no-identity"],
    Profile.INVALID_TOKEN_401: ["tool-challenge-on-bad-token", "tool-challenge-invalid-token", "tool-challenge-syntax"],
    Profile.PUBLIC_STREAM: ["challenge-get-stream-gated", "session-resume-gated"],
    Profile.STRICT_KEYS: ["isolation-write-denied", "isolation-key-bound"],
    Profile.ASKS_ALWAYS: ["scope-exact-accepted", "isolation-request-state-bound"],
    Profile.GATEWAY_KEY: ["leak-environment-in-answers", "leak-trace-provoked", "transport-preflight-harmless"],
    Profile.VIEWS: ["app-", "scope-surface-declared"],
    Profile.MIRRORED_ARGUMENTS: [
        "scope-exact-accepted",
        "scope-missing-denied",
        "isolation-read-denied",
        "revision-headers-match-message",
    ],
}
"""The checks that a profile was made for."""


def sampled(name: str, parts: int, always: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the ids of one part of all checks, other ones for each name, and some that are always wanted."""
    if WHOLE_MATRIX:
        return tuple(check.id for check in CHECKS)
    wanted = set(always)
    wanted |= {check.id for check in CHECKS if check.id.startswith(tuple(one for one in wanted if one.endswith("-")))}
    wanted |= {check.id for check in CHECKS if zlib.crc32(f"{name} {check.id}".encode()) % parts == 0}
    return tuple(check.id for check in CHECKS if check.id in wanted)


_ALGORITHMS = 'algorithms = ["RS256", "ES256", "PS256", "EdDSA"]'


def sample_contract(
    url: str, algorithms: Iterable[Algorithm] = tuple(Algorithm), edits: Iterable[tuple[str, str]] = ()
) -> Contract:
    """Return the built-in contract for a server that is up already, with further edits of its text."""
    lines = [line for line in SAMPLE.read_text("utf-8").splitlines() if not line.startswith(("start =", "env ="))]
    text = "\n".join(lines).replace("http://127.0.0.1:0/mcp", url)
    written = ", ".join(f'"{algorithm}"' for algorithm in algorithms)
    changed = edited(text, (_ALGORITHMS, f"algorithms = [{written}]"), *edits)
    return read_contract(changed, Path("sample.toml"))


def decryption_key(issuer: EmbeddedIssuer) -> RSAPrivateKey:
    """Return the private half of the key that the issuer publishes for encryption, for the faults that decrypt."""
    private = issuer.key_of(Role.ENCRYPTION, Algorithm.RS256).private
    assert isinstance(private, RSAPrivateKey)
    return private


def _audit_log(fault: Fault | None, profiles: frozenset[Profile]) -> Path | None:
    audited = Profile.AUDITED in profiles or (fault is not None and fault.within is Profile.AUDITED)
    return AUDIT_LOG if audited else None


def run_lab(
    issuer: EmbeddedIssuer,
    *,
    fault: Fault | None = None,
    profiles: Iterable[Profile] = (),
    edits: Iterable[tuple[str, str]] = (),
    options: Options | None = None,
    sockets: bool = False,
    freeze: bool = False,
    behind: bool = False,
    **settings: object,
) -> Report:
    """Run the whole contract against the sample server, sound or with a fault or legal profiles.

    In this process, or with `sockets` over the network; with `freeze` on a clock that probes move; `behind` gives the
    server an upstream, and lets the contract say so.
    """
    if behind:
        with Upstream() as upstream:
            settings = {**settings, "upstream_uri": upstream.url}
            edits = [*edits, UPSTREAM]
            return _run(issuer, fault, profiles, edits, options, sockets, freeze, settings, upstream)
    return _run(issuer, fault, profiles, edits, options, sockets, freeze, settings, None)


def failed_checks(issuer: EmbeddedIssuer, fault: Fault, tried: Iterable[str]) -> set[str]:
    """Return which of the checks fail on a fault; raises AssertionError where the gate does not notice, or the kit errs."""
    asked = tuple(tried)
    options = Options(checks=CHECKS, environ={}, name="sample.toml", selection=Selection(asked))
    report = run_lab(
        issuer,
        fault=fault,
        edits=[] if fault.within is None else EDITS[fault.within],
        options=options,
        freeze=not _IN_TIME.isdisjoint(asked),  # to take the clock over costs as much as a few cases
        behind=fault.name == "token-passed-on",
    )
    assert [result.sentence for result in report.results if isinstance(result.outcome, Error)] == []
    failed = {result.check.id: result.check.level for result in report.results if isinstance(result.outcome, Fail)}
    assert report.gate.exit_code != 0 or Level.MUST not in failed.values()
    return set(failed)


def _run(
    issuer: EmbeddedIssuer,
    fault: Fault | None,
    profiles: Iterable[Profile],
    edits: Iterable[tuple[str, str]],
    options: Options | None,
    sockets: bool,
    freeze: bool,
    settings: Mapping[str, object],
    upstream: Upstream | None,
) -> Report:
    chosen_profiles = frozenset(profiles)
    chosen = options or Options(checks=CHECKS, environ={}, name="sample.toml")
    lab = LabSettings(
        issuer=issuer.url,
        jwks_uri=issuer.jwks_uri,
        resource=f"{INSIDE}/mcp",
        base=INSIDE,
        decryption_key=decryption_key(issuer),
        fault=fault,
        audit=_audit_log(fault, chosen_profiles),
        algorithms=issuer.settings.algorithms,
        profiles=chosen_profiles,
    )

    def contract() -> Contract:
        return sample_contract(lab.resource, issuer.settings.algorithms, edits)

    if not sockets:
        app = create_app(replace(lab, **settings))
        return asyncio.run(run_contract(contract(), chosen, issuer, app=app, freeze=freeze, upstream=upstream))
    with bind("127.0.0.1", 0) as listener:
        base = url_of(listener, tls=False)
        lab = replace(lab, resource=f"{base}/mcp", base=base)
        with serve_in_thread(create_app(replace(lab, **settings)), listener=listener):
            return asyncio.run(run_contract(contract(), chosen, issuer, upstream=upstream))
