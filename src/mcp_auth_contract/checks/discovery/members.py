"""Small questions about documents that several judges ask."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_auth_contract.checks.discovery.observation import Document
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

MISSING = Inconclusive.lacking("no metadata document was found", "prm-served")
"""Why nothing can be said about the resource's metadata."""

_PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")
_SHOWN = 80


def is_web(identifier: str) -> bool:
    """Whether an identifier is a URL of the web."""
    return identifier.lower().startswith(("http://", "https://"))


def called_by_clients(facts: Facts) -> str:
    """Return the URL that clients call. A contract's audience may be a bare name, which no document repeats."""
    return facts.resource if is_web(facts.resource) else facts.endpoint


def shown(value: object) -> str:
    """Return a member's value as JSON text, cut at 80 characters: a hostile document may hold megabytes."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def strings_or_none(value: object) -> tuple[str, ...] | None:
    """Return the value as strings when it is a list of strings, else None."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def zero_members(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of members that are null or an empty list; an empty string is a value."""
    return tuple(name for name, value in document.items() if value is None or value == [])


def key_set(jwks: Document | None) -> Document | Verdict:
    """Return a key set that was fetched, or why there is none to judge."""
    if jwks is None:
        return NotApplicable("the document names no jwks_uri")
    return Inconclusive(f"{jwks.url}: {jwks.said}") if jwks.value is None else jwks


def public_keys_only(jwks: Document | None) -> Verdict:
    """Decide whether no key of a JWK Set, or a JWK alone, gives away a private member (RFC 7518 §6)."""
    fetched = key_set(jwks)
    if isinstance(fetched, Verdict):
        return fetched
    keys = (fetched.value or {}).get("keys", [fetched.value])
    held = [key for key in keys if isinstance(key, Mapping)] if isinstance(keys, list) else []
    leaked = [name for name in _PRIVATE if any(name in key for key in held)]
    return Fail("public keys only", f"private members {', '.join(leaked)} at {fetched.url}") if leaked else Pass()
