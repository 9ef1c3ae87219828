"""What answers say about caches, to several principals."""

from dataclasses import dataclass

from mcp_auth_contract.answers import Attempt
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
