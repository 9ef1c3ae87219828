"""Probes: the closed set of questions. Each returns one frozen observation and has no opinion about it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping

from mcp_auth_contract.observations import (
    Answer,
    AuthorizationServersObserved,
    CallObserved,
    DoorObserved,
    LeewayObserved,
    Observation,
    ParityObserved,
    PreflightObserved,
    ResourceMetadataObserved,
    SessionEndObserved,
    TimelineObserved,
)
from mcp_auth_contract.probes.bench import Bench
from mcp_auth_contract.probes.calls import ask_call, ask_method
from mcp_auth_contract.probes.documents import ask_authorization_servers, ask_resource_metadata
from mcp_auth_contract.probes.doors import ask_door, ask_parity, ask_preflight, ask_session_end
from mcp_auth_contract.probes.genuine import NO_DIFFERENCE, GenuineMinter, genuine_minter
from mcp_auth_contract.probes.introspection_timelines import INTROSPECTION_TIMELINES
from mcp_auth_contract.probes.key_timelines import KEY_TIMELINES
from mcp_auth_contract.probes.minting import Minter, profile_of
from mcp_auth_contract.probes.question import Question
from mcp_auth_contract.probes.time_timelines import TIME_TIMELINES, ask_leeway
from mcp_auth_contract.probes.timeline import Script, play
from mcp_auth_contract.probes.vocabulary import PROBES

__all__ = [
    "NO_DIFFERENCE",
    "PROBES",
    "Bench",
    "GenuineMinter",
    "Minter",
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
    "authorization_servers": ask_authorization_servers,
    "call": ask_call,
    "door": ask_door,
    "leeway": ask_leeway,
    "method": ask_method,
    "parity": ask_parity,
    "preflight": ask_preflight,
    "resource_metadata": ask_resource_metadata,
    "session_end": ask_session_end,
    "timeline": ask_timeline,
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
        case LeewayObserved(probes=probes):
            yield from (probe.attempt.answer for probe in probes)
        case DoorObserved(answer=answer, also=also):
            yield answer
            yield from also
        case PreflightObserved(preflight=preflight, challenged=challenged):
            yield preflight
            yield challenged
        case SessionEndObserved(ended=ended, after=after):
            if ended is not None:
                yield ended
            if after is not None:
                yield after.answer
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
