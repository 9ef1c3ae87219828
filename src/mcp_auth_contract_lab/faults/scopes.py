"""Faults of authorization: a scope that is not asked for, or that something else is taken for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcp_auth_contract.model import OperationKind
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.scopes import Operation, all_held, required_scopes
from mcp_auth_contract_lab.tools import WRITE

__all__ = ["FAULTS"]


def _scopes(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, scopes=replace(behaviour.scopes, **steps))


def _needing(free: Callable[[Operation], bool]) -> Change:
    """Ask no scope of some operations."""

    def required(operation: Operation) -> frozenset[str]:
        return frozenset() if free(operation) else required_scopes(operation)

    return _scopes(required=required)


def _matching(equal: Callable[[str, str], bool]) -> Change:
    """Let a granted scope stand for a needed one in another way than by equality."""

    def covers(granted: frozenset[str], needed: frozenset[str]) -> bool:
        return all(any(equal(held, want) for held in granted) for want in needed)

    return _scopes(covers=covers)


def _none_is_all(granted: frozenset[str], needed: frozenset[str]) -> bool:
    return not granted or all_held(granted, needed)


def _wildcard(held: str, want: str) -> bool:
    return held == want or held in ("*", want.partition(":")[0] + ":*")


_ENFORCED = ("scope-missing-denied", "scope-none-denied")
_LOOKALIKES = (
    "scope-longer-denied",
    "scope-shorter-denied",
    "scope-within-denied",
    "scope-other-case-denied",
    "scope-wildcard-denied",
    "scope-confusable-denied",
    "scope-empty-denied",
    "scope-other-type-denied",
    "scope-joined-in-list-denied",
)

FAULTS = (
    Fault("scope-ignored", "A good token may do everything.",
          _needing(lambda _operation: True)),
    Fault("scope-ignored-for-tools", "Tools ask for no scope.",
          _needing(lambda operation: operation.kind is OperationKind.TOOL)),
    Fault("scope-ignored-for-resources", "Resources ask for no scope.",
          _needing(lambda operation: operation.kind is OperationKind.RESOURCE)),
    Fault("scope-ignored-for-prompts", "Prompts ask for no scope.",
          _needing(lambda operation: operation.kind is OperationKind.PROMPT)),
    Fault("scope-ignored-for-writes", "The tool that writes asks for no scope.",
          _needing(lambda operation: WRITE in required_scopes(operation))),
    Fault("scope-none-is-all", "A token without scopes may do everything.",
          _scopes(covers=_none_is_all)),
    Fault("scope-prefix-matches", "A scope that begins with the needed one is taken for it.",
          _matching(lambda held, want: held.startswith(want))),
    Fault("scope-part-matches", "A scope that contains the needed one is taken for it.",
          _matching(lambda held, want: want in held)),
    Fault("scope-case-ignored", "Upper and lower case of a scope are the same.",
          _matching(lambda held, want: held.lower() == want.lower())),
    Fault("scope-wildcard-granted", "A star in a granted scope matches.",
          _matching(_wildcard)),
)  # fmt: skip
