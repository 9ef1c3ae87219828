"""What the metadata of a server says (RFC 9728, RFC 8414), without a contract to compare it with."""

from dataclasses import replace

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.checks.authorization_servers.probe import ask_authorization_servers
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.probe import ask_resource_metadata
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.scopes.observation import challenge_scopes
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.execution.plan_run import EVERY_REVISION
from mcp_auth_contract.init.draft import scopes_in
from mcp_auth_contract.init.inspection import MOST_SCOPES, Inspection
from mcp_auth_contract.model import OperationKind
from mcp_auth_contract.wire import Conversation

_MOST_ISSUERS = 5
_LONGEST_RESOURCE = 500
_ABOUT_SIGN_IN = frozenset({"address", "email", "offline_access", "openid", "phone", "profile"})
"""Scopes of an authorization server's own (OpenID Connect Core, sections 5.4 and 11), which guard no tool."""


async def discover(conversation: Conversation, seen: Inspection) -> Inspection:
    """Add what the metadata says, and that a call without a token is refused by status if one was.

    Scopes come from the metadata of the resource, its challenge, or its authorization servers.
    """
    listing = Operation(OperationKind.TOOL, "tools/list")
    context = Context(conversation, conversation.endpoint, seen.revisions or EVERY_REVISION, control=listing)
    observed = await ask_resource_metadata(Question(probe="resource_metadata"), context)
    value: JsonObject = observed.best.value or {} if observed.best is not None else {}
    resource, named = value.get("resource"), value.get("authorization_servers")
    issuers = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    scopes, scopes_from = scopes_in(value.get("scopes_supported")), "scopes_supported of its metadata names"
    if not scopes and observed.challenge is not None:
        scopes, scopes_from = tuple(sorted(challenge_scopes(observed.challenge) or ())), "its challenge names"
    if not scopes and issuers:
        scopes, scopes_from = await _offered(context), "its authorization server offers"
    return replace(
        seen,
        resource=resource if isinstance(resource, str) and _is_audience(resource) else None,
        issuers=tuple(issuers[:_MOST_ISSUERS]),
        scopes=scopes[:MOST_SCOPES],
        scopes_from=scopes_from if scopes else "",
        challenge=None if observed.challenge is None else "http",
    )


async def _offered(context: Context) -> tuple[str, ...]:
    """Return the scopes in the metadata of the authorization servers, but those that are about signing in."""
    servers = (await ask_authorization_servers(Question(probe="authorization_servers"), context)).servers
    listed = [one.best.value.get("scopes_supported") for one in servers if one.best and one.best.value]
    every = (scope for scopes in listed for scope in scopes_in(scopes) if scope not in _ABOUT_SIGN_IN)
    return scopes_in(tuple(every))


def _is_audience(resource: str) -> bool:
    """Whether a contract takes it for `target.resource` (RFC 8707 section 2)."""
    absolute = ":" in resource and resource.isascii() and resource.isprintable()
    return absolute and len(resource) <= _LONGEST_RESOURCE and not set(resource) & {" ", "#", "$"}
