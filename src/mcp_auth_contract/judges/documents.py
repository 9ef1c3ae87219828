"""Small questions about JSON documents that several judges ask."""

from collections.abc import Mapping
from typing import Any

__all__ = ["private_members", "strings_or_none", "zero_members"]

_PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")


def strings_or_none(value: object) -> tuple[str, ...] | None:
    """Return the value as strings when it is a list of strings, else None."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def zero_members(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of members that are null, an empty list or an empty string."""
    return tuple(name for name, value in document.items() if value is None or value == [] or value == "")


def private_members(jwks: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the private members (RFC 7518 §6) that the keys of a JWK Set give away."""
    keys = jwks.get("keys")
    held = [key for key in keys if isinstance(key, Mapping)] if isinstance(keys, list) else []
    return tuple(name for name in _PRIVATE if any(name in key for key in held))
