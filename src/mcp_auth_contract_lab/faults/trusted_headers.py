"""Faults of trust: headers that anybody can send stand for a token, or for what the token has to say."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.credentials import (
    Presented,
    authorization_header,
)
from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import DEFAULT_USER, vouched
from mcp_auth_contract_lab.verification import Trust, verify

FAULTS = Faults()


@FAULTS.by(vouched)
async def identity_header_trusted(_lab: object, incoming: Incoming) -> Principal | None:
    """A header that names a user stands for a token."""
    named = map(incoming.header, ("x-forwarded-user", "x-user-id", "x-remote-user"))
    subject = next((one for one in named if one), None)
    without = incoming.header("authorization") is None
    return replace(DEFAULT_USER, subject=subject) if without and subject is not None else None


def _without_token(trusts: Callable[[Incoming], bool]) -> Change:
    """Take whoever has no token for the default user where the request says that it comes from inside."""

    async def vouching(_lab: object, incoming: Incoming) -> Principal | None:
        return DEFAULT_USER if incoming.header("authorization") is None and trusts(incoming) else None

    return vouched(vouching)


def _says(incoming: Incoming, said: str, *names: str) -> bool:
    return any(said in (incoming.header(name) or "") for name in names)


@FAULTS.by(vouched)
async def audience_from_host(lab: Lab, incoming: Incoming) -> Principal | None:
    """The own identifier is built from Host, or what X-Forwarded-Host says of it."""
    host, forwarded = incoming.header("host"), incoming.header("x-forwarded-host")
    scheme = incoming.header("x-forwarded-proto") or "http"
    settings = replace(lab.settings, resource=f"{scheme}://{forwarded or host}{lab.settings.resource_path}")
    credential = await authorization_header(incoming)
    if not isinstance(credential, Presented):
        return None
    with suppress(InvalidToken):
        trust = Trust(settings, lab.keys, settings.clock())
        return await verify(credential.token, lab.behaviour.verification, trust, lab.behaviour.scopes.granted)
    return None


FAULTS.rows(
    ("forwarded-address-trusted", "Calls that X-Forwarded-For and its like call local need no token.",
     _without_token(lambda incoming: _says(
         incoming, "127.0.0.1", "x-forwarded-for", "forwarded", "x-real-ip", "x-client-ip", "true-client-ip"))),
    ("local-host-trusted", "Calls to the host localhost need no token.",
     _without_token(lambda incoming: _says(incoming, "localhost", "host", "x-forwarded-host"))),
    ("underscored-address-trusted", "Calls that X_Forwarded_For calls local need no token.",
     _without_token(lambda incoming: _says(incoming, "127.0.0.1", "x_forwarded_for"))),
    ("subrequest-trusted", "Calls that the framework would have made itself need no token.",
     _without_token(lambda incoming: _says(incoming, "middleware:middleware", "x-middleware-subrequest"))),
    ("internal-mark-trusted", "Calls that a proxy has marked as internal need no token, whoever marked them.",
     _without_token(lambda incoming: _says(
         incoming, "true", "x-envoy-internal", "x-internal-request", "x_internal_request"))),
    ("original-path-checked", "The path of X-Original-URL is checked, and the real one is served.",
     _without_token(lambda incoming: _says(incoming, "/.well-known/", "x-original-url", "x-rewrite-url"))),
    ("underscored-identity-trusted", "X_Forwarded_User stands for a token.",
     _without_token(lambda incoming: incoming.header("x_forwarded_user") is not None)),
)  # fmt: skip
