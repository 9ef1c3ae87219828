"""Faults of authorization: a scope that is not asked for, that something else is taken for, or that is misread."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote

from mcp_auth_contract.model import OperationKind
from mcp_auth_contract_lab.fault import Change, Faults, changing
from mcp_auth_contract_lab.scopes import ADMIN, SCOPES_SUPPORTED, Operation, all_held, granted_scopes, required_scopes
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.steps import always, broken
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


_NONE = frozenset[str]()
_KNOWN = {*SCOPES_SUPPORTED, ADMIN, ""}


def _reading(read: Callable[[Any, frozenset[str]], frozenset[str]]) -> Change:
    """Make the scopes out of the claim and what it grants rightly."""

    def granted(claims: Mapping[str, Any], settings: LabSettings) -> frozenset[str]:
        return read(claims.get(settings.claims.scope), granted_scopes(claims, settings))

    return scoping(granted=granted)


def _also(read: Callable[[Any], frozenset[str]]) -> Change:
    """Read the claim in another way besides the right one."""
    return _reading(lambda value, granted: granted | read(value))


def _breaking(when: Callable[[Any, Mapping[str, Any]], bool]) -> Change:
    """Break down over a claim in a form that nobody has thought of."""

    def granted(claims: Mapping[str, Any], settings: LabSettings) -> frozenset[str]:
        if when(claims.get(settings.claims.scope), claims):
            raise broken()
        return granted_scopes(claims, settings)

    return scoping(granted=granted)


def _mapped(make: Callable[[str], str]) -> Change:
    return _also(lambda value: frozenset(map(make, value.split(" "))) if isinstance(value, str) else _NONE)


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


@FAULTS.by(_also)
def scope_members_searched(value: Any) -> frozenset[str]:
    """A scope claim of any type is searched for what is needed."""
    if value is True:
        return frozenset(SCOPES_SUPPORTED)
    text = json.dumps(value) if isinstance(value, dict | list) and not _is_list_of_text(value) else ""
    return frozenset(one for one in SCOPES_SUPPORTED if json.dumps(one) in text)


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
    ("scope-beginning-suffices", "A scope that is a beginning of the needed one is taken for it.",
     scoping(covers=lambda granted, needed: all(want.startswith(tuple(granted)) for want in needed))),
    ("scope-empty-is-all", "An empty scope claim grants everything.",
     _also(lambda value: frozenset(SCOPES_SUPPORTED) if value in ([], [""]) or _is_blank(value) else _NONE)),
    ("scope-decoded", "Scopes are percent-decoded.", _mapped(unquote)),
    ("scope-normalized", "Scopes are normalized with NFKC.", _mapped(lambda one: unicodedata.normalize("NFKC", one))),
    ("scope-list-joined", "A list of scopes is joined and split again.",
     _also(lambda value: frozenset(" ".join(value).split(" ")) if _is_list_of_text(value) else _NONE)),
    ("scope-unknown-spoils", "A token with a scope that the server does not know has none.",
     _reading(lambda value, granted: _NONE if isinstance(value, str) and set(value.split(" ")) - _KNOWN else granted)),
    ("scope-separator-breaks", "A character that no scope may have breaks the server.",
     _breaking(lambda value, _claims: isinstance(value, str) and len(value) > 1
               and any(one in value for one in "\t\n\u00a0\u2028,+"))),
    ("scope-list-breaks", "A list of scopes breaks the server.",
     _breaking(lambda value, _claims: isinstance(value, list) and value != []
               and all(one in SCOPES_SUPPORTED for one in value))),
    ("scope-space-breaks", "An empty scope between two spaces breaks the server.",
     _breaking(lambda value, _claims: isinstance(value, str) and len(value) > 1 and "" in value.split(" "))),
    ("scope-alias-breaks", "Scopes in two claims break the server.",
     _breaking(lambda value, claims: value is not None and "scp" in claims)),
)  # fmt: skip
