"""Headers by which a request says that it comes from inside: from this machine, a proxy, or the framework itself."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

_Headers: TypeAlias = tuple[tuple[str, str], ...]

_LOCAL = "127.0.0.1"
_NESTED = ":".join(["middleware"] * 5)
"""A framework stopped checking once its middleware had been called so often (CVE-2025-29927)."""

_OPEN_PATH = "/.well-known/oauth-protected-resource"
"""A path that everybody may read, which a check of another path than the router's lets through."""

_ADDRESSES = (
    "X-Forwarded-For",
    "X-Real-IP",
    "X-Client-IP",
    "Client-IP",
    "True-Client-IP",
    "CF-Connecting-IP",
    "X-Cluster-Client-IP",
    "X-Originating-IP",
    "X-Remote-IP",
    "X-Remote-Addr",
    "X-ProxyUser-IP",
)


def _form(name: str) -> str:
    return name.lower().replace("-", "_")


def _underscored(*pairs: tuple[str, str]) -> _Headers:
    """Spell names as a gateway interface does, which makes both spellings one variable (CGI, WSGI)."""
    return tuple((name.replace("-", "_"), value) for name, value in pairs)


_LOCAL_CALLERS: Mapping[str, tuple[str, _Headers]] = {
    **{_form(name): (f"{name}: {_LOCAL}", ((name, _LOCAL),)) for name in _ADDRESSES},
    "forwarded": (f"Forwarded: for={_LOCAL};host=localhost", (("Forwarded", f"for={_LOCAL};host=localhost"),)),
    "forwarded_host_local": ("X-Forwarded-Host: localhost", (("X-Forwarded-Host", "localhost"),)),
    "host_local": ("Host: localhost", (("Host", "localhost"),)),
    "host_loopback": (f"Host: {_LOCAL}", (("Host", _LOCAL),)),
    "addresses_underscored": (
        f"X_Forwarded_For, X_Real_IP, X_Client_IP and their like with {_LOCAL}",
        _underscored(*((name, _LOCAL) for name in _ADDRESSES), ("X-Forwarded-Host", "localhost")),
    ),
}

_MARKS: _Headers = (
    ("X-Envoy-Internal", "true"),
    ("X-Internal-Request", "true"),
    ("X-Internal", "true"),
    ("X-Gateway-Authenticated", "true"),
    ("X-Authenticated", "true"),
    ("X-Auth-Verified", "true"),
    ("X-Skip-Auth", "true"),
    ("X-SSL-Client-Verify", "SUCCESS"),
    ("X-Forwarded-Client-Cert", 'By=spiffe://cluster.local/ns/default/sa/gateway;Subject="CN=gateway"'),
)

_INTERNAL: Mapping[str, tuple[str, _Headers]] = {
    "x_middleware_subrequest": (
        "x-middleware-subrequest: middleware, five times",
        (("x-middleware-subrequest", _NESTED),),
    ),
    "x_middleware_subrequest_src": (
        "x-middleware-subrequest: src/middleware, five times",
        (("x-middleware-subrequest", _NESTED.replace("middleware", "src/middleware")),),
    ),
    **{
        _form(name): (f"{name}: {_OPEN_PATH}", ((name, _OPEN_PATH),))
        for name in ("X-Original-URL", "X-Rewrite-URL", "X-Original-URI", "X-Forwarded-Uri", "X-Envoy-Original-Path")
    },
    **{
        _form(name): (f"{name}: OPTIONS", ((name, "OPTIONS"),))
        for name in ("X-HTTP-Method-Override", "X-Original-Method", "X-Forwarded-Method")
    },
    **{_form(name): (f"{name}: {value}", ((name, value),)) for name, value in _MARKS},
    "internal_underscored": (
        "internal headers of proxies and frameworks, spelled with underscores",
        _underscored(*_MARKS, ("X-Middleware-Subrequest", _NESTED)),
    ),
}

CALLERS: Mapping[str, tuple[str, _Headers]] = MappingProxyType({**_LOCAL_CALLERS, **_INTERNAL})
"""Each form with its sentence and its headers."""
