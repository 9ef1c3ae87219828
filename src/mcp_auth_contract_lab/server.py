"""Running the lab in the foreground, configured by the environment like any server."""

import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import uvicorn

from mcp_auth_contract.asgi import bind
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import ClaimNames, LabSettings

_HOST = "127.0.0.1"


def _seconds(environ: Mapping[str, str], name: str, default: float) -> float:
    try:
        return float(environ.get(name, default))
    except ValueError:
        raise UsageError(f"the environment variable {name} is no number of seconds") from None


def settings_from(
    environ: Mapping[str, str], port: int, fault: Fault | None = None, profiles: Iterable[Profile] = ()
) -> LabSettings:
    """Read ISSUER, JWKS_URI, RESOURCE and CA_FILE, and what else an operator may set.

    ISSUER is required; JWKS_URI is by default ISSUER/jwks, RESOURCE the server's own URL. Optional are
    ALGORITHMS (separated by spaces), SUBJECT_CLAIM, TENANT_CLAIM, SCOPE_CLAIM, CLIENT_CLAIM, and in seconds
    LEEWAY, JWKS_TTL, JWKS_COOLDOWN. With INTROSPECTION_URI tokens are introspected there and not verified
    here; INTROSPECTION_CLIENT_ID, INTROSPECTION_CLIENT_SECRET and INTROSPECTION_TTL (seconds) go with it. UPSTREAM is
    the URL of a service that is told of each export, AUDIT the file that reads of others' records are logged in.
    Raises UsageError.
    """
    issuer = environ.get("ISSUER")
    if not issuer:
        raise UsageError("the lab needs the environment variable ISSUER: the issuer whose tokens it accepts")
    base = f"http://{_HOST}:{port}"
    names = {one.name: environ.get(f"{one.name.upper()}_CLAIM", str(one.default)) for one in fields(ClaimNames)}
    algorithms = tuple(environ.get("ALGORITHMS", "").split())
    ca_file, audit = environ.get("CA_FILE"), environ.get("AUDIT")
    return LabSettings(
        issuer=issuer,
        jwks_uri=environ.get("JWKS_URI") or f"{issuer.rstrip('/')}/jwks",
        resource=environ.get("RESOURCE") or f"{base}/mcp",
        base=base,
        claims=ClaimNames(**names),
        algorithms=algorithms or ("RS256",),
        leeway=_seconds(environ, "LEEWAY", 0),
        jwks_ttl=_seconds(environ, "JWKS_TTL", 300),
        jwks_cooldown=_seconds(environ, "JWKS_COOLDOWN", 10),
        introspection_uri=environ.get("INTROSPECTION_URI") or None,
        introspection_client=environ.get("INTROSPECTION_CLIENT_ID") or "lab",
        introspection_secret=environ.get("INTROSPECTION_CLIENT_SECRET", ""),
        introspection_ttl=_seconds(environ, "INTROSPECTION_TTL", 5),
        upstream_uri=environ.get("UPSTREAM") or None,
        ca_file=Path(ca_file) if ca_file else None,
        audit=Path(audit) if audit else None,
        profiles=frozenset(profiles),
        fault=fault,
    )


class _Foreground(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on a signal and return; uvicorn's own way raises the signal again after a clean stop."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, installed in before.items():
                signal.signal(number, installed)


def run_lab(
    port: int, environ: Mapping[str, str], fault: Fault | None = None, profiles: Iterable[Profile] = ()
) -> None:
    """Serve on 127.0.0.1 until SIGTERM or Ctrl-C, then return; port 0 takes a free one.

    Raises UsageError for a port in use or an environment that does not suffice.
    """
    with bind(_HOST, port) as listener:
        app = create_app(settings_from(environ, listener.getsockname()[1], fault, profiles))
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, timeout_graceful_shutdown=1, server_header=False
        )
        _Foreground(config).run(sockets=[listener])
