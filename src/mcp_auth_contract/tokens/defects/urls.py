"""URLs that resemble another one, as strings: nothing here is ever fetched."""

from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

__all__ = [
    "FOREIGN",
    "Lookalike",
    "dots_replaced",
    "host_suffixed",
    "in_query_of_other_host",
    "other_host_spelling",
    "other_port",
    "other_scheme",
    "parent_origin",
    "path_in_other_case",
    "proper_prefix",
    "sibling_path",
    "with_slash_toggled",
]

Lookalike: TypeAlias = Callable[[str], str | None]
"""Makes a look-alike of an identifier; None where it has no such look-alike."""

FOREIGN = "https://other.mcp-auth-contract.test"
"""The origin of a stranger; `.test` names never resolve (RFC 2606 §2)."""


def _web(identifier: str) -> SplitResult | None:
    try:
        parts = urlsplit(identifier)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in {"http", "https"} and parts.hostname else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def with_slash_toggled(identifier: str) -> str | None:
    """Return it with a trailing slash, or without the one it has."""
    return identifier[:-1] if identifier.endswith("/") else f"{identifier}/"


def proper_prefix(identifier: str) -> str | None:
    """Return its first half."""
    return identifier[: len(identifier) // 2] or None


def host_suffixed(identifier: str) -> str | None:
    """Return it on a host that only begins like its own."""
    parts = _web(identifier)
    if parts is None or parts.hostname is None or ":" in parts.hostname:
        return None
    port = "" if parts.port is None else f":{parts.port}"
    return parts._replace(netloc=f"{parts.hostname}.evil.test{port}").geturl()


def other_port(identifier: str) -> str | None:
    """Return it on another port of the same host."""
    parts = _web(identifier)
    if parts is None or parts.hostname is None:
        return None
    port = 8443 if parts.port is None else parts.port + (1 if parts.port < 65535 else -1)
    return parts._replace(netloc=f"{_bracketed(parts.hostname)}:{port}").geturl()


def other_scheme(identifier: str) -> str | None:
    """Return it with http for https, or the reverse."""
    parts = _web(identifier)
    if parts is None:
        return None
    return parts._replace(scheme="http" if parts.scheme == "https" else "https").geturl()


def other_host_spelling(identifier: str) -> str | None:
    """Return it with `localhost` for `127.0.0.1`, or the reverse; None for any other host."""
    parts = _web(identifier)
    spelling = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
    if parts is None or parts.hostname not in spelling:
        return None
    return parts._replace(netloc=parts.netloc.replace(parts.hostname, spelling[parts.hostname])).geturl()


def dots_replaced(identifier: str) -> str | None:
    """Return it with letters in place of the dots, as an unescaped pattern would match."""
    return identifier.replace(".", "x") if "." in identifier else None


def sibling_path(identifier: str) -> str | None:
    """Return another resource beside it; None where it has no path."""
    parts = _web(identifier)
    if parts is None or parts.path in {"", "/"}:
        return None
    above = parts.path.rstrip("/").rpartition("/")[0]
    return parts._replace(path=f"{above}/other-mcp", query="").geturl()


def parent_origin(identifier: str) -> str | None:
    """Return its scheme and authority only; None where it has no path."""
    parts = _web(identifier)
    if parts is None or parts.path in {"", "/"}:
        return None
    return f"{parts.scheme}://{parts.netloc}"


def path_in_other_case(identifier: str) -> str | None:
    """Return it with the case of its path swapped (paths are case-sensitive, RFC 3986 §6.2.2.1)."""
    parts = _web(identifier)
    if parts is None or parts.path.swapcase() == parts.path:
        return None
    return parts._replace(path=parts.path.swapcase()).geturl()


def in_query_of_other_host(identifier: str) -> str | None:
    """Return a foreign URL that holds it in its query."""
    return f"{FOREIGN}/?resource={identifier}"
