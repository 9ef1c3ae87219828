"""What probes of scopes bring home: challenges asked for and followed, the server's surface, ways past a check."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Answer, Attempt
from mcp_auth_contract.checks.observing import Observation, answers_in
from mcp_auth_contract.oauth.challenge import Challenges, parse_challenges, scopes_of

_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")
_MOST_SCOPES = 50


def challenges_told(answer: Answer) -> Challenges:
    """Return the challenges of a refusal, be they in the header or in a tool result's `_meta`."""
    lines = answer.header_lines("www-authenticate")
    if not lines:
        meta = answer.result.get("_meta")
        said = meta.get("mcp/www_authenticate") if isinstance(meta, dict) else None
        said = [said] if isinstance(said, str) else said
        lines = tuple(one for one in said if isinstance(one, str)) if isinstance(said, list) else ()
    return parse_challenges(lines)


def challenge_scopes(answer: Answer) -> frozenset[str] | None:
    """Return the scopes that the first Bearer challenge with a scope names, None where none does.

    Only words of RFC 6749 §3.3 count, at most fifty: they go into the token of the next round.
    """
    told = challenges_told(answer).of_bearer("scope")
    if told is None:
        return None
    return frozenset([one for one in scopes_of(told) if _SCOPE.fullmatch(one)][:_MOST_SCOPES])


@dataclass(frozen=True, slots=True)
class Round:
    """One step up: the scopes that the token holds now, and how the call was answered."""

    scopes: frozenset[str]
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class RoundsObserved(Observation):
    """The same call with the same weak token several times, then with what its challenge asks for, until it runs.

    `held` are the scopes of the weak token. The rounds end with an answer that names no scope the token lacks.
    """

    operation: str
    held: frozenset[str]
    asked: tuple[Attempt, ...]
    rounds: tuple[Round, ...] = ()


@dataclass(frozen=True, slots=True)
class Surface:
    """One kind of thing: what the server lists, and what the contract declares.

    `undeclared` is listed and not in the contract; `unlisted` the other way round, each with how a call of it was
    answered. `complete` is False where the list was refused or did not end.
    """

    kind: str
    listed: tuple[str, ...]
    undeclared: tuple[str, ...]
    unlisted: tuple[tuple[str, Attempt], ...]
    answers: tuple[Answer, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class SurfaceObserved(Observation):
    """The tools, resources, templates and prompts that the server lists to a token with every scope."""

    kinds: tuple[Surface, ...]


@dataclass(frozen=True, slots=True)
class BypassObserved(Observation):
    """A call sent in an unusual way with a weak token.

    `control` shows that a token with the scopes gets through: the same message, or the plain call where the message
    names something permitted besides (`decoy`). `permitted` is the plain call of that, made where the message had an
    effect; so is `plain`, the plain call with the weak token. `attempt` is None where the control failed.
    """

    operation: str
    control: Attempt
    attempt: Attempt | None = None
    decoy: str | None = None
    permitted: Attempt | None = None
    plain: Attempt | None = None

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in((self.attempt, self.control, self.permitted, self.plain))
