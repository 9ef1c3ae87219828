"""URLs that resemble another one, as strings: nothing here is ever fetched."""

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from mcp_auth_contract.tokens.defects.lookalikes import Lookalike

FOREIGN = "https://other.mcp-auth-contract.test"
"""The origin of a stranger; `.test` names never resolve (RFC 2606 §2)."""
FORGED_HOST = "forwarded.invalid"
"""A host that no configuration names, for requests that say they came to it; `.invalid` is reserved as well."""

_DEFAULT_PORTS = MappingProxyType({"http": 80, "https": 443})
_CYRILLIC = str.maketrans("aceopx", "асеорх")
_FULL_WIDTH_OFFSET = 0xFEE0
_Edit: TypeAlias = Callable[[SplitResult, str], str | SplitResult | None]
"""Makes another URL of one with a host, given as its parts and as it is written."""


def host_forged(scheme: str) -> Lookalike:
    """Return the same path on the forged host, by a scheme."""
    return lambda identifier: urlsplit(identifier)._replace(scheme=scheme, netloc=FORGED_HOST).geturl()


def _of_url(edit: _Edit) -> Lookalike:
    """Return the look-alike of web URLs; None for any other identifier, and where it makes no difference."""

    def make(identifier: str) -> str | None:
        try:
            parts = urlsplit(identifier)
            _ = parts.port
        except ValueError:
            return None
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
            return None
        made = edit(parts, identifier)
        written = made.geturl() if isinstance(made, SplitResult) else made
        return None if written == identifier else written

    return make


def _on_host(host: Callable[[str], str]) -> Lookalike:
    """Return the look-alike whose host is written in another way; None for an IPv6 literal."""

    def edit(parts: SplitResult, _written: str) -> SplitResult | None:
        name, port = parts.hostname or "", "" if parts.port is None else f":{parts.port}"
        return None if ":" in name else parts._replace(netloc=f"{host(name)}{port}")

    return _of_url(edit)


def _on_path(edit: Callable[[SplitResult], str | SplitResult]) -> Lookalike:
    """Return the look-alike of a URL that has a path."""
    return _of_url(lambda parts, _: None if parts.path in {"", "/"} else edit(parts))


def with_slash_toggled(identifier: str) -> str:
    """Return it with a trailing slash, or without the one it has."""
    return identifier[:-1] if identifier.endswith("/") else f"{identifier}/"


def proper_prefix(identifier: str) -> str | None:
    """Return its first half."""
    return identifier[: len(identifier) // 2] or None


def inside(character: str) -> Lookalike:
    """Return what puts a character into the middle of a URL, where URL parsers remove it."""

    return _of_url(lambda _, url: f"{url[: len(url) // 2]}{character}{url[len(url) // 2 :]}")


def _other_port(parts: SplitResult, _written: str) -> SplitResult:
    host = parts.hostname or ""
    port = 8443 if parts.port is None else parts.port + (1 if parts.port < 65535 else -1)
    return parts._replace(netloc=f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def _other_host_spelling(parts: SplitResult, _written: str) -> SplitResult | None:
    host = parts.hostname or ""
    spelling = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}.get(host)
    return parts._replace(netloc=parts.netloc.replace(host, spelling)) if spelling else None


def _homoglyph(host: str) -> str:
    found = next((letter for letter in host if ord(letter) in _CYRILLIC), "")
    return host.replace(found, found.translate(_CYRILLIC), 1)


def _with_port(spelling: str) -> Lookalike:
    def edit(parts: SplitResult, _written: str) -> SplitResult | None:
        port = spelling.format(_DEFAULT_PORTS[parts.scheme])
        return parts._replace(netloc=f"{parts.netloc}:{port}") if parts.port is None else None

    return _of_url(edit)


def _subdomains(parts: SplitResult, _written: str) -> str | None:
    host = parts.hostname or ""
    domain = "" if host.replace(".", "").isdigit() else host.partition(".")[2]
    return f"{parts.scheme}://*.{domain}" if domain else None


# RFC 3986 §6.2.2.1: scheme and host have no case, everything else has.
scheme_upper = _of_url(lambda parts, url: parts.scheme.upper() + url[len(parts.scheme) :])
host_upper = _on_host(str.upper)
path_in_other_case = _of_url(lambda parts, _: parts._replace(path=parts.path.swapcase()))

other_scheme = _of_url(lambda parts, _: parts._replace(scheme="http" if parts.scheme == "https" else "https"))
other_port = _of_url(_other_port)
default_port = _with_port("{}")
default_port_padded = _with_port("0{}")

host_suffixed = _on_host(lambda host: f"{host}.evil.test")
other_host_spelling = _of_url(_other_host_spelling)
homoglyph_host = _on_host(_homoglyph)
punycode_host = _on_host(lambda host: _homoglyph(host).encode("idna").decode())  # as it stands in DNS (RFC 3492)
trailing_dot_host = _on_host(lambda host: f"{host}.")
full_width_host = _on_host(lambda host: chr(ord(host[0]) + _FULL_WIDTH_OFFSET) + host[1:])
ideographic_dots = _on_host(lambda host: host.replace(".", "\N{IDEOGRAPHIC FULL STOP}"))
subdomains = _of_url(_subdomains)

parent_origin = _on_path(lambda parts: f"{parts.scheme}://{parts.netloc}")
sibling_path = _on_path(
    lambda parts: parts._replace(path=f"{parts.path.rstrip('/').rpartition('/')[0]}/other-mcp", query="")
)
dot_segments = _on_path(lambda parts: parts._replace(path=f"/x/..{parts.path}"))
path_percent_encoded = _on_path(lambda parts: parts._replace(path=f"/%{ord(parts.path[1]):02x}{parts.path[2:]}"))

with_user = _of_url(lambda parts, _: parts._replace(netloc=f"u@{parts.netloc}"))
with_query = _of_url(lambda parts, url: None if parts.query or parts.fragment else f"{url}?a=1")
with_fragment = _of_url(lambda parts, url: None if parts.fragment else f"{url}#f")  # RFC 8707 §2

scheme_alone = _of_url(lambda parts, _: f"{parts.scheme}:")
scheme_without_slashes = _of_url(lambda _, url: url.replace("://", ":", 1))
backslashes = _of_url(lambda _, url: url.replace("/", "\\"))
