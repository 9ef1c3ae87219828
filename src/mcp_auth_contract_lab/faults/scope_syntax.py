"""Faults of reading the scope claim."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.faults.scopes import scoping
from mcp_auth_contract_lab.scopes import ADMIN, SCOPES_SUPPORTED, granted_scopes
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.steps import broken

FAULTS = Faults()

_NONE = frozenset[str]()


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


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


@FAULTS.by(_also)
def scope_members_searched(value: Any) -> frozenset[str]:
    """A scope claim of any type is searched for what is needed."""
    if value is True:
        return frozenset(SCOPES_SUPPORTED)
    text = json.dumps(value) if isinstance(value, dict | list) and not _is_list_of_text(value) else ""
    return frozenset(one for one in SCOPES_SUPPORTED if json.dumps(one) in text)


@FAULTS.by(_also)
def scope_empty_is_all(value: Any) -> frozenset[str]:
    """An empty scope claim grants everything."""
    nothing = value in ("", [], [""]) or (isinstance(value, str) and not value.strip())
    return frozenset(SCOPES_SUPPORTED) if nothing else _NONE


@FAULTS.by(_reading)
def scope_unknown_spoils(value: Any, granted: frozenset[str]) -> frozenset[str]:
    """A token with a scope that the server does not know has none."""
    spoilt = isinstance(value, str) and bool(set(value.split(" ")) - {*SCOPES_SUPPORTED, ADMIN, ""})
    return _NONE if spoilt else granted


@FAULTS.by(_breaking)
def scope_separator_breaks(value: Any, _claims: Mapping[str, Any]) -> bool:
    """A character that no scope may have breaks the server."""
    return isinstance(value, str) and len(value) > 1 and any(one in value for one in "\t\n\u00a0\u2028,+")


@FAULTS.by(_breaking)
def scope_list_breaks(value: Any, _claims: Mapping[str, Any]) -> bool:
    """A list of scopes breaks the server."""
    return isinstance(value, list) and value != [] and all(one in SCOPES_SUPPORTED for one in value)


FAULTS.rows(
    ("scope-beginning-suffices", "A scope that is a beginning of the needed one is taken for it.",
     scoping(covers=lambda granted, needed: all(want.startswith(tuple(granted)) for want in needed))),
    ("scope-decoded", "Scopes are percent-decoded.", _mapped(unquote)),
    ("scope-normalized", "Scopes are normalized with NFKC.", _mapped(lambda one: unicodedata.normalize("NFKC", one))),
    ("scope-list-joined", "A list of scopes is joined and split again.",
     _also(lambda value: frozenset(" ".join(value).split(" ")) if _is_list_of_text(value) else _NONE)),
    ("scope-space-breaks", "An empty scope between two spaces breaks the server.",
     _breaking(lambda value, _claims: isinstance(value, str) and len(value) > 1 and "" in value.split(" "))),
    ("scope-alias-breaks", "Scopes in two claims break the server.",
     _breaking(lambda value, claims: value is not None and "scp" in claims)),
)  # fmt: skip
