"""What a fault is: one named change to a sound server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mcp_auth_contract_lab.profile import Profile

if TYPE_CHECKING:
    from mcp_auth_contract_lab.behaviour import Behaviour

__all__ = ["Change", "Fault"]

Change: TypeAlias = "Callable[[Behaviour], Behaviour]"
"""Replaces steps of a behaviour."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a protected server, with one sentence about what such a server got wrong.

    `within` is the legal profile in which alone it shows; the lab takes it on with the fault.
    """

    name: str
    summary: str
    change: Change
    within: Profile | None = None
