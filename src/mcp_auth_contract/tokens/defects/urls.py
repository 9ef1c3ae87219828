"""URLs that resemble another one, as strings: nothing here is ever fetched."""

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

__all__ = [
    "FOREIGN",
    "Lookalike",
    "backslashes",
    "default_port",
    "default_port_padded",
    "dot_segments",
    "dots_replaced",
    "full_width_host",
    "homoglyph_host",
    "host_suffixed",
    "host_upper",
    "ideographic_dots",
    "in_query_of_other_host",
    "inside",
    "other_host_spelling",
    "other_port",
    "other_scheme",
    "parent_origin",
    "path_in_other_case",
    "path_percent_encoded",
    "proper_prefix",
    "punycode_host",
    "scheme_alone",
    "scheme_upper",
    "scheme_without_slashes",
    "sibling_path",
    "subdomains",
    "trailing_dot_host",
    "with_fragment",
    "with_query",
    "with_slash_toggled",
    "with_user",
]

Lookalike: TypeAlias = Callable[[str], str | None]
"""Makes a look-alike of an identifier; None where it has no such look-alike."""

FOREIGN = "https://other.mcp-auth-contract.test"
"""The origin of a stranger; `.test` names never resolve (RFC 2606 §2)."""


_DEFAULT_PORTS = MappingProxyType({"http": 80, "https": 443})
_CYRILLIC = MappingProxyType(
    {
        "a": "\N{CYRILLIC SMALL LETTER A}",
        "c": "\N{CYRILLIC SMALL LETTER ES}",
        "e": "\N{CYRILLIC SMALL LETTER IE}",
        "o": "\N{CYRILLIC SMALL LETTER O}",
        "p": "\N{CYRILLIC SMALL LETTER ER}",
        "x": "\N{CYRILLIC SMALL LETTER HA}",
    }
)
_FULL_WIDTH_OFFSET = 0xFEE0


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


def _on_host(identifier: str, host: Callable[[str], str]) -> str | None:
    """Return it with its host written in another way; None for an IPv6 literal and for no difference."""
    parts = _web(identifier)
    if parts is None or parts.hostname is None or ":" in parts.hostname:
        return None
    port = "" if parts.port is None else f":{parts.port}"
    made = parts._replace(netloc=f"{host(parts.hostname)}{port}").geturl()
    return None if made == identifier else made


def scheme_upper(identifier: str) -> str | None:
    """Return it with its scheme in capitals, which RFC 3986 §6.2.2.1 calls equivalent."""
    parts = _web(identifier)
    return None if parts is None else parts.scheme.upper() + identifier[len(parts.scheme) :]


def host_upper(identifier: str) -> str | None:
    """Return it with its host in capitals, which RFC 3986 §6.2.2.1 calls equivalent."""
    return _on_host(identifier, str.upper)


def homoglyph_host(identifier: str) -> str | None:
    """Return it on a host with one Cyrillic letter; None where no letter of the host has a twin."""

    def host(name: str) -> str:
        found = next((letter for letter in name if letter in _CYRILLIC), None)
        return name if found is None else name.replace(found, _CYRILLIC[found], 1)

    return _on_host(identifier, host)


def punycode_host(identifier: str) -> str | None:
    """Return its homoglyph as it stands in DNS (RFC 3492)."""
    made = homoglyph_host(identifier)
    return None if made is None else _on_host(made, lambda name: name.encode("idna").decode())


def trailing_dot_host(identifier: str) -> str | None:
    """Return it with a dot behind the host."""
    return _on_host(identifier, lambda name: f"{name}.")


def full_width_host(identifier: str) -> str | None:
    """Return it with the first letter of its host in full width."""

    def host(name: str) -> str:
        return chr(ord(name[0]) + _FULL_WIDTH_OFFSET) + name[1:]

    return _on_host(identifier, host)


def ideographic_dots(identifier: str) -> str | None:
    """Return it with ideographic full stops in its host."""
    return _on_host(identifier, lambda name: name.replace(".", "\N{IDEOGRAPHIC FULL STOP}"))


def subdomains(identifier: str) -> str | None:
    """Return a pattern for all hosts beside its own; None for an address and a name of a single label."""
    parts = _web(identifier)
    if parts is None or parts.hostname is None or parts.hostname.replace(".", "").isdigit():
        return None
    _, dot, domain = parts.hostname.partition(".")
    return f"{parts.scheme}://*.{domain}" if dot else None


def _with_port(identifier: str, spelling: str) -> str | None:
    parts = _web(identifier)
    if parts is None or parts.hostname is None or parts.port is not None:
        return None
    return parts._replace(netloc=f"{parts.netloc}:{spelling.format(_DEFAULT_PORTS[parts.scheme])}").geturl()


def default_port(identifier: str) -> str | None:
    """Return it with the port that its scheme stands for; None where it names a port."""
    return _with_port(identifier, "{}")


def default_port_padded(identifier: str) -> str | None:
    """Return it with the port that its scheme stands for, a zero before it; None where it names a port."""
    return _with_port(identifier, "0{}")


def with_user(identifier: str) -> str | None:
    """Return it with user information."""
    parts = _web(identifier)
    return None if parts is None else parts._replace(netloc=f"u@{parts.netloc}").geturl()


def with_query(identifier: str) -> str | None:
    """Return it with a query."""
    parts = _web(identifier)
    return None if parts is None or parts.query or parts.fragment else f"{identifier}?a=1"


def with_fragment(identifier: str) -> str | None:
    """Return it with a fragment, which an audience must not have (RFC 8707 §2)."""
    parts = _web(identifier)
    return None if parts is None or parts.fragment else f"{identifier}#f"


def scheme_alone(identifier: str) -> str | None:
    """Return its scheme and colon."""
    parts = _web(identifier)
    return None if parts is None else f"{parts.scheme}:"


def dot_segments(identifier: str) -> str | None:
    """Return it with a detour in its path; None where it has no path."""
    parts = _web(identifier)
    if parts is None or parts.path in {"", "/"}:
        return None
    return parts._replace(path=f"/x/..{parts.path}").geturl()


def path_percent_encoded(identifier: str) -> str | None:
    """Return it with the first letter of its path percent-encoded; None where it has no path."""
    parts = _web(identifier)
    if parts is None or parts.path in {"", "/"}:
        return None
    return parts._replace(path=f"/%{ord(parts.path[1]):02x}{parts.path[2:]}").geturl()


def backslashes(identifier: str) -> str | None:
    """Return it with backslashes for slashes."""
    return identifier.replace("/", "\\") if _web(identifier) else None


def scheme_without_slashes(identifier: str) -> str | None:
    """Return it without the slashes behind its scheme."""
    return identifier.replace("://", ":", 1) if _web(identifier) else None


def inside(character: str) -> Lookalike:
    """Return what puts a character into the middle of a URL, where URL parsers remove it."""

    def made(identifier: str) -> str | None:
        middle = len(identifier) // 2
        return f"{identifier[:middle]}{character}{identifier[middle:]}" if _web(identifier) else None

    return made
