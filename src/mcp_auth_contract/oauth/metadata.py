"""Where metadata documents live, and what identifiers look like (RFC 9728, RFC 8414, OpenID Connect).

Identifiers are compared code point by code point; nothing here normalises one.
"""

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

_RESOURCE = "/.well-known/oauth-protected-resource"
_OAUTH = "/.well-known/oauth-authorization-server"
_OIDC = "/.well-known/openid-configuration"

# urllib.parse folds case, strips characters and raises; RFC 3986 appendix B takes every text apart as it is.
_URL = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_AUTHORITY = re.compile(
    r"(?:(?P<user>[A-Za-z0-9\-._~%!$&'()*+,;=:]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~%!$&'()*+,;=]+)"
    r"(?::(?P<port>[0-9]{0,5}))?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*")
_NOT_URI = re.compile(r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_LOOPBACK_4 = ipaddress.IPv4Network("127.0.0.0/8")
_LOOPBACK_6 = ipaddress.IPv6Address("::1")


class _Url(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    @property
    def origin(self) -> str:
        """Scheme and authority as written."""
        scheme = "" if self.scheme is None else f"{self.scheme}:"
        return scheme if self.authority is None else f"{scheme}//{self.authority}"

    @property
    def query_part(self) -> str:
        return "" if self.query is None else f"?{self.query}"


def _take_apart(url: str) -> _Url:
    found = _URL.fullmatch(url)
    if found is None:  # never: each part of the pattern may be empty
        return _Url(None, None, url, None, None)
    scheme, authority, path, query, fragment = found.groups()
    return _Url(scheme, authority, path or "", query, fragment)


@dataclass(frozen=True, slots=True)
class ProtectedResourceUrls:
    """The places of protected-resource metadata.

    `path` is the one of RFC 9728 §3.1; `root` the fallback of MCP; `appended` a frequent mistake, looked at
    only to name it. `path` equals `root` for a resource without path and query.
    """

    path: str
    root: str
    appended: str


@dataclass(frozen=True, slots=True)
class AuthorizationServerUrls:
    """The places of authorization-server metadata, in the order in which MCP clients try them.

    `oauth` is the one of RFC 8414 §3.1, `oidc_inserted` that of RFC 8414 §5, `oidc_appended` that of OpenID
    Connect Discovery §4; `oauth_appended` is no standard's, and harmless. For an issuer without path the
    appended forms equal the inserted ones. `oauth_at_root` and `oidc_at_root` leave an issuer's path out, wrongly.
    """

    oauth: str
    oidc_inserted: str
    oidc_appended: str
    oauth_appended: str
    oauth_at_root: str
    oidc_at_root: str


def protected_resource_urls(resource_or_endpoint: str) -> ProtectedResourceUrls:
    """Build the metadata URLs of a protected resource (RFC 9728 §3.1).

    Only a slash directly after the host is dropped: `/mcp/` keeps its own. A fragment is ignored. A text
    that is not an absolute URL gives texts that are not either.
    """
    url = _take_apart(resource_or_endpoint)
    path = "" if url.path == "/" else url.path
    return ProtectedResourceUrls(
        path=f"{url.origin}{_RESOURCE}{path}{url.query_part}",
        root=f"{url.origin}{_RESOURCE}",
        appended=f"{url.origin}{url.path.removesuffix('/')}{_RESOURCE}",
    )


def authorization_server_urls(issuer: str) -> AuthorizationServerUrls:
    """Build the metadata URLs of an issuer; a terminating slash is removed first (RFC 8414 §3.1).

    Query and fragment are ignored. A text that is not an absolute URL gives texts that are not either.
    """
    url = _take_apart(issuer)
    path = url.path.removesuffix("/")
    return AuthorizationServerUrls(
        oauth=f"{url.origin}{_OAUTH}{path}",
        oidc_inserted=f"{url.origin}{_OIDC}{path}",
        oidc_appended=f"{url.origin}{path}{_OIDC}",
        oauth_appended=f"{url.origin}{path}{_OAUTH}",
        oauth_at_root=f"{url.origin}{_OAUTH}",
        oidc_at_root=f"{url.origin}{_OIDC}",
    )


def resource_of_well_known(url: str) -> str | None:
    """Return the resource identifier that a metadata URL was built from (RFC 9728 §3.3), or None.

    The root location gives the bare origin, `https://h`; it stands for `https://h/` just as well.
    """
    parts = _take_apart(url)
    if parts.authority is None or not parts.path.startswith(_RESOURCE):
        return None
    path = parts.path.removeprefix(_RESOURCE)
    if path and not path.startswith("/"):
        return None
    return f"{parts.origin}{path}{parts.query_part}"


class Difference(StrEnum):
    """How one URL differs from another, gravest first."""

    ORIGIN = "another host or port"
    SCHEME = "another scheme"
    PATH = "another path"
    LONGER_PATH = "a longer path"
    PARENT_PATH = "a parent path"
    QUERY = "another query"
    FRAGMENT = "another fragment"
    TRAILING_SLASH = "a trailing slash"
    DEFAULT_PORT = "the default port"
    CASE = "upper or lower case"
    NONE = "nothing"


def difference(a: str, b: str) -> Difference:
    """Name the gravest way in which `b` differs from `a`; NONE exactly when they are the same code points.

    PARENT_PATH: the path of `b` is a parent of that of `a`, on a segment boundary. LONGER_PATH: the
    reverse. Paths are case-sensitive, and percent-encodings are not resolved.
    """
    if a == b:
        return Difference.NONE
    one, other = _take_apart(a), _take_apart(b)
    origin = _origin_difference(one, other)
    if origin in (Difference.ORIGIN, Difference.SCHEME):
        return origin
    path = _path_difference(one.path, other.path)
    if path not in (Difference.NONE, Difference.TRAILING_SLASH):
        return path
    if one.query != other.query:
        return Difference.QUERY
    if one.fragment != other.fragment:
        return Difference.FRAGMENT
    return origin if path is Difference.NONE else path


def _origin_difference(one: _Url, other: _Url) -> Difference:
    if one.authority is None or other.authority is None:
        same = one.authority == other.authority and (one.scheme or "").lower() == (other.scheme or "").lower()
        return Difference.CASE if same else Difference.ORIGIN
    user, host, port = _authority_for_comparison(one)
    other_user, other_host, other_port = _authority_for_comparison(other)
    schemes_differ = (one.scheme or "").lower() != (other.scheme or "").lower()
    if (user, host) != (other_user, other_host) or (port != other_port and not schemes_differ):
        return Difference.ORIGIN
    if schemes_differ:
        both_default = {port, other_port} <= {"80", "443"} or port == other_port
        return Difference.SCHEME if both_default else Difference.ORIGIN
    written = [re.search(r":[0-9]*\Z", url.authority or "") is not None for url in (one, other)]
    return Difference.DEFAULT_PORT if written[0] != written[1] else Difference.CASE


def _authority_for_comparison(url: _Url) -> tuple[str, str, str]:
    user, _, place = (url.authority or "").rpartition("@")
    found = re.search(r":([0-9]*)\Z", place)
    host = place[: found.start()] if found else place
    port = found.group(1) if found else ""
    return user, host.lower(), port or _DEFAULT_PORTS.get((url.scheme or "").lower(), "")


def _path_difference(one: str, other: str) -> Difference:
    if one == other:
        return Difference.NONE
    if one.removesuffix("/") == other.removesuffix("/"):
        return Difference.TRAILING_SLASH
    if one.startswith(other.removesuffix("/") + "/"):
        return Difference.PARENT_PATH
    if other.startswith(one.removesuffix("/") + "/"):
        return Difference.LONGER_PATH
    return Difference.PATH


def is_loopback_url(url: str) -> bool:
    """Tell whether the host is `localhost`, an address of 127.0.0.0/8, or `[::1]`. Never resolves a name."""
    found = _AUTHORITY.fullmatch(_take_apart(url).authority or "")
    if found is None:
        return False
    host = found.group("host").lower()
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    # Brackets are for IPv6 only. `is_loopback` differs between Python versions for IPv4-mapped addresses.
    return address == _LOOPBACK_6 if host.startswith("[") else address in _LOOPBACK_4


def identifier_faults(url: str) -> tuple[str, ...]:
    """Say what RFC 9728 §1.2 forbids in a resource identifier: short phrases, none for a sound one.

    It is an absolute https URL without fragment and user information; http is tolerated on loopback hosts.
    A query is discouraged only, so it is no fault.
    """
    parts = _take_apart(url)
    faults = _absolute_faults(url, parts)
    if "@" in (parts.authority or ""):
        faults.append("user information")
    if parts.fragment is not None:
        faults.append("a fragment")
    return tuple(faults)


def issuer_faults(url: str) -> tuple[str, ...]:
    """Say what RFC 8414 §2 forbids in an issuer identifier: short phrases, none for a sound one.

    It is an absolute https URL without query and fragment, and not the URL of its own metadata; http is
    tolerated on loopback hosts.
    """
    parts = _take_apart(url)
    faults = _absolute_faults(url, parts)
    if parts.query is not None:
        faults.append("a query")
    if parts.fragment is not None:
        faults.append("a fragment")
    if "/.well-known/" in parts.path:
        faults.append("a metadata URL instead of an issuer")
    return tuple(faults)


def endpoint_faults(url: str) -> tuple[str, ...]:
    """Say what RFC 6749 §3.1 and §3.2 forbid in an endpoint: short phrases, none for a sound one.

    It is an absolute https URL without fragment; a query is allowed, and http is tolerated on loopback hosts.
    """
    parts = _take_apart(url)
    faults = _absolute_faults(url, parts)
    if parts.fragment is not None:
        faults.append("a fragment")
    return tuple(faults)


def _absolute_faults(url: str, parts: _Url) -> list[str]:
    if parts.scheme is None or _SCHEME.fullmatch(parts.scheme) is None:
        return ["not an absolute URL"]
    faults = []
    if alien := _NOT_URI.search(url):
        faults.append(f"a character that no URL has (U+{ord(alien.group()):04X})")
    if not parts.authority:
        return [*faults, "no host"]
    scheme = parts.scheme.lower()
    if scheme == "http" and not is_loopback_url(url):
        faults.append("http instead of https")
    elif scheme not in ("http", "https"):
        faults.append(f"{scheme} instead of https")
    found = _AUTHORITY.fullmatch(parts.authority)
    host, port = found.group("host", "port") if found else ("", "")
    try:
        address = ipaddress.IPv6Address(host[1:-1]) if host.startswith("[") else host
    except ValueError:
        address = ""
    if not address or int(port or 0) > 65535:
        faults.append("a malformed host or port")
    return faults
