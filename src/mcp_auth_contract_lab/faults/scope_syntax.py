"""Faults of reading the scope claim."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.scopes import ADMIN, SCOPES_SUPPORTED, granted_scopes
from mcp_auth_contract_lab.settings import LabSettings

__all__ = ["FAULTS"]


def _scopes(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, scopes=replace(behaviour.scopes, **steps))


def _also(read: Callable[[Any], frozenset[str]]) -> Change:
    """Read the claim in another way besides the right one."""

    def granted(claims: Mapping[str, Any], settings: LabSettings) -> frozenset[str]:
        return granted_scopes(claims, settings) | read(claims.get(settings.claims.scope))

    return _scopes(granted=granted)


def _breaking(when: Callable[[Any, Mapping[str, Any]], bool]) -> Change:
    """Break down over a claim in a form that nobody has thought of."""

    def granted(claims: Mapping[str, Any], settings: LabSettings) -> frozenset[str]:
        if when(claims.get(settings.claims.scope), claims):
            raise HttpRefused(500, "internal error")
        return granted_scopes(claims, settings)

    return _scopes(granted=granted)


def _mapped(make: Callable[[str], str]) -> Callable[[Any], frozenset[str]]:
    return lambda value: frozenset(make(one) for one in value.split(" ")) if isinstance(value, str) else frozenset()


def _members(value: Any) -> frozenset[str]:
    """Search the claim, whatever it is, for scopes as `in` does, and for a value that is true."""
    if value is True:
        return frozenset(SCOPES_SUPPORTED)
    text = json.dumps(value) if isinstance(value, dict | list) and not _is_list_of_text(value) else ""
    return frozenset(one for one in SCOPES_SUPPORTED if json.dumps(one) in text)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _split_in_list(value: Any) -> frozenset[str]:
    return frozenset(" ".join(value).split(" ")) if _is_list_of_text(value) else frozenset()


def _empty_is_all(value: Any) -> frozenset[str]:
    nothing = value in ("", [], [""]) or (isinstance(value, str) and not value.strip())
    return frozenset(SCOPES_SUPPORTED) if nothing else frozenset()


def _shorter(granted: frozenset[str], needed: frozenset[str]) -> bool:
    return all(any(want.startswith(held) for held in granted) for want in needed)


def _only(one: Callable[[Any], bool]) -> Change:
    """Read a claim of one form only."""

    def granted(claims: Mapping[str, Any], settings: LabSettings) -> frozenset[str]:
        return granted_scopes(claims, settings) if one(claims.get(settings.claims.scope)) else frozenset()

    return _scopes(granted=granted)


def _unsupported(value: Any) -> bool:
    return isinstance(value, str) and bool(set(value.split(" ")) - {*SCOPES_SUPPORTED, ADMIN, ""})


def _other_separator(value: Any, _claims: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and len(value) > 1 and any(one in value for one in "\t\n\u00a0\u2028,+")


def _spaced(value: Any, _claims: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and len(value) > 1 and "" in value.split(" ")


def _list_of_scopes(value: Any, _claims: Mapping[str, Any]) -> bool:
    return isinstance(value, list) and value != [] and all(one in SCOPES_SUPPORTED for one in value)


FAULTS = (
    Fault("scope-beginning-suffices", "A scope that is a beginning of the needed one is taken for it.",
          _scopes(covers=_shorter)),
    Fault("scope-decoded", "Scopes are percent-decoded.",
          _also(_mapped(unquote))),
    Fault("scope-normalized", "Scopes are normalized with NFKC.",
          _also(_mapped(lambda one: unicodedata.normalize("NFKC", one)))),
    Fault("scope-members-searched", "A scope claim of any type is searched for what is needed.",
          _also(_members)),
    Fault("scope-list-joined", "A list of scopes is joined and split again.",
          _also(_split_in_list)),
    Fault("scope-empty-is-all", "An empty scope claim grants everything.",
          _also(_empty_is_all)),
    Fault("scope-unknown-spoils", "A token with a scope that the server does not know has none.",
          _only(lambda value: not _unsupported(value))),
    Fault("scope-separator-breaks", "A character that no scope may have breaks the server.",
          _breaking(_other_separator)),
    Fault("scope-space-breaks", "An empty scope between two spaces breaks the server.",
          _breaking(_spaced)),
    Fault("scope-list-breaks", "A list of scopes breaks the server.",
          _breaking(_list_of_scopes)),
    Fault("scope-alias-breaks", "Scopes in two claims break the server.",
          _breaking(lambda value, claims: value is not None and "scp" in claims)),
)  # fmt: skip
