"""Faults of authorization: a scope that is not asked for, or that something else is taken for."""

from collections.abc import Callable
from functools import partial

from mcp_auth_contract.model import OperationKind
from mcp_auth_contract_lab.fault import Change, Faults, changing
from mcp_auth_contract_lab.scopes import Operation, all_held, required_scopes
from mcp_auth_contract_lab.steps import always
from mcp_auth_contract_lab.tools import WRITE

FAULTS = Faults()

scoping = partial(changing, "scopes")
"""Returns the change that replaces steps of the authorization."""


def free(when: Callable[[Operation], bool]) -> Change:
    """Ask no scope of some operations."""
    return scoping(required=lambda operation: frozenset() if when(operation) else required_scopes(operation))


def _matching(equal: Callable[[str, str], bool]) -> Change:
    """Let a granted scope stand for a needed one in another way than by equality."""
    return scoping(covers=lambda granted, needed: all(any(equal(held, want) for held in granted) for want in needed))


FAULTS.rows(
    ("scope-ignored", "A good token may do everything.", free(always)),
    ("scope-ignored-for-tools", "Tools ask for no scope.", free(lambda one: one.kind is OperationKind.TOOL)),
    ("scope-ignored-for-resources", "Resources ask for no scope.",
     free(lambda one: one.kind is OperationKind.RESOURCE)),
    ("scope-ignored-for-prompts", "Prompts ask for no scope.", free(lambda one: one.kind is OperationKind.PROMPT)),
    ("scope-ignored-for-writes", "The tool that writes asks for no scope.",
     free(lambda one: WRITE in required_scopes(one))),
    ("scope-none-is-all", "A token without scopes may do everything.",
     scoping(covers=lambda granted, needed: not granted or all_held(granted, needed))),
    ("scope-prefix-matches", "A scope that begins with the needed one is taken for it.", _matching(str.startswith)),
    ("scope-part-matches", "A scope that contains the needed one is taken for it.", _matching(str.__contains__)),
    ("scope-case-ignored", "Upper and lower case of a scope are the same.",
     _matching(lambda held, want: held.lower() == want.lower())),
    ("scope-wildcard-granted", "A star in a granted scope matches.",
     _matching(lambda held, want: held in (want, "*", want.partition(":")[0] + ":*"))),
)  # fmt: skip
