"""Timelines as a judge sees them, written in one line each."""

from dataclasses import replace

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.time_and_keys.observation import LeewayObserved, LeewayProbe, Step, TimelineObserved

__all__ = ["introspected", "leeway", "timeline"]


def timeline(
    *steps: tuple[str, Answer], fetches: int = 1, cut: str | None = None, cold: bool = True
) -> TimelineObserved:
    """A timeline of named steps with their answers; `fetches` is how often the keys were fetched in all of it."""
    made = tuple(
        Step(name, f"a token called {name}", Attempt(f"a token called {name}", "call", answer, read(answer)), fetches)
        for name, answer in steps
    )
    return TimelineObserved(made, cut, cold=cold)


def introspected(*steps: tuple[str, Answer]) -> TimelineObserved:
    """A timeline in which the issuer was asked once, by a client that it knows."""
    return replace(timeline(*steps), introspections=1)


def leeway(*probes: tuple[int, Answer], declared: float = 60, claim: str = "exp") -> LeewayObserved:
    """A search for the leeway: offsets beyond the claim, and what was answered."""
    made = tuple(LeewayProbe(beyond, Attempt("", "call", answer, read(answer))) for beyond, answer in probes)
    return LeewayObserved(claim, declared, 1.0, made)
