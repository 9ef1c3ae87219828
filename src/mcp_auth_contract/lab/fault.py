"""What a fault is: one named change to a sound server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from mcp_auth_contract.lab.behaviour import Behaviour

__all__ = ["Change", "Fault"]

Change: TypeAlias = "Callable[[Behaviour], Behaviour]"
"""Replaces steps of a behaviour."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a protected server. `breaks` are the ids of the checks that fail on it, and no others."""

    name: str
    summary: str
    breaks: tuple[str, ...]
    change: Change
