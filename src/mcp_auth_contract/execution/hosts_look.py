"""What MCP hosts would make of the server, from what a run has seen and a few requests more."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServersObserved
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import ResourceMetadataObserved
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.checks.tokens.probe import ask_without_token
from mcp_auth_contract.hosts.facts import HostObservations, facts_of
from mcp_auth_contract.hosts.verdicts import HostVerdict, host_verdicts

_NOTE = "what would a host make of it?"

_Kind = TypeVar("_Kind", bound=Observation)


async def look_for_hosts(
    context: Context, seen: Callable[[type[Observation]], Observation | None], token: bool | None
) -> tuple[HostVerdict, ...]:
    """Return the verdict of each known host. `seen` returns what the run has observed of a kind, if it has.

    `token` is whether a good token was accepted, None where none was sent.
    """
    metadata = await _observed(ResourceMetadataObserved, "resource_metadata", context, seen)
    servers = await _observed(AuthorizationServersObserved, "authorization_servers", context, seen)
    # Most hosts begin with the handshake of the older revisions where a server speaks one of them.
    revision = next((one for one in context.revisions if not one.stateless), context.revisions[0])
    nobody = PrincipalSession(context, revision, None)
    got = (await nobody.bodiless("GET", accept="application/json, text/event-stream", note=_NOTE)).answer
    posted = []
    if context.control is not None:
        principal = None if context.issued is None else next(iter(context.contract.principals), None)
        asked = await ask_without_token(context, revision, context.control, principal)
        posted = list(asked.answers)
    return host_verdicts(facts_of(HostObservations(context.endpoint, posted, got, metadata, servers, token)))


async def _observed(
    kind: type[_Kind], probe: str, context: Context, seen: Callable[[type[Observation]], Observation | None]
) -> _Kind | None:
    found = seen(kind)
    if found is None:
        ask: Callable[[Question, Context], Awaitable[Observation]] = PROBES[probe].ask
        found = await ask(Question(probe=probe), context)
    return found if isinstance(found, kind) else None
