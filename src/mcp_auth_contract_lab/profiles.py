"""What makes each legal profile: a change to the settings, or to the behaviour."""

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from starlette.responses import RedirectResponse, Response

from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.challenges import (
    Denial,
    bearer_challenge,
    quoted,
    respond,
    scope_insufficient,
    token_invalid,
)
from mcp_auth_contract_lab.documents import ELSEWHERE, pointer_elsewhere, resource_metadata
from mcp_auth_contract_lab.fault import Change, adapting, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.methods import DISCOVERY, shown_if_allowed
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.protocol import as_events, check_mirrored_invoice, invoice_described
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.scopes import BASIC_SCOPE, Operation, insufficient, operations_of, required_scopes
from mcp_auth_contract_lab.settings import ENDPOINT, GATEWAY_HEADER, GATEWAY_KEY, WELL_KNOWN, LabSettings
from mcp_auth_contract_lab.streams import OpenStream
from mcp_auth_contract_lab.tools import Tool

_STREAM_S = 60
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
    return all_of(*(PROFILES[profile] for profile in Profile if profile in profiles & PROFILES.keys()))(behaviour)


def speaking(*revisions: Revision) -> Change:
    """Speak these revisions only."""
    return changing("protocol", revisions=revisions)


async def discovery_is_open(incoming: Incoming) -> bool:
    """Whether a request only looks around."""
    return (await incoming.posted()).get("method") in DISCOVERY


async def _redirect_slash(_lab: object, incoming: Incoming) -> Response | None:
    return RedirectResponse(ENDPOINT, 308) if incoming.path == ENDPOINT + "/" else None


async def _behind_a_gateway(_lab: object, incoming: Incoming) -> Response | None:
    """Let nobody pass who does not show the key of the gateway."""
    shown = incoming.header(GATEWAY_HEADER) or ""
    if incoming.method == "OPTIONS" or hmac.compare_digest(shown.encode(), GATEWAY_KEY.encode()):
        return None
    return Response("no key", 403, media_type="text/plain") if incoming.path == ENDPOINT else None


async def _silent_stream(_lab: object, incoming: Incoming) -> Response | None:
    """Open a stream to whoever has no token, on which nothing ever comes."""
    open_to = incoming.method == "GET" and incoming.path == ENDPOINT and incoming.header("authorization") is None
    return OpenStream(seconds=_STREAM_S) if open_to else None


def _writing(challenges: Callable[[Denial], tuple[str, ...]]) -> Change:
    return changing("challenges", write=lambda denial: respond(denial, challenges(denial)))


def _unquoted(denial: Denial) -> tuple[str, ...]:
    written = (f"{name}={value if name == 'error' else quoted(value)}" for name, value in denial.parameters)
    return ("Bearer " + " , ".join(written),)


def _and_held(pointer: str | None, needed: frozenset[str], held: frozenset[str]) -> Denial:
    # Only words that a scope may consist of enter a header: the token can hold anything.
    return scope_insufficient(pointer, needed | {one for one in held if _SCOPE_TOKEN.fullmatch(one)}, held)


def _as_unknown(operations: Sequence[Operation], needed: frozenset[str], held: frozenset[str]) -> Exception:
    tools = all(one.kind is OperationKind.TOOL for one in operations)
    return rpc.Refused(rpc.INVALID_PARAMS, "no such tool") if tools else insufficient(operations, needed, held)


PUBLIC_TOOL = "whoami"
"""Open to everybody where challenges come in results: a host can use such a server before its user signs in."""


async def _open_to_strangers(incoming: Incoming) -> bool:
    message = await incoming.posted()
    public = (Operation(OperationKind.TOOL, PUBLIC_TOOL, "tools/call"),)
    asked = operations_of(str(message.get("method")), rpc.params_of(message))
    return asked == public or await discovery_is_open(incoming)


def _required(operation: Operation) -> frozenset[str]:
    public = operation.kind is OperationKind.TOOL and operation.name == PUBLIC_TOOL
    return frozenset() if public else required_scopes(operation)


def with_schemes(tool: Tool) -> dict[str, Any]:
    """Describe a tool with its security schemes, mirrored in `_meta` (OpenAI Apps SDK)."""
    needed = sorted(_required(Operation(OperationKind.TOOL, tool.name, "tools/call")))
    linked = [{"type": "oauth2", "scopes": needed}]
    schemes = [{"type": "noauth"}, *linked] if tool.name == PUBLIC_TOOL else linked
    return {**tool.describe(), "securitySchemes": schemes, "_meta": {"securitySchemes": schemes}}


def _challenging_in_results(chosen: Callable[[Denial], bool]) -> Change:
    return all_of(
        changing("challenges", in_tool_result=chosen),
        changing("endpoint", open_to_all=_open_to_strangers),
        changing("listing", described=with_schemes),
        changing("scopes", required=_required),
    )


def _foreign_tasks(status: int) -> Change:
    """Refuse foreign and unknown tasks by an HTTP status."""
    return changing("tasks", refuse=lambda _task: HttpRefused(status, "no such task"))


PROFILES: Mapping[Profile, Change] = {
    Profile.ROOT_METADATA: changing(
        "documents",
        published_at=lambda _settings, path: path == WELL_KNOWN,
        pointer=lambda settings, _incoming: settings.base + WELL_KNOWN,
    ),
    Profile.ROOT_AND_PATH_METADATA: changing(
        "documents", published_at=lambda settings, path: path in (WELL_KNOWN, WELL_KNOWN + settings.resource_path)
    ),
    Profile.HEADER_ONLY_METADATA: changing(
        "documents", published_at=lambda _settings, path: path == ELSEWHERE, pointer=pointer_elsewhere
    ),
    Profile.NO_SESSIONS: changing("sessions", kept=False),
    Profile.NO_STREAM: changing("sessions", stream=False),
    Profile.SSE: changing("protocol", legacy_answer=as_events),
    Profile.HIDDEN_TOOLS: changing("listing", shown=shown_if_allowed),
    Profile.HIDDEN_AND_UNKNOWN: all_of(
        changing("listing", shown=shown_if_allowed), changing("scopes", refuse=_as_unknown)
    ),
    Profile.PAGINATED: changing("listing", page=2),
    Profile.PUBLIC_DISCOVERY: changing("endpoint", open_to_all=discovery_is_open),
    Profile.SEVERAL_CHALLENGES: _writing(
        lambda denial: ('Basic realm="lab, internal"', f'{bearer_challenge(denial)}, DPoP algs="ES256"')
    ),
    Profile.LOWER_CASE_SCHEME: _writing(lambda denial: (bearer_challenge(denial, "bearer"),)),
    Profile.TOKEN_PARAMETERS: _writing(_unquoted),
    Profile.EMPTY_REFUSALS: adapting(
        "challenges", "write", lambda write: lambda denial: write(replace(denial, body=""))
    ),
    Profile.MALFORMED_401: changing(
        "challenges", malformed=lambda pointer, description: token_invalid(pointer, BASIC_SCOPE, description)
    ),
    Profile.HELD_SCOPES: changing("challenges", insufficient=_and_held),
    Profile.FOREIGN_SESSION_403: changing("sessions", foreign=403),
    Profile.LEGACY_ONLY: speaking(*(one for one in Revision if not one.stateless)),
    Profile.MODERN_ONLY: speaking(Revision.R2026_07_28),
    Profile.OWN_AS: changing(
        "documents",
        resource_metadata=lambda settings: (
            resource_metadata(settings) | {"authorization_servers": [settings.own_issuer]}
        ),
    ),
    Profile.GATEWAY_KEY: changing("endpoint", intercept=_behind_a_gateway),
    Profile.SLASH_REDIRECT: changing("endpoint", intercept=_redirect_slash),
    Profile.NO_TASKS: changing("tasks", offered=False),
    Profile.FOREIGN_HANDLES_403: _foreign_tasks(403),
    Profile.FOREIGN_HANDLES_404: _foreign_tasks(404),
    Profile.SINGLE_USE: all_of(
        adapting("isolation", "exports", lambda exports: replace(exports, ended_by_use=True)),
        changing("states", once=True),
    ),
    Profile.ASKS_ALWAYS: changing("states", demanded=True),
    Profile.MIRRORED_ARGUMENTS: all_of(
        changing("protocol", mirrored=check_mirrored_invoice), changing("listing", described=invoice_described)
    ),
    Profile.VIEWS: changing("views", offered=True),
    Profile.STRICT_KEYS: changing("isolation", strict_keys=True),
    Profile.TOOL_CHALLENGE: _challenging_in_results(lambda _denial: True),
    Profile.INVALID_TOKEN_401: _challenging_in_results(lambda denial: denial.get("error") != "invalid_token"),
    Profile.PUBLIC_STREAM: changing("endpoint", open_to_all=discovery_is_open, intercept=_silent_stream),
    Profile.EITHER_CHALLENGE: _challenging_in_results(lambda denial: denial.get("error") is None),
}
