"""Probes: the closed set of questions. Each returns one frozen observation and has no opinion about it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping

from mcp_auth_contract.observations import (
    Answer,
    AuditObserved,
    AuthorizationServersObserved,
    BypassObserved,
    CacheScopeObserved,
    CallObserved,
    CursorObserved,
    DoorObserved,
    ExchangesObserved,
    HandleObserved,
    IdentityObserved,
    LeewayObserved,
    ListingsObserved,
    MissingObserved,
    Observation,
    OwnStateObserved,
    ParityObserved,
    PreflightObserved,
    RecordObserved,
    RequestStateObserved,
    ResourceMetadataObserved,
    RoundsObserved,
    SessionEndObserved,
    SessionIdsObserved,
    SessionObserved,
    SurfaceObserved,
    TaskObserved,
    TimelineObserved,
    ToolPointersObserved,
    ToolSchemesObserved,
    UpstreamObserved,
    WriteObserved,
)
from mcp_auth_contract.probes.bench import Bench
from mcp_auth_contract.probes.bypasses import ask_bypass
from mcp_auth_contract.probes.cache_scope import ask_cache_scope
from mcp_auth_contract.probes.calls import ask_call, ask_method
from mcp_auth_contract.probes.documents import ask_authorization_servers, ask_resource_metadata
from mcp_auth_contract.probes.doors import ask_door, ask_parity, ask_preflight, ask_session_end
from mcp_auth_contract.probes.genuine import NO_DIFFERENCE, GenuineMinter, genuine_minter
from mcp_auth_contract.probes.handles import ask_handle, ask_own_request_state, ask_request_state
from mcp_auth_contract.probes.identity import ask_identity
from mcp_auth_contract.probes.introspection_timelines import INTROSPECTION_TIMELINES
from mcp_auth_contract.probes.isolation import answers_in, ask_cursor, ask_record
from mcp_auth_contract.probes.isolation_writes import (
    ask_audit,
    ask_missing_record,
    ask_record_write,
    ask_repeated_write,
)
from mcp_auth_contract.probes.key_timelines import KEY_TIMELINES
from mcp_auth_contract.probes.leaks import ask_exchanges, ask_upstream
from mcp_auth_contract.probes.minting import Holder, Minter, profile_of
from mcp_auth_contract.probes.outputs import Outputs
from mcp_auth_contract.probes.question import Question
from mcp_auth_contract.probes.scopes import ask_rounds, ask_surface
from mcp_auth_contract.probes.sessions import ask_session, ask_session_ids
from mcp_auth_contract.probes.succession import ask_listings, ask_succession
from mcp_auth_contract.probes.tasks import ask_task
from mcp_auth_contract.probes.time_timelines import TIME_TIMELINES, ask_leeway
from mcp_auth_contract.probes.timeline import Script, play
from mcp_auth_contract.probes.tool_challenges import ask_tool_pointers, ask_tool_schemes
from mcp_auth_contract.probes.vocabulary import PROBES

__all__ = [
    "NO_DIFFERENCE",
    "PROBES",
    "Bench",
    "GenuineMinter",
    "Holder",
    "Minter",
    "Outputs",
    "Question",
    "answers_of",
    "ask",
    "genuine_minter",
    "profile_of",
]

_SCRIPTS: Mapping[str, Script] = {
    word: script for word, (_, script) in {**KEY_TIMELINES, **TIME_TIMELINES, **INTROSPECTION_TIMELINES}.items()
}


async def ask_timeline(question: Question, bench: Bench) -> TimelineObserved:
    """Play the timeline of the question's word."""
    return await play(question, bench, _SCRIPTS)


_ASKED: Mapping[str, Callable[[Question, Bench], Awaitable[Observation]]] = {
    "audit": ask_audit,
    "authorization_servers": ask_authorization_servers,
    "bypass": ask_bypass,
    "cache_scope": ask_cache_scope,
    "call": ask_call,
    "cursor": ask_cursor,
    "door": ask_door,
    "exchanges": ask_exchanges,
    "handle": ask_handle,
    "identity": ask_identity,
    "leeway": ask_leeway,
    "listings": ask_listings,
    "method": ask_method,
    "missing_record": ask_missing_record,
    "own_request_state": ask_own_request_state,
    "parity": ask_parity,
    "preflight": ask_preflight,
    "record": ask_record,
    "record_write": ask_record_write,
    "repeated_write": ask_repeated_write,
    "request_state": ask_request_state,
    "resource_metadata": ask_resource_metadata,
    "rounds": ask_rounds,
    "session": ask_session,
    "session_end": ask_session_end,
    "session_ids": ask_session_ids,
    "succession": ask_succession,
    "surface": ask_surface,
    "task": ask_task,
    "timeline": ask_timeline,
    "tool_pointers": ask_tool_pointers,
    "tool_schemes": ask_tool_schemes,
    "upstream": ask_upstream,
}


async def ask(question: Question, bench: Bench) -> Observation:
    """Ask one question."""
    return await _ASKED[question.probe](question, bench)


def answers_of(observation: Observation) -> Iterator[Answer]:
    """Yield every answer that an observation rests on, the decisive ones first."""
    match observation:
        case CallObserved(attempts=attempts):
            yield from (attempt.answer for attempt in attempts)
        case TimelineObserved(steps=steps):
            yield from (step.attempt.answer for step in steps)
        case ToolPointersObserved(asked=asked, documents=documents):
            yield from asked
            yield from (document.answer for document in documents)
        case ToolSchemesObserved(pages=pages, tools=tools):
            yield from pages
            yield from (attempt.answer for tool in tools for attempt in tool.called)
        case LeewayObserved(probes=probes):
            yield from (probe.attempt.answer for probe in probes)
        case RecordObserved(principal=principal, calls=calls):
            yield from answers_in(sorted(calls, key=lambda call: call.principal != principal))
        case WriteObserved(calls=calls) | CursorObserved(calls=calls):
            yield from answers_in(sorted(calls, key=lambda call: call.name not in ("foreign", "borrowed", "other")))
        case HandleObserved(calls=calls) | RequestStateObserved(calls=calls) | TaskObserved(calls=calls):
            yield from answers_in(sorted(calls, key=lambda call: not call.name.startswith(("foreign", "other"))))
        case OwnStateObserved(calls=calls, alterations=altered):
            yield from answers_in(sorted(calls, key=lambda call: call.name not in (*altered, "replayed")))
        case MissingObserved(foreign=foreign, missing=missing):
            yield from answers_in([foreign, *([missing] if missing is not None else [])])
        case AuditObserved(call=call):
            yield from call.answers
        case IdentityObserved(calls=calls):
            telling = sorted(calls, key=lambda call: (not call.has_foreign, call.name == "alone"))
            yield from (call.attempt.answer for call in telling)
        case ListingsObserved(lists=lists):
            yield from (answer for one in lists for answer in one.answers)
        case RoundsObserved(asked=attempts, rounds=rounds):
            yield from (attempt.answer for attempt in (*attempts, *(one.attempt for one in rounds)))
        case SurfaceObserved(kinds=kinds):
            for kind in kinds:
                yield from (attempt.answer for _, attempt in kind.unlisted)
                yield from kind.answers
        case BypassObserved():
            tried = (observation.attempt, observation.control, observation.permitted, observation.plain)
            yield from (one.answer for one in tried if one is not None)
        case DoorObserved(answer=answer, also=also):
            yield answer
            yield from also
        case ExchangesObserved():
            # A whole run is no evidence; the verdict names the exchanges that decided.
            return
        case UpstreamObserved(calls=calls):
            yield from (attempt.answer for _, attempt in calls)
        case PreflightObserved(preflight=preflight, challenged=challenged):
            yield preflight
            yield challenged
        case SessionEndObserved(ended=ended, after=after):
            if ended is not None:
                yield ended
            if after is not None:
                yield after.answer
        case SessionObserved(steps=steps):
            yield from (step.attempt.answer for step in steps)
        case SessionIdsObserved(handshakes=handshakes):
            yield from (attempt.answer for attempt in handshakes)
        case CacheScopeObserved(marks=marks):
            yield from (attempt.answer for mark in marks for attempt in (mark.first, mark.second))
        case ParityObserved(readings=readings):
            yield from (answer for _, answer, _ in readings)
        case ResourceMetadataObserved():
            if observation.challenge is not None:
                yield observation.challenge
            yield from (document.answer for document in observation.documents)
            yield from (answer for _, answer in observation.accepts)
            if observation.reflected is not None:
                yield observation.reflected
            if observation.jwks is not None:
                yield observation.jwks.answer
        case AuthorizationServersObserved(servers=servers):
            for server in servers:
                yield from (document.answer for document in server.documents)
                if server.jwks is not None:
                    yield server.jwks.answer
