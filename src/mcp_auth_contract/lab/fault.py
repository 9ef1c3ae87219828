"""What a fault is: one named change to a sound server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mcp_auth_contract.lab.variants import Variant

if TYPE_CHECKING:
    from mcp_auth_contract.lab.behaviour import Behaviour

__all__ = ["Change", "Fault"]

Change: TypeAlias = "Callable[[Behaviour], Behaviour]"
"""Replaces steps of a behaviour."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a protected server. `breaks` are the ids of the checks that fail on it, and no others.

    `within` is the legal variant in which alone it shows; the lab takes it on with the fault.
    """

    name: str
    summary: str
    breaks: tuple[str, ...]
    change: Change
    within: Variant | None = None
