"""What answers say about caches, to several principals."""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Answer, Attempt
from mcp_auth_contract.checks.observing import Observation


@dataclass(frozen=True, slots=True)
class CacheMark:
    """One cacheable request of one principal, asked twice: what came, and what it says about caches."""

    method: str
    principal: str
    first: Attempt
    second: Attempt


@dataclass(frozen=True, slots=True)
class CacheScopeObserved(Observation):
    """The cacheable results of several principals (MCP 2026-07-28, caching)."""

    marks: tuple[CacheMark, ...]

    @property
    def answers(self) -> Iterator[Answer]:
        return (attempt.answer for mark in self.marks for attempt in (mark.first, mark.second))
