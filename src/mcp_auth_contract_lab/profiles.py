"""The changes that make each legal profile, as data."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any

from starlette.responses import RedirectResponse, Response

from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import Denial, bearer_challenge, quoted, respond
from mcp_auth_contract_lab.documents import WELL_KNOWN
from mcp_auth_contract_lab.fault import Change
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.methods import DISCOVERY
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.protocol import as_events
from mcp_auth_contract_lab.refusal import HttpRefused, RpcRefused
from mcp_auth_contract_lab.rpc import params_of
from mcp_auth_contract_lab.scopes import Operation, insufficient, operations_of, required_scopes
from mcp_auth_contract_lab.settings import ENDPOINT, LabSettings
from mcp_auth_contract_lab.tasks import Task
from mcp_auth_contract_lab.tools import Tool

__all__ = ["PROFILES", "PUBLIC_TOOL", "configured", "discovery_is_open", "profiled", "shown_if_allowed", "with_schemes"]

_ELSEWHERE = "/metadata.json"
_SCOPE_TOKEN = re.compile(r"[!#-\[\]-~]+")
"""RFC 6749 §3.3."""


def configured(settings: LabSettings) -> LabSettings:
    """Return the settings with the profiles that are a matter of configuration applied."""
    if Profile.SCP_LIST in settings.profiles:
        settings = replace(settings, claims=replace(settings.claims, scope="scp"))
    if Profile.LEEWAY_60 in settings.profiles:
        settings = replace(settings, leeway=60)
    if Profile.ANY_TYP in settings.profiles:
        settings = replace(settings, types=settings.types | {"jwt", ""})
    if Profile.AUDITED in settings.profiles and settings.audit is None:
        settings = replace(settings, audit=Path(mkdtemp(prefix="mcp-auth-contract-lab-")) / "audit.jsonl")
    if Profile.OPAQUE in settings.profiles and settings.introspection_uri is None:
        settings = replace(settings, introspection_uri=f"{settings.issuer.rstrip('/')}/introspect")
    return settings


def profiled(behaviour: Behaviour, profiles: frozenset[Profile]) -> Behaviour:
    """Return the behaviour with each profile's change applied, in the order of the enumeration."""
    for profile in Profile:
        if profile in profiles and profile in PROFILES:
            behaviour = PROFILES[profile](behaviour)
    return behaviour


def _at_the_root(_settings: LabSettings, path: str) -> bool:
    return path == WELL_KNOWN


def _root_pointer(settings: LabSettings, _incoming: Incoming) -> str:
    return settings.base + WELL_KNOWN


def _at_root_and_path(settings: LabSettings, path: str) -> bool:
    return path in (WELL_KNOWN, WELL_KNOWN + settings.resource_path)


def _elsewhere(_settings: LabSettings, path: str) -> bool:
    return path == _ELSEWHERE


def _pointer_elsewhere(settings: LabSettings, _incoming: Incoming) -> str:
    return settings.base + _ELSEWHERE


def shown_if_allowed(principal: Principal, tool: Tool) -> bool:
    """A caller sees the tools that the token's scopes open."""
    return tool.scopes <= principal.scopes


def _as_unknown(operations: Sequence[Operation], needed: frozenset[str], held: frozenset[str]) -> Exception:
    if all(one.kind is OperationKind.TOOL for one in operations):
        return RpcRefused(rpc.INVALID_PARAMS, "no such tool")
    return insufficient(operations, needed, held)


def _hidden_and_unknown(behaviour: Behaviour) -> Behaviour:
    """Hide a tool from weak tokens altogether, as registries that filter by scope do."""
    return replace(
        behaviour,
        listing=replace(behaviour.listing, shown=shown_if_allowed),
        scopes=replace(behaviour.scopes, refuse=_as_unknown),
    )


async def discovery_is_open(incoming: Incoming) -> bool:
    """Whether a request only looks around."""
    if incoming.method != "POST":
        return False
    message: Any = await incoming.message()
    return isinstance(message, dict) and message.get("method") in DISCOVERY


async def _redirect_slash(_lab: object, incoming: Incoming) -> Response | None:
    return RedirectResponse(ENDPOINT, 308) if incoming.path == ENDPOINT + "/" else None


def _several_lines(denial: Denial) -> Response:
    return respond(denial, ('Basic realm="lab, internal"', f'{bearer_challenge(denial)}, DPoP algs="ES256"'))


def _lower_case(denial: Denial) -> Response:
    return respond(denial, (bearer_challenge(denial, "bearer"),))


def _unquoted(denial: Denial) -> Response:
    written = (f"{name}={value if name == 'error' else quoted(value)}" for name, value in denial.parameters)
    return respond(denial, ("Bearer " + " , ".join(written),))


def _empty(behaviour: Behaviour) -> Behaviour:
    write = behaviour.challenges.write
    return replace(
        behaviour,
        challenges=replace(behaviour.challenges, write=lambda denial: write(replace(denial, body=""))),
    )


def _error_on_missing_token(behaviour: Behaviour) -> Behaviour:
    def missing(pointer: str | None, scope: str) -> Denial:
        return behaviour.challenges.invalid(pointer, scope, "authentication is required")

    return replace(behaviour, challenges=replace(behaviour.challenges, missing=missing))


def _malformed_as_401(behaviour: Behaviour) -> Behaviour:
    def malformed(pointer: str | None, description: str) -> Denial:
        return replace(behaviour.challenges.invalid(pointer, "invoices:read", description))

    return replace(behaviour, challenges=replace(behaviour.challenges, malformed=malformed))


def _with_held_scopes(behaviour: Behaviour) -> Behaviour:
    insufficient = behaviour.challenges.insufficient

    def repeating(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
        # Only words that a scope may consist of enter a header: the token can hold anything.
        legal = {one for one in held if _SCOPE_TOKEN.fullmatch(one)}
        return insufficient(pointer, needed | legal, held)

    return replace(behaviour, challenges=replace(behaviour.challenges, insufficient=repeating))


def _own_authorization_server(behaviour: Behaviour) -> Behaviour:
    metadata = behaviour.documents.resource_metadata

    def naming_own(settings: LabSettings) -> Mapping[str, Any]:
        return {**metadata(settings), "authorization_servers": [settings.own_issuer]}

    return replace(behaviour, documents=replace(behaviour.documents, resource_metadata=naming_own))


def _revisions(*spoken: Revision) -> Change:
    return lambda behaviour: replace(behaviour, protocol=replace(behaviour.protocol, revisions=spoken))


PUBLIC_TOOL = "whoami"
"""Open to everybody where challenges come in results: a host can use such a server before its user signs in."""


async def _open_to_strangers(incoming: Incoming) -> bool:
    if await discovery_is_open(incoming):
        return True
    message: Any = await incoming.message() if incoming.method == "POST" else None
    return isinstance(message, dict) and operations_of(str(message.get("method")), params_of(message)) == (
        Operation(OperationKind.TOOL, PUBLIC_TOOL, "tools/call"),
    )


def _required(operation: Operation) -> frozenset[str]:
    public = operation.kind is OperationKind.TOOL and operation.name == PUBLIC_TOOL
    return frozenset() if public else required_scopes(operation)


def with_schemes(tool: Tool) -> dict[str, Any]:
    """Describe a tool with its security schemes, mirrored in `_meta` (OpenAI Apps SDK)."""
    needed = sorted(_required(Operation(OperationKind.TOOL, tool.name, "tools/call")))
    linked = [{"type": "oauth2", "scopes": needed}]
    schemes = [{"type": "noauth"}, *linked] if tool.name == PUBLIC_TOOL else linked
    return {**tool.describe(), "securitySchemes": schemes, "_meta": {"securitySchemes": schemes}}


def _telling_in_results(chosen: Callable[[Denial], bool]) -> Change:
    return lambda b: replace(
        b,
        challenges=replace(b.challenges, in_tool_result=chosen),
        endpoint=replace(b.endpoint, open_to_all=_open_to_strangers),
        listing=replace(b.listing, described=with_schemes),
        scopes=replace(b.scopes, required=_required),
    )


def _foreign_tasks(status: int) -> Change:
    """Refuse foreign and unknown tasks by an HTTP status."""

    def refuse(_task: Task | None) -> Exception:
        return HttpRefused(status, "no such task")

    return lambda b: replace(b, tasks=replace(b.tasks, refuse=refuse))


def _single_use(behaviour: Behaviour) -> Behaviour:
    """Let an export be read again once, and a state be used once."""
    isolation = behaviour.isolation
    exports = replace(isolation.exports, ended_by_use=True)
    return replace(
        behaviour,
        isolation=replace(isolation, exports=exports),
        states=replace(behaviour.states, once=True),
    )


_LEGACY = tuple(one for one in Revision if not one.stateless)

PROFILES: Mapping[Profile, Change] = MappingProxyType(
    {
        Profile.ROOT_METADATA: lambda b: replace(
            b, documents=replace(b.documents, published_at=_at_the_root, pointer=_root_pointer)
        ),
        Profile.ROOT_AND_PATH_METADATA: lambda b: replace(
            b, documents=replace(b.documents, published_at=_at_root_and_path)
        ),
        Profile.HEADER_ONLY_METADATA: lambda b: replace(
            b, documents=replace(b.documents, published_at=_elsewhere, pointer=_pointer_elsewhere)
        ),
        Profile.NO_SESSIONS: lambda b: replace(b, sessions=replace(b.sessions, kept=False)),
        Profile.NO_STREAM: lambda b: replace(b, sessions=replace(b.sessions, stream=False)),
        Profile.SSE: lambda b: replace(b, protocol=replace(b.protocol, legacy_answer=as_events)),
        Profile.HIDDEN_TOOLS: lambda b: replace(b, listing=replace(b.listing, shown=shown_if_allowed)),
        Profile.HIDDEN_AND_UNKNOWN: _hidden_and_unknown,
        Profile.PAGINATED: lambda b: replace(b, listing=replace(b.listing, page=2)),
        Profile.PUBLIC_DISCOVERY: lambda b: replace(b, endpoint=replace(b.endpoint, open_to_all=discovery_is_open)),
        Profile.SEVERAL_CHALLENGES: lambda b: replace(b, challenges=replace(b.challenges, write=_several_lines)),
        Profile.LOWER_CASE_SCHEME: lambda b: replace(b, challenges=replace(b.challenges, write=_lower_case)),
        Profile.TOKEN_PARAMETERS: lambda b: replace(b, challenges=replace(b.challenges, write=_unquoted)),
        Profile.ERROR_ON_MISSING_TOKEN: _error_on_missing_token,
        Profile.EMPTY_REFUSALS: _empty,
        Profile.MALFORMED_401: _malformed_as_401,
        Profile.HELD_SCOPES: _with_held_scopes,
        Profile.FOREIGN_SESSION_403: lambda b: replace(b, sessions=replace(b.sessions, foreign=403)),
        Profile.LEGACY_ONLY: _revisions(*_LEGACY),
        Profile.MODERN_ONLY: _revisions(Revision.R2026_07_28),
        Profile.OWN_AS: _own_authorization_server,
        Profile.SLASH_REDIRECT: lambda b: replace(b, endpoint=replace(b.endpoint, intercept=_redirect_slash)),
        Profile.NO_TASKS: lambda b: replace(b, tasks=replace(b.tasks, offered=False)),
        Profile.FOREIGN_HANDLES_403: _foreign_tasks(403),
        Profile.FOREIGN_HANDLES_404: _foreign_tasks(404),
        Profile.SINGLE_USE: _single_use,
        Profile.TOOL_CHALLENGE: _telling_in_results(lambda _denial: True),
        Profile.EITHER_CHALLENGE: _telling_in_results(lambda denial: denial.get("error") is None),
    }
)
