"""What the metadata of a server says (RFC 9728, RFC 8414), without a contract; and how a genuine token is made."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.checks.authorization_servers.probe import ask_authorization_servers
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.probe import ask_resource_metadata
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.scopes.observation import challenge_scopes
from mcp_auth_contract.contract import Claims, Operation
from mcp_auth_contract.execution.plan_run import EVERY_REVISION
from mcp_auth_contract.init.draft import scopes_in
from mcp_auth_contract.init.inspection import MOST_SCOPES, Inspection, TokenShape
from mcp_auth_contract.model import OperationKind
from mcp_auth_contract.tokens import parse_genuine
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
        # Those of the authorization servers, but for those that are about signing in.
        servers = (await ask_authorization_servers(Question(probe="authorization_servers"), context)).servers
        listed = [one.best.value.get("scopes_supported") for one in servers if one.best and one.best.value]
        every = (scope for offered in listed for scope in scopes_in(offered) if scope not in _ABOUT_SIGN_IN)
        scopes, scopes_from = scopes_in(tuple(every)), "its authorization server offers"
    return replace(
        seen,
        resource=resource if isinstance(resource, str) and _is_audience(resource) else None,
        issuers=tuple(issuers[:_MOST_ISSUERS]),
        scopes=scopes[:MOST_SCOPES],
        scopes_from=scopes_from if scopes else "",
        challenge=None if observed.challenge is None else "http",
    )


def _is_audience(resource: str) -> bool:
    """Whether a contract takes it for `target.resource` (RFC 8707 section 2)."""
    absolute = ":" in resource and resource.isascii() and resource.isprintable()
    return absolute and len(resource) <= _LONGEST_RESOURCE and not set(resource) & {" ", "#", "$"}


_SCOPES = ("scp", "scopes", "permissions")
_CLIENTS = ("azp", "cid", "appid")
_TENANTS = ("tid", "org_id", "tenant", "organization_id")
_LONGEST = 60


def shape_of(token: str) -> TokenShape:
    """Return the names of a token's claims, its `typ` and its `alg`; no other value of it leaves this function."""
    parts = parse_genuine(token)
    if parts is None:
        return TokenShape(opaque=True)
    usual, claims = Claims(), parts.claims
    scope = _other(usual.scope, _SCOPES, claims)
    typ = parts.header.get("typ")
    usable = isinstance(typ, str) and typ != usual.typ and 0 < len(typ) <= _LONGEST and typ.isprintable()
    return TokenShape(
        scope=scope,
        scope_list=isinstance(claims.get(scope or usual.scope), list),
        client=_other(usual.client, _CLIENTS, claims),
        tenant=_other(usual.tenant, _TENANTS, claims),
        typ=typ if usable and isinstance(typ, str) else None,
        algorithm=None if parts.algorithm is None else str(parts.algorithm),
    )


def _other(usual: str, known: Iterable[str], claims: Mapping[str, object]) -> str | None:
    """Return the first name that is there in place of the usual one."""
    return None if usual in claims else next((name for name in known if name in claims), None)
